"""Is one metric's agreement with humans better than another's? PERM-BOTH, the pairs test for calibrated ties,
Williams.

PERM-BOTH: Deutsch, Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
Methods": the two metrics' standardised scores are exchanged at random, entry by entry, and the difference in
correlation is compared with the observed one. All pairs of metrics share the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholetext.stats.correlation import BoolArray, as_rows, zscore
from wholetext.stats.hybrids import FormedHybrids, Hybrids, PairHybrids, PearsonHybrids, SystemHybrids
from wholetext.stats.measures import ROW_STATISTICS, Measure
from wholetext.stats.pairs import SHORT, pair_positions
from wholetext.types import FloatArray, IntArray

_SLACK = 1e-12  # a drawn difference equal to the observed one must count whatever the rounding
_DRAWN = 250  # draws worked on at a time


@dataclass(frozen=True, eq=False)
class Draws:
    """How a permutation test draws: how many, from which seed (or exactly these exchanges), and when it may stop
    early.

    After every ``block`` draws a pair is settled whose p is below ``low`` or above ``high``; ``block`` 0 never stops
    early.
    """

    count: int = 1000
    seed: int = 12345
    block: int = 0
    low: float = 0.02
    high: float = 0.5
    swaps: BoolArray | None = None  # (draws, systems, items), True = exchanged


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All pairs i < j of metrics, in the order given: p that metric i agrees better than j, and what was drawn."""

    p: FloatArray  # (metrics, metrics); p[j, i] is the p of the opposite direction; NaN on the diagonal
    delta: FloatArray  # (metrics, metrics) observed difference, i less j
    used: IntArray  # (metrics, metrics) draws
    null: FloatArray  # (draws, pairs) drawn differences in the order of numpy's triu_indices; NaN after an early stop


def compare(gold: FloatArray, metrics: FloatArray, measure: Measure, draws: Draws | None = None) -> Comparisons:
    """PERM-BOTH over (systems, items) gold and (metrics, systems, items) scores, exchanging single scores."""
    x = as_rows(gold, measure.average)
    known = ~np.isnan(x)
    standard = zscore(as_rows(metrics, measure.average), known)
    return _run(_hybrids(x, standard, measure), x.shape, len(metrics), _by_rows(draws or Draws(), measure))


def compare_systems(gold: FloatArray, metrics: FloatArray, measure: Measure, draws: Draws | None = None) -> Comparisons:
    """PERM-BOTH at system level exchanging single segments: the statistic is over systems' mean hybrid scores."""
    standard = zscore(metrics, ~np.isnan(gold))
    hybrids = SystemHybrids(gold, standard, ROW_STATISTICS[measure.statistic])
    return _run(hybrids, gold.shape, len(metrics), draws or Draws())


def _by_rows(draws: Draws, measure: Measure) -> Draws:
    if draws.swaps is None:
        return draws
    rows = as_rows(draws.swaps.astype(np.float64), measure.average) > 0
    return Draws(len(rows), draws.seed, draws.block, draws.low, draws.high, rows)


def _hybrids(gold: FloatArray, metrics: FloatArray, measure: Measure) -> Hybrids:
    """The fastest way to this statistic of exchanged metrics; gold (rows, n), metrics (metrics, rows, n)."""
    name, short = measure.statistic, gold.shape[1] <= SHORT
    if name in ("pearson", "pdp") and not measure.micro and not measure.nan_as_zero:
        return PearsonHybrids(gold, metrics, pooled=name == "pdp")
    if name in ("kendall", "acc_eq0", "tau23_0", "accuracy", "darr") and short and not measure.micro:
        return pair_hybrids(gold, metrics, measure)
    if name not in ROW_STATISTICS or (name == "accuracy" and len(gold) > 1):
        raise ValueError(f"no permutation test for {name} with rows of {gold.shape[1]} scores")
    return FormedHybrids(gold, metrics, measure)


def random_swaps(rng: np.random.Generator, shape: tuple[int, ...]) -> BoolArray:
    """Fair coin flips, eight to a random byte."""
    size = int(np.prod(shape))
    raw = np.frombuffer(rng.bytes((size + 7) // 8), dtype=np.uint8)
    return np.unpackbits(raw, count=size).reshape(shape).view(np.bool_)


def _run(hybrids: Hybrids, shape: tuple[int, ...], metrics: int, draws: Draws) -> Comparisons:
    first, second = pair_positions(metrics)
    pairs = np.stack([first, second], axis=1)
    observed = hybrids.differences(np.zeros((1, *shape), dtype=bool), pairs)[0]
    rng = np.random.default_rng(draws.seed)
    null = np.full((draws.count, len(pairs)), np.nan)
    open_ = np.arange(len(pairs))
    step = min(draws.block, _DRAWN) if draws.block else _DRAWN
    at = 0
    while at < draws.count and len(open_):
        stop = min(at + step, draws.count, (at // draws.block + 1) * draws.block if draws.block else draws.count)
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


def pair_hybrids(gold: FloatArray, metrics: FloatArray, measure: Measure) -> PairHybrids:
    """Pair counts as tables: what a pair adds when the metric orders it below, equal, above."""
    first, second = pair_positions(gold.shape[1])
    gap = gold[:, first] - gold[:, second]  # (rows, pairs), NaN where not judged
    usable = np.abs(gap) >= (measure.gap if measure.statistic == "darr" else 0.0)
    below, equal, above = (usable & test for test in (gap < 0, gap == 0, gap > 0))
    total, ties = usable.sum(axis=1)[:, None, None], equal.sum(axis=1)[:, None, None]
    none = np.zeros(gap.shape)
    if measure.statistic == "kendall":
        order = above.astype(np.float64) - below
        tables = np.stack([np.stack([-order, none, order]), np.stack([none, usable, none])])

        def tau_b(counts: FloatArray, rows: slice) -> FloatArray:
            with np.errstate(invalid="ignore", divide="ignore"):
                free = np.sqrt((total[rows] - counts[1]) * (total[rows] - ties[rows]).astype(np.float64))
                value = np.where(free > 0, counts[0] / free, np.nan)
            return np.stack([value, np.ones(value.shape)])

        return PairHybrids(metrics, tables, tau_b)
    tied = none if measure.statistic == "darr" else equal
    tables = np.stack([below, tied, above])[None].astype(np.float64)
    pooled = measure.statistic in ("accuracy", "darr")
    scale, shift = (2.0, -1.0) if measure.statistic in ("darr", "tau23_0") else (1.0, 0.0)

    def share(counts: FloatArray, rows: slice) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            value = scale * counts[0] / total[rows] + shift
        return np.stack([value, np.broadcast_to(total[rows] if pooled else 1.0, value.shape)])

    return PairHybrids(metrics, tables, share)
