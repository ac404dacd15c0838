"""Counts of concordant, discordant and tied pairs, and the Kendall family computed from them.

Short rows compare all pairs at once; long rows use a wavelet matrix over ranks: O(n log n) time, O(n) memory, any tie
threshold. Kendall's tau-b and tau-c; tau23 and acc_eq count correctly predicted ties as agreement (Deutsch, Foster and
Freitag 2023, "Ties Matter", eq. 6-7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wholetext.meta.agreement.correlation import both_known
from wholetext.types import FloatArray, IntArray

SHORT = 64  # rows up to this length compare all pairs at once
_BLOCK = 4_000_000  # pairs held at a time


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
        return self.concordant + self.discordant + self.ties_gold + self.ties_metric + self.ties_both

    @property
    def tau_b(self) -> FloatArray:
        """Kendall's tau-b; NaN where one side is all ties."""
        metric = self.total - self.ties_metric - self.ties_both
        gold = self.total - self.ties_gold - self.ties_both
        with np.errstate(invalid="ignore", divide="ignore"):
            tau = (self.concordant - self.discordant) / np.sqrt(metric) / np.sqrt(gold)
        return np.where((metric == 0) | (gold == 0), np.nan, tau)

    @property
    def acc_eq(self) -> FloatArray:
        """Share of pairs ordered as gold orders them, equal where gold is equal; NaN without pairs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((self.concordant + self.ties_both) / self.total)

    @property
    def tau23(self) -> FloatArray:
        """The same as a correlation: 2·acc_eq - 1."""
        return 2 * self.acc_eq - 1


def count_pairs(gold: FloatArray, metric: FloatArray, epsilon: float = 0.0) -> PairCounts:
    """(..., n) twice → counts per row; metric scores no farther apart than ``epsilon`` are tied."""
    gold, metric = np.broadcast_arrays(gold, metric)
    shape, n = gold.shape[:-1], gold.shape[-1]
    flat_gold, flat_metric = gold.reshape(-1, n), metric.reshape(-1, n)
    if n <= SHORT:
        step = max(1, _BLOCK // max(1, n * (n - 1) // 2))
        starts = range(0, len(flat_gold), step)
        parts = [_short(flat_gold[at : at + step], flat_metric[at : at + step], epsilon) for at in starts]
    else:
        parts = [_long(x, y, epsilon) for x, y in zip(flat_gold, flat_metric)]
    counts = np.concatenate(parts, axis=1) if parts else np.zeros((5, 0), dtype=np.int64)
    return PairCounts(*(column.reshape(shape) for column in counts))


def kendall_b_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """(..., n) twice → (...,) tau-b."""
    return count_pairs(gold, metric).tau_b


def kendall_c_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """(..., n) twice → (...,) Stuart's tau-c: 2(C-D) / (n² (m-1)/m), m the smaller number of distinct values."""
    counts = count_pairs(gold, metric)
    known = both_known(gold, metric)
    n = known.sum(axis=-1)
    classes = np.minimum(_distinct(gold, known), _distinct(metric, known))
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = 2 * (counts.concordant - counts.discordant) / (n**2 * (classes - 1) / classes)
    return np.where(classes < 2, np.nan, tau)


def tau23_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """(..., n) twice → (...,) tau23 without a tie threshold."""
    return count_pairs(gold, metric).tau23


def acc_eq_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """(..., n) twice → (...,) acc_eq without a tie threshold."""
    return count_pairs(gold, metric).acc_eq


def pair_positions(n: int) -> tuple[IntArray, IntArray]:
    """Positions i < j of all pairs of a row of n."""
    first, second = np.triu_indices(n, 1)
    return first, second


def pair_signs(values: FloatArray, epsilon: float = 0.0) -> NDArray[np.int8]:
    """(..., n) → (..., pairs) sign of the difference of each pair, 0 within ``epsilon``; 0 also where unknown."""
    first, second = pair_positions(values.shape[-1])
    gap = values[..., first] - values[..., second]
    return np.asarray((gap > epsilon).astype(np.int8) - (gap < -epsilon).astype(np.int8))


