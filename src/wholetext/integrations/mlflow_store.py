"""MLflow: one run per system, each metric with its interval, signatures and notes as tags."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import WriteError, count
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Comparison, SystemResult
from wholetext.version import __version__

_TAG = 5000  # characters that a tag may have


def log(results: Results, compared: Mapping[str, Comparison], folder: Path | None) -> str:
    """Log every system of a run to ``MLFLOW_TRACKING_URI``, or to the folder ``mlruns``."""
    with _settings():
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException

        uri = os.environ.get("MLFLOW_TRACKING_URI") or Path("mlruns").resolve().as_uri()
        try:
            client = MlflowClient(tracking_uri=uri)
            experiment = _experiment(
                client, os.environ.get("MLFLOW_EXPERIMENT_NAME") or results.corpus.id
            )
            for system in results.systems:
                _log_system(client, experiment, results, compared, system, folder)
        except (
            MlflowException,
            OSError,
            ValueError,
        ) as fault:  # ValueError: a name of half characters
            raise WriteError(
                f"MLflow cannot log the run ({str(fault)[:300]})",
                where=uri,
                next="check MLFLOW_TRACKING_URI and the names of systems; the scores themselves are not affected",
            ) from fault
    return f"mlflow: {count(len(results.systems), 'run')} in {uri}"


@contextmanager
def _settings() -> Iterator[None]:
    """Settings for MLflow 3: allow a folder as store, and do not send usage reports."""
    unset = {"MLFLOW_ALLOW_FILE_STORE", "MLFLOW_DISABLE_TELEMETRY"} - os.environ.keys()
    os.environ.update(dict.fromkeys(unset, "true"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)


def _experiment(client: Any, name: str) -> str:
    experiment = client.get_experiment_by_name(name)
    return str(experiment.experiment_id if experiment else client.create_experiment(name))


def _log_system(
    client: Any,
    experiment: str,
    results: Results,
    compared: Mapping[str, Comparison],
    system: str,
    folder: Path | None,
) -> None:
    corpus = results.corpus
    tags = {"wholetext": __version__, "corpus": corpus.id, "langs": "-".join(corpus.langs)}
    run = client.create_run(experiment, run_name=system, tags=tags).info.run_id
    params = {"documents": len(corpus), "segments": sum(map(len, corpus.docs)), "system": system}
    for key, value in params.items():
        client.log_param(run, key, value)
    names = metric_names(list(compared))
    for spec, comparison in compared.items():
        for suffix, value in numbers(comparison[system]).items():
            client.log_metric(run, names[spec] + suffix.replace("/", "."), value)
        signature = str(results.scores[spec][system].signature)
        client.set_tag(run, f"signature.{names[spec]}", signature[:_TAG])
    client.set_tag(run, "notes", "\n".join(results.notes)[:_TAG])
    if folder is not None:
        client.log_artifact(run, str(folder / "run.json"))
    client.set_terminated(run)


def numbers(standing: SystemResult) -> dict[str, float]:
    """Score and interval by suffix; what is undefined is left out, since stores refuse NaN."""
    low, high = standing.interval.low, standing.interval.high
    values = {"": standing.score, "/low": low, "/high": high}
    return {suffix: float(value) for suffix, value in values.items() if np.isfinite(value)}


def metric_names(specs: list[str]) -> dict[str, str]:
    """Map specs to names that MLflow accepts; equal ones are numbered."""
    names: dict[str, str] = {}
    for spec in specs:
        plain = re.sub(r"[^\w\-. /:]+", "_", spec, flags=re.ASCII).strip("_")
        plain = re.sub("[/:]", ".", plain)
        taken = sum(
            re.fullmatch(rf"{re.escape(plain)}(-\d+)?", other) is not None
            for other in names.values()
        )
        names[spec] = f"{plain}-{taken + 1}" if taken else plain
    return names
