"""The agreement statistics by name: range, estimate and chance level of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wholetext.meta.agreement.accuracy import darr_rows, pairwise_difference_pearson, soft_accuracy
from wholetext.meta.agreement.correlation import (
    Average,
    as_rows,
    average_rows,
    both_known,
    judged_rows,
    pair_count,
    pearson_rows,
    spearman_rows,
)
from wholetext.meta.agreement.pairs import acc_eq_rows, count_pairs, kendall_b_rows, kendall_c_rows, tau23_rows
from wholetext.meta.agreement.ties import calibrate
from wholetext.types import FloatArray

RowStatistic = Callable[[FloatArray, FloatArray], FloatArray]

#: statistic → what it is, its range
STATISTICS: dict[str, tuple[str, tuple[float, float]]] = {
    "pearson": ("Pearson's r", (-1.0, 1.0)),
    "spearman": ("Spearman's rho", (-1.0, 1.0)),
    "kendall": ("Kendall's tau-b", (-1.0, 1.0)),
    "kendall_c": ("Stuart's tau-c", (-1.0, 1.0)),
    "acc_eq": ("pairwise accuracy with calibrated ties", (0.0, 1.0)),
    "acc_eq0": ("pairwise accuracy with ties, no threshold", (0.0, 1.0)),
    "tau23": ("acc_eq as a correlation, calibrated", (-1.0, 1.0)),
    "tau23_0": ("acc_eq as a correlation, no threshold", (-1.0, 1.0)),
    "accuracy": ("pairwise accuracy, pairs pooled", (0.0, 1.0)),
    "darr": ("Kendall-like tau on clear-cut pairs (DArr)", (-1.0, 1.0)),
    "spa": ("soft pairwise accuracy", (0.0, 1.0)),
    "pdp": ("Pearson's r of within-item differences", (-1.0, 1.0)),
}
ROW_STATISTICS: dict[str, RowStatistic] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "kendall": kendall_b_rows,
    "kendall_c": kendall_c_rows,
    "acc_eq0": acc_eq_rows,
    "tau23_0": tau23_rows,
    "accuracy": acc_eq_rows,
}


@dataclass(frozen=True)
class Measure:
    """A statistic with everything that decides its value: averaging, weights, and for ``darr`` the least gold
    difference.
    """

    statistic: str
    average: Average = "none"
    gap: float = 25.0
    micro: bool = False  # weight rows by their number of scores
    nan_as_zero: bool = False  # count undefined rows as 0 instead of leaving them out

    def __post_init__(self) -> None:
        if self.statistic not in STATISTICS:
            raise ValueError(f"statistic is one of {', '.join(STATISTICS)}; got {self.statistic!r}")

    @property
    def range(self) -> tuple[float, float]:
        return STATISTICS[self.statistic][1]

    @property
    def calibrated(self) -> bool:
        return self.statistic in ("acc_eq", "tau23")


@dataclass(frozen=True)
class Estimate:
    """A statistic of one metric: value, rows averaged, pairs compared, what chance gives, and the tie threshold."""

    value: float
    rows: int
    pairs: int
    chance: float
    epsilon: float | None = None


def estimate(gold: FloatArray, metric: FloatArray, measure: Measure) -> Estimate:
    """(systems, items) twice → the statistic. ``spa`` is over systems, from segment scores; ``pdp`` is over items."""
    if measure.calibrated:
        return _calibrated(gold, metric, measure)
    if measure.statistic == "spa":
        value, pairs, chance = soft_accuracy(gold, metric)
        return Estimate(value, 1, pairs, chance)
    if measure.statistic == "pdp":
        value, pairs = pairwise_difference_pearson(gold, metric)
        return Estimate(value, 1, pairs, 0.0)
    x, y = as_rows(gold, measure.average), as_rows(metric, measure.average)
    if measure.statistic == "darr":
        concordant, compared = darr_rows(x, y, measure.gap)
        total = int(compared.sum())
        value = 2 * int(concordant.sum()) / total - 1 if total else 0.0
        return Estimate(value, int((compared > 0).sum()), total, 0.0)
    judged = judged_rows(x, y)
    x, y = x[judged], y[judged]
    pairs = int(pair_count(x, y).sum())
    values = ROW_STATISTICS[measure.statistic](x, y)
    weights = row_weights(x, y, measure)
    value = float(average_rows(values, weights, measure.nan_as_zero))
    rows = len(values) if measure.nan_as_zero else int((~np.isnan(values)).sum())
    return Estimate(value, rows, pairs, _chance(x, y, measure, weights))


def row_weights(x: FloatArray, y: FloatArray, measure: Measure) -> FloatArray | None:
    """(rows,) weights of the mean over rows, None for a plain mean; pooled pairs weigh by pairs."""
    if measure.statistic == "accuracy":
        return pair_count(x, y).astype(np.float64)
    return both_known(x, y).sum(axis=-1).astype(np.float64) if measure.micro else None


def _calibrated(gold: FloatArray, metric: FloatArray, measure: Measure) -> Estimate:
    """Chance for a calibrated metric: all ties, or no ties and random order, whichever agrees more often."""
    found = calibrate(gold, metric, measure.average, "tau23" if measure.statistic == "tau23" else "acc_eq")
    chance = max(found.gold_ties, (1 - found.gold_ties) / 2)
    if measure.statistic == "tau23":
        chance = 2 * chance - 1
    return Estimate(found.value, found.rows, found.pairs, chance, found.epsilon)


def _chance(x: FloatArray, y: FloatArray, measure: Measure, weights: FloatArray | None) -> float:
    """What random scores without ties are expected to give."""
    if measure.statistic not in ("acc_eq0", "tau23_0", "accuracy"):
        return 0.0
    counts = count_pairs(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        ties = (counts.ties_gold + counts.ties_both) / counts.total
    accuracy = float(average_rows((1 - ties) / 2, weights))
    return 2 * accuracy - 1 if measure.statistic == "tau23_0" else accuracy
