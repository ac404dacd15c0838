"""Tie calibration: the threshold below which metric scores count as equal that maximises acc_eq.

Exact over all pairs of every row (Deutsch, Foster and Freitag 2023, "Ties Matter", section 5):
tying one pair changes the mean over rows by a fixed amount, so sorting pairs by distance and one
cumulative sum give the whole curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholetext.meta.agreement.correlation import Average, as_rows, both_known, ratio
from wholetext.types import FloatArray

_EQUAL = 1e-11  # values this close are one maximum: the smallest threshold is reported


@dataclass(frozen=True)
class Calibration:
    """The best value, the smallest threshold that reaches it, rows averaged, pairs compared."""

    value: float
    epsilon: float
    rows: int
    pairs: int
    gold_ties: float  # share of pairs tied in gold, averaged over rows


def calibrate(gold: FloatArray, metric: FloatArray, average: Average) -> Calibration:
    """(systems, items) twice; one threshold for all rows. NaN throughout where there is no pair."""
    x, y = as_rows(gold, average), as_rows(metric, average)
    first, second = np.triu_indices(x.shape[1], 1)
    gold_gap, metric_gap = x[:, first] - x[:, second], y[:, first] - y[:, second]  # (rows, pairs)
    usable, distance = both_known(gold_gap, metric_gap), np.abs(metric_gap)
    tied = usable & (gold_gap == 0)
    right = usable & (np.sign(gold_gap) == np.sign(metric_gap))
    per_row = usable.sum(axis=1)
    rows = int((per_row > 0).sum())
    if not rows:
        return Calibration(np.nan, np.nan, 0, 0, np.nan)
    # tying gains the pairs that gold ties and loses those that were right; others change nothing
    change = (tied & ~right) * 1.0 - (right & ~tied)
    change /= (np.maximum(per_row, 1) * rows)[:, None]
    epsilon = _best_epsilon(distance[change != 0], change[change != 0])
    now_right = np.where((distance <= epsilon) & (epsilon > 0), tied, right)
    value, ties = (float(np.nanmean(ratio(of.sum(axis=1), per_row))) for of in (now_right, tied))
    return Calibration(value, epsilon, rows, int(per_row.sum()), ties)


def _best_epsilon(distance: FloatArray, change: FloatArray) -> float:
    """Find the smallest threshold that reaches the maximum, by what tying each pair changes."""
    order = np.argsort(distance)
    distance, value = distance[order], np.cumsum(change[order])
    last = np.append(distance[1:] != distance[:-1], True)[: len(value)]  # of each distinct distance
    distance, value = distance[last], value[last]
    if not len(value) or value.max() <= _EQUAL:
        return 0.0
    return float(distance[int(np.argmax(value >= value.max() - _EQUAL))])
