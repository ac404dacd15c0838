"""Figures without a browser: every one in every format, whole files, no network."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from tests.reporting import study_files
from tests.reporting.report_material import big_run, full_run
from wholetext.errors import MissingExtra, RunError, SpecError
from wholetext.reporting import analyse, read_study

pytest.importorskip("vl_convert", reason="the report extra is not installed")
from wholetext.reporting.figures import figures, leaderboard, styled, write_figures


@pytest.mark.long
def test_every_figure_of_a_run_and_its_studies(tmp_path: Path) -> None:
    analysis = analyse(full_run(systems=2))
    study_files.make(tmp_path)
    files = ("meta/meta", "windows/grid", "contexts/grid", "contrast/contrast", "contrast/contrast")
    studies = [read_study(tmp_path / f"{file}.json") for file in files]
    names = [name for name, _ in figures(analysis, studies)]
    wanted = "leaderboard compare documents-chrf distribution-blonde scatter-bleu categories-blonde"
    assert set(wanted.split()) <= set(names)
    for begins in ("meta-2-agreement-by", "meta-6-by-paragraph-length", "sweep-1-chrf-by-window-and-stride",
                   "sweep-2-share-of-segments-in-no-window", "sweep2-1-chrf-by-size-of-context", "contrast-3-by-type",
                   "contrast2-1-accuracy"):  # fmt: skip
        assert any(name.startswith(begins) for name in names), begins
    assert any("correlation-between-metrics" in name for name in names)
    assert len(set(names)) == len(names) and all(name == Path(name).name for name in names)


@pytest.mark.long
def test_files_are_whole_in_each_format(tmp_path: Path) -> None:
    files = write_figures(analyse(big_run(documents=3, segments=2, systems=1)), [], tmp_path, ["pdf", "svg", "png"])
    assert sorted({file.stem for file in files}) == ["distribution-bertscore", "documents-bertscore", "leaderboard"]
    assert len(files) == 9
    for file in files:
        data = file.read_bytes()
        if file.suffix == ".pdf":
            assert data.startswith(b"%PDF") and b"%%EOF" in data[-32:]
        elif file.suffix == ".svg":
            text = data.decode("utf-8")
            assert text.lstrip().startswith("<svg") and text.rstrip().endswith("</svg>")
        else:
            width, height = struct.unpack(">II", data[16:24])
            assert data.startswith(b"\x89PNG") and width > 300 and height > 100


def test_numbers_of_the_leaderboard_are_in_its_chart() -> None:
    analysis = analyse(full_run(systems=2))
    chart = leaderboard(analysis).to_dict()
    rows = [row for data in chart["datasets"].values() for row in data] if "datasets" in chart else []
    rows = rows or [row for one in chart["concat"] for row in one["data"]["values"]]
    assert {row["system"] for row in rows} == set(analysis.systems)
    assert {row["score"] for row in rows} == {score for one in analysis.standings for score in one["score"]}


def test_unknown_format_is_answered(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no figure format 'jpeg'"):
        write_figures(None, [], tmp_path, ["jpeg"])


@pytest.mark.long
def test_results_plot_the_charts_of_the_report() -> None:
    run = full_run(systems=2)
    chart = run.plot().to_dict()
    assert chart["config"]["background"] == "white"
    assert chart["concat"] == styled(leaderboard(analyse(run))).to_dict()["concat"]
    for kind in ("compare", "documents", "distribution", "scatter"):
        assert run.plot(kind).to_dict()["$schema"]
    assert "chrf" in str(run.plot("documents", "chrf").to_dict()) != str(run.plot("documents", "bleu").to_dict())
    assert run.plot("categories", "blonde").to_dict()["$schema"]


def test_an_unknown_chart_or_metric_is_answered() -> None:
    run = big_run(documents=2, segments=2, systems=1)
    with pytest.raises(SpecError, match="no chart 'leaderbord'\n  → did you mean leaderboard"):
        run.plot("leaderbord")
    with pytest.raises(SpecError, match="choose one of leaderboard, documents, distribution"):
        run.plot("xyz")  # and, with one system, nothing to compare
    with pytest.raises(RunError, match="there is no metric 'chrf'"):
        run.plot("documents", "chrf")


def test_without_altair_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wholetext.reporting.figures")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"pip install 'wholetext\[report\]'"):
        big_run(documents=2, segments=2, systems=1).plot()
