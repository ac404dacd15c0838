"""Correlations of metric scores with human scores, row by row and averaged; NaN = not judged.

A score matrix is (systems, items). *Rows* are what a correlation is computed over: all scores at once (``none``), one
row per system (``system``) or one per item (``item``); row values are then averaged. Undefined rows follow mt-
metrics-eval.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.types import FloatArray, IntArray

Average = Literal["none", "item", "system"]
BoolArray = NDArray[np.bool_]


def as_rows(values: FloatArray, average: Average) -> FloatArray:
    """(..., systems, items) → (..., rows, n): the vectors a statistic is computed over."""
    if average == "none":
        return values.reshape(*values.shape[:-2], 1, -1)
    if average == "system":
        return values
    if average == "item":
        return np.ascontiguousarray(np.swapaxes(values, -1, -2))
    raise ValueError(f"average is one of none, item, system; got {average!r}")


def both_known(gold: FloatArray, metric: FloatArray) -> BoolArray:
    """Where a pair of scores can be used."""
    return np.asarray(~(np.isnan(gold) | np.isnan(metric)))


def pearson_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """(..., n) twice → (...,) Pearson's r; NaN where fewer than two scores are known or one side is constant."""
    known = both_known(gold, metric)
    count = known.sum(axis=-1)
    x, x_constant = _centred(gold, known, count)
    y, y_constant = _centred(metric, known, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.clip((x * y).sum(axis=-1) / np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1)), -1.0, 1.0)
    r = np.asarray(r, dtype=np.float64)
    return np.where((count < 2) | x_constant | y_constant, np.nan, r)


def _centred(values: FloatArray, known: BoolArray, count: IntArray) -> tuple[FloatArray, BoolArray]:
    """Known values minus their row mean (0 elsewhere), and which rows are constant."""
    low = np.where(known, values, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=-1, initial=-np.inf)
    total = np.where(known, values, 0.0).sum(axis=-1)
    mean = (total / np.maximum(count, 1))[..., None]
    return np.where(known, values - mean, 0.0), np.asarray(low == high)


def spearman_rows(gold: FloatArray, metric: FloatArray) -> FloatArray:
    """(..., n) twice → (...,) Spearman's rho: Pearson's r of the ranks, equal scores sharing their mean rank."""
    known = both_known(gold, metric)
    return pearson_rows(rank_rows(np.where(known, gold, np.nan)), rank_rows(np.where(known, metric, np.nan)))


def rank_rows(values: FloatArray) -> FloatArray:
    """(..., n) → ranks from 1 within each row; ties share their mean rank, NaN stays NaN."""
    n = values.shape[-1]
    if n == 0:
        return np.zeros_like(values)
    order = np.argsort(values, axis=-1, kind="stable")  # NaN last
    ordered = np.take_along_axis(values, order, axis=-1)
    opens = np.ones(values.shape, dtype=bool)  # first of its group of equal values
    opens[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    closes = np.ones(values.shape, dtype=bool)
    closes[..., :-1] = opens[..., 1:]
    at = np.broadcast_to(np.arange(n), values.shape)
    first = np.maximum.accumulate(np.where(opens, at, 0), axis=-1)
    last = np.minimum.accumulate(np.where(closes, at, n)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape, dtype=np.float64)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return np.where(np.isnan(values), np.nan, ranks)


def average_rows(values: FloatArray, weights: FloatArray | None = None, nan_as_zero: bool = False) -> FloatArray:
    """(..., rows) → (...,) mean over rows: macro by default, micro with ``weights``; undefined rows are left out.

    ``nan_as_zero`` counts them as 0 instead; where no row is left the mean is 0.
    """
    weight = np.ones(values.shape) if weights is None else np.broadcast_to(weights, values.shape)
    defined = ~np.isnan(values)
    total = np.where(defined, values * weight, 0.0).sum(axis=-1)
    count = (weight if nan_as_zero else np.where(defined, weight, 0.0)).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, 0.0))


def judged_rows(gold: FloatArray, metric: FloatArray) -> BoolArray:
    """(..., rows) whether a row has the two known scores that any statistic needs."""
    return np.asarray(both_known(gold, metric).sum(axis=-1) >= 2)


def pair_count(gold: FloatArray, metric: FloatArray) -> IntArray:
    """(..., rows) number of pairs of scores within each row."""
    count = both_known(gold, metric).sum(axis=-1)
    return np.asarray(count * (count - 1) // 2)


def zscore(values: FloatArray, known: BoolArray) -> FloatArray:
    """(..., rows, n) standardised over all known entries of the last two axes; 0 where unknown or constant."""
    count = np.maximum(known.sum(axis=(-2, -1), keepdims=True), 1)
    mean = np.where(known, values, 0.0).sum(axis=(-2, -1), keepdims=True) / count
    centred = np.where(known, values - mean, 0.0)
    spread = np.sqrt((centred * centred).sum(axis=(-2, -1), keepdims=True) / count)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known & (spread > 0), centred / spread, 0.0))
