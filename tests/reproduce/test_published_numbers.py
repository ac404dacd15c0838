"""Numbers of the five papers that can be compared: computed again, they are those that were published."""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, strategies as st

import wholetext as wt
from wholetext.errors import InputError, ModelError
from wholetext.io import Loaded
from wholetext.meta.paragraphs import RatedParagraph
from wholetext.meta.token_lengths import token_lengths
from wholetext.models.token_counter import token_counter
from wholetext.reproduce import papers, paragraph, reproduce
from wholetext.reproduce.context import _left_over, _uncovered
from wholetext.reproduce.experiment import Experiment
from wholetext.views import Slide


def test_windows_of_figure_1() -> None:
    assert reproduce("S", "figure1").status == "6 of 6 numbers equal to the printed digit"


@pytest.mark.long
def test_a_score_without_context_is_at_chance(data: Path) -> None:
    """V Table 2: on balanced sets COMET-QE is at 50.0; a block of the anaphora set is not balanced."""
    result = reproduce("V", "table2", data=data)
    values = dict(zip(result.columns, result.obtained["any score without context"]))
    assert values["WSD"] == 50.0 and values["Anaphora"] == pytest.approx(50.0, abs=0.51)
    assert values["en-de total"] is None


def test_dropped_sentences(data: Path) -> None:
    """S Figure 3 of zh-en alone: stride 1 drops documents that are shorter than the window."""
    result = reproduce("S", "figure3", small=True, data=data)
    distinct = [row[0] for name, row in result.obtained.items() if "distinct" in name]
    assert distinct == pytest.approx([0.0, 3.8, 8.8, 11.5, 15.6, 17.4], abs=0.05)
    assert result.obtained["6"][5] == pytest.approx(result.obtained["6, distinct sentences"][5])  # no overlap


@given(st.lists(st.integers(1, 40), min_size=1), st.integers(1, 8), st.integers(1, 8))
def test_dropped_sentences_are_those_in_no_window(sizes: list[int], size: int, step: int) -> None:
    view = Slide(size=size, step=min(size, step))
    spans = [view.spans(length) for length in sizes]
    covered = sum(len({i for a, b, _ in own for i in range(a, b)}) for own in spans)
    assert _uncovered(sizes, view) == pytest.approx(100 - 100 * covered / sum(sizes))
    assert 0 <= _left_over(sizes, view) <= 100
    if step >= size:
        assert _left_over(sizes, view) == pytest.approx(_uncovered(sizes, view))


def test_a_missing_model_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"prism|mbart") as fault:
        reproduce("V", "table3", data=data)
    assert "models fetch" in str(fault.value.next)


def test_published_averages_are_those_of_the_aspects() -> None:
    for name in ("table1", "table7", "table8", "table10"):
        for row, (*aspects, average) in papers()["D"].entries[name].published.items():
            assert sum(x or 0 for x in aspects) / 4 == pytest.approx(average, abs=0.011), (name, row)


@pytest.mark.long
def test_rouge_1_is_published_to_the_digit(data: Path) -> None:
    result = reproduce("D", "table1", data=data)
    assert [round(cell or 0, 2) for cell in result.obtained["ROUGE-1"]] == [9.09, 27.27, 18.18, 9.09, 15.91]
    for row, pairs in (("ROUGE-L", 1), ("RC", 2), ("LC", 2), ("Entity Graph", 2), ("Lexical Chain", 2)):
        for difference in result.differences()[row][:4]:
            assert abs(difference or 0) <= pairs * 200 / 66 + 0.01, row  # pairs of systems in another order
    notes = " ".join(result.notes)
    assert "DS-FOCUS (NN): model 'conpono'" in notes and "RC: the correlation is negative" in notes


def test_stored_document_scores_are_those_that_wmt20_published(data: Path) -> None:
    result = reproduce("D", "table12", data=data)
    assert result.obtained["PRISM"][0] == pytest.approx(16.85, abs=0.005)  # cs-en, in the metrics task's table
    assert result.obtained["PRISM"][1] is None  # de-en
    assert "cs-en: 1424 pairs of systems compared" in result.notes
    assert any("de-en" in note and "empty" in note for note in result.notes)


def test_aspects_correlate(data: Path) -> None:
    result = reproduce("D", "figure3", data=data)
    assert result.obtained["NeR18"][0] == 1.0
    assert (result.obtained["NeR18"][2] or 0) > 0.9  # fluency


def test_blonde_of_table_3_is_reproduced() -> None:
    """Every number of BlonDe to the printed digit; BlonD-D of MT-A is a slip of the paper."""
    result = reproduce("B", "table3")
    gaps = {row: [gap for gap in gaps if gap is not None] for row, gaps in result.differences().items()}
    assert all(abs(gap) <= 0.05 + 1e-9 for row in ("MT-A", "MT-B", "paper: MT-B, Figure 3") for gap in gaps[row])
    assert gaps["paper: MT-A, Figure 3"] == [pytest.approx(6.188 - 7.6, abs=1e-3)]


@pytest.mark.data
@pytest.mark.long
def test_counts_of_paragraphs(data: Path) -> None:
    """en-de and en-ru to the digit for complete systems; zh-en lacks 3 of 650 segments in the paper."""
    result = reproduce("P", "table3", data=data)
    gaps = result.differences()
    assert set(gaps["WMT'21 en-de, complete"]) == set(gaps["WMT'21 en-ru"]) == {0.0}
    assert gaps["WMT'21 zh-en, complete"] == (42, 14, 14, 14, 0, 14, 0, 0, 0, 0)
    assert gaps["WMT'21 en-de"][0] == -9


@pytest.mark.data
def test_counts_of_released_direct_assessments(data: Path) -> None:
    """P Table 2 counts what several raters judged several times, so no count here is above it."""
    result = reproduce("P", "table2", data=data)
    assert result.obtained["2020 cs-en merged"] == (7532, 3472, 2108, 1443, 1057, 756, 561, 328, 193, 114)
    assert len(result.obtained) == 7
    assert all(gap is not None and gap < 0 for gaps in result.differences().values() for gap in gaps)


def test_missing_models_leave_their_rows_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def locate(model: str) -> None:
        raise ModelError("no such model", next="fetch it")

    monkeypatch.setattr(paragraph, "locate_model", locate)
    experiment = Experiment(papers()["P"]["figure3"], None, False, wt.Options())
    assert paragraph.available(experiment) == {"BLEU": "bleu"}
    assert "COMET-22 is left out: no such model" in experiment.notes[0]


def test_token_lengths(tmp_path: Path) -> None:
    """Counts of a tokenizer of words: percentiles of outputs, and pairs over the limit."""
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", ("x", "y"), {"ref": ("a b c", "d")}),))
    loaded = Loaded(corpus, (wt.Output("s", {"d": ("e f", "g h i")}),))
    rated = [RatedParagraph("s", "d", 0, 2, "r", 0.0)]
    lengths = token_lengths(loaded, rated, token_counter(str(tmp_path / "tokenizer.json")))
    assert lengths.outputs.tolist() == [5] and lengths.combined.tolist() == [9]
    assert lengths.quartiles() == (5, 5, 5) and (lengths.over(8), lengths.over(9)) == (1, 0)
    with pytest.raises(InputError, match="there is no such tokenizer"):
        token_counter(str(tmp_path / "spiece.model"))
