"""Exact optimal transport, by POT (Flamary et al. 2021): what mover and ds-sent(match=optimal) compare texts with."""

from __future__ import annotations

import numpy as np

from wholetext.types import FloatArray


def earth_movers_distance(cost: FloatArray, here: FloatArray | None = None, there: FloatArray | None = None) -> float:
    """The least cost of moving the mass ``here`` (n,) to ``there`` (m,) at (n, m) costs; uniform mass by default."""
    from ot import emd2

    n, m = cost.shape
    here = np.full(n, 1 / n) if here is None else here / here.sum()
    there = np.full(m, 1 / m) if there is None else there / there.sum()
    return float(emd2(here, there, np.ascontiguousarray(cost, dtype=np.float64), numItermax=10_000_000))
