"""Statistics of *hybrid* metrics: two metrics' scores with some entries exchanged, for many draws and all pairs at
once.

A permutation test recomputes both correlations after random exchanges. Written out, the sums behind Pearson's r are
linear in the 0/1 exchange mask and the pair counts behind Kendall's tau are quadratic in it, so all draws become
matrix products, and the products of single metrics serve every pair of metrics they belong to. No loop runs over
draws.

Every class here answers ``differences(swaps, pairs)``: the statistic of the first hybrid less that of the second.
Rows are (rows, n) as in ``correlation``; ``swaps`` is (draws, rows, n), True where the two metrics exchange their
scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wholetext.stats.correlation import BoolArray, average_rows, pearson_rows
from wholetext.stats.measures import ROW_STATISTICS, Measure, RowStatistic, row_weights
from wholetext.types import FloatArray, IntArray

Finish = Callable[[FloatArray, slice], FloatArray]
_CELLS = 6_000_000  # array cells worked on at a time
_FLAT = 1e-10  # a hybrid row whose variance is below this share of its squares is computed again, centred


class Hybrids(Protocol):
    """A statistic that can be computed for exchanged metrics."""

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        """(draws, rows, n) exchanges, (k, 2) pairs of metrics → (draws, k) differences of the two hybrids'
        statistics.
        """
        ...


class PearsonHybrids:
    """Mean over rows of Pearson's r. r needs Σh, Σh² and Σgh of a hybrid h, each linear in the mask.

    ``pooled`` gives one r over all within-row differences instead: their sums of products are n·Σgh and n·Σ(h - mean)².
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, pooled: bool = False) -> None:
        self.pooled = pooled
        known = ~np.isnan(gold)
        self.count = known.sum(axis=1)
        usable = self.count >= 2
        self.usable = usable
        self.count, self.known = self.count[usable], known[usable]
        centre = np.where(self.known, gold[usable], 0.0).sum(axis=1) / self.count
        self.gold = np.where(self.known, gold[usable] - centre[:, None], 0.0)  # (rows, n)
        self.gold_squares = (self.gold**2).sum(axis=1)
        low = np.where(self.known, gold[usable], np.inf).min(axis=1)
        high = np.where(self.known, gold[usable], -np.inf).max(axis=1)
        self.constant = low == high
        x = np.where(self.known, metrics[:, usable], 0.0)  # (metrics, rows, n)
        self.values = x
        columns = np.stack([x, x * x, x * self.gold])  # (3, metrics, rows, n)
        self.columns = np.ascontiguousarray(columns.transpose(2, 3, 0, 1)).reshape(len(self.count), x.shape[2], -1)
        self.totals = self.columns.sum(axis=1)  # (rows, 3·metrics)

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws = len(swaps)
        sums = np.zeros((2, 2, draws, len(pairs)))  # hybrid; (sum of r, rows with an r), or pooled (products, squares)
        step = max(1, _CELLS // (draws * (self.columns.shape[2] + 8)))
        for at in range(0, len(self.count), step):
            rows = slice(at, at + step)
            mask = swaps[:, self.usable][:, rows].transpose(1, 0, 2).astype(np.float64)  # (rows, draws, n)
            moved = (mask @ self.columns[rows]).reshape(len(mask), draws, 3, -1)
            totals = self.totals[rows].reshape(len(mask), 1, 3, -1)
            for k, (first, second) in enumerate(pairs):
                shift = moved[..., second] - moved[..., first]  # (rows, draws, 3)
                add = self._pooled if self.pooled else self._averaged
                sums[0, :, :, k] += add(rows, totals[..., first] + shift, mask, (first, second))
                sums[1, :, :, k] += add(rows, totals[..., second] - shift, mask, (second, first))
        if self.pooled:
            with np.errstate(invalid="ignore", divide="ignore"):
                r = sums[:, 0] / np.sqrt(sums[:, 1] * (self.count * self.gold_squares).sum())
            r = np.nan_to_num(r)
        else:
            r = sums[:, 0] / np.maximum(sums[:, 1], 1)
        return np.asarray(r[0] - r[1])

    def _pooled(self, rows: slice, sums: FloatArray, mask: FloatArray, metrics: tuple[int, int]) -> FloatArray:
        count = self.count[rows, None]
        spread = sums[..., 1] * count - sums[..., 0] ** 2
        return np.stack([(count * sums[..., 2]).sum(axis=0), spread.sum(axis=0)])

    def _averaged(self, rows: slice, sums: FloatArray, mask: FloatArray, metrics: tuple[int, int]) -> FloatArray:
        r = self._pearson(rows, sums)
        self._refine(r, rows, mask, metrics)
        defined = ~np.isnan(r)
        return np.stack([np.where(defined, r, 0.0).sum(axis=0), defined.sum(axis=0)])

    def _pearson(self, rows: slice, sums: FloatArray) -> FloatArray:
        """(rows, draws, 3) sums of hybrids → (rows, draws) r; infinite where it must be computed again."""
        count = self.count[rows, None]
        squares = sums[..., 1]
        spread = squares - sums[..., 0] ** 2 / count
        flat = spread <= _FLAT * squares
        with np.errstate(invalid="ignore", divide="ignore"):
            r = sums[..., 2] / np.sqrt(spread * self.gold_squares[rows, None])
        r[flat] = np.inf
        r[self.constant[rows]] = np.nan
        return np.asarray(r)

    def _refine(self, r: FloatArray, rows: slice, mask: FloatArray, metrics: tuple[int, int]) -> None:
        """Nearly constant hybrids: form them and centre them, so that cancellation cannot blur the result."""
        row, draw = np.nonzero(np.isposinf(r))
        if not len(row):
            return
        own, other = (self.values[m][rows][row] for m in metrics)  # (cells, n)
        hybrid = np.where(mask[row, draw] > 0, other, own)
        known = self.known[rows][row]
        gold = np.where(known, self.gold[rows][row], np.nan)
        r[row, draw] = pearson_rows(gold, np.where(known, hybrid, np.nan))


class PairHybrids:
    """Statistics made of pair counts within short rows (Kendall's tau-b, acc_eq, accuracy, DArr).

    The order of two entries of a hybrid depends on both their masks: S00 + u·(S10-S00) + v·(S01-S00) +
    u·v·(S11-S10-S01+S00). Sums over pairs are therefore linear in the masks u and their products u·v, the same for
    every pair of metrics. Counts are whole numbers, exact in single precision.
    """

    def __init__(self, metrics: FloatArray, tables: FloatArray, finish: Finish) -> None:
        """``tables`` (columns, 3, rows, pairs): what a pair adds to each count when the metric orders it -, 0, +.

        ``finish`` turns (columns, rows, draws) counts of rows of a slice into (2, rows, draws): value (NaN =
        undefined), weight.
        """
        self.metrics, self.finish = metrics, finish
        self.first, self.second = np.triu_indices(metrics.shape[2], 1)
        minus, zero, plus = tables.swapaxes(0, 1).astype(np.float32)  # (columns, rows, pairs) each
        self.base, self.odd, self.even = zero, (plus - minus) / 2, (plus + minus) / 2 - zero

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws, columns = len(swaps), len(self.base)
        sums = np.zeros((2, 2, draws, len(pairs)))  # hybrid, (weighted value, weight)
        step = max(1, _CELLS // (draws * (len(self.first) + 3 * columns * len(pairs))))
        for at in range(0, self.metrics.shape[1], step):
            rows = slice(at, min(at + step, self.metrics.shape[1]))
            single = swaps[:, rows].transpose(1, 0, 2).astype(np.float32)  # (rows, draws, n)
            double = single[..., self.first] * single[..., self.second]  # (rows, draws, pairs)
            constant, linear, product, edge = self._coefficients(rows, pairs)
            quadratic = double @ product  # (rows, draws, columns·k)
            own = (constant[:, None] + single @ linear + quadratic).astype(np.float64)
            far = (constant + linear.sum(axis=1) + product.sum(axis=1))[:, None] - single @ (linear + edge) + quadratic
            for side, counts in enumerate((own, far.astype(np.float64))):
                shaped = np.moveaxis(counts.reshape(*counts.shape[:2], columns, len(pairs)), (2, 3), (0, 3))
                value, weight = self.finish(shaped, rows)  # (rows, draws, k) each
                defined = ~np.isnan(value)
                sums[side, 0] += np.where(defined, value * weight, 0.0).sum(axis=0)
                sums[side, 1] += np.where(defined, weight, 0.0).sum(axis=0)
        average = sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], 1.0)
        return np.asarray(average[0] - average[1])

    def _coefficients(self, rows: slice, pairs: IntArray) -> tuple[NDArray[np.float32], ...]:
        """Of the polynomials in the masks: constant (rows, c), linear (rows, n, c), product (rows, pairs, c), and the
        sum of the products of each entry (rows, n, c), which the complementary hybrid needs; c = columns · k.
        """
        one, two = self.metrics[pairs[:, 0]][:, rows], self.metrics[pairs[:, 1]][:, rows]  # (k, rows, n)
        orders = []
        for left, right in ((one, one), (two, one), (one, two), (two, two)):  # masks of the pair: 00, 10, 01, 11
            sign = np.sign(left[..., self.first] - right[..., self.second]).astype(np.float32)  # (k, rows, pairs)
            base, odd, even = (part[:, None, rows] for part in (self.base, self.odd, self.even))
            orders.append(base + odd * sign + even * sign * sign)  # (columns, k, rows, pairs)
        none, left_only, right_only, both = (
            order.transpose(2, 3, 0, 1).reshape(order.shape[2], order.shape[3], -1) for order in orders
        )
        product = both - left_only - right_only + none
        n = self.metrics.shape[2]
        is_first = (np.arange(n)[:, None] == self.first).astype(np.float32)  # (n, pairs)
        is_second = (np.arange(n)[:, None] == self.second).astype(np.float32)
        linear = is_first @ (left_only - none) + is_second @ (right_only - none)
        return none.sum(axis=1), linear, np.ascontiguousarray(product), (is_first + is_second) @ product


