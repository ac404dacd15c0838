"""Bootstrap and permutation of additive statistics: intervals, p-values, rank clusters.

A *unit* (a document by default) is what is drawn or swapped. Each system comes as its totals,
(units, k) sums of statistics, so a resampled corpus is ``weights @ totals`` and its score one call
of ``reduce``. Draws are made block by block. No bit of a system's numbers depends on the other
systems, the block size, threads or matrix kernels.

Conventions and random stream are sacreBLEU's (Post 2018): with segments as units the numbers are
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError, MetricError
from wholetext.types import FloatArray, IntArray

SEED = 12345
RESAMPLES = 1_000
TRIALS = 10_000
_BLOCK = 1 << 21  # weights held at once: 16 MB as float64
_WORD = 32  # numpy draws 32 coin flips from one word: blocks of 32 trials continue one stream
_SMALLEST = -1074  # exponent of the smallest number there is
FEW = 20  # documents; with fewer, intervals are too narrow (docs/significance.md)
ROUNDING = 1e-10  # scores closer than this, relative to their size, are equal

Score = Callable[[FloatArray], FloatArray]  # (..., k) totals → (...) one score each
Pairs = Sequence[tuple[int, int]]  # indices of two systems


@dataclass(frozen=True)
class Interval:
    """A 95 % percentile interval of bootstrap scores, and their mean; NaN if undefined."""

    low: float
    high: float
    mean: float

    @property
    def half_width(self) -> float:
        """The number that sacreBLEU prints after ±."""
        return 0.5 * (self.high - self.low)


def seeded(seed: int | None) -> np.random.Generator:
    """The random generator of a seed; None gives one that cannot be reproduced."""
    if seed is not None and (
        not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or seed < 0
    ):
        raise InputError(
            f"seed must be a non-negative integer or None; got {seed!r}",
            next="leave it out for the default",
        )
    return np.random.default_rng(seed)


def score_with_interval(
    totals: FloatArray, score: Score, draws: int = RESAMPLES, seed: int | None = SEED
) -> tuple[float, float, float]:
    """The score of (units, k) totals and its 95 % interval, NaN with fewer than two units."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(score(totals.sum(axis=0)))
    if len(totals) < 2 or np.isnan(value):
        return value, np.nan, np.nan
    middle = interval(bootstrap_scores([totals], score, draws, seed)[0])
    return value, middle.low, middle.high


def ratio(totals: FloatArray) -> FloatArray:
    """(...) the first of two columns over the second."""
    return np.asarray(totals[..., 0] / totals[..., 1])


