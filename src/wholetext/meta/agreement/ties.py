"""Tie calibration: the threshold below which metric scores count as equal that maximises acc_eq.

Exact over all pairs of every row (Deutsch, Foster and Freitag 2023, "Ties Matter", section 5):
tying one pair changes the mean over rows by a fixed amount, so sorting pairs by distance and one
cumulative sum give the whole curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholetext.meta.agreement.correlation import Average, BoolArray, as_rows, both_known, ratio
from wholetext.types import FloatArray, IntArray

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
    pairs = RowPairs.of(x, y)
    rows = int((pairs.per_row > 0).sum())
    if not rows:
        return Calibration(np.nan, np.nan, 0, 0, np.nan)
    epsilon = _best_epsilon(pairs, rows)
    value, ties = (float(np.nanmean(pairs.acc_eq(limit))) for limit in (epsilon, np.inf))
    return Calibration(value, epsilon, rows, int(pairs.per_row.sum()), ties)


@dataclass(frozen=True, eq=False)
class RowPairs:
    """All pairs of entries within each row; arrays are (rows, pairs)."""

    usable: BoolArray  # both sides of both entries are known
    tied: BoolArray  # in gold
    right: BoolArray  # the metric orders or ties the pair as gold does
    distance: FloatArray  # of the metric's scores

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray) -> RowPairs:
        """(rows, n) of gold and of a metric."""
        first, second = np.triu_indices(x.shape[1], 1)
        gold_gap, metric_gap = x[:, first] - x[:, second], y[:, first] - y[:, second]
        usable = both_known(gold_gap, metric_gap)
        right = usable & (np.sign(gold_gap) == np.sign(metric_gap))
        return cls(usable, usable & (gold_gap == 0), right, np.abs(metric_gap))

    @property
    def per_row(self) -> IntArray:
        return np.asarray(self.usable.sum(axis=1))

    def acc_eq(self, epsilon: float) -> FloatArray:
        """(rows,) share of pairs that are right at a threshold; NaN without pairs."""
        tied = (self.distance <= epsilon) & (epsilon > 0)
        return ratio(np.where(tied, self.tied, self.right).sum(axis=1), self.per_row)


def _best_epsilon(pairs: RowPairs, rows: int) -> float:
    """Find the smallest threshold that reaches the maximum.

    Tying gains the pairs that gold ties and loses those that were right; others change nothing.
    """
    gains, losses = pairs.tied & ~pairs.right, pairs.right & ~pairs.tied
    weight = 1 / (np.maximum(pairs.per_row, 1) * rows)
    change = ((gains * 1.0 - losses) * weight[:, None])[gains | losses]
    distance = pairs.distance[gains | losses]
    order = np.argsort(distance)
    distance, value = distance[order], np.cumsum(change[order])
    last = np.append(distance[1:] != distance[:-1], True)[: len(value)]  # of each distinct distance
    distance, value = distance[last], value[last]
    if not len(value) or value.max() <= _EQUAL:
        return 0.0
    return float(distance[int(np.argmax(value >= value.max() - _EQUAL))])
