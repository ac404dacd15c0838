"""Every entry of the five papers: the catalogue is complete, each runs small, and what is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.errors import WholetextError
from wholetext.registry import scorer
from wholetext.reproduce import papers, reproduce
from wholetext.reproduce.catalogue import datasets
from wholetext.reproduce.run import KINDS

ENTRIES = {
    "V": {"table1", "wins", "table2", "table3", "figure2"},
    "S": {"table1", "table2", "table3", "figure1", "figure2", "figure3", "figure4"},
    "D": {*(f"table{n}" for n in range(1, 13)), *(f"figure{n}" for n in range(2, 8))},
    "P": {*(f"table{n}" for n in range(1, 5)), *(f"figure{n}" for n in range(1, 12)), "section6_3"},
    "B": {*(f"table{n}" for n in (1, 2, 3, 4, 5, 7, 8)), *(f"figure{n}" for n in (1, 3, 4, 5))},
}
# those of P and B that load a model or spaCy; all of D take long
LONG = {"P": {"figure3", "figure3_blonde", "section6_3", "figure5", "figure6", "figure9", "figure10", "figure11"},
        "B": {"table1", "table2", "table4", "figure1", "figure4", "figure5"}, "D": ENTRIES["D"]}
COMPUTED = [(letter, name) for letter in ENTRIES for name, entry in papers()[letter].entries.items() if entry.kind]
SMALL = [pytest.param(*entry, marks=pytest.mark.long) if entry[1] in LONG.get(entry[0], ()) else entry
         for entry in COMPUTED]  # fmt: skip


@pytest.mark.parametrize("letter", ENTRIES)
def test_the_catalogue_is_complete(letter: str) -> None:
    entries = papers()[letter].entries
    assert set(entries) >= ENTRIES[letter]
    for entry in entries.values():
        assert entry.kind in KINDS or (not entry.kind and entry.note), entry.name
        assert set(entry.data) <= set(datasets())
        assert all(len(cells) <= len(entry.columns) for cells in entry.published.values() if entry.columns), entry.name
        for spec in (*entry.metrics.values(), *entry.small.get("metrics", {}).values()):
            scorer(spec)
        for settings in (entry.settings, entry.small.get("settings", {})):
            named = {place["data"] for place in settings.get("where", ())} | {settings.get("data")} - {None}
            assert named <= set(datasets())
            rows = set(settings.get("outputs", ())) | set(settings.get("each", ()))
            assert rows <= set(entry.metrics) or letter == "B"  # a smaller choice of metrics


@pytest.mark.parametrize(("letter", "name"), SMALL)
@pytest.mark.filterwarnings("ignore")
def test_small_without_data(letter: str, name: str) -> None:
    result = reproduce(letter, name, small=True)
    assert any(cell is not None for cells in result.obtained.values() for cell in cells)
    assert all(len(cells) == len(result.columns) for cells in result.obtained.values())
    assert result.status == "small: not comparable with the paper"
    assert letter != "D" or any("stand-ins" in note for note in result.notes)
    assert set(result.as_json()["rows"][0]) == {"name", "obtained", "published", "difference"}


@pytest.mark.long
@pytest.mark.parametrize(("letter", "name"), [entry for entry in COMPUTED if entry[0] in "VSD"])
def test_small_with_data(letter: str, name: str, data: Path) -> None:
    result = reproduce(letter, name, small=True, data=data)
    assert any(cell is not None for row in result.obtained.values() for cell in row)
    assert not any("stand-ins" in note for note in result.notes)


@pytest.mark.parametrize(("which", "words"), [
    ("V table1", ("the data set wmt21-ted is needed", "tedtalks", "--small")),
    ("S table2", ("the data set wmt22 is needed",)), ("D table1", ("summeval is needed", "SummEval", "--small")),
    ("D figure5", ("figure5 cannot be computed", "diagram")), ("P table2", ("wmt19-da", "WMT19")),
    ("P figure7", ("cannot be computed", "contrast")), ("B table2", ("the data set bwb is needed", "BWB")),
    ("B table7", ("cannot be computed", "nothing to compute")),
    ("B table8", ("bwb-rankings", "not among the files of BWB")),
])
def test_what_is_missing_is_named(which: str, words: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(WholetextError) as fault:
        reproduce(*which.split(), data=tmp_path)
    assert all(word in str(fault.value) for word in words)


def test_needs_lists_data_models_and_files_and_fetches_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wholetext.models.hub import locate

    def refuse(name: str, *_: object, **__: object) -> None:
        raise AssertionError(f"{name} was fetched")

    monkeypatch.setattr(locate, "download", refuse)
    for words, listed in (
        ("D table1", ("summeval: missing", "model facebook/bart-large-cnn: ", "file deps.words.bz2: missing",
                      "model FacebookAI/roberta-large (by language): ",
                      "model conpono: missing; put it into a folder of this name")),
        ("S", ("wmt22: missing", "Unbabel/wmt22-cometkiwi-da: missing")),
    ):  # fmt: skip
        code, out, _ = call(capsys, "reproduce", *words.split(), "--needs")
        said = " ".join(out.split())
        assert code == 0 and all(words in said for words in listed)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "reproduce", "V", "wins", "--small", "--out", str(tmp_path / "out"))
    assert code == 0 and "without News zh-en" in out
    assert call(capsys, "report", str(tmp_path / "out"))[0] == 0
