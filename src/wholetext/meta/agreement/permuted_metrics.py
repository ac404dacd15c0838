"""Statistics of permuted metrics: two metrics with scores exchanged, for all draws and pairs of
metrics at once.

The sums behind Pearson's r are linear in the 0/1 exchange mask and the pair counts behind Kendall's
tau are quadratic in it, so all draws are matrix products, and the products of single metrics serve
every pair they belong to.

Every class and function here answers ``differences(swaps, pairs)``: (draws, rows, n) exchanges and (k, 2) pairs
of metrics → (draws, k) statistic of the first permuted metric (the *hybrid*) minus that of the
second. Gold is (rows, n), metrics are (metrics, rows, n).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from wholetext.meta.agreement.correlation import BoolArray, average_rows, pearson_rows, rank_rows
from wholetext.meta.agreement.measures import ROW_STATISTICS, Measure, row_weights
from wholetext.types import FloatArray, IntArray

_CELLS = 4_000_000  # array cells held at a time
_CACHED = 16_000  # cells of the arrays in inner loops: they should stay in the processor's cache
# a hybrid row whose variance is below this share of its squares is computed again, centred
_FLAT = 1e-10
Single = NDArray[np.float32]


class PermutedPearson:
    """Mean over rows of Pearson's r, from Σh, Σh² and Σgh of a hybrid h.

    ``pooled`` gives one r over all within-row differences: their sums are n·Σgh and n·Σ(h - mean)².
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, pooled: bool = False) -> None:
        self.pooled = pooled
        known = ~np.isnan(gold)
        low, high = (
            np.where(known, gold, np.inf).min(axis=1),
            np.where(known, gold, -np.inf).max(axis=1),
        )
        self.usable = (known.sum(axis=1) >= 2) & (
            pooled | (low < high)
        )  # a constant side leaves r undefined
        self.known = known[self.usable]
        self.count = self.known.sum(axis=1)[:, None].astype(np.float64)
        rows = np.where(self.known, gold[self.usable], 0.0)
        centred = np.where(self.known, rows - rows.sum(axis=1, keepdims=True) / self.count, 0.0)
        self.scale = np.sqrt((centred**2).sum(axis=1, keepdims=True))
        self.gold = (
            centred if pooled else centred / self.scale
        )  # (rows, n): mean 0 and, unless pooled, length 1
        self.values = np.where(self.known, metrics[:, self.usable], 0.0)  # (metrics, rows, n)
        columns = np.stack(
            [self.values, self.values**2, self.values * self.gold]
        )  # (3, metrics, rows, n)
        self.columns = np.ascontiguousarray(np.moveaxis(columns, 2, 0)).reshape(
            len(self.gold), -1, gold.shape[1]
        )

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws = len(swaps)
        sums = np.zeros(
            (2, 2, len(pairs), draws)
        )  # hybrid; (sum of r, rows with an r), or pooled (products, squares)
        mask = swaps[:, self.usable].transpose(1, 2, 0)  # (rows, n, draws)
        step = max(1, _CACHED // draws)
        for at in range(0, len(self.gold), step):
            rows = slice(at, at + step)
            here = mask[rows].astype(np.float64)
            moved = (
                self.columns[rows] @ here
            )  # (rows, 3·metrics, draws): sums over exchanged entries
            kept = self.columns[rows].sum(axis=2, keepdims=True) - moved
            moved, kept = (np.ascontiguousarray(np.moveaxis(part, 0, 1)) for part in (moved, kept))
            moved, kept = (part.reshape(3, -1, len(here), draws) for part in (moved, kept))
            for k, (first, second) in enumerate(pairs):
                for into, own, other in (
                    (sums[0, :, k], first, second),
                    (sums[1, :, k], second, first),
                ):
                    total = kept[:, own] + moved[:, other]
                    if self.pooled:
                        into[0] += (self.count[rows] * total[2]).sum(axis=0)
                        into[1] += (self.count[rows] * total[1] - total[0] ** 2).sum(axis=0)
                    else:
                        r, defined = self._correlations(total, rows, here, own, other)
                        into[0] += r.sum(axis=0)
                        into[1] += defined
        if self.pooled:
            with np.errstate(invalid="ignore", divide="ignore"):
                r = np.nan_to_num(
                    sums[:, 0] / np.sqrt(sums[:, 1] * (self.count * self.scale**2).sum())
                )
        else:
            r = sums[:, 0] / np.maximum(sums[:, 1], 1)
        return np.ascontiguousarray((r[0] - r[1]).T)

    def _correlations(
        self, sums: FloatArray, rows: slice, mask: FloatArray, own: int, other: int
    ) -> tuple[FloatArray, IntArray | int]:
        """(rows, draws) r, 0 where undefined, and how many are defined.

        In place: this is the innermost loop.
        """
        plain, squares, product = sums  # (rows, draws) each
        np.multiply(plain, plain, out=plain)
        plain /= self.count[rows]
        spread = np.subtract(squares, plain, out=plain)
        flat = spread <= _FLAT * squares.max() if spread.min() <= _FLAT * squares.max() else None
        with np.errstate(invalid="ignore", divide="ignore"):
            np.sqrt(spread, out=spread)
            r = np.divide(product, spread, out=product)
        if flat is None:
            return r, len(r)
        # nearly constant hybrids: form them and centre them, so that cancellation cannot blur the
        # result
        row, draw = np.nonzero(flat)
        hybrid = np.where(
            mask[row, :, draw] > 0, self.values[other][rows][row], self.values[own][rows][row]
        )
        gold, known = self.gold[rows][row], self.known[rows][row]  # (cells, n)
        r[row, draw] = pearson_rows(np.where(known, gold, np.nan), np.where(known, hybrid, np.nan))
        return np.where(np.isnan(r), 0.0, r), (~np.isnan(r)).sum(axis=0)


class PermutedPairs:
    """Statistics made of pair counts within short rows (Kendall's tau-b, acc_eq, accuracy, DArr).

    The order of two entries of a hybrid depends on both their masks u and v: S00 + u·(S10-S00) +
    v·(S01-S00) + u·v·(S11-S10-S01+S00). Sums over pairs are linear in the masks and their products.
    Counts are whole numbers, exact in single precision.
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, measure: Measure) -> None:
        self.metrics, _, self.n = metrics.shape
        flat = np.moveaxis(metrics, 0, 1).reshape(metrics.shape[1], -1)  # (rows, metrics·n)
        ranks = 2 * rank_rows(
            flat
        )  # only the order matters; whole numbers are exact in single precision
        self.ranks = ranks.astype(np.float32).reshape(-1, self.metrics, self.n)
        self.first, self.second = np.triu_indices(self.n, 1)
        at = np.arange(self.n)
        self.is_first = (self.first[:, None] == at).astype(np.float32)  # (pairs, n)
        self.is_second = (self.second[:, None] == at).astype(np.float32)
        gap = gold[:, self.first] - gold[:, self.second]  # (rows, pairs), NaN where not judged
        usable = np.abs(gap) >= (measure.gap if measure.statistic == "darr" else 0.0)
        below, equal, above = (usable & test for test in (gap < 0, gap == 0, gap > 0))
        none = np.zeros(gap.shape)
        self.statistic, self.total = measure.statistic, usable.sum(axis=1)
        self.free = self.total - equal.sum(axis=1) if measure.statistic == "kendall" else self.total
        # (columns, 3, rows, pairs) what a pair adds to each count when the metric orders it below,
        # equal, above
        if measure.statistic == "kendall":
            order = above.astype(np.float64) - below
            tables = np.stack([np.stack([-order, none, order]), np.stack([none, usable, none])])
        else:
            tables = np.stack([below, none if measure.statistic == "darr" else equal, above])[None]
        minus, zero, plus = tables.swapaxes(0, 1).astype(np.float32)  # (columns, rows, pairs) each
        self.base, self.odd, self.even = zero, (plus - minus) / 2, (plus + minus) / 2 - zero

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws, features, columns = len(swaps), self.n + len(self.first) + 1, len(self.base)
        sums = np.zeros((2, 2, len(pairs), draws))  # hybrid; weighted value, weight
        held = draws * (features + 2 * columns * len(pairs)) + columns * features * (
            3 * len(pairs) + self.metrics**2
        )
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

    def _add(self, into: FloatArray, counts: Single, rows: slice, k: int) -> None:
        by_row = counts.reshape(len(counts), -1, k, counts.shape[2])
        for row, row_counts in enumerate(by_row, start=rows.start):
            value, weight = self._value(row_counts, row)
            into[0] += value
            into[1] += weight

    def _value(self, counts: Single, row: int) -> tuple[FloatArray, FloatArray | float]:
        """The counts of one row, (columns, k, draws) → its value times its weight, and its
        weight.
        """
        total = float(self.total[row])
        if self.free[row] == 0:
            return np.zeros(counts.shape[1:]), 0.0
        if (
            self.statistic != "kendall"
        ):  # the share of pairs that are right; a plain mean over rows, or pairs pooled
            weight = total if self.statistic in ("accuracy", "darr") else 1.0
            scale, shift = (2.0, -1.0) if self.statistic in ("darr", "tau23_0") else (1.0, 0.0)
            return counts[0].astype(np.float64) * (scale * weight / total) + shift * weight, weight
        metric_free = total - counts[1].astype(np.float64)
        np.sqrt(metric_free, out=metric_free)
        metric_free *= np.sqrt(self.free[row])
        if metric_free.min() > 0:
            return counts[0] / metric_free, 1.0
        defined = metric_free > 0
        return np.divide(
            counts[0], metric_free, out=np.zeros(defined.shape), where=defined
        ), defined.astype(np.float64)

    def _coefficients(self, rows: slice, pairs: IntArray) -> tuple[Single, Single]:
        """(rows, columns·k, features) of the polynomials in (masks, 1, products of masks) of the
        first hybrid; and what must be added to (masks, 1) for the second, whose mask is the
        complement.
        """
        ranks, size = self.ranks[rows], self.metrics
        sign = np.sign(
            ranks[:, :, None, self.first] - ranks[:, None, :, self.second]
        )  # (rows, m, m, pairs)
        sign = sign.reshape(len(ranks), 1, size * size, -1)
        base, odd, even = (
            np.moveaxis(part[:, rows], 0, 1)[:, :, None]
            for part in (self.base, self.odd, self.even)
        )
        adds = base + sign * (
            odd + even * sign
        )  # (rows, columns, m·m, pairs): its two entries from two metrics
        left, right = adds @ self.is_first, adds @ self.is_second  # (rows, columns, m·m, n)
        i, j = pairs[:, 0], pairs[:, 1]
        ii, ji, ij, jj = i * size + i, j * size + i, i * size + j, j * size + j
        constant = adds[:, :, ii].sum(axis=3, keepdims=True)
        linear = left[:, :, ji] - left[:, :, ii] + right[:, :, ij] - right[:, :, ii]
        product = adds[:, :, jj] - adds[:, :, ji] - adds[:, :, ij] + adds[:, :, ii]
        edge = product @ (self.is_first + self.is_second)
        shift = (linear + edge / 2).sum(
            axis=3, keepdims=True
        )  # each product is at the edge of two entries
        own = np.concatenate([linear, constant, product], axis=3)
        other = np.concatenate([-2 * linear - edge, shift], axis=3)
        return tuple(part.reshape(len(ranks), -1, part.shape[3]) for part in (own, other))  # type: ignore[return-value]


class PermutedScores:
    """Any other statistic: permuted metrics of a block of draws are passed to a function of whole
    rows.
    """

    def __init__(self, gold: FloatArray, metrics: FloatArray, measure: Measure) -> None:
        judged = (~np.isnan(gold)).sum(axis=1) >= 2
        self.judged, self.gold, self.metrics = judged, gold[judged], metrics[:, judged]
        self.measure, self.weights = measure, row_weights(self.gold, self.gold, measure)

    def _value(self, hybrid: FloatArray) -> FloatArray:
        values = ROW_STATISTICS[self.measure.statistic](
            np.broadcast_to(self.gold, hybrid.shape), hybrid
        )
        return average_rows(values, self.weights, self.measure.nan_as_zero)

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        step = max(1, _CELLS // max(1, self.gold.size))
        out = np.empty((len(swaps), len(pairs)))
        for at in range(0, len(swaps), step):
            block = swaps[at : at + step, self.judged]
            for k, (first, second) in enumerate(pairs):
                x, y = self.metrics[first], self.metrics[second]
                hybrids = np.where(block, y, x), np.where(block, x, y)
                out[at : at + step, k] = self._value(hybrids[0]) - self._value(hybrids[1])
        return out


def soft_accuracy_differences(
    gold: FloatArray, metrics: Single, swaps: BoolArray, pairs: IntArray
) -> FloatArray:
    """Soft pairwise accuracy; rows are systems.

    The p-values of each hybrid come from the normal limit of the paired permutation test, p = Φ(-Σd
    / √Σd²) over the segments' differences d, for gold and metrics alike: draws would only add
    noise.

    Let x and y be two systems' scores by metrics i and j, and a and b their 0/1 exchanges. One
    hybrid is x_i + a (x_j - x_i), and its counterpart has i and j changed about. So the Σd² of both
    are made of three sums: over a + b for each metric alone, and for each pair of metrics over b -
    a (an odd one) and a ≠ b (an even one).
    """
    step = max(1, 2 * _CELLS // (gold.shape[1] + len(pairs)))  # few large products of matrices
    scores = np.ascontiguousarray(np.moveaxis(metrics, 1, 0))  # (systems, metrics, segments)
    blocks = (swaps[at : at + step] for at in range(0, len(swaps), step))
    return np.concatenate([_soft_block(gold, scores, block, *pairs.T) for block in blocks])


def _soft_block(
    gold: FloatArray, scores: Single, swaps: BoolArray, i: IntArray, j: IntArray
) -> FloatArray:
    """(draws, pairs of metrics) how much nearer to the gold one hybrid is than its counterpart."""
    masks = np.ascontiguousarray(np.moveaxis(swaps, 1, 0)).view(np.int8)
    sums, squares = (
        np.stack([mask.astype(np.float32) @ rows.T for mask, rows in zip(masks, table)])
        for table in (scores, scores**2)
    )  # (systems, draws, metrics): over exchanged scores
    error = np.zeros((len(swaps), len(i)))
    for s, t in combinations(range(len(scores)), 2):
        (a, b), (x, y), gap = masks[[s, t]], scores[[s, t]], gold[s] - gold[t]
        both = (a + b).astype(np.float32) @ (x * y).T  # (draws, metrics)
        odd = _apart(squares[s] + squares[t] - both, i, j)
        odd -= (b - a).astype(np.float32) @ (x[i] * y[j] - x[j] * y[i]).T
        even = (a ^ b).astype(np.float32) @ ((x[j] - x[i]) * (y[j] - y[i])).T
        moved = _apart(sums[s] - sums[t], i, j)
        gold_p = float(_limit(gap.sum(), (gap**2).sum()))
        plain, square = (x - y).sum(axis=1), ((x - y) ** 2).sum(axis=1)  # before any exchange
        error -= np.abs(_limit(plain[i] + moved, square[i] + odd + even) - gold_p)
        error += np.abs(_limit(plain[j] - moved, square[j] - odd + even) - gold_p)
    return np.asarray(error / (len(scores) * (len(scores) - 1) / 2))


def _apart(values: Single, i: IntArray, j: IntArray) -> Single:
    """(draws, metrics) → (draws, pairs) how much more the second metric has."""
    return np.subtract(values[:, j], values[:, i])


def _limit(total: FloatArray | Single, squares: FloatArray | Single) -> FloatArray | Single:
    """p that the first system is better; 1/2 where no segment differs: a tie."""
    flat = squares < 1e-12
    return np.where(flat, 0.5, ndtr(-total / np.sqrt(np.where(flat, 1.0, squares))))
