"""MLflow, with a folder as its store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.integrations.mlflow_store import metric_names


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "here" / "deep"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def scored(folder: Path) -> wt.Results:
    """The demo corpus, compared and written to a run folder."""
    loaded, specs = wt.Loaded(*load("de-en")), ["chrf", "slide(size=6,step=6):bleu"]
    options, significance = wt.Options(cache=False), wt.Significance(draws=100)
    return wt.score(loaded, specs, options=options, significance=significance, out=folder / "run")


def test_metrics_get_names_that_mlflow_takes() -> None:
    made = metric_names(["chrf", "slide(size=6,step=6):comet@a/b", "slide(size=6;step=6):comet@a/b", "chrf++"])
    assert [*made.values()] == ["chrf", "slide_size_6_step_6_.comet_a.b", "slide_size_6_step_6_.comet_a.b-2", "chrf-2"]


def test_a_run_is_logged_to_a_folder_and_read_back(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    results = scored(here)
    before = dict(os.environ)
    said = wt.integrations.log_run(results, "mlflow", here / "run")
    assert dict(os.environ) == before and said == f"mlflow: 4 runs in {(here / 'mlruns').as_uri()}"

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    client = mlflow.MlflowClient(tracking_uri=str(here / "mlruns"))
    experiment = client.get_experiment_by_name("demo-de-en")
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert set(runs) == set(results.systems)
    for system, run in runs.items():
        scores, standing = results["chrf"][system], results.comparisons["chrf"][system]
        assert run.info.status == "FINISHED" and run.data.metrics["chrf"] == scores.score
        assert run.data.metrics["chrf.low"] == standing.interval.low
        assert run.data.tags["signature.chrf"] == str(scores.signature)
        assert "slide_size_6_step_6_.bleu" in run.data.metrics and run.data.params["documents"] == "12"
        assert [file.path for file in client.list_artifacts(run.info.run_id)] == ["run.json"]
    wt.integrations.log_run(results, "mlflow")  # once more, to the same experiment
    assert len(client.search_runs([experiment.experiment_id])) == 8


def test_a_store_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "file" / "store").as_uri())
    with pytest.raises(wt.errors.WriteError, match="MLflow cannot log the run"):
        wt.integrations.log_run(scored(tmp_path), "mlflow")


def test_names_from_anybody_stay_in_the_store(tmp_path: Path) -> None:
    """Names of systems and corpora are data: all are logged or one is refused, and nothing is written elsewhere."""
    pytest.importorskip("mlflow")
    doc = wt.Document("../d", ("a b c",), {"A": ("a b d",)})
    for corpus in ("../../evil", "<script>alert(1)</script>", "x" * 600, "a\x1b[31m\nb", "", "\u202e", "50 % of {it}"):
        for system in ("../../evil", "/etc/passwd", "a\nb", "x" * 600, "<img src=x>", "${jndi:x}", "..", "\ud800"):
            outputs = [wt.Output(system, {doc.id: ("a b e",)})]
            results = wt.score(wt.Loaded(wt.Corpus(corpus, ("de", "en"), (doc,)), outputs), "chrf",
                               options=wt.Options(cache=False, flags=False))  # fmt: skip
            try:
                wt.integrations.log_run(results, "mlflow")
            except wt.errors.WholetextError as refused:
                assert refused.next, (corpus, system)
    assert {path.name for path in tmp_path.iterdir()} == {"here"}
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"deep"}
    assert {path.name for path in Path.cwd().iterdir()} <= {"mlruns"}
