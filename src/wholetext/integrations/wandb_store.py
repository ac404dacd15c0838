"""Weights & Biases: one run per system, each metric with its interval, a table of documents."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wholetext.errors import WriteError, count
from wholetext.integrations.mlflow_store import metric_names, numbers
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Comparison
from wholetext.version import __version__


def log(results: Results, compared: Mapping[str, Comparison], folder: Path | None) -> str:
    """Log every system of a run to ``WANDB_PROJECT``, or to a project named after the corpus.

    ``WANDB_MODE=offline`` writes to the folder ``wandb`` (in ``WANDB_DIR``) and needs no network.
    """
    import wandb

    plain = re.sub(r"[^\w.-]+", "-", results.corpus.id)[:128].strip("-")
    project = os.environ.get("WANDB_PROJECT") or plain or "wholetext"
    try:
        offline = [
            _log_system(wandb, project, results, compared, system, folder)
            for system in results.systems
        ]
    except (wandb.errors.Error, OSError, ValueError) as fault:
        raise WriteError(
            f"Weights & Biases cannot log the run ({str(fault)[:300]})",
            where=project,
            next="check WANDB_PROJECT and `wandb login`, or set WANDB_MODE=offline; the scores "
            "themselves are not affected",
        ) from fault
    later = ", offline: `wandb sync` sends them" if any(offline) else ""
    return f"wandb: {count(len(results.systems), 'run')} in the project {project}{later}"


def _log_system(
    wandb: Any,
    project: str,
    results: Results,
    compared: Mapping[str, Comparison],
    system: str,
    folder: Path | None,
) -> bool:
    """Log a system beside whatever run is active; tell whether it was offline."""
    corpus, names = results.corpus, metric_names(list(compared))
    scores = {names[spec]: results.scores[spec][system] for spec in compared}
    config = {
        "wholetext": __version__,
        "corpus": corpus.id,
        "langs": "-".join(corpus.langs),
        "documents": len(corpus),
        "segments": sum(map(len, corpus.docs)),
        "system": system,
        "signatures": {name: str(of.signature) for name, of in scores.items()},
        "notes": [str(note) for note in results.notes],
    }
    settings = wandb.Settings(silent=True, console="off")
    with wandb.init(
        project=project, name=system, config=config, reinit="create_new", settings=settings
    ) as run:
        for spec, comparison in compared.items():
            for suffix, value in numbers(comparison[system]).items():
                run.summary[names[spec] + suffix] = value
        rows = zip(corpus.ids, *(of.at("doc").tolist() for of in scores.values()))
        table = wandb.Table(columns=["document", *scores], data=[list(row) for row in rows])
        run.log({"documents": table})
        if folder is not None:
            shutil.copy(folder / "run.json", run.dir)  # what is there is sent at the end
        return bool(run.offline)
