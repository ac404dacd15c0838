"""Zhao et al. 2023 (DiscoScore): every entry runs small, real rows are compared, what is missing is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.errors import InputError
from wholetext.registry import scorer
from wholetext.reproduce import papers, reproduce
from wholetext.reproduce.catalogue import datasets
from wholetext.reproduce.experiments import KINDS

ENTRIES = [f"table{n}" for n in range(1, 13)] + [f"figure{n}" for n in range(2, 8)]
PAPER = papers()["D"]
COMPUTED = [name for name in ENTRIES if name != "figure5"]


def test_the_catalogue_is_complete() -> None:
    assert list(PAPER.entries) == ENTRIES
    for entry in PAPER.entries.values():
        assert entry.kind in KINDS or entry.name == "figure5"
        assert set(entry.data) <= set(datasets())
        assert entry.published or entry.name.startswith("figure")
        assert all(len(row) == len(entry.columns) for row in entry.published.values())
        for spec in (*entry.metrics.values(), *entry.small.get("metrics", {}).values()):
            scorer(spec)
        for settings in (entry.settings, entry.small.get("settings", {})):
            named = {place["data"] for place in settings.get("where", [])} | {settings.get("data")} - {None}
            assert named <= set(datasets())
            assert set(settings.get("outputs", {})) | set(settings.get("each", ())) <= set(entry.metrics)


def test_published_averages_are_those_of_the_aspects() -> None:
    for name in ("table1", "table7", "table8", "table10"):
        for row, (*aspects, average) in PAPER[name].published.items():
            assert sum(x or 0 for x in aspects) / 4 == pytest.approx(average, abs=0.011), (name, row)


@pytest.mark.long
@pytest.mark.parametrize("name", COMPUTED)
def test_small_without_data(name: str) -> None:
    result = reproduce("D", name, small=True)
    assert any(cell is not None for row in result.obtained.values() for cell in row)
    assert all(len(row) == len(result.columns) for row in result.obtained.values())
    assert result.small and any("stand-ins" in note for note in result.notes)


@pytest.mark.long
@pytest.mark.parametrize("name", COMPUTED)
def test_small_with_data(name: str, data: Path) -> None:
    result = reproduce("D", name, small=True, data=data)
    assert any(cell is not None for row in result.obtained.values() for cell in row)
    assert not any("stand-ins" in note for note in result.notes)


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


def test_what_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="summeval is needed") as fault:
        reproduce("D", "table1", data=tmp_path)
    assert "SummEval" in (fault.value.next or "") and "--small" in (fault.value.next or "")
    with pytest.raises(InputError, match="figure5 cannot be computed") as fault:
        reproduce("D", "figure5")
    assert "diagram" in (fault.value.next or "")
    code, out, _ = call(capsys, "reproduce", "D", "table3", "--needs", "--data", tmp_path)
    assert code == 0 and "summeval: missing" in " ".join(out.split())
    assert call(capsys, "reproduce", "D", "table13")[0] == 2


def test_needs_lists_models_and_files_and_fetches_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wholetext.models.hub import locate

    def refuse(name: str, *_: object, **__: object) -> None:
        raise AssertionError(f"{name} was fetched")

    monkeypatch.setattr(locate, "download", refuse)
    code, out, _ = call(capsys, "reproduce", "D", "table1", "--needs")
    said = " ".join(out.split())
    assert code == 0 and "model facebook/bart-large-cnn: " in said
    assert "model FacebookAI/roberta-large (by language): " in said
    assert "model conpono: missing; put it into a folder of this name" in said
    assert "file deps.words.bz2: missing" in said


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / datasets()["ner18"].path
    path.parent.mkdir()
    path.write_text(json.dumps({"id": "a", "text": "no summary"}) + "\n")
    with pytest.raises(InputError, match="file of rated summaries"):
        reproduce("D", "table7", data=tmp_path)
