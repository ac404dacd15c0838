"""Agreement between raters: Cohen's kappa, Krippendorff's alpha, pairs of outputs ordered alike."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from wholetext.meta.agreement.correlation import both_known, count_pairs, pearson_rows
from wholetext.meta.judgments import Ratings, mean_table
from wholetext.scoring.kappa import cohen_kappa as cohen_kappa
from wholetext.types import FloatArray

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(values: FloatArray, scale: Measurement = "interval") -> float:
    """Krippendorff's alpha (2011) of (raters, items); NaN: not rated, or alpha is undefined."""
    values = values[:, (~np.isnan(values)).sum(axis=0) >= 2].T  # a single rating shows no agreement
    known = ~np.isnan(values)
    item = np.nonzero(known)[0]  # (ratings,) in ascending order
    size = np.bincount(item)[item]
    labels, codes, margin = np.unique(values[known], return_inverse=True, return_counts=True)
    if scale == "ordinal":  # the number of ratings in between, the ends counted half
        labels = np.cumsum(margin) - margin / 2
    score = labels[codes]
    observed = 0.0
    for lag in range(1, int(size.max(initial=0))):  # each pair of ratings of an item, twice
        same = item[lag:] == item[:-lag]
        gaps = _distance(score[lag:][same], score[:-lag][same], scale)
        observed += 2 * float((gaps / (size[lag:][same] - 1)).sum())
    expected = sum(
        float(n * (margin @ _distance(at, labels, scale))) for at, n in zip(labels, margin)
    )
    return 1 - observed * (len(score) - 1) / expected if expected > 0 else float("nan")


def _distance(x: FloatArray, y: FloatArray, scale: Measurement) -> FloatArray:
    if scale == "nominal":
        return np.asarray(x != y, dtype=np.float64)
    if scale == "ratio":
        total = np.asarray(x + y)
        return np.asarray(((x - y) / np.where(total == 0, 1.0, total)) ** 2 * (total != 0))
    return np.asarray((x - y) ** 2)


@dataclass(frozen=True)
class RaterPair:
    """Two raters on what both rated; pairs are pairs of outputs of the same segment."""

    first: str
    second: str
    items: int
    pearson: float
    kappa: float
    pairs: int
    pair_agreement: float  # share of pairs ordered alike, ties included


def by_rater(ratings: Ratings) -> FloatArray:
    """Average repeated ratings: (raters, systems, segments); NaN: not rated."""
    shape = (len(ratings.raters), len(ratings.systems), len(ratings.segments))
    return mean_table(ratings.score, (ratings.rater, ratings.system, ratings.item), shape)


def rater_pairs(ratings: Ratings) -> list[RaterPair]:
    """Compare every two raters with at least two items in common."""
    table, pairs = by_rater(ratings), []
    for i, j in combinations(range(len(ratings.raters)), 2):
        first, second = table[i], table[j]
        items = int(both_known(first, second).sum())
        if items < 2:
            continue
        counts = count_pairs(np.ascontiguousarray(first.T), np.ascontiguousarray(second.T))
        right, total = int((counts.concordant + counts.ties_both).sum()), int(counts.total.sum())
        pearson = float(pearson_rows(first.ravel(), second.ravel()))
        kappa = cohen_kappa(first.ravel(), second.ravel())
        share = right / total if total else float("nan")
        names = ratings.raters[i], ratings.raters[j]
        pairs.append(RaterPair(*names, items, pearson, kappa, total, share))
    return pairs


def reliability(ratings: Ratings, scale: Measurement = "interval") -> float:
    """Krippendorff's alpha over the segments of all systems."""
    table = by_rater(ratings)
    return krippendorff_alpha(table.reshape(len(table), -1), scale) if len(table) else float("nan")
