"""The report from Python: of results or folders, as a page and as figures."""

from __future__ import annotations

from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.reporting.page import read_sources

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "run"
    wt.score(wt.Loaded(*load("de-en")), "chrf", significance=wt.Significance(draws=50), out=folder)
    return folder


def test_a_folder_and_its_results_give_the_same_page(run: Path, tmp_path: Path) -> None:
    (page,) = wt.report(run)
    assert page == run / "report.html"
    (other,) = wt.report([wt.open_run(run)], tmp_path / "other.html")
    assert other.read_bytes() == page.read_bytes()


def test_results_need_a_name_for_the_page_and_a_report_is_of_one_run(run: Path, tmp_path: Path) -> None:
    with pytest.raises(wt.errors.InputError, match="no file name"):
        wt.report(wt.open_run(run))
    with pytest.raises(wt.errors.RunError, match="a report is about one"):
        wt.report([run, run], tmp_path / "two.html")
    assert not (tmp_path / "two.html").exists()


def test_a_sweep_beside_a_run_is_a_study_of_it(run: Path, tmp_path: Path) -> None:
    """A sweep's folder holds a run too, which is shown only where there is no other."""
    results = wt.open_run(run)
    swept = wt.sweep(results.corpus, results.outputs, "chrf", wt.scoring.Axes(window=2), wt.Options(cache=False))
    wt.scoring.write_sweep(swept, tmp_path / "windows")
    for sources in ([run, tmp_path / "windows"], [tmp_path / "windows", run]):
        found, studies = read_sources(sources)
        assert found is not None and set(found.scores) == set(results.scores)
        assert [study.kind for study in studies] == ["sweep"]
    alone, _ = read_sources([tmp_path / "windows"])
    assert alone is not None and set(alone.scores) == set(swept.results.scores)
    (tmp_path / "meta").mkdir()
    with pytest.raises(wt.errors.RunError, match="neither a run nor a study") as caught:
        read_sources([run, tmp_path / "meta"])
    assert caught.value.where == str(tmp_path / "meta")
