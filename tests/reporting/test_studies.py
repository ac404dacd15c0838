"""Studies' files become pages: what the commands write is what the report reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import Capture
from tests.reporting import study_files
from wholetext import slices
from wholetext.errors import RunError
from wholetext.reporting import read_study, studies
from wholetext.reporting.page import PageOptions, render
from wholetext.reporting.panels import Bars, Curves, Grid, Study, Table


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return study_files.make(tmp_path_factory.mktemp("studies"))


def of_kind(study: Study, kind: type) -> list:  # type: ignore[type-arg]
    return [panel for panel in study.panels if isinstance(panel, kind)]


def test_meta_has_agreement_intervals_curves_and_correlations(files: dict[str, Path]) -> None:
    study = read_study(files["meta"] / "meta.json")
    raw = json.loads((files["meta"] / "meta.json").read_text("utf-8"))
    table = of_kind(study, Table)[0]
    assert [name for name, _ in table.rows][:1] == [raw["average"]["metrics"][0]["name"]]
    assert len(table.columns) == 1 + len(raw["tasks"])
    task = raw["tasks"][0]
    for row in task["metrics"]:
        place = [name for name, _ in table.rows].index(row["name"])
        assert table.rows[place][1][1] == row["value"] and table.ranks[place][1] == row["rank"]
    bars = of_kind(study, Bars)
    assert {panel.axis for panel in bars} == {one["statistic"] for one in raw["tasks"]}
    drawn = {(bar.name, bar.value, bar.low, bar.high) for panel in bars for bar in panel.bars}
    for one in raw["tasks"]:
        for row in one["metrics"]:
            assert (row["name"], row["value"], *(row["interval"] or (None, None))) in drawn
    curve = of_kind(study, Curves)[0]
    assert curve.x == (1, 2) and [line.control for line in curve.lines[:2]] == [False, True]
    grid = of_kind(study, Grid)[0]
    assert grid.centred and grid.values[0][0] == pytest.approx(1.0)


def test_windows_become_a_heat_map_with_shares(files: dict[str, Path]) -> None:
    study = read_study(files["windows"] / "grid.json")
    raw = json.loads((files["windows"] / "grid.json").read_text("utf-8"))
    assert raw["kind"] == "sweep"
    grids = of_kind(study, Grid)
    cell = next(one for one in raw["cells"] if (one["size"], one["step"]) == (3, 2))
    assert grids[0].values[2][1] == pytest.approx(sum(cell["scores"].values()) / len(cell["scores"]))
    assert grids[0].values[0][1] is None  # no stride beyond the window
    assert grids[1].values[2][1] == pytest.approx(100 * cell["dropped"]) and "no window" in grids[1].title
    assert f"{100 * cell['dropped']:.1f} %" in grids[0].extra[2][1]


def test_what_commands_print_is_what_they_write(files: dict[str, Path], tmp_path: Path, capsys: Capture) -> None:
    folder = files["contrast"].parent
    capsys.readouterr()
    study_files.command("score", study_files.DEMO, "-l", "de-en", "-m", "chrf", "--sweep", "window=3", "-q", "--json")
    (tmp_path / "sweep.json").write_text(capsys.readouterr().out, "utf-8")
    assert read_study(tmp_path / "sweep.json") == read_study(files["windows"] / "grid.json")
    scores = [part for name in ("one", "two") for part in ("--scores", f"{name}={folder / name}.txt")]
    study_files.command("meta", "contrast", folder / "set.jsonl", *scores, "-l", "en-fr", "-f", "json")
    (tmp_path / "contrast.json").write_text(capsys.readouterr().out, "utf-8")
    assert read_study(tmp_path / "contrast.json") == read_study(files["contrast"] / "contrast.json")
    asked = ["-m", "chrf", "--stored", "--level", "sys", "--draws", "20", "-q", "--json"]
    study_files.command("meta", folder / "wmt22.small", "-l", "de-en", *asked)
    (tmp_path / "meta.json").write_text(capsys.readouterr().out, "utf-8")
    assert of_kind(read_study(tmp_path / "meta.json"), Table)[0].columns[1] == "sys:accuracy"


def test_contexts_become_curves_with_dashed_controls(files: dict[str, Path]) -> None:
    study = read_study(files["contexts"] / "grid.json")
    curve = of_kind(study, Curves)[0]
    assert curve.x == (0, 1, 2) and {line.control for line in curve.lines} == {False, True}
    assert len({line.y[0] for line in curve.lines}) == 1  # without context all settings are one


def test_contrast_has_accuracy_by_type_and_distance(files: dict[str, Path]) -> None:
    study = read_study(files["contrast"] / "contrast.json")
    titles = [panel.title for panel in study.panels]
    assert titles[0] == "Accuracy" and {"By type", "By distance"} <= set(titles) and "McNemar's test" in titles
    first = of_kind(study, Bars)[0]
    assert [(bar.name, bar.count) for bar in first.bars] == [("one", 12), ("two", 12)]
    assert [bar.value for bar in first.bars] == pytest.approx([200 / 3, 50.0])
    by_distance = next(panel for panel in study.panels if panel.title == "By distance")
    assert isinstance(by_distance, Bars) and {bar.group for bar in by_distance.bars} == {"0", "1", "2", "3"}


def test_a_page_of_studies_alone(files: dict[str, Path]) -> None:
    studies = [read_study(files["windows"] / "grid.json"), read_study(files["contrast"] / "contrast.json")]
    page = render(None, studies, PageOptions())
    assert "<h1>Studies</h1>" in page and 'id="data-head"' in page


@pytest.mark.parametrize("text", [
    "", "[1]", "{}", '{"kind": "meta"}', '{"cells": 3}', '{"kind": "contrast", "metrics": []}',
    '{"kind": "sweep", "cells": [{}], "axes": ["size"]}', '{"kind": "stress", "figures": [{"dose": "all"}]}',
    '{"kind": "rank", "systems": [{}], "method": "autorank"}', '{"kind": "reproduce"}',
    '{"kind": "judge-check", "measures": [{"check": "position"}]}',
])
def test_damaged_files_are_answered(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(RunError, match=r"not a study that a report can show|not JSON"):
        read_study(tmp_path / "x.json")
    with pytest.raises(RunError, match="No such file"):
        read_study(tmp_path / "absent.json")


def test_a_page_of_a_slice_is_found_by_kind_and_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line in the table of slices is all that a page needs."""
    monkeypatch.setattr(slices, "added", lambda kind: {"raters": f"{__name__}:raters"})
    record = {"kind": "raters", "judged": {"Ann": 12}}
    for name in ("raters.json", "other.json"):
        (tmp_path / name).write_text(json.dumps(record), "utf-8")
        assert read_study(tmp_path / name).panels[0] == raters(record).panels[0]
    assert studies.study_files(tmp_path) == [tmp_path / "raters.json"] and "raters" in studies.remedy()


def raters(record: dict[str, Any]) -> Study:
    return Study("raters", "Raters", (Table("Judged texts", ("texts",), tuple(record["judged"].items()), "rater"),))
