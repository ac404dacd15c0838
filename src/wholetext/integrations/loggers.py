"""Loggers by name: functions that send a run to an experiment tracker, built-in or of plug-ins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from wholetext import plugins, slices
from wholetext.errors import InputError, MissingExtra, PluginError, did_you_mean
from wholetext.scoring.comparison import compare
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Comparison

# (results, comparisons by spec, run folder or None) → one line on where the run was logged
Logger = Callable[[Results, Mapping[str, Comparison], Path | None], str]
BUILTIN = {  # name (and its package) → function
    "mlflow": "wholetext.integrations.mlflow_store:log",
    "wandb": "wholetext.integrations.wandb_store:log",
}


def find_logger(name: str) -> Logger:
    """Look up a logger; an error if it does not exist or its package is not installed."""
    if name in BUILTIN:
        package = find_spec(name)
        if package is None or package.origin is None:  # a folder of runs is no package
            raise MissingExtra(name, name)
        built_in: Logger = slices.load(BUILTIN[name])
        return built_in
    added = plugins.load(plugins.LOGGERS, BUILTIN)
    if name not in added:
        known = [*BUILTIN, *added]
        raise InputError(
            f"there is no logger {name!r}",
            next=did_you_mean(name, known)
            or f"loggers: {', '.join(known)}; a package can add others (`wholetext help plugins`)",
        )
    logger = added[name]()
    if not callable(logger):
        raise PluginError(
            f"the logger {name!r} of {plugins.origin(plugins.LOGGERS, name)} is not a function",
            next="a logger takes the results, the comparisons and the run folder",
        )
    plugin: Logger = logger
    return plugin


def log_run(results: Results, logger: str, folder: Path | str | None = None) -> str:
    """Send a run to an experiment tracker (``mlflow``, ``wandb`` or a plug-in); return where it was logged."""
    send = find_logger(logger)
    return send(results, compare(results), None if folder is None else Path(folder))
