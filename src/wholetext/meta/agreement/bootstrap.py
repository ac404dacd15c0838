"""Intervals for a metric's agreement with humans: documents, systems or both resampled with replacement.

BOOT-INPUTS, BOOT-SYSTEMS and BOOT-BOTH of Deutsch, Dror and Roth 2021. A resample is a weight per system and per
item, and the statistics here are ratios of weighted sums, so all draws are matrix products. A system drawn twice is
not compared with its own copy, which would count as a correctly predicted tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wholetext.meta.agreement.correlation import BoolArray, zscore
from wholetext.meta.agreement.measures import Measure
from wholetext.meta.agreement.pairs import pair_positions
from wholetext.meta.agreement.ties import calibrate
from wholetext.types import FloatArray, IntArray

Unit = Literal["documents", "systems", "both"]
Weights = tuple[FloatArray, FloatArray]  # (draws, systems), (draws, items)
_PAIRED = ("kendall", "accuracy", "acc_eq0", "acc_eq", "tau23_0", "tau23", "darr")


@dataclass(frozen=True, eq=False)
class Resample:
    """What is resampled: systems, documents (``docs``: document of each item; each item its own where absent) or
    both.
    """

    unit: Unit = "documents"
    docs: IntArray | None = None  # (items,)
    count: int = 1000
    seed: int | None = 12345

    def weights(self, systems: int, items: int) -> Weights:
        """(draws, systems) and (draws, items): how often each was drawn."""
        rng = np.random.default_rng(self.seed)
        by_system, by_item = np.ones((self.count, systems)), np.ones((self.count, items))
        if self.unit in ("systems", "both"):
            by_system = rng.multinomial(systems, np.full(systems, 1 / systems), self.count).astype(np.float64)
        if self.unit in ("documents", "both"):
            docs = np.unique(np.arange(items) if self.docs is None else self.docs, return_inverse=True)[1]
            size = int(docs.max(initial=-1)) + 1
            by_item = rng.multinomial(size, np.full(size, 1 / size), self.count).astype(np.float64)[:, docs]
        return by_system, by_item


@dataclass(frozen=True, eq=False)
class Bootstrapped:
    """(draws, metrics) resampled values; NaN where a draw leaves the statistic undefined."""

    values: FloatArray

    def interval(self, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """(metrics,) lower and upper percentile bounds."""
        tail = (1 - confidence) / 2
        return np.nanquantile(self.values, tail, axis=0), np.nanquantile(self.values, 1 - tail, axis=0)

    def p_better(self) -> FloatArray:
        """(metrics, metrics) share of draws in which metric i is not better than metric j."""
        return np.asarray((self.values[:, :, None] <= self.values[:, None, :]).mean(axis=0))


def bootstrap_agreement(gold: FloatArray, metrics: FloatArray, measure: Measure, resample: Resample) -> Bootstrapped:
    """Agreement at item level: (systems, items) gold, (metrics, systems, items) scores. Pearson over all scores or by
    item; pair statistics by item (with one item: over systems). Tie thresholds stay those of the full data."""
    by_system, by_item = resample.weights(*gold.shape)
    if measure.statistic == "pearson":
        known = ~np.isnan(gold)
        standard = zscore(metrics, known)  # moments without cancellation
        parts = [_pearson(zscore(gold, known), one, known, (by_system, by_item)) for one in standard]
        columns = [_over_all(p) if measure.average == "none" else _by_item(p, by_item) for p in parts]
    elif measure.statistic in _PAIRED and (measure.average == "item" or gold.shape[1] == 1):
        columns = [_paired(gold, one, measure, (by_system, by_item)) for one in metrics]
    else:
        raise ValueError(f"no bootstrap for {measure.statistic} averaged by {measure.average}")
    return Bootstrapped(np.stack(columns, axis=1))


def bootstrap_systems(gold: FloatArray, metrics: FloatArray, measure: Measure, resample: Resample) -> Bootstrapped:
    """Agreement at system level, from segment scores: each draw's system scores are means over the items drawn."""
    by_system, by_item = resample.weights(*gold.shape)
    x = drawn_means(gold, by_item)
    judged = np.where(np.isnan(gold), np.nan, metrics)
    columns = [system_agreement(x, drawn_means(one, by_item), by_system, measure) for one in judged]
    return Bootstrapped(np.stack(columns, axis=1))


