"""Scores for the tests of statistics, from plain numbers or from statistics of any metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wholetext.types import FloatArray, Rows, Scores, Signature, mean_stats


def mean(totals: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        return totals[..., :1] / totals[..., 1:]


def rows_of(sizes: Sequence[int], weight: FloatArray | None = None) -> Rows:
    """One row per segment of documents of these sizes."""
    size = np.asarray(sizes, dtype=np.int64)
    doc = np.repeat(np.arange(len(size)), size)
    start = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    weight = np.ones(len(doc)) if weight is None else weight
    return Rows(tuple(f"d{i}" for i in range(len(size))), size, doc, start, start + 1, weight)


def scores_of(stats: Any, sizes: Sequence[int], reduce: Any = None, **kept: Any) -> Scores:
    """(rows,) values or (rows, k) statistics of one system as Scores."""
    table = np.asarray(stats, dtype=np.float64)
    table = mean_stats(table) if table.ndim == 1 else table
    reduce = reduce or mean
    settings: dict[str, Any] = {
        "metric": "toy",
        "system": "x",
        "rows": rows_of(sizes),
        "stats": table,
        "reduce": reduce,
        "reduce_rows": reduce,
        "outputs": ("score",),
        "higher_is_better": True,
        "range": (0.0, 1.0),
        "signature": Signature({}),
    }
    return Scores(**{**settings, **kept})
