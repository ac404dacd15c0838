"""The ranking page of a report: of a run, and of what `wholetext rank --out` wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.reporting import study_files
from wholetext.ranking.panels import run_ranking
from wholetext.reporting import read_study
from wholetext.reporting.page import report
from wholetext.reporting.panels import Bars, Grid, Study, Table
from wholetext.scoring.significance.compare import Significance


@pytest.fixture(scope="module")
def results() -> wt.Results:
    loaded = wt.read(study_files.DEMO)
    return wt.score(loaded, ["chrf", "ter"], options=wt.Options(cache=False, flags=False))


def panels(study: Study) -> tuple[Bars, Grid, Table]:
    plot, grid, table = study.panels
    assert isinstance(plot, Bars) and isinstance(grid, Grid) and isinstance(table, Table)
    return plot, grid, table


def test_a_run_has_a_rank_plot(results: wt.Results) -> None:
    (study,) = run_ranking(results, Significance())
    found = wt.ranking.rank(results)
    plot, grid, table = panels(study)
    assert [bar.name for bar in plot.bars] == [one.system for one in found.systems]
    assert [bar.value for bar in plot.bars] == [1, 2, 3, 4]
    assert [(bar.low, bar.high) for bar in plot.bars] == [one.places for one in found.systems]
    assert [bar.group for bar in plot.bars] == [f"cluster {one.cluster}" for one in found.systems]
    assert grid.columns[:2] == ("chrf", "ter") and grid.rows == tuple(one.system for one in found.systems)
    for column in (0, 1):  # under ter, which is better when lower, ranks are not those of the numbers
        best = min(range(4), key=lambda row: grid.values[row][column])  # type: ignore[arg-type,return-value]
        values = {one.system: one.scores[grid.columns[column]] for one in found.systems}
        assert grid.rows[best] == (max if column == 0 else min)(values, key=values.__getitem__)
    assert [cells[0] for _, cells in table.rows] == [one.value for one in found.systems]
    assert [row[0] for row in table.ranks] == [one.cluster for one in found.systems]


def test_what_rank_writes_is_what_the_report_shows(results: wt.Results, tmp_path: Path) -> None:
    found = wt.ranking.rank(results, method="borda", draws=0, out=tmp_path / "borda")
    raw = json.loads((tmp_path / "borda" / "ranking.json").read_text("utf-8"))
    assert raw == json.loads(json.dumps(found.as_json(), allow_nan=False)) and raw["signature"] == found.signature
    assert "lower:ter" in found.signature
    plot, _, table = panels(study := read_study(tmp_path / "borda" / "ranking.json"))
    assert study.title == "Ranking: Borda" and table.columns[0] == "Borda"
    assert [bar.group for bar in plot.bars] == [""] * 4 and plot.bars[0].low is None  # nothing was drawn
    wt.scoring.write_run(results, tmp_path / "run")
    report([tmp_path / "run", tmp_path / "borda"], figures=tmp_path / "figures", formats=["svg"])
    drawn = sorted(path.name for path in (tmp_path / "figures").glob("rank*.svg"))
    assert drawn == ["rank-1-ranks.svg", "rank-2-ranks-by-metric-and-domain.svg"]  # the given one only
