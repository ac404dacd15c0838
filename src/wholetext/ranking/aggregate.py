"""Combine the scores of many metrics into one value per system: AutoRank, mean rank, Borda count.

Every method takes (..., metrics, systems) scores of which more is better and returns (..., systems)
values, so that one call ranks the corpus and all its resamples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wholetext.types import FloatArray

_SMALL = 1e-9  # of a spread: metrics under which all systems are equal are left out


def autorank(scores: FloatArray) -> FloatArray:
    """AutoRank of the WMT25 general task (Kocmi et al. 2025): 1 is the best, N the worst.

    Each metric is scaled robustly, (x − median) / (max − 25th percentile); the mean over metrics is
    mapped linearly onto 1 … N. A metric that has no score of a system is left out of that system's
    mean.
    """
    middle = np.nanmedian(scores, axis=-1, keepdims=True)
    spread = np.nanmax(scores, axis=-1, keepdims=True) - np.nanpercentile(
        scores, 25, axis=-1, keepdims=True
    )
    mean = np.nanmean((scores - middle) / np.maximum(_SMALL, spread), axis=-2)
    best, worst = np.nanmax(mean, axis=-1, keepdims=True), np.nanmin(mean, axis=-1, keepdims=True)
    share = np.divide(best - mean, best - worst, out=np.zeros_like(mean), where=best > worst)
    return np.asarray(1 + (scores.shape[-1] - 1) * np.where(np.isnan(mean), np.nan, share))


def borda(scores: FloatArray) -> FloatArray:
    """Borda count: over all metrics, how many other systems are beaten; a tie counts half."""
    ours, theirs = scores[..., :, None], scores[..., None, :]
    beaten = (ours > theirs) + 0.5 * (ours == theirs)
    return np.asarray(
        beaten.sum(axis=(-1, -3)) - 0.5 * np.isfinite(scores).sum(axis=-2)
    )  # less the tie with itself


def mean_rank(scores: FloatArray) -> FloatArray:
    """The mean over metrics of a system's rank, 1 for the best.

    Tied systems share the mean of their ranks.
    """
    ours, theirs = scores[..., :, None], scores[..., None, :]
    rank = 0.5 + (ours < theirs).sum(axis=-1) + 0.5 * (ours == theirs).sum(axis=-1)
    return np.asarray(np.nanmean(np.where(np.isnan(scores), np.nan, rank), axis=-2))


@dataclass(frozen=True)
class Method:
    """How scores become one value per system."""

    label: str
    higher_is_better: bool
    decimals: int
    formula: Callable[[FloatArray], FloatArray]

    def combine(self, scores: FloatArray) -> FloatArray:
        """(..., metrics, systems) scores → (..., systems) values.

        NaN where a system has no score at all.
        """
        with warnings.catch_warnings():  # numpy warns of metrics and systems without a score
            warnings.simplefilter("ignore", RuntimeWarning)
            return self.formula(scores)


METHODS = {
    "autorank": Method("AutoRank", False, 1, autorank),
    "mean-rank": Method("mean rank", False, 2, mean_rank),
    "borda": Method("Borda", True, 1, borda),
}


def positions(values: FloatArray, higher_is_better: bool) -> FloatArray:
    """(..., systems) place of each value, 1 for the best.

    Tied systems share the better place, NaN has none.
    """
    ours, theirs = values[..., :, None], values[..., None, :]
    ahead = (ours < theirs if higher_is_better else ours > theirs).sum(axis=-1)
    return np.where(np.isnan(values), np.nan, 1.0 + ahead)
