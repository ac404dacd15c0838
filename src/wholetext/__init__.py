"""wholetext judges translations and other generated text as whole documents.

    corpus, outputs, _ = wt.read("corpus.jsonl")
    scores = wt.score(corpus, outputs, "paragraph(size=6):chrf")
    scores["my-system"].at("doc")

Names are loaded when they are first used, so importing wholetext costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from wholetext.version import __version__

if TYPE_CHECKING:
    from wholetext.errors import WholetextError, WholetextWarning
    from wholetext.io import LineFiles, read
    from wholetext.scoring.evaluate import Options, evaluate, list_metrics, open_run, score, score_texts
    from wholetext.scoring.results import Results, write_run
    from wholetext.significance.compare import Comparison, compare
    from wholetext.types import (
        Backend,
        Corpus,
        Document,
        Excerpt,
        Fit,
        FloatArray,
        Judgments,
        Metric,
        Output,
        Request,
        Row,
        Runtime,
        Scores,
        Signature,
        mean_stats,
    )

_HOME = {
    "errors": ("WholetextError", "WholetextWarning"),
    "scoring.evaluate": ("Options", "evaluate", "list_metrics", "open_run", "score", "score_texts"),
    "io": ("LineFiles", "read"),
    "scoring.results": ("Results", "write_run"),
    "significance.compare": ("Comparison", "compare"),
    "types": (
        "Backend", "Corpus", "Document", "Excerpt", "Fit", "FloatArray", "Judgments", "Metric", "Output", "Request",
        "Row", "Runtime", "Scores", "Signature", "mean_stats",
    ),
}
_WHERE = {name: f"wholetext.{home}" for home, names in _HOME.items() for name in names}

__all__ = [
    "Backend", "Comparison", "Corpus", "Document", "Excerpt", "Fit", "FloatArray", "Judgments", "LineFiles", "Metric",
    "Options", "Output", "Request", "Results", "Row", "Runtime", "Scores", "Signature", "WholetextError",
    "WholetextWarning", "__version__", "compare", "evaluate", "list_metrics", "mean_stats", "open_run", "read", "score",
    "score_texts", "write_run",
]


_RENAMED = {"Run": "Runtime", "View": "Excerpt"}  # names of interface version 1, until 0.4


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        from warnings import warn

        warn(f"wholetext.{name} is now wholetext.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _WHERE:
        raise AttributeError(f"module 'wholetext' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
