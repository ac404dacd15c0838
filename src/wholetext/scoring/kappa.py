"""Cohen's kappa, which several slices need."""

from __future__ import annotations

import numpy as np

from wholetext.types import FloatArray


def cohen_kappa(x: FloatArray, y: FloatArray) -> float:
    """Cohen's kappa (1960) of two raters over the items both rated; NaN where it is undefined."""
    known = ~(np.isnan(x) | np.isnan(y))
    if not known.any():
        return float("nan")
    x, y = x[known], y[known]
    labels = np.unique(np.concatenate([x, y]))[:, None]
    by_chance = float((x == labels).mean(axis=1) @ (y == labels).mean(axis=1))
    return 1 - float((x != y).mean()) / (1 - by_chance) if by_chance < 1 else float("nan")