def _short(gold: FloatArray, metric: FloatArray, epsilon: float) -> IntArray:
    """(rows, n) twice → (5, rows) by comparing all pairs."""
    first, second = pair_positions(gold.shape[1])
    known = both_known(gold, metric)
    usable = known[:, first] & known[:, second]  # (rows, pairs)
    x, y = pair_signs(gold), pair_signs(metric, epsilon)
    product = x * y
    kinds = (product > 0, product < 0, (x == 0) & (y != 0), (x != 0) & (y == 0), (x == 0) & (y == 0))
    return np.stack([np.count_nonzero(kind & usable, axis=1) for kind in kinds]).astype(np.int64)


def _long(gold: FloatArray, metric: FloatArray, epsilon: float) -> IntArray:
    """(n,) twice → (5, 1) in O(n log n)."""
    known = both_known(gold, metric)
    order = np.argsort(metric[known], kind="stable")
    y = metric[known][order]
    x = np.unique(gold[known], return_inverse=True)[1][order]  # dense ranks in metric order
    n = len(y)
    apart = first_beyond(y, epsilon)  # (n,) first position whose score is not tied with this one
    less, equal, greater = suffix_counts(x, apart)
    concordant, discordant, ties_gold = int(greater.sum()), int(less.sum()), int(equal.sum())
    sizes = np.bincount(x) if n else np.zeros(0, dtype=np.int64)
    ties_both = int((sizes * (sizes - 1) // 2).sum()) - ties_gold
    ties_metric = int((apart - np.arange(n) - 1).sum()) - ties_both
    return np.array([[concordant], [discordant], [ties_gold], [ties_metric], [ties_both]], dtype=np.int64)


def first_beyond(ordered: FloatArray, epsilon: float) -> IntArray:
    """For each entry of an ascending vector, the first later position whose difference exceeds ``epsilon``.

    Bisection on the differences themselves: adding epsilon to a score would round differently from subtracting two.
    """
    n = len(ordered)
    low, high = np.arange(n) + 1, np.full(n, n)
    for _ in range(max(1, n.bit_length())):
        middle = (low + high) // 2
        inside = ordered[np.minimum(middle, n - 1)] - ordered <= epsilon if n else np.zeros(0, dtype=bool)
        open_ = low < high
        low, high = np.where(open_ & inside, middle + 1, low), np.where(open_ & ~inside, middle, high)
    return low


def suffix_counts(ranks: IntArray, start: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each i: how many of ``ranks[start[i]:]`` are less than, equal to and greater than ``ranks[i]``.

    A wavelet matrix walked from the highest bit: each level halves the range of candidates by a table lookup.
    """
    n = len(ranks)
    less = np.zeros(n, dtype=np.int64)
    left, right = start.copy(), np.full(n, n)
    total = right - left
    level = ranks.copy()
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        zero = ((level >> bit) & 1) == 0
        zeros = np.concatenate([[0], np.cumsum(zero)])  # (n + 1,) zeros before each position
        left_zeros, right_zeros = zeros[left], zeros[right]
        high = ((ranks >> bit) & 1) == 1
        less += np.where(high, right_zeros - left_zeros, 0)
        left = np.where(high, zeros[n] + left - left_zeros, left_zeros)
        right = np.where(high, zeros[n] + right - right_zeros, right_zeros)
        level = np.concatenate([level[zero], level[~zero]])
    equal = right - left
    return less, equal, total - less - equal


def _distinct(values: FloatArray, known: NDArray[np.bool_]) -> IntArray:
    """(..., n) → (...,) number of distinct known values."""
    ordered = np.sort(np.where(known, values, np.nan), axis=-1)  # NaN last
    steps = (ordered[..., 1:] != ordered[..., :-1]) & ~np.isnan(ordered[..., 1:])
    return np.asarray(steps.sum(axis=-1) + known.any(axis=-1))
