"""Correlations and pair counts of metric scores with human scores, row by row; NaN = not judged.

Scores are (systems, items). *Rows* are what a statistic is computed over: all scores at once
(``none``), one row per system or one per item; row values are then averaged. Undefined rows follow
mt-metrics-eval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.types import FloatArray, IntArray

Grouping = Literal["none", "item", "system"]
BoolArray = NDArray[np.bool_]
SHORT = 64  # rows up to this length compare all pairs at once
_BLOCK = 4_000_000  # pairs held at a time


def as_rows(values: FloatArray, average: Grouping) -> FloatArray:
    """Arrange (..., systems, items) as (..., rows, n), the vectors a statistic is computed over."""
    if average == "none":
        return values.reshape(*values.shape[:-2], 1, -1)
    if average == "system":
        return values
    return np.ascontiguousarray(np.swapaxes(values, -1, -2))


def both_known(gold: FloatArray, metric: FloatArray) -> BoolArray:
    """Mark the places where both scores are defined."""
    return np.asarray(~(np.isnan(gold) | np.isnan(metric)))


def ratio(top: FloatArray | IntArray, bottom: FloatArray | IntArray) -> FloatArray:
    """Divide without a warning where the quotient is undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(top / bottom)


def pearson_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Compute Pearson's r of (..., n) scores: (...,).

    NaN for fewer than two known scores or a constant side.
    """
    known = both_known(gold, metric)
    count = known.sum(axis=-1)
    undefined, centred = count < 2, []
    for values in (gold, metric):
        low = np.where(known, values, np.inf).min(axis=-1, initial=np.inf)
        high = np.where(known, values, -np.inf).max(axis=-1, initial=-np.inf)
        mean = np.where(known, values, 0.0).sum(axis=-1) / np.maximum(count, 1)
        undefined = undefined | (low == high)
        centred.append(np.where(known, values - mean[..., None], 0.0))
    x, y = centred
    r = ratio((x * y).sum(axis=-1), np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1)))
    return np.where(undefined, np.nan, np.clip(r, -1.0, 1.0))


def spearman_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Compute Spearman's rho of (..., n) scores, Pearson's r of their ranks: (...,)."""
    known = both_known(gold, metric)
    x, y = (rank_rows(np.where(known, values, np.nan)) for values in (gold, metric))
    return pearson_rows(x, y)


def williams_test(
    gold: FloatArray, first: FloatArray, second: FloatArray, one_sided: bool = True
) -> float:
    """Williams' test: p that two metrics correlate differently with the same (n,) human scores.

    The one-sided p is of the larger correlation, whichever it is (Graham and Baldwin 2014).
    """
    known = both_known(gold, first) & ~np.isnan(second)
    columns = gold[known], first[known], second[known]
    r12, r13, r23 = (float(pearson_rows(x, y)) for x, y in combinations(columns, 2))
    return williams(r12, r13, r23, int(known.sum()), one_sided)


def williams(r12: float, r13: float, r23: float, n: int, one_sided: bool = True) -> float:
    """Return p for r12 (gold, metric 1) against r13 (gold, metric 2), given r23, over n items.

    NaN for 3 or fewer.
    """
    if n <= 3:
        return float("nan")
    from scipy.special import stdtr

    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    top = (r12 - r13) * np.sqrt((n - 1) * (1 + r23))
    low = np.sqrt(2 * k * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3)
    p = float(stdtr(n - 3, -abs(top / low))) if low > 0 else (0.5 if top == 0 else 0.0)
    return p if one_sided else 2 * p


def rank_rows(values: FloatArray) -> FloatArray:
    """Rank (..., n) values within each row, from 1; ties share their mean rank, NaN stays NaN."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1, nan_policy="omit"))


def average_rows(
    values: FloatArray, weights: FloatArray | None = None, nan_as_zero: bool = False
) -> FloatArray:
    """Average (..., rows) values; undefined ones are left out or count as 0, and none give 0."""
    weight = np.ones(values.shape) if weights is None else np.broadcast_to(weights, values.shape)
    defined = ~np.isnan(values)
    total = np.where(defined, values * weight, 0.0).sum(axis=-1)
    count = (weight if nan_as_zero else np.where(defined, weight, 0.0)).sum(axis=-1)
    return np.where(count > 0, ratio(total, count), 0.0)


def zscore(values: FloatArray, known: BoolArray) -> FloatArray:
    """Standardise (..., rows, n) values over the last two axes; 0 where unknown or constant."""
    count = np.maximum(known.sum(axis=(-2, -1), keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=(-2, -1), keepdims=True) / count
    centred = np.where(known, values - mean, 0.0)
    spread = np.sqrt((centred * centred).sum(axis=(-2, -1), keepdims=True) / count)
    return np.where(known & (spread > 0), ratio(centred, spread), 0.0)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Pairs of one row (or arrays of rows): both sides agree, disagree, or at least one side is tied."""

    concordant: IntArray
    discordant: IntArray
    ties_gold: IntArray  # tied in gold only
    ties_metric: IntArray  # tied in the metric only
    ties_both: IntArray

    @property
    def total(self) -> IntArray:
        return (
            self.concordant + self.discordant + self.ties_gold + self.ties_metric + self.ties_both
        )

    @property
    def tau_b(self) -> FloatArray:
        """Kendall's tau-b; NaN where one side is all ties."""
        metric = self.total - self.ties_metric - self.ties_both
        gold = self.total - self.ties_gold - self.ties_both
        tau = ratio(ratio(self.concordant - self.discordant, np.sqrt(metric)), np.sqrt(gold))
        return np.where((metric == 0) | (gold == 0), np.nan, tau)

    @property
    def acc_eq(self) -> FloatArray:
        """Share of pairs ordered as gold orders them, equal where gold is equal; NaN without pairs."""
        return ratio(self.concordant + self.ties_both, self.total)

    @property
    def tau23(self) -> FloatArray:
        return 2 * self.acc_eq - 1


