"""Document scores of a run against each other: paired t-tests of systems, correlations of metrics.

Jiang et al. 2022 (BlonDe), Table 4 and Figure 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from wholetext.errors import MetricError
from wholetext.types import FloatArray, Level, Scores


@dataclass(frozen=True)
class CategoryTest:
    """The paired t-test between two systems on one category (output) of a metric."""

    category: str
    first: float  # mean over documents
    second: float
    t: float
    p: float
    documents: int


def paired_t(first: Scores, second: Scores) -> list[CategoryTest]:
    """Paired t-test by category over documents, as in table 4 of BlonDe (Jiang et al. 2022).

    Documents where a category is undefined for either system are left out of that category.
    """
    from scipy import stats

    if first.metric != second.metric or first.rows.docs != second.rows.docs:
        raise MetricError(
            "the two systems have scores of different metrics or documents",
            next="score both in one run, with one metric",
        )
    tests = []
    tables = first.table("doc"), second.table("doc")  # (documents, outputs) each
    for column, category in enumerate(first.outputs):
        x, y = (table[:, column] for table in tables)
        known = ~(np.isnan(x) | np.isnan(y))
        x, y = x[known], y[known]
        t, p = stats.ttest_rel(x, y) if len(x) >= 2 and np.ptp(x - y) > 0 else (np.nan, np.nan)
        mean, other = (float(values.mean()) if len(values) else np.nan for values in (x, y))
        tests.append(CategoryTest(category, mean, other, float(t), float(p), len(x)))
    return tests


def pearson(x: FloatArray, y: FloatArray) -> float:
    """Pearson's r of (n,) scores where both are known; NaN where it is undefined."""
    known = ~(np.isnan(x) | np.isnan(y))
    if known.sum() < 2 or not np.ptp(x[known]) > 0 < np.ptp(y[known]):
        return float("nan")
    return float(np.corrcoef(x[known], y[known])[0, 1])


def between_metrics(
    scores: Mapping[str, Mapping[str, Scores]],
    level: Level = "doc",
    correlate: Callable[[FloatArray, FloatArray], FloatArray | float] = pearson,
) -> FloatArray:
    """(metrics, metrics) correlation of the scores of all systems; NaN: undefined.

    A metric where lower is better counts with the opposite sign.
    """
    columns = [
        np.concatenate([own.at(level) * (1 if own.higher_is_better else -1) for own in by.values()])
        for by in scores.values()
    ]
    return np.array([[float(correlate(x, y)) for y in columns] for x in columns])
