"""Is one metric's agreement with humans better than another's? PERM-BOTH and the pairs test, for all pairs of metrics.

PERM-BOTH (Deutsch, Dror and Roth 2021): two metrics' standardised scores are exchanged at random,
entry by entry, and the difference in correlation is compared with the observed one. All pairs of
metrics share the same draws.

The pairs test is for tie-calibrated accuracy (mt-metrics-eval, ``perm_test=pairs``): each metric
keeps its threshold, and verdicts on pairs of outputs (right or wrong) are exchanged. A pair on
which the two differ moves the difference of the means by plus or minus its weight, so the null
difference is a sum of binomials, one per distinct weight.

Of permuted metrics (*hybrids*: two metrics with scores exchanged) statistics are computed for all
draws and pairs of metrics at once. The sums behind Pearson's r are linear in the 0/1 exchange mask
and the pair counts behind Kendall's tau are quadratic in it, so all draws are matrix products, and
the products of single metrics serve every pair they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from wholetext.meta.agreement.correlation import (
    SHORT,
    BoolArray,
    as_rows,
    average_rows,
    pearson_rows,
    rank_rows,
    ratio,
    zscore,
)
from wholetext.meta.agreement.measures import ROW_STATISTICS, Measure, calibrate, row_weights
from wholetext.scoring.significance.resample import seeded
from wholetext.types import FloatArray, IntArray

_SLACK = 1e-12  # a drawn difference equal to the observed one must count whatever the rounding
_SETTLED = 0.02, 0.5  # early stopping: p below the one or above the other
_SWAPS = 40_000_000  # exchanges drawn at a time
_CELLS = 4_000_000  # array cells held at a time
_CACHED = 16_000  # cells of the arrays in inner loops: they should stay in the processor's cache
# a hybrid row whose variance is below this share of its squares is computed again, centred
_FLAT = 1e-10
Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All pairs of metrics, in the order given."""

    p: FloatArray  # (metrics, metrics) p that metric i agrees better than metric j
    delta: FloatArray  # (metrics, metrics) observed difference, i − j
    null: FloatArray  # (draws, pairs i < j) drawn differences; NaN after an early stop


