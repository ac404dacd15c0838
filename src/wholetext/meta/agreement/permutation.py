"""Is one metric's agreement with humans better than another's? PERM-BOTH, for all pairs of metrics at once.

Deutsch, Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods": the
two metrics' standardised scores are exchanged at random, entry by entry, and the difference in correlation is compared
with the observed one. All pairs of metrics share the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wholetext.meta.agreement.correlation import BoolArray, as_rows, zscore
from wholetext.meta.agreement.measures import ROW_STATISTICS, Measure
from wholetext.meta.agreement.pairs import SHORT, pair_positions
from wholetext.meta.agreement.permuted_metrics import (
    PermutedMetrics,
    PermutedPairs,
    PermutedPearson,
    PermutedScores,
    PermutedSystems,
)
from wholetext.types import FloatArray, IntArray

_SLACK = 1e-12  # a drawn difference equal to the observed one must count whatever the rounding
_SWAPS = 40_000_000  # exchanges drawn at a time


@dataclass(frozen=True, eq=False)
class Draws:
    """How a permutation test draws: how many, from which seed (or exactly these exchanges), and when it may stop
    early.

    After every ``block`` draws a pair is settled whose p is below ``low`` or above ``high``; ``block`` 0 never stops
    early.
    """

    count: int = 1000
    seed: int | None = 12345
    block: int = 0
    low: float = 0.02
    high: float = 0.5
    swaps: BoolArray | None = None  # (draws, systems, items), True = exchanged


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All pairs i < j of metrics, in the order given: p that metric i agrees better than j, and what was drawn."""

    p: FloatArray  # (metrics, metrics); p[j, i] is the p of the opposite direction; NaN on the diagonal
    delta: FloatArray  # (metrics, metrics) observed difference, i − j
    used: IntArray  # (metrics, metrics) draws
    null: FloatArray  # (draws, pairs) drawn differences in the order of numpy's triu_indices; NaN after an early stop


def compare(gold: FloatArray, metrics: FloatArray, measure: Measure, draws: Draws | None = None) -> Comparisons:
    """PERM-BOTH over (systems, items) gold and (metrics, systems, items) scores, exchanging single scores."""
    x = as_rows(gold, measure.average)
    known = ~np.isnan(x)
    standard = zscore(as_rows(metrics, measure.average), known)
    return run_draws(_hybrids(x, standard, measure), x.shape, len(metrics), _by_rows(draws or Draws(), measure))


def compare_systems(gold: FloatArray, metrics: FloatArray, measure: Measure, draws: Draws | None = None) -> Comparisons:
    """PERM-BOTH at system level exchanging single segments: the statistic is over systems' mean hybrid scores."""
    standard = zscore(metrics, ~np.isnan(gold))
    hybrids = PermutedSystems(gold, standard, ROW_STATISTICS[measure.statistic])
    return run_draws(hybrids, gold.shape, len(metrics), draws or Draws())


def _by_rows(draws: Draws, measure: Measure) -> Draws:
    if draws.swaps is None:
        return draws
    return replace(draws, swaps=as_rows(draws.swaps.astype(np.float64), measure.average) > 0)


def _hybrids(gold: FloatArray, metrics: FloatArray, measure: Measure) -> PermutedMetrics:
    """The fastest way to this statistic of exchanged metrics; gold (rows, n), metrics (metrics, rows, n)."""
    name, short = measure.statistic, gold.shape[1] <= SHORT
    if name in ("pearson", "pdp") and not measure.micro and not measure.nan_as_zero:
        return PermutedPearson(gold, metrics, pooled=name == "pdp")
    paired = name in ("kendall", "acc_eq0", "tau23_0", "accuracy", "darr") and short and not measure.micro
    if paired and not (name == "kendall" and measure.nan_as_zero):
        return permuted_pairs(gold, metrics, measure)
    if name not in ROW_STATISTICS or (name == "accuracy" and len(gold) > 1):
        raise ValueError(f"no permutation test for {name} with rows of {gold.shape[1]} scores")
    return PermutedScores(gold, metrics, measure)


