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
from wholetext.scoring.significance.compare import Comparison
from wholetext.version import __version__

_TAG = 5000  # characters that a tag may have


def log(results: Results, compared: Mapping[str, Comparison], folder: Path | None) -> str:
    """Log every system of a run; the store is ``MLFLOW_TRACKING_URI``, or the folder ``mlruns``."""
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
        except (MlflowException, OSError) as fault:
            raise WriteError(
                f"MLflow cannot log the run ({str(fault)[:300]})",
                where=uri,
                next="check MLFLOW_TRACKING_URI; the scores themselves are not affected",
            ) from fault
    return f"mlflow: {count(len(results.systems), 'run')} in {uri}"


@contextmanager
def _settings() -> Iterator[None]:
    """Settings for MLflow 3: allow a folder as store, and do not send usage reports."""
    given = {
        name: os.environ.get(name)
        for name in ("MLFLOW_ALLOW_FILE_STORE", "MLFLOW_DISABLE_TELEMETRY")
    }
    os.environ.update({name: "true" for name, value in given.items() if value is None})
    try:
        yield
    finally:
        for name in [name for name, value in given.items() if value is None]:
            os.environ.pop(name, None)


def _experiment(client: Any, name: str) -> str:
    found = client.get_experiment_by_name(name)
    return str(found.experiment_id if found else client.create_experiment(name))


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
        name, one, scores = names[spec], comparison[system], results.scores[spec][system]
        for key, value in (
            (name, one.score),
            (f"{name}.low", one.interval.low),
            (f"{name}.high", one.interval.high),
        ):
            if np.isfinite(
                value
            ):  # stores refuse NaN in different ways; a score that is missing is undefined
                client.log_metric(run, key, value)
        client.set_tag(run, f"signature.{name}", str(scores.signature)[:_TAG])
    client.set_tag(run, "notes", "\n".join(results.notes)[:_TAG])
    if folder is not None:
        client.log_artifact(run, str(folder / "run.json"))
    client.set_terminated(run)


def metric_names(specs: list[str]) -> dict[str, str]:
    """Spec → a name that MLflow takes: letters, digits, blanks and ``_-./:``; equal ones are numbered."""
    made: dict[str, str] = {}
    for spec in specs:
        plain = (
            re.sub(r"[^\w\-. /:]+", "_", spec, flags=re.ASCII)
            .strip("_")
            .replace("/", ".")
            .replace(":", ".")
        )
        taken = sum(
            re.fullmatch(rf"{re.escape(plain)}(-\d+)?", other) is not None
            for other in made.values()
        )
        made[spec] = f"{plain}-{taken + 1}" if taken else plain
    return made
