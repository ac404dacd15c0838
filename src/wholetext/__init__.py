"""wholetext judges translations and other generated text as whole documents.

    corpus, outputs, _ = wt.read("corpus.jsonl")
    scores = wt.score(corpus, outputs, "paragraph(size=6):chrf")
    scores["my-system"].at("doc")

Names are loaded when they are first used, so importing wholetext costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from wholetext.version import __version__

if TYPE_CHECKING:
    from wholetext.errors import WholetextError, WholetextWarning
    from wholetext.io import LineFiles, read
    from wholetext.scoring.evaluate import Options, evaluate, metrics, open_run, score, score_texts
    from wholetext.scoring.results import Results, write_run
    from wholetext.significance.compare import Comparison, compare
    from wholetext.types import (
        Backend,
        Corpus,
        Document,
        Fit,
        FloatArray,
        Judgments,
        Metric,
        Output,
        Request,
        Row,
        Run,
        Scores,
        Signature,
        View,
        mean_stats,
    )

_HOME = {
    "errors": ("WholetextError", "WholetextWarning"),
    "scoring.evaluate": ("Options", "evaluate", "metrics", "open_run", "score", "score_texts"),
    "io": ("LineFiles", "read"),
    "scoring.results": ("Results", "write_run"),
    "significance.compare": ("Comparison", "compare"),
    "types": (
        "Backend", "Corpus", "Document", "Fit", "FloatArray", "Judgments", "Metric", "Output", "Request", "Row", "Run",
        "Scores", "Signature", "View", "mean_stats",
    ),
}
_WHERE = {name: f"wholetext.{home}" for home, names in _HOME.items() for name in names}

__all__ = [
    "Backend", "Comparison", "Corpus", "Document", "Fit", "FloatArray", "Judgments", "LineFiles", "Metric", "Options",
    "Output", "Request", "Results", "Row", "Run", "Scores", "Signature", "View", "WholetextError", "WholetextWarning",
    "__version__", "compare", "evaluate", "mean_stats", "metrics", "open_run", "read", "score", "score_texts",
    "write_run",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module 'wholetext' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """This package: ``evaluate`` and ``metrics`` stay functions, although importing the modules of these names would
    put the modules in their place."""

    evaluate = property(lambda _: __getattr__("evaluate"), lambda *_: None)
    metrics = property(lambda _: __getattr__("metrics"), lambda *_: None)


sys.modules[__name__].__class__ = _Package