class FormedHybrids:
    """Any other statistic: the hybrids of a block of draws are formed and handed to a function of whole rows."""

    def __init__(self, gold: FloatArray, metrics: FloatArray, measure: Measure) -> None:
        judged = (~np.isnan(gold)).sum(axis=1) >= 2
        self.judged, self.gold, self.metrics = judged, gold[judged], metrics[:, judged]
        self.measure, self.weights = measure, row_weights(self.gold, self.gold, measure)

    def _value(self, hybrid: FloatArray) -> FloatArray:
        """(draws, rows, n) → (draws,)."""
        values = ROW_STATISTICS[self.measure.statistic](np.broadcast_to(self.gold, hybrid.shape), hybrid)
        return average_rows(values, self.weights, self.measure.nan_as_zero)

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        step = max(1, _CELLS // max(1, self.gold.size))
        out = np.empty((len(swaps), len(pairs)))
        for at in range(0, len(swaps), step):
            block = swaps[at : at + step, self.judged]
            for k, (first, second) in enumerate(pairs):
                one, two = self.metrics[first], self.metrics[second]
                out[at : at + step, k] = self._value(np.where(block, two, one)) - self._value(np.where(block, one, two))
        return out


class SystemHybrids:
    """System level, exchanging single segments: the statistic is computed over systems' mean hybrid scores.

    This is PERM-BOTH as in Deutsch, Dror and Roth 2021; a system's mean is linear in its masks.
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, rows: RowStatistic) -> None:
        self.known = ~np.isnan(gold)  # (systems, segments)
        self.rows = rows
        self.count = self.known.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.gold = np.where(self.known, gold, 0.0).sum(axis=1) / self.count
        columns = np.where(self.known, metrics, 0.0).transpose(1, 2, 0)
        self.columns = np.ascontiguousarray(columns)  # (systems, segments, m)
        self.totals = self.columns.sum(axis=1)  # (systems, m)

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        out = np.empty((len(swaps), len(pairs)))
        step = max(1, _CELLS // max(1, self.known.size))
        for at in range(0, len(swaps), step):
            mask = swaps[at : at + step].transpose(1, 0, 2).astype(np.float64)  # (systems, draws, segments)
            moved = mask @ self.columns  # (systems, draws, m)
            shift = moved[..., pairs[:, 1]] - moved[..., pairs[:, 0]]  # (systems, draws, k)
            values = []
            for side, sign in ((0, 1.0), (1, -1.0)):
                hybrid = self.totals[:, None, pairs[:, side]] + sign * shift
                with np.errstate(invalid="ignore", divide="ignore"):
                    means = np.moveaxis(hybrid, 0, 2) / self.count  # (draws, k, systems)
                values.append(np.nan_to_num(self.rows(self.gold, means)))
            out[at : at + step] = values[0] - values[1]
        return out
