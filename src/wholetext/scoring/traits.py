"""Optional attributes of metrics: what only judges, models or pairwise metrics declare."""

from __future__ import annotations

from typing import Any

from wholetext.types import Metric

DEFAULTS: dict[str, Any] = {
    "block": 1024,  # requests that are worth measuring together
    "cacheable": True,  # False where a row depends on which other rows are measured with it
    "remote": False,  # a service does the work: device and precision have no effect
    "own_context": False,  # auto context of the hypothesis is its own also where there are references
    "rivals": False,  # refs of a request are the outputs of the other systems
    "worst": None,  # the score of what has no counterpart (nulls=worst); by the range
    "sums": (),  # outputs that add up over a document: they have no worst score
    "reduce_docs": None,  # (totals) → scores of documents, where they are no means
    "shows": None,  # (request, run) → (side, tokens with «the scored ones» marked)
    "seen": None,  # (request, run) → characters of a hypothesis that the model reads
    "planned": None,  # (requests, run) → the calls to a service
    "outcomes": None,  # (details) → facts for the signature that are known after measuring
}


def trait(metric: Metric, name: str) -> Any:
    """Return an optional attribute of a metric, or its default."""
    return getattr(metric, name, DEFAULTS[name])