def count_pairs(gold: FloatArray, metric: FloatArray, epsilon: float = 0.0) -> PairCounts:
    """Count the pairs of each row of (..., n) scores; metric scores within ``epsilon`` are tied."""
    gold, metric = np.broadcast_arrays(gold, metric)
    shape, n = gold.shape[:-1], gold.shape[-1]
    flat_gold, flat_metric = gold.reshape(-1, n), metric.reshape(-1, n)
    step = max(1, _BLOCK // max(1, n * (n - 1) // 2))
    parts = [
        _compared(flat_gold[at : at + step], flat_metric[at : at + step], epsilon)
        for at in range(0, len(flat_gold), step)
    ]
    counts = np.concatenate(parts, axis=1) if parts else np.zeros((5, 0), dtype=np.int64)
    return PairCounts(*(column.reshape(shape) for column in counts))


def kendall_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Compute Kendall's tau-b of (..., n) scores: (...,); NaN where one side is all ties."""
    gold, metric = np.broadcast_arrays(gold, metric)
    if gold.shape[-1] <= SHORT:
        return count_pairs(gold, metric).tau_b
    from scipy.stats import kendalltau  # O(n log n)

    known = both_known(gold, metric).reshape(-1, gold.shape[-1])
    rows = zip(gold.reshape(known.shape), metric.reshape(known.shape), known)
    taus = [kendalltau(x[judged], y[judged]).statistic for x, y, judged in rows]
    return np.array(taus, dtype=np.float64).reshape(gold.shape[:-1])


def kendall_c_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """Stuart's tau-c: 2(C-D) / (n² (m-1)/m), m the smaller number of distinct values."""
    counts, known = count_pairs(gold, metric), both_known(gold, metric)
    ordered = np.sort(np.where(known, np.stack([gold, metric]), np.nan), axis=-1)  # NaN last
    steps = (ordered[..., 1:] != ordered[..., :-1]) & ~np.isnan(ordered[..., 1:])
    classes = (steps.sum(axis=-1) + known.any(axis=-1)).min(axis=0)
    most = ratio(known.sum(axis=-1) ** 2 * (classes - 1), classes)
    return np.where(classes < 2, np.nan, ratio(2 * (counts.concordant - counts.discordant), most))


def _compared(gold: FloatArray, metric: FloatArray, epsilon: float) -> IntArray:
    """Compare all pairs of (rows, n) scores: (5, rows) counts."""
    first, second = np.triu_indices(gold.shape[1], 1)
    known = both_known(gold, metric)
    usable = known[:, first] & known[:, second]  # (rows, pairs)
    gaps = (gold[:, first] - gold[:, second], 0.0), (metric[:, first] - metric[:, second], epsilon)
    x, y = ((gap > tied).astype(np.int8) - (gap < -tied) for gap, tied in gaps)
    kinds = (x * y > 0, x * y < 0, (x == 0) & (y != 0), (x != 0) & (y == 0), (x == 0) & (y == 0))
    return np.stack([np.count_nonzero(kind & usable, axis=1) for kind in kinds]).astype(np.int64)


CORRELATIONS = {"pearson": pearson_rows, "spearman": spearman_rows, "kendall": kendall_rows}


def correlations(vectors: Sequence[FloatArray], statistic: str = "pearson") -> FloatArray:
    """Correlate every two vectors where both are known: (vectors, vectors)."""
    table = np.eye(len(vectors))
    for (i, first), (j, second) in combinations(enumerate(vectors), 2):
        table[i, j] = table[j, i] = float(CORRELATIONS[statistic](first, second))
    return table
