"""Do raters agree with one another? Cohen's kappa, Krippendorff's alpha, and agreement on pairs of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from wholetext.meta.agreement.correlation import both_known, count_pairs, pearson_rows
from wholetext.meta.judgments.ratings import Ratings
from wholetext.types import FloatArray

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


def cohen_kappa(one: FloatArray, two: FloatArray) -> float:
    """Cohen's kappa (1960) of two raters over the items both rated; NaN where it is undefined."""
    known = both_known(one, two)
    if not known.any():
        return float("nan")
    labels = np.unique(np.concatenate([one[known], two[known]]))[:, None]
    first, second = one[known] == labels, two[known] == labels  # (labels, items)
    expected = 1 - float(first.mean(axis=1) @ second.mean(axis=1))
    return 1 - float((one[known] != two[known]).mean()) / expected if expected > 0 else float("nan")


def krippendorff_alpha(values: FloatArray, scale: Scale = "interval") -> float:
    """Krippendorff's alpha (2011, "Computing Krippendorff's Alpha-Reliability") of (raters, items), NaN = not rated."""
    values = values[:, (~np.isnan(values)).sum(axis=0) >= 2].T  # items of one rater say nothing
    item = np.nonzero(~np.isnan(values))[0]  # (ratings,) in ascending order
    size = np.bincount(item)[item]
    labels, codes, margin = np.unique(values[~np.isnan(values)], return_inverse=True, return_counts=True)
    if scale == "ordinal":  # how many ratings lie between, half of the ends
        labels = np.cumsum(margin) - margin / 2
    score = labels[codes]
    observed = expected = 0.0
    for lag in range(1, int(size.max(initial=0))):  # each pair of ratings of an item, twice
        same = item[lag:] == item[:-lag]
        gaps = _distance(score[lag:][same], score[:-lag][same], scale)
        observed += 2 * float((gaps / (size[lag:][same] - 1)).sum())
    for label, count in zip(labels, margin):
        expected += float(count * (margin @ _distance(label, labels, scale)))
    return 1 - observed * (len(score) - 1) / expected if expected > 0 else float("nan")


def _distance(one: FloatArray, two: FloatArray, scale: Scale) -> FloatArray:
    gap = one - two
    if scale == "nominal":
        return np.asarray(gap != 0, dtype=np.float64)
    if scale == "ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(one + two != 0, (gap / (one + two)) ** 2, 0.0)
    return np.asarray(gap**2)


@dataclass(frozen=True)
class RaterPair:
    """Two raters on what both rated; pairs are pairs of outputs of the same segment."""

    one: str
    two: str
    items: int
    pearson: float
    kappa: float
    pairs: int
    pair_agreement: float  # share of pairs ordered alike, ties included


def rater_pairs(ratings: Ratings) -> list[RaterPair]:
    """Every two raters with at least two items in common."""
    table = ratings.by_rater()  # (raters, systems, segments)
    found = []
    for i, j in combinations(range(len(ratings.raters)), 2):
        one, two = table[i], table[j]
        items = int(both_known(one, two).sum())
        if items < 2:
            continue
        counts = count_pairs(np.ascontiguousarray(one.T), np.ascontiguousarray(two.T))
        right, total = int((counts.concordant + counts.ties_both).sum()), int(counts.total.sum())
        found.append(RaterPair(
            ratings.raters[i], ratings.raters[j], items, float(pearson_rows(one.ravel(), two.ravel())),
            cohen_kappa(one.ravel(), two.ravel()), total, right / total if total else float("nan")))
    return found


def reliability(ratings: Ratings, scale: Scale = "interval") -> float:
    """Krippendorff's alpha over all systems' segments."""
    table = ratings.by_rater()
    return krippendorff_alpha(table.reshape(len(table), table[0].size), scale) if len(table) else float("nan")
