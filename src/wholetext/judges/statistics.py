"""Statistics of `judge-check`: additive sums by document, and ratios of them.

All systems of a document are drawn together in a bootstrap resample, so that intervals are about
other documents of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from wholetext.scoring.significance.resample import Score, ratio
from wholetext.types import FloatArray, Output, Scores

_SWAPPED = {"A": "B", "B": "A", "tie": "tie"}
BySystem = Mapping[str, Scores]
Figure = tuple[str, FloatArray, Score, float]  # name, (documents, k) sums, their score, rows


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


def details_summed(
    by_system: BySystem, values: Callable[[Mapping[str, Any]], Sequence[float]]
) -> FloatArray:
    """(documents, k) sums over all systems of the values of each row's details."""
    totals = [
        by_document(scores, np.array([values(detail or {}) for detail in scores.details]))
        for scores in by_system.values()
    ]
    return np.asarray(np.sum(totals, axis=0))


def order_bias(by_system: BySystem) -> Iterator[Figure]:
    """How often a verdict depends on the order of two texts, and the first of them is chosen.

    A pair is seen from either of its systems, and counts half from each.
    """

    def counts(detail: Mapping[str, Any]) -> Sequence[float]:
        orders = detail.get("orders", ())
        chosen = [word for both in orders for word in both if word in ("A", "B")]
        pairs = [(first, second) for first, second in orders if first and second]
        flips = sum(_SWAPPED[first] != second for first, second in pairs)
        return 0.5 * flips, 0.5 * len(pairs), 0.5 * chosen.count("A"), 0.5 * len(chosen)

    totals = details_summed(by_system, counts)
    yield "flip rate", totals[:, :2], ratio, totals[:, 1].sum()
    yield "first of two chosen", totals[:, 2:], ratio, totals[:, 3].sum()


def error_density(by_system: BySystem, outputs: Sequence[Output]) -> FloatArray:
    """(documents, 2): errors, thousands of characters; rows without a score count in neither."""
    totals = []
    for output in outputs:
        scores = by_system[output.system]
        rows, known = scores.rows, ~np.isnan(scores.at("row"))
        errors = [len((detail or {}).get("errors", ())) for detail in scores.details]
        size = [
            sum(map(len, output.docs[rows.docs[doc]][start:stop])) / 1000
            for doc, start, stop in zip(rows.doc, rows.start, rows.stop)
        ]
        totals.append(by_document(scores, np.stack([errors, size], axis=1) * known[:, None]))
    return np.asarray(np.sum(totals, axis=0))


def error_rate(outputs: Sequence[Output], by_system: BySystem) -> Iterator[Figure]:
    """Errors per 1,000 characters."""
    rows = sum(len(scores.rows) for scores in by_system.values())
    yield "errors per 1,000 characters", error_density(by_system, outputs), ratio, rows


def error_rates(outputs: Sequence[Output], first: BySystem, second: BySystem) -> Iterator[Figure]:
    """The error rate in windows of one size over that in windows of another."""
    totals = [error_density(by_system, outputs) for by_system in (first, second)]
    yield "ratio of error rates", np.concatenate(totals, axis=1), ratio_of_ratios, 0


def spread_of_samples(by_system: BySystem) -> Iterator[Figure]:
    """Standard deviation of the samples of a row, and how often all of them are equal."""

    def spread(detail: Mapping[str, Any]) -> Sequence[float]:
        samples = np.array([x for x in detail.get("samples", ()) if x is not None])
        return (samples.std(ddof=1), np.ptp(samples) == 0, 1) if len(samples) > 1 else (0, 0, 0)

    totals = details_summed(by_system, spread)
    rows = totals[:, 2].sum()
    yield "standard deviation", totals[:, [0, 2]], ratio, rows
    yield "rows with equal samples", totals[:, [1, 2]], ratio, rows


def paired(alike: bool, first: BySystem, second: BySystem) -> Iterator[Figure]:
    """Correlation, distance (of ``alike`` scales) and preferences of two judges on the same rows.

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
    count = sums[:, 0].sum()
    yield "Pearson's r of rows", sums, pearson, count
    if alike:
        yield "mean absolute difference", sums[:, [6, 0]], ratio, count
    if len(rows) > 1:
        yield "equal preferences between systems", preferences, ratio, preferences[:, 1].sum()
