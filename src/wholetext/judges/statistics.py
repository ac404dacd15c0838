"""Statistics of `judge-check`: additive sums by document, and ratios of them.

All systems of a document are drawn together in a bootstrap resample, so that intervals are about
other documents of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from wholetext.scoring.significance.resample import Score, score_with_interval
from wholetext.types import FloatArray, Scores

_SWAPPED = {"A": "B", "B": "A", "tie": "tie"}


@dataclass(frozen=True)
class JudgeMeasure:
    """A figure about a judge with its 95 % interval over documents (NaN with fewer than two)."""

    check: str  # position, length, consistency, wording or agreement
    judge: str  # spec
    measure: str
    setting: str  # window, samples, prompt or the other judge
    value: float
    low: float
    high: float
    count: int  # rows or pairs behind it


@dataclass(frozen=True)
class Label:
    """The subject of a figure, and the resampling behind its interval."""

    check: str
    judge: str
    setting: str = ""
    draws: int = 1_000
    seed: int | None = None

    def measure(self, name: str, totals: FloatArray, reduce: Score, count: float) -> JudgeMeasure:
        """Reduce ``totals`` (documents, k), with the interval of bootstrap resamples."""
        value, low, high = score_with_interval(totals, reduce, self.draws, self.seed)
        return JudgeMeasure(
            self.check, self.judge, name, self.setting, value, low, high, int(count)
        )


def ratio_of_ratios(totals: FloatArray) -> FloatArray:
    """First column over second, over third over fourth."""
    return np.asarray(totals[..., 0] / totals[..., 1] / (totals[..., 2] / totals[..., 3]))


def pearson(totals: FloatArray) -> FloatArray:
    """Pearson's r from n, Σx, Σy, Σx², Σy², Σxy; undefined if a judge gives the same score to all."""
    n, x, y, xx, yy, xy = (totals[..., i] for i in range(6))
    spread = np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0)
    return np.asarray(
        (xy - x * y / n)
        / np.where(spread > 1e-9 * np.maximum(xx * yy, 1e-300), np.sqrt(spread), np.nan)
    )


def by_document(scores: Scores, values: FloatArray) -> FloatArray:
    """(documents, k) sums of the rows' values."""
    totals = np.zeros((len(scores.rows.docs), values.shape[1]))
    np.add.at(totals, scores.rows.doc, values)
    return totals


def details(scores: Scores) -> list[Mapping[str, Any]]:
    """The details of each row."""
    return [detail or {} for detail in scores.details] or [{}] * len(scores.rows)


def orders(by_system: Mapping[str, Scores]) -> FloatArray:
    """(documents, 4): pairs whose verdict depends on the order, pairs; choices of the first of two, choices.

    A pair is seen from either of its systems, and counts half from each.
    """
    totals = []
    for scores in by_system.values():
        rows = np.zeros((len(scores.rows), 4))
        for at, detail in enumerate(details(scores)):
            for first, second in detail.get("orders", ()):
                chosen = [word for word in (first, second) if word in ("A", "B")]
                rows[at, 2:] += 0.5 * chosen.count("A"), 0.5 * len(chosen)
                if first and second:
                    rows[at, :2] += 0.5 * (_SWAPPED[first] != second), 0.5
        totals.append(by_document(scores, rows))
    return np.asarray(np.sum(totals, axis=0))


def error_density(
    by_system: Mapping[str, Scores], lengths: Mapping[str, Sequence[FloatArray]]
) -> FloatArray:
    """(documents, 2): errors, thousands of characters; rows without a score count in neither."""
    totals = []
    for system, scores in by_system.items():
        known = ~np.isnan(scores.at("row"))
        errors = np.array([len(row.get("errors", ())) for row in details(scores)], np.float64)
        places = zip(scores.rows.doc, scores.rows.start, scores.rows.stop)
        size = (
            np.array([lengths[system][doc][start:stop].sum() for doc, start, stop in places]) / 1000
        )
        totals.append(by_document(scores, np.stack([errors, size], axis=1) * known[:, None]))
    return np.asarray(np.sum(totals, axis=0))


def spread_of_samples(by_system: Mapping[str, Scores]) -> FloatArray:
    """(documents, 3): standard deviations, rows with equal samples, rows with several samples."""
    totals = []
    for scores in by_system.values():
        rows = np.zeros((len(scores.rows), 3))
        for at, detail in enumerate(details(scores)):
            known = [value for value in detail.get("samples", ()) if value is not None]
            samples = np.array(known, dtype=np.float64)
            if len(samples) > 1:
                rows[at] = samples.std(ddof=1), np.ptp(samples) == 0, 1
        totals.append(by_document(scores, rows))
    return np.asarray(np.sum(totals, axis=0))


def paired(
    first: Mapping[str, Scores], second: Mapping[str, Scores]
) -> tuple[FloatArray, FloatArray]:
    """(documents, 7): n, Σx, Σy, Σx², Σy², Σxy, Σ|x-y| of rows; (documents, 2): equal preferences, all.

    A preference is which of two systems' rows is better, or neither; rows without both scores are
    left out.
    """
    rows = {system: (first[system].at("row"), second[system].at("row")) for system in first}
    documents = len(next(iter(first.values())).rows.docs)
    sums, preferences = np.zeros((documents, 7)), np.zeros((documents, 2))
    for system, (x, y) in rows.items():
        known = ~np.isnan(x + y)
        x, y = np.where(known, x, 0), np.where(known, y, 0)
        columns = np.stack([known, x, y, x * x, y * y, x * y, np.abs(x - y)], axis=1)
        sums += by_document(first[system], columns)
    for a, b in combinations(rows, 2):
        x, y = (np.sign(rows[a][side] - rows[b][side]) for side in (0, 1))
        columns = np.stack([x == y, ~np.isnan(x + y)], axis=1).astype(np.float64)
        preferences += by_document(first[a], columns)
    return sums, preferences
