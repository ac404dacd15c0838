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


def cohen_kappa(one: FloatArray, two: FloatArray, weights: Literal["none", "linear", "quadratic"] = "none") -> float:
    """Cohen's kappa (1960; weighted 1968) of two raters over the items both rated; NaN where it is undefined."""
    known = both_known(one, two)
    labels, codes = np.unique(np.concatenate([one[known], two[known]]), return_inverse=True)
    size = len(labels)
    if size == 0:
        return float("nan")
    table = np.zeros((size, size))
    np.add.at(table, (codes[: known.sum()], codes[known.sum() :]), 1.0)
    table /= table.sum()
    gap = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}[weights]
    expected = float((np.outer(table.sum(axis=1), table.sum(axis=0)) * cost).sum())
    return 1 - float((table * cost).sum()) / expected if expected > 0 else float("nan")


def krippendorff_alpha(values: FloatArray, scale: Scale = "interval") -> float:
    """Krippendorff's alpha (2011, "Computing Krippendorff's Alpha-Reliability") of (raters, items), NaN = not rated."""
    values = values[:, (~np.isnan(values)).sum(axis=0) >= 2]  # items of one rater say nothing
    labels, codes = np.unique(values[~np.isnan(values)], return_inverse=True)
    if len(labels) < 2:
        return float("nan")
    counts = np.zeros((values.shape[1], len(labels)))  # (items, labels)
    np.add.at(counts, (np.nonzero(~np.isnan(values))[1], codes), 1.0)
    size = counts.sum(axis=1)  # ratings of each item
    pairs = counts.T @ (counts / (size - 1)[:, None])  # (labels, labels) coincidences
    pairs -= np.diag((counts / (size - 1)[:, None]).sum(axis=0))  # a rating is not paired with itself
    margin = pairs.sum(axis=1)
    distance = _distance(labels, margin, scale)
    expected = float((np.outer(margin, margin) * distance).sum() / (margin.sum() - 1))
    return 1 - float((pairs * distance).sum()) / expected if expected > 0 else float("nan")


def _distance(labels: FloatArray, margin: FloatArray, scale: Scale) -> FloatArray:
    gap = np.subtract.outer(labels, labels)
    if scale == "nominal":
        return np.asarray(gap != 0, dtype=np.float64)
    if scale == "interval":
        return np.asarray(gap**2)
    if scale == "ratio":
        total = np.add.outer(labels, labels)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total != 0, (gap / total) ** 2, 0.0)
    middle = np.cumsum(margin) - margin / 2  # ordinal: how many ratings lie between, half of the ends
    return np.asarray(np.subtract.outer(middle, middle) ** 2)


@dataclass(frozen=True)
class RaterPair:
    """Two raters on what both rated: items, correlation, kappa, and agreement on pairs of outputs of the same
    segment.
    """

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
