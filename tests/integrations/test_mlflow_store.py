"""MLflow, with a folder as its store."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.integrations.mlflow_store import metric_names


def test_metrics_get_names_that_mlflow_takes() -> None:
    made = metric_names(["chrf", "slide(size=6,step=6):comet@a/b", "slide(size=6;step=6):comet@a/b", "chrf++"])
    assert [*made.values()] == ["chrf", "slide_size_6_step_6_.comet_a.b", "slide_size_6_step_6_.comet_a.b-2", "chrf-2"]


def test_a_run_is_logged_to_a_folder_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    results = wt.score(
        wt.Loaded(*load("de-en"), ()),
        ["chrf", "slide(size=6,step=6):bleu"],
        options=wt.Options(cache=False),
        significance=wt.Significance(draws=100),
        out=tmp_path / "run",
    )
    before = dict(os.environ)
    said = wt.integrations.log_run(results, "mlflow", tmp_path / "run")
    assert dict(os.environ) == before and said == f"mlflow: 4 runs in {(tmp_path / 'mlruns').as_uri()}"

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    client = mlflow.MlflowClient(tracking_uri=str(tmp_path / "mlruns"))
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
    results = wt.score(
        wt.Loaded(*load("de-en"), ()),
        ["chrf"],
        options=wt.Options(cache=False),
        significance=wt.Significance(draws=100),
    )
    with pytest.raises(wt.errors.WriteError, match="MLflow cannot log the run"):
        wt.integrations.log_run(results, "mlflow")


def test_names_from_anybody_stay_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of systems and corpora are data: all are logged or one is refused, and nothing is written elsewhere."""
    pytest.importorskip("mlflow")
    (tmp_path / "here" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "deep")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
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