def random_swaps(rng: np.random.Generator, shape: tuple[int, ...]) -> BoolArray:
    """Fair coin flips, eight to a random byte."""
    size = int(np.prod(shape))
    raw = np.frombuffer(rng.bytes((size + 7) // 8), dtype=np.uint8)
    return np.unpackbits(raw, count=size).reshape(shape).view(np.bool_)


def run_draws(hybrids: PermutedMetrics, shape: tuple[int, ...], metrics: int, draws: Draws) -> Comparisons:
    """Draw permutations of this shape for all pairs of metrics, with early stopping if requested."""
    first, second = pair_positions(metrics)
    pairs = np.stack([first, second], axis=1)
    observed = hybrids.differences(np.zeros((1, *shape), dtype=bool), pairs)[0]
    rng = np.random.default_rng(draws.seed)
    count = draws.count if draws.swaps is None else len(draws.swaps)
    null = np.full((count, len(pairs)), np.nan)
    open_ = np.arange(len(pairs))
    step = max(1, _SWAPS // int(np.prod(shape)))
    at = 0
    while at < count and len(open_):
        stop = min(at + step, count, (at // draws.block + 1) * draws.block if draws.block else count)
        swaps = random_swaps(rng, (stop - at, *shape)) if draws.swaps is None else draws.swaps[at:stop]
        null[at:stop, open_] = hybrids.differences(swaps, pairs[open_])
        at = stop
        if draws.block and at % draws.block == 0:
            p = (null[:at, open_] >= observed[open_] - _SLACK).mean(axis=0)
            open_ = open_[(p >= draws.low) & (p <= draws.high)]
    return summarise(null, observed, metrics)


def summarise(null: FloatArray, observed: FloatArray, metrics: int) -> Comparisons:
    """(draws, pairs) drawn and (pairs,) observed differences → p-values in both directions."""
    first, second = pair_positions(metrics)
    drawn = ~np.isnan(null)
    used = drawn.sum(axis=0)
    p, delta = np.full((2, metrics, metrics), np.nan)
    count = np.zeros((metrics, metrics), dtype=np.int64)
    with np.errstate(invalid="ignore", divide="ignore"):
        p[first, second] = (null >= observed - _SLACK).sum(axis=0) / used
        p[second, first] = (null <= observed + _SLACK).sum(axis=0) / used
    delta[first, second], delta[second, first] = observed, -observed
    count[first, second] = count[second, first] = used
    return Comparisons(p, delta, count, null)


def permuted_pairs(gold: FloatArray, metrics: FloatArray, measure: Measure) -> PermutedPairs:
    """Pair counts as tables: what a pair adds when the metric orders it below, equal, above."""
    first, second = pair_positions(gold.shape[1])
    gap = gold[:, first] - gold[:, second]  # (rows, pairs), NaN where not judged
    usable = np.abs(gap) >= (measure.gap if measure.statistic == "darr" else 0.0)
    below, equal, above = (usable & test for test in (gap < 0, gap == 0, gap > 0))
    none = np.zeros(gap.shape)
    if measure.statistic == "kendall":
        order = above.astype(np.float64) - below
        tables = np.stack([np.stack([-order, none, order]), np.stack([none, usable, none])])
        return PermutedPairs(metrics, tables, _TauB(usable.sum(axis=1), equal.sum(axis=1)))
    tables = np.stack([below, none if measure.statistic == "darr" else equal, above])[None].astype(np.float64)
    return PermutedPairs(metrics, tables, _Share(usable.sum(axis=1), measure))


class _TauB:
    """Kendall's tau-b from the balance of a row's pairs and its metric ties; a plain mean over rows."""

    def __init__(self, total: IntArray, gold_ties: IntArray) -> None:
        self.total, self.free = total, np.sqrt(total - gold_ties)

    def __call__(self, counts: NDArray[np.float32], row: int) -> tuple[FloatArray, FloatArray | float]:
        if self.free[row] == 0:
            return np.zeros(counts.shape[1:]), 0.0
        metric_free = self.total[row] - counts[1].astype(np.float64)
        np.sqrt(metric_free, out=metric_free)
        metric_free *= self.free[row]
        if metric_free.min() > 0:
            return counts[0] / metric_free, 1.0
        defined = metric_free > 0
        return np.divide(counts[0], metric_free, out=np.zeros(defined.shape), where=defined), defined.astype(np.float64)


class _Share:
    """Share of a row's pairs that are right; a plain mean over rows, or all pairs pooled."""

    def __init__(self, total: IntArray, measure: Measure) -> None:
        self.total, self.pooled = total, measure.statistic in ("accuracy", "darr")
        self.scale, self.shift = (2.0, -1.0) if measure.statistic in ("darr", "tau23_0") else (1.0, 0.0)

    def __call__(self, counts: NDArray[np.float32], row: int) -> tuple[FloatArray, FloatArray | float]:
        total = float(self.total[row])
        if total == 0:
            return np.zeros(counts.shape[1:]), 0.0
        weight = total if self.pooled else 1.0
        return counts[0].astype(np.float64) * (self.scale * weight / total) + self.shift * weight, weight
