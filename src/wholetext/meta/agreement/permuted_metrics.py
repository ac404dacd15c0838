"""Statistics of permuted metrics: two metrics with scores exchanged, for all draws and pairs of metrics at once.

A permutation test recomputes both correlations after random exchanges. Written out, the sums behind Pearson's r are
linear in the 0/1 exchange mask and the pair counts behind Kendall's tau are quadratic in it, so all draws become matrix
products, and the products of single metrics serve every pair of metrics they belong to. No loop runs over draws.

Every class here answers ``differences(swaps, pairs)``: the statistic of the first permuted metric minus that of
the second. Rows are (rows, n) as in ``correlation``; ``swaps`` is (draws, rows, n), True where the two metrics
exchange their scores.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wholetext.meta.agreement.correlation import BoolArray, average_rows, pearson_rows, rank_rows
from wholetext.meta.agreement.measures import ROW_STATISTICS, Measure, RowStatistic, row_weights
from wholetext.types import FloatArray, IntArray

_CELLS = 4_000_000  # array cells held at a time
_CACHED = 16_000  # cells of the arrays in inner loops: they should stay in the processor's cache
_FLAT = 1e-10  # a hybrid row whose variance is below this share of its squares is computed again, centred


class PermutedMetrics(Protocol):
    """A statistic that can be computed for exchanged metrics."""

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        """(draws, rows, n) exchanges, (k, 2) pairs of metrics → (draws, k) differences of the hybrids' statistics."""
        ...


