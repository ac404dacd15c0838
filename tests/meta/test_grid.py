"""Agreement over grids of views, over several sets, and of run folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.in_process import call
from wholetext.errors import AlignmentError, InputError, SpecError
from wholetext.meta import GridAxes, MetaTasks, MetricSelection, MetricTests, meta_evaluate
from wholetext.meta.grid import grid_cells, read_sizes, win_counts
from wholetext.reporting.panels import Curves, Grid, Table
from wholetext.reporting.studies import read_study

NONE, PEARSON = MetricTests(draws=0), MetaTasks(tasks=("sys:pearson",))


@pytest.fixture
def second(folder: Path) -> Path:
    """Another set: the same without its first system."""
    other = folder.parent / "wmt21.small"
    shutil.copytree(folder, other)
    for path in (*other.rglob("*.score"), *other.rglob("*.tsv")):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.startswith("alpha")))
    (other / "system-outputs" / "de-en" / "alpha.txt").unlink()
    return other


def test_a_grid_is_a_list_of_specs() -> None:
    assert GridAxes(context=(0, 2), hyp=("ref", "own")).specs(["chrf"]) == [
        "context(prev=0):chrf", "context:chrf", "context(hyp=own):chrf"]
    assert GridAxes(window=(1, 2), partial=("drop", "weighted")).specs(["slide(size=6,joiner=space):chrf"]) == [
        f"slide(joiner=space,size={size},step={step}{partial}):chrf"
        for partial in ("", ",partial=weighted") for size, step in ((1, 1), (2, 1), (2, 2))]


def test_sizes() -> None:
    assert read_sizes("0..3", 0, "--context") == read_sizes("3", 0, "--context") == (0, 1, 2, 3)
    assert read_sizes("2,6", 1, "--window") == (2, 6)
    for text, low in (("0..3", 1), ("a", 0), ("3..", 1)):
        with pytest.raises(InputError, match="invalid sizes of --window"):
            read_sizes(text, low, "--window")
    with pytest.raises(SpecError, match="either the context or the window"):
        GridAxes(context=(1,), window=(2,)).specs(["chrf"])
    with pytest.raises(InputError, match="needs a metric"):
        GridAxes(context=(1,)).specs([])


def test_cells_are_told_from_specs() -> None:
    cells = grid_cells(["chrf", "context:chrf", "slide(size=4,step=2):chrf", "BLEURT-20", "whole:chrf"])
    assert [(cell.metric, cell.sentence) for cell in cells] == [("chrf", True), ("chrf", False), ("chrf", False)]
    assert cells[1].settings == {"prev": 2, "hyp": "ref", "source": "same"}
    assert cells[2].settings == {"size": 4, "step": 2, "partial": "drop"}


def test_every_cell_is_the_metric_by_itself(folder: Path) -> None:
    axes = GridAxes(window=(1, 3), step=(1,), partial=("drop", "include"))
    grid = meta_evaluate(folder, (), ["chrf"], PEARSON, tests=NONE, grid=axes)
    for cell in grid.grid:
        alone = meta_evaluate(folder, (), [cell.name], PEARSON, tests=NONE)
        assert alone.results[0].value(cell.name) == pytest.approx(grid.results[0].value(cell.name))
    by_sentence = meta_evaluate(folder, (), ["chrf"], PEARSON, tests=NONE)
    assert grid.results[0].value("slide(size=1,step=1):chrf") == pytest.approx(by_sentence.results[0].value("chrf"))
    assert {row.sentence for row in grid.contests} <= {cell.name for cell in grid.grid if cell.sentence}


def test_several_sets(folder: Path, second: Path) -> None:
    tasks = MetaTasks(tasks=("sys:accuracy", "sys:pearson"))
    metrics = ["chrf", "slide(size=2,step=1):chrf"]
    both = meta_evaluate([folder, second], (), metrics, tasks, tests=MetricTests(50, interval="documents"))
    pooled, *single = both.results
    assert pooled.where == "wmt22.small de-en + wmt21.small de-en" and pooled.estimates[0].pairs == 6 + 3
    (mean,) = both.means
    assert mean.value("chrf") == pytest.approx(np.mean([result.value("chrf") for result in single]))
    assert pooled.intervals[0][0] <= pooled.intervals[0][1] and mean.intervals[0] is not None
    for result, (row, *_) in zip(single, ([r for r in both.contests if r.where == s.where] for s in single)):
        assert row.difference == pytest.approx(result.value(metrics[1]) - result.value("chrf"))
        assert row.p == result.p[0, 1]
    counts = win_counts(both.contests, 1.1)
    assert counts["of"] == counts["significant"] == 2


def test_a_run_folder_is_read(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run, out = str(tmp_path / "run"), tmp_path / "out"
    argv = ("score", str(folder), "-l", "de-en", "-m", "chrf", "--sweep", "window=3", "--ref", "refA", "--out", run)
    assert call(capsys, *argv)[0] == 0
    grid = ("--task", "sys:pearson", "--interval", "documents", "--draws", "20")
    code, read, _ = call(capsys, "meta", str(folder), "--scores", run, *grid, "--json", "--out", str(out))
    assert code == 0
    code, computed, _ = call(capsys, "meta", str(folder), "-m", "chrf", "--sweep", "window=1..3", *grid, "--json")
    assert code == 0
    first, again = (json.loads(text)["tasks"][0]["metrics"] for text in (read, computed))
    assert len(first) == 6 and first == again
    page = read_study(out / "meta.json")
    assert any(isinstance(panel, Grid) and panel.axes == ("window", "stride") for panel in page.panels)
    assert any(isinstance(panel, Table) and "wins" in panel.note for panel in page.panels)
    docs = folder / "documents" / "de-en.docs"
    docs.write_text(docs.read_text().replace("doc1", "doc9"))
    with pytest.raises(AlignmentError, match=r"this run is not of wmt22\.small"):
        meta_evaluate(folder, (), MetricSelection(files=(Path(run),)), PEARSON, tests=NONE)


def test_table_and_curves_of_contexts(folder: Path, second: Path, capsys: pytest.CaptureFixture[str],
                                      tmp_path: Path) -> None:
    argv = ("meta", str(folder), str(second), "-m", "bertscore@minilm", "--sweep", "context=2", "hyp=ref,own",
            "--sample", "1", "--draws", "10")
    code, out, _ = call(capsys, *argv, "--out", str(tmp_path / "out"))
    assert code == 0
    assert "hyp \\ prev" in out and "sys:pearson (mean of 2)" in out
    assert "With context, metrics agree better than by sentence in" in out
    record: dict[str, Any] = json.loads((tmp_path / "out" / "meta.json").read_text())
    assert len(record["grid"]) == 5 and record["means"][0]["sets"] == 2
    assert (tmp_path / "out" / "wmt21.small" / "metric-scores" / "de-en").is_dir()
    curves = [panel for panel in read_study(tmp_path / "out" / "meta.json").panels if isinstance(panel, Curves)]
    names = {line.name for panel in curves for line in panel.lines}
    assert names >= {"mean of 2 sets", "mean of 2 sets own context"}
