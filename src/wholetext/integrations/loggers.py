"""Loggers by name: a function that sends a run to an experiment tracker; packages add others by entry point."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from wholetext import plugins
from wholetext.errors import InputError, MissingExtra, PluginError, did_you_mean
from wholetext.scoring.comparison import compare_run
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Comparison

# results, comparisons by spec, the run folder if there is one → where it was logged, in a line
Logger = Callable[[Results, dict[str, Comparison], Path | None], str]
BUILTIN = {
    "mlflow": ("wholetext.integrations.mlflow_store:log", "mlflow")
}  # name → function, package


def find_logger(name: str) -> Logger:
    """The logger of this name; an error where there is none or its package is not installed."""
    if name in BUILTIN:
        place, package = BUILTIN[name]
        if find_spec(package) is None:
            raise MissingExtra(package, name)
        module, _, attribute = place.partition(":")
        built_in: Logger = getattr(import_module(module), attribute)
        return built_in
    added = plugins.load(plugins.LOGGERS, BUILTIN)
    if name not in added:
        known = [*BUILTIN, *added]
        raise InputError(
            f"there is no logger {name!r}",
            next=did_you_mean(name, known)
            or f"loggers: {', '.join(known)}; a package can add others (docs/plugins.md)",
        )
    found = added[name]()
    if not callable(found):
        raise PluginError(
            f"the logger {name!r} of {plugins.origin(plugins.LOGGERS, name)} is not a function",
            next="a logger takes the results, the comparisons and the run folder",
        )
    logger: Logger = found
    return logger


def log_run(results: Results, logger: str, folder: Path | str | None = None) -> str:
    """Send the scores of a run to an experiment tracker (``mlflow``, or one of a plug-in); returns where they are."""
    send = find_logger(logger)
    return send(results, compare_run(results)[1], None if folder is None else Path(folder))
