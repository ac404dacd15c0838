"""The agreement statistics by name: range, estimate and chance level of each.

Pairwise accuracy of systems: Kocmi et al. 2021. DArr Kendall: Mathur et al. 2020. Soft pairwise
accuracy: Thompson et al. 2024. Pairwise-difference Pearson: DiIanni et al. 2024. tau23 and acc_eq:
Deutsch, Foster and Freitag 2023, eq. 6-7.

Tie calibration finds the threshold below which metric scores count as equal that maximises acc_eq,
exactly, over all pairs of every row (section 5 there): tying one pair changes the mean over rows by
a fixed amount, so sorting pairs by distance and one cumulative sum give the whole curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wholetext.meta.agreement.correlation import (
    BoolArray,
    Grouping,
    as_rows,
    average_rows,
    both_known,
    count_pairs,
    kendall_c_rows,
    kendall_rows,
    pearson_rows,
    ratio,
    spearman_rows,
)
from wholetext.scoring.significance.resample import Interval
from wholetext.types import FloatArray, IntArray

Bounds = tuple[float, float] | Interval | None
_EQUAL = 1e-11  # values this close are one maximum: the smallest threshold is reported


@dataclass(frozen=True)
class Calibration:
    """The best value, the smallest threshold that reaches it, rows averaged, pairs compared."""

    value: float
    epsilon: float
    rows: int
    pairs: int
    gold_ties: float  # share of pairs tied in gold, averaged over rows


def calibrate(gold: FloatArray, metric: FloatArray, average: Grouping) -> Calibration:
    """Find the tie threshold of (systems, items) scores for all rows; NaN where there is no pair."""
    x, y = as_rows(gold, average), as_rows(metric, average)
    first, second = np.triu_indices(x.shape[1], 1)
    gold_gap, metric_gap = x[:, first] - x[:, second], y[:, first] - y[:, second]  # (rows, pairs)
    usable, distance = both_known(gold_gap, metric_gap), np.abs(metric_gap)
    tied = usable & (gold_gap == 0)
    right = usable & (np.sign(gold_gap) == np.sign(metric_gap))
    per_row = usable.sum(axis=1)
    rows = int((per_row > 0).sum())
    if not rows:
        return Calibration(np.nan, np.nan, 0, 0, np.nan)
    # tying gains the pairs that gold ties and loses those that were right; others change nothing
    change = (tied & ~right) * 1.0 - (right & ~tied)
    change /= (np.maximum(per_row, 1) * rows)[:, None]
    epsilon = _best_epsilon(distance[change != 0], change[change != 0])
    now_right = np.where((distance <= epsilon) & (epsilon > 0), tied, right)
    value, ties = (float(np.nanmean(ratio(of.sum(axis=1), per_row))) for of in (now_right, tied))
    return Calibration(value, epsilon, rows, int(per_row.sum()), ties)


def _best_epsilon(distance: FloatArray, change: FloatArray) -> float:
    """Find the smallest threshold that reaches the maximum, by what tying each pair changes."""
    order = np.argsort(distance)
    distance, value = distance[order], np.cumsum(change[order])
    last = np.append(distance[1:] != distance[:-1], True)[: len(value)]  # of each distinct distance
    distance, value = distance[last], value[last]
    if not len(value) or value.max() <= _EQUAL:
        return 0.0
    return float(distance[int(np.argmax(value >= value.max() - _EQUAL))])


#: statistic → its range
STATISTICS: dict[str, tuple[float, float]] = {
    "pearson": (-1.0, 1.0),
    "spearman": (-1.0, 1.0),
    "kendall": (-1.0, 1.0),  # tau-b
    "kendall_c": (-1.0, 1.0),  # Stuart's tau-c
    "acc_eq": (0.0, 1.0),  # pairwise accuracy with calibrated ties
    "acc_eq0": (0.0, 1.0),  # the same without a threshold
    "tau23": (-1.0, 1.0),  # acc_eq as a correlation
    "tau23_0": (-1.0, 1.0),  # acc_eq0 as a correlation
    "accuracy": (0.0, 1.0),  # pairwise accuracy, pairs pooled
    "darr": (-1.0, 1.0),  # Kendall-like tau on clear-cut pairs
    "spa": (0.0, 1.0),  # soft pairwise accuracy
    "pdp": (-1.0, 1.0),  # Pearson's r of within-item differences
}
#: statistics of single rows: (..., n) twice → (...,)
ROW_STATISTICS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall": kendall_rows,
    "kendall_c": kendall_c_rows,
    "acc_eq0": lambda gold, metric: count_pairs(gold, metric).acc_eq,
    "tau23_0": lambda gold, metric: count_pairs(gold, metric).tau23,
    "accuracy": lambda gold, metric: count_pairs(gold, metric).acc_eq,
}


@dataclass(frozen=True)
class Measure:
    """A statistic with everything that decides its value."""

    statistic: str
    average: Grouping = "none"
    gap: float = 25.0  # the least gold difference of ``darr``
    micro: bool = False  # weight rows by their number of scores
    nan_as_zero: bool = False  # count undefined rows as 0 instead of leaving them out

    @property
    def range(self) -> tuple[float, float]:
        return STATISTICS[self.statistic]

    @property
    def calibrated(self) -> bool:
        return self.statistic in ("acc_eq", "tau23")


@dataclass(frozen=True)
class Estimate:
    """A statistic of one metric."""

    value: float
    rows: int  # averaged
    pairs: int  # compared
    chance: float
    epsilon: float | None = None  # the tie threshold


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranked:
    """Metrics by one measure, best first; NaN is undefined."""

    metrics: tuple[str, ...]
    values: tuple[float, ...]
    ranks: tuple[int | None, ...]  # clusters; None where nothing was tested
    intervals: tuple[Bounds, ...]  # 95 %; None where not requested
    chance: tuple[float, ...] = ()  # what each metric is expected to reach by chance
    baseline: tuple[str, float] | None = None  # the length of the text instead of a metric

    def value(self, metric: str) -> float:
        return self.values[self.metrics.index(metric)]


def estimate(gold: FloatArray, metric: FloatArray, measure: Measure) -> Estimate:
    """Compute the statistic of (systems, items) scores; ``spa`` takes scores of segments."""
    x, y = as_rows(gold, measure.average), as_rows(metric, measure.average)
    match measure.statistic:
        case "spa":
            value, pairs, chance = soft_accuracy(gold, metric)
            return Estimate(value, 1, pairs, chance)
        case "pdp":
            value, pairs = pairwise_difference_pearson(gold, metric)
            return Estimate(value, 1, pairs, 0.0)
        case "darr":
            concordant, compared = darr_rows(x, y, measure.gap)
            pairs = int(compared.sum())
            value = 2 * int(concordant.sum()) / pairs - 1 if pairs else 0.0
            return Estimate(value, int((compared > 0).sum()), pairs, 0.0)
        case "acc_eq" | "tau23":
            result = calibrate(gold, metric, measure.average)
            # chance: all ties, or no ties and random order, whichever agrees more often
            shares = np.array([result.value, max(result.gold_ties, (1 - result.gold_ties) / 2)])
            value, chance = (2 * shares - 1 if measure.statistic == "tau23" else shares).tolist()
            return Estimate(value, result.rows, result.pairs, chance, result.epsilon)
    count = both_known(x, y).sum(axis=-1)
    # rows on which a statistic is defined at all
    x, y, count = (
        x[count >= 2],
        y[count >= 2],
        count[count >= 2],
    )
    values, weights = ROW_STATISTICS[measure.statistic](x, y), row_weights(x, y, measure)
    value = float(average_rows(values, weights, measure.nan_as_zero))
    rows = len(values) if measure.nan_as_zero else int((~np.isnan(values)).sum())
    return Estimate(
        value, rows, int((count * (count - 1) // 2).sum()), _chance(x, y, measure, weights)
    )


def row_weights(x: FloatArray, y: FloatArray, measure: Measure) -> FloatArray | None:
    """Return (rows,) weights of the mean over rows, None for a plain mean."""
    count = both_known(x, y).sum(axis=-1)
    if measure.statistic == "accuracy":
        return np.asarray(count * (count - 1) // 2, dtype=np.float64)
    return count.astype(np.float64) if measure.micro else None


def _chance(x: FloatArray, y: FloatArray, measure: Measure, weights: FloatArray | None) -> float:
    """Return what random scores without ties are expected to give."""
    if measure.statistic not in ("acc_eq0", "tau23_0", "accuracy"):
        return 0.0
    counts = count_pairs(x, y)
    ties = ratio(counts.ties_gold + counts.ties_both, counts.total)
    accuracy = float(average_rows((1 - ties) / 2, weights))
    return 2 * accuracy - 1 if measure.statistic == "tau23_0" else accuracy


def darr_rows(gold: FloatArray, metric: FloatArray, gap: float = 25.0) -> tuple[IntArray, IntArray]:
    """Count concordant pairs, and pairs compared: those at least ``gap`` apart in gold: (...,) each."""
    first, second = np.triu_indices(gold.shape[-1], 1)
    known = both_known(gold, metric)
    gold_gap = gold[..., first] - gold[..., second]  # (..., pairs)
    metric_gap = metric[..., first] - metric[..., second]
    compared = known[..., first] & known[..., second] & (np.abs(gold_gap) >= gap)
    concordant = compared & (np.sign(gold_gap) * np.sign(metric_gap) > 0)
    return concordant.sum(axis=-1), compared.sum(axis=-1)


def soft_accuracy(gold: FloatArray, metric: FloatArray) -> tuple[float, int, float]:
    """Return 1 - mean |p_gold - p_metric|, the number of pairs of systems, and the chance level.

    A metric that knows nothing has uniform p: E|p - U| = p² - p + 1/2. Two systems with the same
    score on every segment have p = 1/2; the reference implementation gives 1 to the one that
    happens to be first.
    """
    kept = both_known(gold, metric).all(axis=0)  # a paired test can use no others
    if len(gold) < 2 or not kept.any():
        return float("nan"), 0, float("nan")
    first, second = np.triu_indices(len(gold), 1)
    sides = gold[:, kept], metric[:, kept]
    tied = np.any([(scores[first] == scores[second]).all(axis=1) for scores in sides], axis=0)
    human, machine = (pairwise_p(scores, soft_masks(int(kept.sum())), tied) for scores in sides)
    chance = 1 - float((human**2 - human + 0.5).mean())
    return 1 - float(np.abs(human - machine).mean()), len(human), chance


@lru_cache(maxsize=2)
def soft_masks(segments: int) -> NDArray[np.int8]:
    """Draw (draws, segments) signs as the reference implementation does.

    The same array for every metric.
    """
    drawn = np.random.default_rng(4).random(size=(1000, segments), dtype=np.float32)
    masks = np.asarray(2 * np.rint(drawn) - 1, dtype=np.int8)
    masks.setflags(write=False)
    return masks


def pairwise_p(scores: FloatArray, masks: NDArray[np.int8], halved: BoolArray) -> FloatArray:
    """Test each two systems by paired permutation: (pairs,) one-sided p that the first is better.

    ``masks`` is (draws, segments) of ±1. In pairs ``halved``, draws equal to the observed
    difference count half.
    """
    first, second = np.triu_indices(len(scores), 1)
    # (draws, systems), (systems,)
    null, observed = (
        masks.astype(scores.dtype) @ scores.T,
        scores.sum(axis=1),
    )
    beyond = null[:, first] - null[:, second] - (observed[first] - observed[second])
    # rounding must not decide between a null difference and an equal observed one
    slack = 1e-12 * np.abs(scores).sum(axis=1).max(initial=0.0)
    p = (beyond >= -slack).mean(axis=0)
    p[halved] = ((beyond > slack) + 0.5 * (np.abs(beyond) <= slack)).mean(axis=0)[halved]
    return np.asarray(p)


def pairwise_difference_pearson(gold: FloatArray, metric: FloatArray) -> tuple[float, int]:
    """Correlate all within-item differences, in both orders; also return the number of pairs."""
    first, second = np.triu_indices(len(gold), 1)
    known = both_known(gold, metric)
    usable = known[first] & known[second]  # (pairs, items)
    x = np.where(usable, gold[first] - gold[second], 0.0)
    y = np.where(usable, metric[first] - metric[second], 0.0)
    scale = np.sqrt((x * x).sum() * (y * y).sum())
    return (float((x * y).sum() / scale) if scale > 0 else float("nan")), int(usable.sum())


def system_means(values: FloatArray) -> FloatArray:
    """Average the known scores of each system: (..., systems); NaN where there are none."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    return np.where(count > 0, ratio(np.where(known, values, 0.0).sum(axis=-1), count), np.nan)