@np.errstate(all="ignore")  # an undefined resample is NaN
def bootstrap_scores(
    systems: Sequence[FloatArray], score: Score, draws: int = RESAMPLES, seed: int | None = SEED
) -> FloatArray:
    """(systems, draws) scores of corpora drawn with replacement (Efron 1979; Koehn 2004)."""
    totals, rng = _Totals(systems, draws), seeded(seed)
    samples = np.full((len(systems), draws), np.nan)
    block = max(1, _BLOCK // totals.units)
    for at in range(0, draws, block):
        n = min(block, draws - at)
        drawn = (
            rng.integers(0, totals.units, size=(n, totals.units))
            + np.arange(n)[:, None] * totals.units
        )
        weights = np.bincount(drawn.ravel(), minlength=n * totals.units).reshape(n, totals.units)
        for row, sums in zip(samples, totals.weighted(weights)):
            # sums of columns depend on their layout
            row[at : at + n] = score(np.ascontiguousarray(sums))
    return samples


def interval(samples: FloatArray) -> Interval:
    """The middle 95 % of the defined samples: sorted values n//40 and n - n//40 - 1, from 0."""
    known = np.sort(samples[np.isfinite(samples)])
    if not len(known):
        return Interval(np.nan, np.nan, np.nan)
    cut = len(known) // 40
    return Interval(float(known[cut]), float(known[len(known) - cut - 1]), float(known.mean()))


def bootstrap_p(
    samples: FloatArray, observed: FloatArray, pairs: Pairs, *, centred: bool = False
) -> FloatArray:
    """(pairs,) paired bootstrap p-values from (systems, draws) samples.

    Default, as in sacreBLEU and Moses: |Δ*| minus its mean against |Δ|, which rejects at about
    twice its level (docs/significance.md). ``centred``: |Δ* - mean Δ*| against |Δ| (Efron &
    Tibshirani 1993, ch. 16).
    """
    p = np.full(len(pairs), np.nan)
    for at, (a, b) in enumerate(pairs):
        deltas = samples[a] - samples[b]
        deltas = deltas[np.isfinite(deltas)]
        delta = abs(observed[a] - observed[b])
        if not len(deltas) or not np.isfinite(delta):
            continue
        null = np.abs(deltas - deltas.mean()) if centred else np.abs(deltas) - np.abs(deltas).mean()
        p[at] = (_exceeding(null, delta, observed[[a, b]]) + 1) / (len(null) + 1)
    return p


@np.errstate(all="ignore")  # an undefined trial is NaN
def randomization_p(
    systems: Sequence[FloatArray],
    score: Score,
    pairs: Pairs,
    trials: int = TRIALS,
    seed: int | None = SEED,
) -> FloatArray:
    """(pairs,) p-values of approximate randomisation (Noreen 1989; Riezler & Maxwell 2005).

    In each trial every unit is swapped with probability ½; p is the share of trials whose |Δ| is at
    least the observed one, with 1 added to both counts.
    """
    totals, rng = _Totals(systems, trials), seeded(seed)
    whole = [each.sum(axis=0) for each in systems]  # each (k,)
    observed = np.array([score(each) for each in whole])  # (systems,)
    above, defined = np.zeros(len(pairs)), np.zeros(len(pairs))
    block = max(_WORD, _BLOCK // totals.units // _WORD * _WORD)
    for begin in range(0, trials, block):
        swaps = rng.integers(2, size=(min(block, trials - begin), totals.units), dtype=np.bool_)
        kept = totals.weighted(swaps)  # (systems, block, k)
        # used for all pairs: large arrays are slow to get; trials side by side, as in ``kept``
        swapped = np.empty((2, kept.shape[2], kept.shape[1])).transpose(0, 2, 1)
        for at, (a, b) in enumerate(pairs):
            np.subtract(kept[a], kept[b], out=swapped[0])
            np.subtract(whole[a], swapped[0], out=swapped[1])
            swapped[0] += whole[b]
            first, second = score(swapped)
            null = np.abs(first - second)
            null = null[np.isfinite(null)]
            defined[at] += len(null)
            above[at] += _exceeding(null, abs(observed[a] - observed[b]), observed[[a, b]])
    known = [bool(np.isfinite(observed[[a, b]]).all()) for a, b in pairs]
    return np.where(
        np.array(known, dtype=bool) & (defined > 0), (above + 1) / (defined + 1), np.nan
    )


def attainable(count: int, alpha: float, comparisons: int) -> bool:
    """Whether any corrected p-value over so many documents can reach the level."""
    return 2.0 ** (1 - count) * comparisons <= alpha


def few_documents(count: int, alpha: float = 0.05, comparisons: int = 1) -> str:
    """A warning, or ``""`` where there are documents enough for intervals and tests.

    Swapping n documents has only 2ⁿ outcomes, two of which are always as extreme as the observed
    one, so no p-value can be below 2 / 2ⁿ, times the number of comparisons.
    """
    if count >= FEW:
        return ""
    if count == 1:
        return (
            "1 document only: there are no intervals and significance tests over documents (over segments: "
            "--resample segments, in Python unit='segment')"
        )
    text = f"{count} documents only: with fewer than {FEW} the intervals are too narrow"
    least = 2.0 ** (1 - count)
    if least * comparisons > alpha:
        over = f", over {comparisons} comparisons" if least <= alpha else ""
        text += f", and no difference can be significant by document (the smallest possible p is {least:.3g}{over})"
    return text


# ---------------------------------------------------------------- multiple comparisons


def cluster_ranks(p: FloatArray, alpha: float = 0.05) -> list[int]:
    """Rank items, best first, from 1; ``p[i, j]``, i < j, is the p-value of i against j.

    An item opens a new cluster if any member of the current one has p ≤ α against it (Freitag et
    al. 2021).
    """
    table = np.asarray(p, dtype=np.float64)
    ranks: list[int] = []
    first = 0  # where the current cluster begins
    for item in range(len(table)):
        if np.any(table[first:item, item] <= alpha):
            first = item
        ranks.append(ranks[-1] + (first == item) if ranks else 1)
    return ranks


def holm(p: FloatArray) -> FloatArray:
    """Step-down adjusted p-values (Holm 1979); NaN stays NaN and does not count.

    The i-th smallest of m is multiplied by m - i + 1 and never smaller than the one before.
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return adjusted


def holm_levels(p: FloatArray, alpha: float = 0.05) -> FloatArray:
    """Levels of Holm's procedure: α over the number of p-values that are no smaller."""
    values = np.asarray(p, dtype=np.float64)
    order = np.sort(values[~np.isnan(values)])
    no_smaller = np.maximum(len(order) - np.searchsorted(order, values), 1)
    return np.where(np.isnan(values), np.nan, alpha / no_smaller)


# ---------------------------------------------------------------- exact sums


class _Totals:
    """Totals of all systems side by side, split so that every sum drawn from them is exact.

    Each column is rounded to multiples of a power of two so large that sums need at most 53 bits;
    the remainder, to a finer grid of the same kind.
    """

    def __init__(self, systems: Sequence[FloatArray], draws: int) -> None:
        shapes = {totals.shape for totals in systems}
        self.systems, self.units = len(systems), len(systems[0])
        if len(shapes) != 1 or self.units < 1 or draws < 1:
            raise MetricError(
                f"cannot draw {draws} resamples of totals of the shapes {sorted(shapes)}",
                next="score all systems on the same documents with one metric; draw at least once",
            )
        values = np.concatenate(systems, axis=1)  # (units, systems * k)
        size = np.abs(values).max(axis=0)
        spare = self.units.bit_length() - 53
        grid = np.frexp(np.where(np.isfinite(size), size, 0.0))[1] + spare  # exponents
        step = np.ldexp(1.0, np.maximum(grid, _SMALLEST))
        rounded = np.rint(values / step) * step
        with np.errstate(invalid="ignore"):  # a column with a NaN sums to NaN, however it is split
            values -= rounded
        self.left = np.flatnonzero(values.any(axis=0))  # columns of which something is left
        step = np.ldexp(1.0, np.maximum(grid[self.left] + spare, _SMALLEST))
        finer = np.rint(values[:, self.left] / step) * step
        self.columns = np.concatenate([rounded, finer], axis=1)

    def weighted(self, weights: NDArray[np.bool_] | IntArray) -> FloatArray:
        """(systems, block, k) ``weights @ totals`` of each system, some units at a time.

        A statistic of all draws is one stretch of memory, so that scores are computed on whole
        columns.
        """
        sums = np.zeros((len(weights), self.columns.shape[1]))
        step = max(1, _BLOCK // len(weights))
        for begin in range(0, self.units, step):
            sums += (
                weights[:, begin : begin + step].astype(np.float64)
                @ self.columns[begin : begin + step]
            )
        whole = sums[:, : sums.shape[1] - len(self.left)]
        whole[:, self.left] += sums[:, whole.shape[1] :]
        columns = np.ascontiguousarray(whole.T)  # (systems * k, block)
        return np.asarray(columns.reshape(self.systems, -1, len(weights)).transpose(0, 2, 1))


def _exceeding(null: FloatArray, observed: float, scores: FloatArray) -> int:
    return int(np.count_nonzero(null >= observed - ROUNDING * np.abs(scores).max()))
