"""Multiple comparisons: corrected p-values, and clusters that do not differ significantly."""

from __future__ import annotations

import numpy as np

from wholetext.types import FloatArray


def cluster_ranks(p: FloatArray, alpha: float = 0.05) -> list[int]:
    """Rank items, best first, from 1; ``p[i, j]``, i < j, is the p-value of i against j.

    An item opens a new cluster if any member of the current one has p ≤ α against it (Freitag et
    al. 2021).
    """
    table = np.asarray(p, dtype=np.float64)
    ranks: list[int] = []
    first = 0  # where the current cluster begins
    for item in range(len(table)):
        if np.any(table[first:item, item] <= alpha):
            first = item
        ranks.append(ranks[-1] + (first == item) if ranks else 1)
    return ranks


def holm(p: FloatArray) -> FloatArray:
    """Step-down adjusted p-values (Holm 1979); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m - i + 1 and never smaller than the one before.
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = (
        np.minimum(1.0, np.maximum.accumulate(values[order] * factors)) if len(order) else []
    )
    return adjusted


def holm_levels(p: FloatArray, alpha: float = 0.05) -> FloatArray:
    """Levels of Holm's procedure: α over the number of p-values that are no smaller."""
    values = np.asarray(p, dtype=np.float64)
    order = np.sort(values[~np.isnan(values)])
    no_smaller = np.maximum(len(order) - np.searchsorted(order, values), 1)
    return np.where(np.isnan(values), np.nan, alpha / no_smaller)
