"""Rank clusters: runs of systems (or metrics) that no test tells apart."""

from __future__ import annotations

import numpy as np

from wholetext.types import FloatArray


def cluster_ranks(p: FloatArray, alpha: float = 0.05) -> list[int]:
    """Rank of each item, 1 for the first cluster; ``p[i, j]`` for i < j is the p-value of i against j, best first.

    Walking down the list, an item opens a new cluster if any earlier member of the current one has p ≤ α against it,
    as in the WMT metrics task (Freitag et al. 2021). NaN is no evidence.
    """
    table = np.asarray(p, dtype=np.float64)
    ranks: list[int] = []
    first = 0  # where the current cluster begins
    for item in range(len(table)):
        if np.any(table[first:item, item] <= alpha):
            first = item
        ranks.append(ranks[-1] + (first == item) if ranks else 1)
    return ranks