def compare(
    gold: FloatArray,
    metrics: FloatArray,
    measure: Measure,
    draws: int = 1000,
    seed: int | None = 12345,
    block: int = 0,
    swaps: BoolArray | None = None,
) -> Comparisons:
    """Test every two of (metrics, systems, items) scores: by pairs for calibrated ties, else PERM-BOTH.

    With ``block``, PERM-BOTH settles a pair after so many draws, or a multiple, if its p is clear.
    ``swaps``, (draws, systems, items), are exactly the exchanges to make.
    """
    if measure.calibrated:
        return _pairs_test(gold, metrics, measure, draws, seed)
    average = measure.average
    if measure.statistic == "spa":
        average = "system"
        kept = ~np.isnan(gold).any(axis=0)  # segments judged for all systems
        gold, metrics = gold[:, kept], metrics[..., kept]
        swaps = None if swaps is None else swaps[..., kept]
    x = as_rows(gold, average)
    differences = _differences(x, zscore(as_rows(metrics, average), ~np.isnan(x)), measure)
    if swaps is not None:
        swaps = as_rows(swaps.astype(np.float64), average) > 0
        draws = len(swaps)
    pairs = np.stack(np.triu_indices(len(metrics), 1), axis=1)
    observed = differences(np.zeros((1, *x.shape), dtype=bool), pairs)[0]
    null, rng = np.full((draws, len(pairs)), np.nan), seeded(seed)
    unsettled, block = np.arange(len(pairs)), block or draws
    step, at = max(1, _SWAPS // x.size), 0
    while at < draws and len(unsettled):
        stop = min(at + step, draws, (at // block + 1) * block)
        drawn = random_swaps(rng, (stop - at, *x.shape)) if swaps is None else swaps[at:stop]
        null[at:stop, unsettled] = differences(drawn, pairs[unsettled])
        at = stop
        if at % block == 0:
            p = (null[:at, unsettled] >= observed[unsettled] - _SLACK).mean(axis=0)
            unsettled = unsettled[(p >= _SETTLED[0]) & (p <= _SETTLED[1])]
    return _summarise(null, observed, len(metrics))


Differences = Callable[[BoolArray, IntArray], FloatArray]  # of permuted metrics, see below


def _differences(gold: FloatArray, metrics: FloatArray, measure: Measure) -> Differences:
    """Choose the fastest way to compute this statistic of exchanged metrics."""
    name = measure.statistic
    if name == "spa":
        return partial(soft_accuracy_differences, gold, metrics.astype(np.float32))
    if name in ("pearson", "pdp") and not measure.micro and not measure.nan_as_zero:
        return PermutedPearson(gold, metrics, pooled=name == "pdp").differences
    paired = (
        name in ("kendall", "acc_eq0", "tau23_0", "accuracy", "darr") and gold.shape[1] <= SHORT
    )
    if paired and not measure.micro and not (name == "kendall" and measure.nan_as_zero):
        return PermutedPairs(gold, metrics, measure).differences
    if name not in ROW_STATISTICS or (name == "accuracy" and len(gold) > 1):
        raise ValueError(f"no permutation test for {name} with rows of {gold.shape[1]} scores")
    return PermutedScores(gold, metrics, measure).differences


def random_swaps(rng: np.random.Generator, shape: tuple[int, ...]) -> BoolArray:
    """Fair coin flips, eight to a random byte."""
    size = int(np.prod(shape))
    raw = np.frombuffer(rng.bytes((size + 7) // 8), dtype=np.uint8)
    return np.unpackbits(raw, count=size).reshape(shape).view(np.bool_)


def _summarise(null: FloatArray, observed: FloatArray, metrics: int) -> Comparisons:
    """Turn (draws, pairs) drawn and (pairs,) observed differences into p-values of both directions."""
    first, second = np.triu_indices(metrics, 1)
    used = (~np.isnan(null)).sum(axis=0)
    p, delta = np.full((2, metrics, metrics), np.nan)
    p[first, second] = ratio((null >= observed - _SLACK).sum(axis=0), used)
    p[second, first] = ratio((null <= observed + _SLACK).sum(axis=0), used)
    delta[first, second], delta[second, first] = observed, -observed
    return Comparisons(p, delta, null)


def _pairs_test(
    gold: FloatArray, metrics: FloatArray, measure: Measure, draws: int, seed: int | None
) -> Comparisons:
    epsilons = np.array([calibrate(gold, metric, measure.average).epsilon for metric in metrics])
    x, y = as_rows(gold, measure.average), as_rows(metrics, measure.average)
    count = (~np.isnan(x)).sum(axis=1)
    used = count >= 2
    weights = np.where(
        used, 2.0 / np.maximum(count * (count - 1), 1) / max(1, int(used.sum())), 0.0
    )
    first, second = np.triu_indices(len(y), 1)
    rng = seeded(seed)
    null, observed = np.zeros((draws, len(first))), np.zeros(len(first))
    for weight in np.unique(weights[used]):
        rows = weights == weight
        # pairs of outputs on which metric i is right and metric j is wrong
        wins = np.zeros((len(y), len(y)))
        for right in _verdicts(x[rows], y[:, rows], epsilons):
            flat = right.astype(np.float32)
            both = (flat @ flat.T).astype(np.float64)  # whole numbers below 2**24: exact
            wins += both.diagonal()[:, None] - both
        whole = np.rint(wins).astype(np.int64)
        differing = (whole + whole.T)[first, second]
        observed += weight * (whole - whole.T)[first, second]
        null += weight * (2.0 * rng.binomial(differing, 0.5, null.shape) - differing)
    scale = 2.0 if measure.statistic == "tau23" else 1.0
    return _summarise(scale * null, scale * observed, len(metrics))


def _verdicts(gold: FloatArray, metrics: FloatArray, epsilons: FloatArray) -> Iterator[BoolArray]:
    """Yield (metrics, pairs) blocks: whether each pair is ordered as in gold."""
    n = gold.shape[1]
    step = max(1, _CELLS // max(1, len(metrics) * n * (n - 1) // 2))
    first, second = np.triu_indices(n, 1)
    for at in range(0, len(gold), step):
        gold_gap, metric_gap = (
            rows[..., first] - rows[..., second]
            for rows in (gold[at : at + step], metrics[:, at : at + step])
        )
        order = np.where(np.abs(metric_gap) <= epsilons[:, None, None], 0.0, np.sign(metric_gap))
        right = np.asarray(order == np.sign(gold_gap))  # NaN is never right
        yield right.reshape(len(epsilons), -1)


# ---------------------------------------------------------------- permuted metrics
#
# ``differences(swaps, pairs)``: (draws, rows, n) exchanges and (k, 2) pairs of metrics → (draws, k)
# statistic of the first hybrid minus that of the second. Gold is (rows, n), metrics are (metrics,
# rows, n).


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
        # a constant side leaves r undefined
        self.usable = (known.sum(axis=1) >= 2) & (pooled | (low < high))
        self.known = known[self.usable]
        self.count = self.known.sum(axis=1)[:, None].astype(np.float64)
        rows = np.where(self.known, gold[self.usable], 0.0)
        centred = np.where(self.known, rows - rows.sum(axis=1, keepdims=True) / self.count, 0.0)
        self.scale = np.sqrt((centred**2).sum(axis=1, keepdims=True))
        # (rows, n): mean 0 and, unless pooled, length 1
        self.gold = centred if pooled else centred / self.scale
        self.values = np.where(self.known, metrics[:, self.usable], 0.0)  # (metrics, rows, n)
        # (3, metrics, rows, n)
        columns = np.stack([self.values, self.values**2, self.values * self.gold])
        self.columns = np.ascontiguousarray(np.moveaxis(columns, 2, 0)).reshape(
            len(self.gold), -1, gold.shape[1]
        )

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        draws = len(swaps)
        # hybrid; (sum of r, rows with an r), or pooled (products, squares)
        sums = np.zeros((2, 2, len(pairs), draws))
        mask = swaps[:, self.usable].transpose(1, 2, 0)  # (rows, n, draws)
        step = max(1, _CACHED // draws)
        for at in range(0, len(self.gold), step):
            rows = slice(at, at + step)
            here = mask[rows].astype(np.float64)
            # (rows, 3·metrics, draws): sums over exchanged entries
            moved = self.columns[rows] @ here
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
            scale = np.sqrt(sums[:, 1] * (self.count * self.scale**2).sum())
            r = np.nan_to_num(ratio(sums[:, 0], scale))
        else:
            r = sums[:, 0] / np.maximum(sums[:, 1], 1)
        return np.ascontiguousarray((r[0] - r[1]).T)

    def _correlations(
        self, sums: FloatArray, rows: slice, mask: FloatArray, own: int, other: int
    ) -> tuple[FloatArray, IntArray | int]:
        """Return (rows, draws) r, 0 where undefined, and how many are defined.

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
        # only the order matters; whole numbers are exact in single precision
        ranks = 2 * rank_rows(flat)
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
        """Add values times weights, and weights, of rows with (rows, columns·k, draws) counts."""
        by_row = counts.reshape(len(counts), -1, k, counts.shape[2])
        for row, total, free in zip(by_row, self.total[rows].tolist(), self.free[rows].tolist()):
            if self.statistic == "kendall":
                scale = np.sqrt((total - row[1].astype(np.float64)) * free)
                defined = scale > 0
                into[0] += np.divide(row[0], scale, out=np.zeros(scale.shape), where=defined)
                into[1] += defined
            elif (
                total
            ):  # the share of pairs that are right; a plain mean over rows, or pairs pooled
                weight = total if self.statistic in ("accuracy", "darr") else 1.0
                rescaled = self.statistic in ("darr", "tau23_0")
                share = row[0].astype(np.float64) / total
                into[0] += weight * (2 * share - 1 if rescaled else share)
                into[1] += weight

    def _coefficients(self, rows: slice, pairs: IntArray) -> tuple[Single, Single]:
        """Return (rows, columns·k, features) of the polynomials of the first hybrid.

        They are in (masks, 1, products of masks). With them comes what must be added to (masks, 1)
        for the second hybrid, whose mask is the complement.
        """
        ranks, size = self.ranks[rows], self.metrics
        # (rows, m, m, pairs)
        sign = np.sign(ranks[:, :, None, self.first] - ranks[:, None, :, self.second])
        sign = sign.reshape(len(ranks), 1, size * size, -1)
        base, odd, even = (
            np.moveaxis(part[:, rows], 0, 1)[:, :, None]
            for part in (self.base, self.odd, self.even)
        )
        # (rows, columns, m·m, pairs): its two entries from two metrics
        adds = base + sign * (odd + even * sign)
        left, right = adds @ self.is_first, adds @ self.is_second  # (rows, columns, m·m, n)
        i, j = pairs[:, 0], pairs[:, 1]
        ii, ji, ij, jj = i * size + i, j * size + i, i * size + j, j * size + j
        constant = adds[:, :, ii].sum(axis=3, keepdims=True)
        linear = left[:, :, ji] - left[:, :, ii] + right[:, :, ij] - right[:, :, ii]
        product = adds[:, :, jj] - adds[:, :, ji] - adds[:, :, ij] + adds[:, :, ii]
        edge = product @ (self.is_first + self.is_second)
        # each product is at the edge of two entries
        shift = (linear + edge / 2).sum(axis=3, keepdims=True)
        own = np.concatenate([linear, constant, product], axis=3)
        other = np.concatenate([-2 * linear - edge, shift], axis=3)
        return tuple(part.reshape(len(ranks), -1, part.shape[3]) for part in (own, other))  # type: ignore[return-value]


class PermutedScores:
    """Any other statistic: permuted metrics of a block of draws are passed to a function of whole rows."""

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
    """Compute how much nearer to the gold each hybrid is than its counterpart: (draws, pairs)."""
    masks = np.ascontiguousarray(np.moveaxis(swaps, 1, 0)).view(np.int8)
    # (systems, draws, metrics): over exchanged scores
    sums, squares = (
        np.stack([mask.astype(np.float32) @ rows.T for mask, rows in zip(masks, table)])
        for table in (scores, scores**2)
    )
    error = np.zeros((len(swaps), len(i)))
    for s, t in combinations(range(len(scores)), 2):
        (a, b), (x, y), gap = masks[[s, t]], scores[[s, t]], gold[s] - gold[t]
        both = (a + b).astype(np.float32) @ (x * y).T  # (draws, metrics)
        own = squares[s] + squares[t] - both
        odd = own[:, j] - own[:, i]
        odd -= (b - a).astype(np.float32) @ (x[i] * y[j] - x[j] * y[i]).T
        even = (a ^ b).astype(np.float32) @ ((x[j] - x[i]) * (y[j] - y[i])).T
        apart = sums[s] - sums[t]
        moved = apart[:, j] - apart[:, i]
        gold_p = float(_limit(gap.sum(), (gap**2).sum()))
        plain, square = (x - y).sum(axis=1), ((x - y) ** 2).sum(axis=1)  # before any exchange
        error -= np.abs(_limit(plain[i] + moved, square[i] + odd + even) - gold_p)
        error += np.abs(_limit(plain[j] - moved, square[j] - odd + even) - gold_p)
    return np.asarray(error / (len(scores) * (len(scores) - 1) / 2))


def _limit(total: FloatArray | Single, squares: FloatArray | Single) -> FloatArray | Single:
    """Return p that the first system is better; 1/2 where no segment differs: a tie."""
    flat = squares < 1e-12
    return np.where(flat, 0.5, ndtr(-total / np.sqrt(np.where(flat, 1.0, squares))))
