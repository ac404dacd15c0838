"""Is one metric's agreement with humans better than another's? PERM-BOTH and the pairs test, for
all pairs of metrics.

PERM-BOTH (Deutsch, Dror and Roth 2021): two metrics' standardised scores are exchanged at random,
entry by entry, and the difference in correlation is compared with the observed one. All pairs of
metrics share the same draws.

The pairs test is for tie-calibrated accuracy (mt-metrics-eval, ``perm_test=pairs``): each metric
keeps its threshold, and verdicts on pairs of outputs (right or wrong) are exchanged. A pair on
which the two differ moves the difference of the means by plus or minus its weight, so the null
difference is a sum of binomials, one per distinct weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from wholetext.meta.agreement.correlation import SHORT, BoolArray, as_rows, zscore
from wholetext.meta.agreement.measures import ROW_STATISTICS, Measure
from wholetext.meta.agreement.permuted_metrics import (
    PermutedPairs,
    PermutedPearson,
    PermutedScores,
    soft_accuracy_differences,
)
from wholetext.meta.agreement.ties import calibrate
from wholetext.scoring.significance.resample import seeded
from wholetext.types import FloatArray, IntArray

_SLACK = 1e-12  # a drawn difference equal to the observed one must count whatever the rounding
_SETTLED = 0.02, 0.5  # early stopping: p below the one or above the other
_SWAPS = 40_000_000  # exchanges drawn at a time
_CELLS = 4_000_000  # verdicts held at a time


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
    """(systems, items) gold, (metrics, systems, items) scores: the pairs test for calibrated ties,
    else PERM-BOTH.

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


Differences = Callable[[BoolArray, IntArray], FloatArray]  # as in permuted_metrics


def _differences(gold: FloatArray, metrics: FloatArray, measure: Measure) -> Differences:
    """The fastest way to this statistic of exchanged metrics."""
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
    """(draws, pairs) drawn and (pairs,) observed differences → p-values in both directions."""
    first, second = np.triu_indices(metrics, 1)
    used = (~np.isnan(null)).sum(axis=0)
    p, delta = np.full((2, metrics, metrics), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        p[first, second] = (null >= observed - _SLACK).sum(axis=0) / used
        p[second, first] = (null <= observed + _SLACK).sum(axis=0) / used
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
        wins = np.zeros(
            (len(y), len(y))
        )  # pairs of outputs on which metric i is right and metric j is wrong
        for right in _verdicts(x[rows], y[:, rows], epsilons):
            flat = right.astype(np.float32)
            both = (flat @ flat.T).astype(np.float64)  # whole numbers below 2**24: exact
            wins += both.diagonal()[:, None] - both
        wins = np.rint(wins).astype(np.int64)
        differing = (wins + wins.T)[first, second]
        observed += weight * (wins - wins.T)[first, second]
        null += weight * (2.0 * rng.binomial(differing, 0.5, null.shape) - differing)
    scale = 2.0 if measure.statistic == "tau23" else 1.0
    return _summarise(scale * null, scale * observed, len(metrics))


def _verdicts(gold: FloatArray, metrics: FloatArray, epsilons: FloatArray) -> Iterator[BoolArray]:
    """(rows, n) gold, (metrics, rows, n) scores → (metrics, pairs) blocks: is the pair ordered as
    in gold?
    """
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