def drawn_means(scores: FloatArray, by_item: FloatArray) -> FloatArray:
    """(systems, items) scores, (draws, items) weights → (draws, systems) means of what is known."""
    known = ~np.isnan(scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((by_item @ np.where(known, scores, 0.0).T) / (by_item @ known.T.astype(np.float64)))


def system_agreement(x: FloatArray, y: FloatArray, weight: FloatArray, measure: Measure) -> FloatArray:
    """(draws, systems) gold, metric and weights → (draws,) agreement of the systems' scores in each draw."""
    weight = np.where(np.isnan(x), 0.0, weight)
    x, y = np.nan_to_num(x), np.nan_to_num(y)
    if measure.statistic == "pearson":
        total = weight.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            x, y = (v - (weight * v).sum(axis=1, keepdims=True) / total for v in (x, y))
            xy, xx, yy = ((weight * v).sum(axis=1) for v in (x * y, x * x, y * y))
            return np.asarray(xy / np.sqrt(xx * yy))
    if measure.statistic not in _PAIRED:
        raise ValueError(f"no bootstrap over systems for {measure.statistic}")
    first, second = pair_positions(x.shape[1])
    pair = weight[:, first] * weight[:, second]
    counts = _pair_sums(x[:, first] - x[:, second], y[:, first] - y[:, second], measure, 0.0)
    return _ratio(np.stack([(pair * column).sum(axis=1) for column in counts]), measure)


def _pearson(gold: FloatArray, metric: FloatArray, known: BoolArray, weights: Weights) -> FloatArray:
    """(6, draws, items) weighted sums over systems: count, g, m, g², m², gm."""
    by_system, by_item = weights
    columns = (known.astype(np.float64), gold, metric, gold * gold, metric * metric, gold * metric)
    return np.stack([(by_system @ column) * by_item for column in columns])  # columns are (systems, items)


def _correlation(sums: FloatArray) -> FloatArray:
    """(6, ...) weighted sums → (...) Pearson's r; NaN where a side hardly varies."""
    n, x, y, xx, yy, xy = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        spread_x, spread_y = xx - x * x / n, yy - y * y / n
        r = (xy - x * y / n) / np.sqrt(spread_x * spread_y)
    return np.where((spread_x > 1e-10 * xx) & (spread_y > 1e-10 * yy), r, np.nan)


def _over_all(sums: FloatArray) -> FloatArray:
    return _correlation(sums.sum(axis=2))


def _by_item(sums: FloatArray, by_item: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        r = _correlation(sums / by_item)  # the weight of an item multiplies its r, not the sums inside it
    return _mean_of_items(r, by_item)


def _mean_of_items(values: FloatArray, weight: FloatArray) -> FloatArray:
    """(draws, items) → (draws,) weighted mean of the defined ones."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(defined, values * weight, 0.0).sum(axis=1)
        return np.asarray(total / np.where(defined, weight, 0.0).sum(axis=1))


def _paired(gold: FloatArray, metric: FloatArray, measure: Measure, weights: Weights) -> FloatArray:
    """(draws,) pair statistics by item: each item's verdicts are fixed, only the weights of its pairs are drawn."""
    by_system, by_item = weights
    first, second = pair_positions(len(gold))
    epsilon = calibrate(gold, metric, "item").epsilon if measure.calibrated else 0.0
    gaps = gold[first] - gold[second], metric[first] - metric[second]  # (pairs, items)
    counts = _pair_sums(*gaps, measure, epsilon)  # (c, pairs, items)
    pair = by_system[:, first] * by_system[:, second]  # (draws, pairs)
    sums = np.stack([pair @ column for column in counts])  # (c, draws, items)
    if measure.statistic in ("darr", "accuracy"):
        return _ratio((sums * by_item).sum(axis=2), measure)
    return _mean_of_items(_ratio(sums, measure), by_item)


def _pair_sums(gold_gap: FloatArray, metric_gap: FloatArray, measure: Measure, epsilon: float) -> FloatArray:
    """Per pair what the statistic sums: (right or order product, compared or gold apart[, metric apart])."""
    x = np.sign(np.nan_to_num(gold_gap))
    y = np.where(np.abs(metric_gap) <= epsilon, 0.0, np.sign(metric_gap))
    known = ~np.isnan(gold_gap)
    if measure.statistic == "kendall":
        return np.stack([x * y, (x != 0).astype(np.float64), ((y != 0) & known).astype(np.float64)])
    if measure.statistic == "darr":
        compared = known & (np.abs(gold_gap) >= measure.gap)
        return np.stack([compared & (x * y > 0), compared]).astype(np.float64)
    return np.stack([known & (x == y), known]).astype(np.float64)


def _ratio(sums: FloatArray, measure: Measure) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        if measure.statistic == "kendall":
            return np.asarray(sums[0] / np.sqrt(sums[1] * sums[2]))
        share = sums[0] / sums[1]
    return np.asarray(2 * share - 1 if measure.statistic in ("darr", "tau23", "tau23_0") else share)