class PermutedPearson:
    """Mean over rows of Pearson's r. r needs Σh, Σh² and Σgh of a hybrid h, each linear in the mask.

    ``pooled`` gives one r over all within-row differences instead: their sums of products are n·Σgh and n·Σ(h - mean)².
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, pooled: bool = False) -> None:
        self.pooled = pooled
        known = ~np.isnan(gold)
        low, high = np.where(known, gold, np.inf).min(axis=1), np.where(known, gold, -np.inf).max(axis=1)
        self.usable = (known.sum(axis=1) >= 2) & (pooled | (low < high))  # a constant side leaves r undefined
        self.known = known[self.usable]
        self.count = self.known.sum(axis=1)[:, None].astype(np.float64)
        self.gold = self._unit(gold[self.usable])  # (rows, n)
        self.values = np.where(self.known, metrics[:, self.usable], 0.0)  # (metrics, rows, n)
        columns = np.stack([self.values, self.values**2, self.values * self.gold])  # (3, metrics, rows, n)
        self.columns = np.ascontiguousarray(np.moveaxis(columns, 2, 0)).reshape(len(self.gold), -1, gold.shape[1])

    def _unit(self, gold: FloatArray) -> FloatArray:
        """Gold rows with mean 0 and, unless pooled, length 1."""
        total = np.where(self.known, gold, 0.0).sum(axis=1, keepdims=True)
        centred = np.where(self.known, gold - total / self.count, 0.0)
        self.scale = np.sqrt((centred**2).sum(axis=1, keepdims=True))
        return centred if self.pooled else np.asarray(centred / self.scale)

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws = len(swaps)
        sums = np.zeros((2, 2, len(pairs), draws))  # hybrid; (sum of r, rows with an r), or pooled (products, squares)
        mask = swaps[:, self.usable].transpose(1, 2, 0)  # (rows, n, draws)
        step = max(1, _CACHED // draws)
        for at in range(0, len(self.gold), step):
            rows = slice(at, at + step)
            here = mask[rows].astype(np.float64)
            moved = self.columns[rows] @ here  # (rows, 3·metrics, draws): sums over exchanged entries
            kept = self.columns[rows].sum(axis=2, keepdims=True) - moved
            moved, kept = (np.ascontiguousarray(np.moveaxis(part, 0, 1)) for part in (moved, kept))
            moved, kept = (part.reshape(3, -1, len(here), draws) for part in (moved, kept))
            add = self._pooled if self.pooled else self._averaged
            for k, (first, second) in enumerate(pairs):
                add(sums[0, :, k], kept[:, first] + moved[:, second], rows, here, (first, second))
                add(sums[1, :, k], kept[:, second] + moved[:, first], rows, here, (second, first))
        if self.pooled:
            with np.errstate(invalid="ignore", divide="ignore"):
                r = np.nan_to_num(sums[:, 0] / np.sqrt(sums[:, 1] * (self.count * self.scale**2).sum()))
        else:
            r = sums[:, 0] / np.maximum(sums[:, 1], 1)
        return np.ascontiguousarray((r[0] - r[1]).T)

    def _pooled(
        self, into: FloatArray, sums: FloatArray, rows: slice, mask: FloatArray, metrics: tuple[int, int]
    ) -> None:
        into[0] += (self.count[rows] * sums[2]).sum(axis=0)
        into[1] += (self.count[rows] * sums[1] - sums[0] ** 2).sum(axis=0)

    def _averaged(
        self, into: FloatArray, sums: FloatArray, rows: slice, mask: FloatArray, metrics: tuple[int, int]
    ) -> None:
        """Add the r of each row and draw, and how many are defined. Works in place: this is the innermost loop."""
        plain, squares, product = sums  # (rows, draws) each
        np.multiply(plain, plain, out=plain)
        plain /= self.count[rows]
        spread = np.subtract(squares, plain, out=plain)
        flat = spread <= _FLAT * squares.max() if spread.min() <= _FLAT * squares.max() else None
        with np.errstate(invalid="ignore", divide="ignore"):
            np.sqrt(spread, out=spread)
            r = np.divide(product, spread, out=product)
        if flat is not None:
            row, draw = np.nonzero(flat)
            r[row, draw] = self._formed(rows, mask, metrics, (row, draw))
            into[0] += np.where(np.isnan(r), 0.0, r).sum(axis=0)
            into[1] += (~np.isnan(r)).sum(axis=0)
        else:
            into[0] += r.sum(axis=0)
            into[1] += len(r)

    def _formed(
        self, rows: slice, mask: FloatArray, metrics: tuple[int, int], cells: tuple[IntArray, IntArray]
    ) -> FloatArray:
        """Nearly constant hybrids: form them and centre them, so that cancellation cannot blur the result."""
        row, draw = cells
        own, other = (self.values[m][rows][row] for m in metrics)  # (cells, n)
        hybrid = np.where(mask[row, :, draw] > 0, other, own)
        known = self.known[rows][row]
        return pearson_rows(np.where(known, self.gold[rows][row], np.nan), np.where(known, hybrid, np.nan))


class PermutedPairs:
    """Statistics made of pair counts within short rows (Kendall's tau-b, acc_eq, accuracy, DArr).

    The order of two entries of a hybrid depends on both their masks u and v: S00 + u·(S10-S00) + v·(S01-S00) +
    u·v·(S11-S10-S01+S00). Sums over pairs are therefore linear in the masks and their products, which are the same for
    every pair of metrics. Counts are whole numbers, exact in single precision.
    """

    def __init__(self, metrics: FloatArray, tables: FloatArray, finish: Finish) -> None:
        """``tables`` (columns, 3, rows, pairs): what a pair adds to each count when the metric orders it -, 0, +."""
        self.finish = finish
        self.metrics, _, self.n = metrics.shape
        flat = np.moveaxis(metrics, 0, 1).reshape(metrics.shape[1], -1)  # (rows, metrics·n)
        ranks = 2 * rank_rows(flat)  # only the order matters; whole numbers are exact in single precision
        self.ranks = ranks.astype(np.float32).reshape(-1, self.metrics, self.n)
        self.first, self.second = np.triu_indices(self.n, 1)
        at = np.arange(self.n)
        self.is_first = (self.first[:, None] == at).astype(np.float32)  # (pairs, n)
        self.is_second = (self.second[:, None] == at).astype(np.float32)
        minus, zero, plus = tables.swapaxes(0, 1).astype(np.float32)  # (columns, rows, pairs) each
        self.base, self.odd, self.even = zero, (plus - minus) / 2, (plus + minus) / 2 - zero

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws, features, columns = len(swaps), self.n + len(self.first) + 1, len(self.base)
        sums = np.zeros((2, 2, len(pairs), draws))  # hybrid; weighted value, weight
        held = draws * (features + 2 * columns * len(pairs)) + columns * features * (3 * len(pairs) + self.metrics**2)
        step = max(1, _CELLS // held)
        for at in range(0, len(self.ranks), step):
            rows = slice(at, min(at + step, len(self.ranks)))
            single = swaps[:, rows].transpose(1, 2, 0).astype(np.float32)  # (rows, n, draws)
            products = single[:, self.first] * single[:, self.second]
            masks = np.concatenate([single, np.ones_like(single[:, :1]), products], axis=1)
            own, other = self._coefficients(rows, pairs)
            counts = own @ masks  # (rows, columns·k, draws)
            self._add(sums[0], counts, rows, len(pairs))
            counts += other @ masks[:, : self.n + 1]
            self._add(sums[1], counts, rows, len(pairs))
        average = sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], 1.0)
        return np.ascontiguousarray((average[0] - average[1]).T)

    def _add(self, into: FloatArray, counts: NDArray[np.float32], rows: slice, k: int) -> None:
        for row, one in enumerate(counts.reshape(len(counts), -1, k, counts.shape[2]), start=rows.start):
            value, weight = self.finish(one, row)
            into[0] += value
            into[1] += weight

    def _coefficients(self, rows: slice, pairs: IntArray) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Of the polynomials in (masks, 1, products of masks): (rows, columns·k, features) of the first hybrid, and
        what must be added to (masks, 1) for the second, whose mask is the complement.
        """
        ranks, size = self.ranks[rows], self.metrics
        sign = np.sign(ranks[:, :, None, self.first] - ranks[:, None, :, self.second])  # (rows, m, m, pairs)
        sign = sign.reshape(len(ranks), 1, size * size, -1)
        base, odd, even = (np.moveaxis(part[:, rows], 0, 1)[:, :, None] for part in (self.base, self.odd, self.even))
        adds = base + sign * (odd + even * sign)  # (rows, columns, m·m, pairs): its two entries from two metrics
        left, right = adds @ self.is_first, adds @ self.is_second  # (rows, columns, m·m, n)
        i, j = pairs[:, 0], pairs[:, 1]
        ii, ji, ij, jj = i * size + i, j * size + i, i * size + j, j * size + j
        constant = adds[:, :, ii].sum(axis=3, keepdims=True)
        linear = left[:, :, ji] - left[:, :, ii] + right[:, :, ij] - right[:, :, ii]
        product = adds[:, :, jj] - adds[:, :, ji] - adds[:, :, ij] + adds[:, :, ii]
        edge = product @ (self.is_first + self.is_second)
        shift = (linear + edge / 2).sum(axis=3, keepdims=True)  # each product is at the edge of two entries
        own = np.concatenate([linear, constant, product], axis=3)
        other = np.concatenate([-2 * linear - edge, shift], axis=3)
        return tuple(part.reshape(len(ranks), -1, part.shape[3]) for part in (own, other))  # type: ignore[return-value]


class Finish(Protocol):
    """Turns the counts of one row, (columns, k, draws), into its value times its weight, and its weight."""

    def __call__(self, counts: NDArray[np.float32], row: int) -> tuple[FloatArray, FloatArray | float]: ...


class PermutedScores:
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


class PermutedSystems:
    """System level, exchanging single segments: the statistic is computed over systems' mean hybrid scores.

    This is PERM-BOTH as in Deutsch, Dror and Roth 2021; a system's mean is linear in its masks.
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, rows: RowStatistic) -> None:
        self.known = ~np.isnan(gold)  # (systems, segments)
        self.rows = rows
        self.count = self.known.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.gold = np.where(self.known, gold, 0.0).sum(axis=1) / self.count
        self.columns = np.ascontiguousarray(np.where(self.known, metrics, 0.0).swapaxes(0, 1))  # (systems, m, segments)

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws = len(swaps)
        moved = np.empty((len(self.known), self.columns.shape[1], draws))  # (systems, m, draws)
        for system in range(len(self.known)):
            moved[system] = self.columns[system] @ swaps[:, system].T.astype(np.float64)
        kept = self.columns.sum(axis=2, keepdims=True) - moved
        out = np.empty((draws, len(pairs)))
        for k, (first, second) in enumerate(pairs):
            with np.errstate(invalid="ignore", divide="ignore"):
                one, two = kept[:, first] + moved[:, second], kept[:, second] + moved[:, first]  # (systems, draws)
                out[:, k] = self._value(one) - self._value(two)
        return out

    def _value(self, totals: FloatArray) -> FloatArray:
        means = totals.T / self.count
        return np.nan_to_num(self.rows(np.broadcast_to(self.gold, means.shape), means))
