"""Vernikos et al. 2022 and Raunak et al. 2024: every entry runs small, and what is missing is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.in_process import call
from wholetext.errors import InputError, ModelError
from wholetext.registry import scorer
from wholetext.reproduce import papers, reproduce
from wholetext.reproduce.catalogue import datasets
from wholetext.reproduce.context import _left_over, _uncovered
from wholetext.reproduce.experiments import KINDS
from wholetext.views import Slide

DATA = Path(__file__).parents[2].parent / "shared" / "data"
ENTRIES = {"V": ("table1", "wins", "table2", "table3", "figure2"),
           "S": ("table1", "table2", "table3", "figure1", "figure2", "figure3", "figure4")}
ALL = [(letter, name) for letter, names in ENTRIES.items() for name in names]
REAL = [pytest.param(*entry, marks=pytest.mark.long) for entry in ALL]


@pytest.fixture
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("the data sets are not here")
    return DATA


@pytest.mark.parametrize("letter", ENTRIES)
def test_the_catalogue_is_complete(letter: str) -> None:
    paper = papers()[letter]
    assert set(paper.entries) == set(ENTRIES[letter])
    for entry in paper.entries.values():
        assert entry.kind in KINDS and set(entry.data) <= set(datasets())
        assert all(len(row) <= len(entry.columns) for row in entry.published.values())
        assert entry.published or "no number is printed" in entry.note
        for spec in entry.metrics.values():
            scorer(spec)
        named = {place.get("data") for place in entry.settings.get("where", [])}
        assert named <= set(entry.data)


@pytest.mark.parametrize(("letter", "name"), ALL)
def test_small_without_data(letter: str, name: str) -> None:
    result = reproduce(letter, name, small=True)
    cells = [cell for row in result.obtained.values() for cell in row]
    assert any(cell is not None for cell in cells)
    assert result.small and result.status.startswith("small")
    assert set(result.as_json()["rows"][0]) == {"name", "obtained", "published", "difference"}


@pytest.mark.parametrize(("letter", "name"), REAL)
def test_small_with_data(letter: str, name: str, data: Path) -> None:
    result = reproduce(letter, name, small=True, data=data)
    assert any(cell is not None for row in result.obtained.values() for cell in row)
    assert not any("stand-ins" in note for note in result.notes)


def test_windows_of_figure_1() -> None:
    assert reproduce("S", "figure1").status == "6 of 6 numbers equal to the printed digit"


@pytest.mark.long
def test_a_score_without_context_is_at_chance(data: Path) -> None:
    """V Table 2: on balanced sets COMET-QE is at 50.0; a block of the anaphora set is not balanced."""
    values: dict[str, Any] = dict(zip(*_row(reproduce("V", "table2", data=data), "any score without context")))
    assert values["WSD"] == 50.0 and values["Anaphora"] == pytest.approx(50.0, abs=0.51)
    assert values["en-de total"] is None


def _row(result: Any, name: str) -> tuple[Any, Any]:
    return result.columns, result.obtained[name]


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


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the data set wmt21-ted is needed") as fault:
        reproduce("V", "table1", data=tmp_path)
    assert "tedtalks" in str(fault.value.where) and "--small" in str(fault.value.next)
    with pytest.raises(InputError, match="the data set wmt22 is needed"):
        reproduce("S", "table2")


def test_a_missing_model_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"prism|mbart") as fault:
        reproduce("V", "table3", data=data)
    assert "models fetch" in str(fault.value.next)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "reproduce", "V", "wins", "--small", "--out", str(tmp_path / "out"))
    assert code == 0 and "without News zh-en" in out
    code, out, _ = call(capsys, "report", str(tmp_path / "out"))
    assert code == 0
    code, out, _ = call(capsys, "reproduce", "S", "--needs")
    assert code == 0 and "wmt22: missing" in out and "Unbabel/wmt22-cometkiwi-da: missing" in out
