"""Intervals for a metric's agreement with humans: documents, systems or both resampled with replacement.

BOOT-INPUTS, BOOT-SYSTEMS and BOOT-BOTH of Deutsch, Dror and Roth 2021. A resample is a weight per
system and per item, so all draws are matrix products. A system drawn twice is not compared with its
own copy.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from wholetext.meta.agreement.correlation import average_rows, ratio, zscore
from wholetext.meta.agreement.measures import Measure, calibrate
from wholetext.scoring.significance.resample import seeded
from wholetext.types import FloatArray, IntArray

Unit = Literal["documents", "systems", "both"]
_PAIRED = ("kendall", "accuracy", "acc_eq0", "acc_eq", "tau23_0", "tau23", "darr")


def resample(
    unit: Unit, systems: int, docs: IntArray, draws: int = 1000, seed: int | None = 12345
) -> tuple[FloatArray, FloatArray]:
    """Draw systems, documents or both: (draws, systems) and (draws, items) weights.

    ``docs``, (items,), is the document of each item; documents are drawn whole.
    """
    rng, (names, place) = seeded(seed), np.unique(docs, return_inverse=True)
    by_system = np.ones((draws, systems)) if unit == "documents" else _drawn(rng, systems, draws)
    if unit == "systems":
        return by_system, np.ones((draws, len(docs)))
    return by_system, _drawn(rng, len(names), draws)[:, place]


def _drawn(rng: np.random.Generator, size: int, draws: int) -> FloatArray:
    """Count how often each of ``size`` units is drawn with replacement: (draws, size)."""
    return rng.multinomial(size, np.full(size, 1 / size), draws).astype(np.float64)


def interval(drawn: FloatArray, confidence: float = 0.95) -> tuple[float, float]:
    """Lower and upper percentile bounds of (draws,) values; NaN is an undefined draw."""
    tail = (1 - confidence) / 2
    return float(np.nanquantile(drawn, tail)), float(np.nanquantile(drawn, 1 - tail))


def bootstrap_agreement(
    gold: FloatArray,
    metric: FloatArray,
    measure: Measure,
    by_system: FloatArray,
    by_item: FloatArray,
) -> FloatArray:
    """Compute the agreement of (systems, items) scores in every draw of ``resample``: (draws,).

    Tie thresholds stay those of the full data.
    """
    if measure.statistic == "pearson":
        known = ~np.isnan(gold)
        x, y = zscore(gold, known), zscore(metric, known)  # moments without cancellation
        columns = (known.astype(np.float64), x, y, x * x, y * y, x * y)  # (systems, items) each
        sums = np.stack([(by_system @ column) * by_item for column in columns])
        if measure.average == "none":
            return _correlation(sums.sum(axis=2))
        # an item's weight multiplies its r, not the sums inside it
        return average_rows(_correlation(ratio(sums, by_item)), by_item)
    if measure.statistic not in _PAIRED or (measure.average != "item" and gold.shape[1] > 1):
        raise ValueError(f"no bootstrap for {measure.statistic} averaged by {measure.average}")
    # each item's verdicts are fixed, only the weights of its pairs are drawn
    first, second = np.triu_indices(len(gold), 1)
    epsilon = calibrate(gold, metric, "item").epsilon if measure.calibrated else 0.0
    counts = _pair_sums(
        gold[first] - gold[second], metric[first] - metric[second], measure, epsilon
    )
    pair = by_system[:, first] * by_system[:, second]  # (draws, pairs)
    sums = np.stack([pair @ column for column in counts])  # (c, draws, items)
    if measure.statistic in ("darr", "accuracy"):
        return _ratio((sums * by_item).sum(axis=2), measure)
    return average_rows(_ratio(sums, measure), by_item)


def drawn_means(scores: FloatArray, by_item: FloatArray) -> FloatArray:
    """Average the known (systems, items) scores under (draws, items) weights: (draws, systems)."""
    known = ~np.isnan(scores)
    return ratio(by_item @ np.where(known, scores, 0.0).T, by_item @ known.T.astype(np.float64))


def system_agreement(
    x: FloatArray, y: FloatArray, weight: FloatArray, measure: Measure
) -> FloatArray:
    """Compute the agreement of (draws, systems) scores of systems under weights: (draws,)."""
    weight = np.where(np.isnan(x), 0.0, weight)
    x, y = np.nan_to_num(x), np.nan_to_num(y)
    if measure.statistic == "pearson":
        total = weight.sum(axis=1, keepdims=True)
        x, y = (v - ratio((weight * v).sum(axis=1, keepdims=True), total) for v in (x, y))
        xy, xx, yy = ((weight * v).sum(axis=1) for v in (x * y, x * x, y * y))
        return ratio(xy, np.sqrt(xx * yy))
    if measure.statistic not in _PAIRED:
        raise ValueError(f"no bootstrap over systems for {measure.statistic}")
    first, second = np.triu_indices(x.shape[1], 1)
    pair = weight[:, first] * weight[:, second]
    counts = _pair_sums(x[:, first] - x[:, second], y[:, first] - y[:, second], measure, 0.0)
    return _ratio(np.stack([(pair * column).sum(axis=1) for column in counts]), measure)


def _correlation(sums: FloatArray) -> FloatArray:
    """Weighted sums → Pearson's r; NaN where a side hardly varies."""
    n, x, y, xx, yy, xy = sums
    spread_x, spread_y = xx - ratio(x * x, n), yy - ratio(y * y, n)
    varies = (spread_x > 1e-10 * xx) & (spread_y > 1e-10 * yy)
    covariance = np.where(varies, xy - ratio(x * y, n), np.nan)
    return ratio(covariance, np.sqrt(np.where(varies, spread_x * spread_y, np.nan)))


def _pair_sums(
    gold_gap: FloatArray, metric_gap: FloatArray, measure: Measure, epsilon: float
) -> FloatArray:
    """Sums per pair: correct and compared.

    For Kendall the order product, gold pairs and metric pairs.
    """
    x = np.sign(np.nan_to_num(gold_gap))
    y = np.where(np.abs(metric_gap) <= epsilon, 0.0, np.sign(metric_gap))
    known = ~np.isnan(gold_gap)
    if measure.statistic == "kendall":
        return np.stack([x * y, x != 0, (y != 0) & known]).astype(np.float64)
    if measure.statistic == "darr":
        compared = known & (np.abs(gold_gap) >= measure.gap)
        return np.stack([compared & (x * y > 0), compared]).astype(np.float64)
    return np.stack([known & (x == y), known]).astype(np.float64)


def _ratio(sums: FloatArray, measure: Measure) -> FloatArray:
    if measure.statistic == "kendall":
        return ratio(sums[0], np.sqrt(sums[1] * sums[2]))
    share = ratio(sums[0], sums[1])
    return 2 * share - 1 if measure.statistic in ("darr", "tau23", "tau23_0") else share
