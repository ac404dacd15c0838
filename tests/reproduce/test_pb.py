"""The entries of Deutsch et al. 2023 (P) and Jiang et al. 2022 (B): all run small, what can be compared is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.errors import InputError, WholetextError
from wholetext.reproduce import papers, reproduce
from wholetext.reproduce.run import KINDS

ENTRIES = {
    "P": [*(f"table{i}" for i in range(1, 5)), *(f"figure{i}" for i in range(1, 12)), "section6_3"],
    "B": [*(f"table{i}" for i in (1, 2, 3, 4, 5, 7, 8)), *(f"figure{i}" for i in (1, 3, 4, 5))]}
LONG = {"P figure3", "P figure3_blonde", "P section6_3", "B table1", "B table4", "B figure4", "B figure5", "B figure1",
        "B table2", "P figure5", "P figure6", "P figure9", "P figure10", "P figure11"}  # a model, spaCy
COMPUTED = [f"{letter} {name}" for letter in "PB" for name, entry in papers()[letter].entries.items() if entry.kind]


@pytest.mark.parametrize("letter", "PB")
def test_the_catalogue_is_complete(letter: str) -> None:
    entries = papers()[letter].entries
    assert set(ENTRIES[letter]) <= set(entries)
    for entry in entries.values():
        assert entry.kind in KINDS or (not entry.kind and entry.note), entry.name
        if entry.columns:
            assert all(len(cells) in (len(entry.columns), 0) for cells in entry.published.values()), entry.name


@pytest.mark.parametrize(
    "which", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in COMPUTED])
@pytest.mark.filterwarnings("ignore")
def test_every_entry_runs_small(which: str) -> None:
    result = reproduce(*which.split(), small=True)
    assert result.columns and result.obtained
    assert any(cell is not None for cells in result.obtained.values() for cell in cells)
    assert all(len(cells) == len(result.columns) for cells in result.obtained.values())
    assert result.status == "small: not comparable with the paper"


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


# ---------------------------------------------------------------- what is missing, where, what next


@pytest.mark.parametrize(("which", "words"), [
    ("B table2", ("the data set bwb is needed", "BWB")), ("B table8", ("bwb-rankings", "not among the files of BWB")),
    ("B table7", ("cannot be computed", "nothing to compute")), ("P table2", ("wmt19-da", "WMT19")),
    ("P figure7", ("cannot be computed", "contrast"))])
def test_missing_data_is_answered(which: str, words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(WholetextError) as fault:
        reproduce(*which.split(), data=tmp_path)
    assert all(word in str(fault.value) for word in words)


def test_a_wrong_folder_of_bwb(tmp_path: Path) -> None:
    (tmp_path / "BWB" / "elsewhere").mkdir(parents=True)
    with pytest.raises(InputError, match="there are no chapters of BWB here") as fault:
        reproduce("B", "table2", data=tmp_path)
    assert str(tmp_path / "BWB") in str(fault.value) and "test/BookN" in str(fault.value)


def test_a_missing_tokenizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from wholetext.models.token_counter import token_counter

    with pytest.raises(InputError, match="there is no such tokenizer"):
        token_counter(str(tmp_path / "spiece.model"))
    code, _, err = call(capsys, "reproduce", "P", "figure99", "--small")
    assert code and "no entry 'figure99'" in err


def test_missing_models_leave_their_rows_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.errors import ModelError
    from wholetext.reproduce import paragraph
    from wholetext.reproduce.experiments import Experiment
    from wholetext.scoring.evaluate import Options

    def locate(model: str) -> None:
        raise ModelError("no such model", next="fetch it")

    monkeypatch.setattr(paragraph, "locate_model", locate)
    experiment = Experiment(papers()["P"]["figure3"], None, False, Options())
    assert paragraph.available(experiment) == {"BLEU": "bleu"}
    assert "COMET-22 is left out: no such model" in experiment.notes[0]


def test_token_lengths(tmp_path: Path) -> None:
    """Counts of a tokenizer of words: percentiles of outputs, and pairs over the limit."""
    import tokenizers

    import wholetext as wt
    from wholetext.io import Loaded
    from wholetext.meta.paragraphs import RatedParagraph
    from wholetext.meta.token_lengths import token_lengths
    from wholetext.models.token_counter import token_counter

    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    corpus = wt.Corpus("c", ("de", "en"), (wt.Document("d", ("x", "y"), {"ref": ("a b c", "d")}),))
    loaded = Loaded(corpus, (wt.Output("s", {"d": ("e f", "g h i")}),))
    rated = [RatedParagraph("s", "d", 0, 2, "r", 0.0)]
    lengths = token_lengths(loaded, rated, token_counter(str(tmp_path / "tokenizer.json")))
    assert lengths.outputs.tolist() == [5] and lengths.combined.tolist() == [9]
    assert lengths.quartiles() == (5, 5, 5) and (lengths.over(8), lengths.over(9)) == (1, 0)
