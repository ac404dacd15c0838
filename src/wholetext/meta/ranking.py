"""Metrics over several tasks: average ranks and values with significance, correlation between metrics, tests by
category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.errors import InputError, MetricError
from wholetext.meta.agreement.correlation import both_known
from wholetext.meta.agreement.measures import ROW_STATISTICS
from wholetext.meta.metric_scores import Gathered
from wholetext.meta.participants import Level
from wholetext.meta.tasks import TaskResult
from wholetext.significance.clusters import cluster_ranks
from wholetext.types import FloatArray, Scores


@dataclass(frozen=True, eq=False)
class Average:
    """Metrics that all tasks have, best first: mean rank, mean value (each task rescaled to 0-1), and significance."""

    metrics: tuple[str, ...]
    values: tuple[float, ...]
    mean_ranks: tuple[float, ...]  # NaN where some task was not tested
    ranks: tuple[int | None, ...]  # clusters by the test of the averaged difference; None where not tested
    p: FloatArray  # (metrics, metrics), upper triangle
    weights: tuple[float, ...]  # of the tasks


def even_weights(keys: Sequence[tuple[str, ...]], total: float = 1.0) -> list[float]:
    """Weights of tasks: split evenly over the values of the first attribute, then within each over the next, and so
    on.
    """
    if not keys:
        return []
    if not keys[0]:
        return [total / len(keys)] * len(keys)
    groups: dict[str, list[int]] = {}
    for i, key in enumerate(keys):
        groups.setdefault(key[0], []).append(i)
    weights = [0.0] * len(keys)
    for members in groups.values():
        inner = even_weights([keys[i][1:] for i in members], total / len(groups))
        for i, weight in zip(members, inner):
            weights[i] = weight
    return weights


def average(results: Sequence[TaskResult], weights: Sequence[float] = (), alpha: float = 0.05) -> Average:
    """The table over several tasks, as the WMT metrics task makes it: values in [0, 1], weighted means, clusters.

    The p-value of an averaged difference comes from the tasks' own draws, the same number of each; a task whose pairs
    were settled early has its draws repeated.
    """
    if not results:
        raise InputError("there are no tasks to average")
    parts = np.array(weights or [1.0] * len(results), dtype=np.float64)
    parts = parts / parts.sum()
    common = [name for name in results[0].metrics if all(name in result.metrics for result in results)]
    if not common:
        raise InputError("no metric has results in every task")
    values = {name: sum(w * _unit(r, r.value(name)) for w, r in zip(parts, results)) for name in common}
    ranks = {name: sum(w * float(r.rank(name) or np.nan) for w, r in zip(parts, results)) for name in common}
    order = sorted(common, key=lambda name: (-values[name], name))
    p = np.full((len(order), len(order)), np.nan)
    tested = all(result.draws for result in results)
    if tested:
        for i, one in enumerate(order):
            for j in range(i + 1, len(order)):
                null = _averaged_draws(results, parts, one, order[j])
                p[i, j] = float((null >= values[one] - values[order[j]] - 1e-12).mean())
    return Average(tuple(order), tuple(values[n] for n in order), tuple(ranks[n] for n in order),
                   tuple(cluster_ranks(p, alpha)) if tested else (None,) * len(order), p, tuple(parts.tolist()))


def _unit(result: TaskResult, value: float) -> float:
    low, high = result.task.measure.range
    return (value - low) / (high - low)


def _averaged_draws(results: Sequence[TaskResult], weights: FloatArray, one: str, two: str) -> FloatArray:
    """(draws,) weighted sums of the tasks' drawn differences between two metrics."""
    size = max(len(_draws(result, one, two)) for result in results)
    total = np.zeros(size)
    for result, weight in zip(results, weights):
        low, high = result.task.measure.range
        total += weight * np.resize(_draws(result, one, two), size) / (high - low)
    return total


def _draws(result: TaskResult, one: str, two: str) -> FloatArray:
    i, j = result.metrics.index(one), result.metrics.index(two)
    first, second = min(i, j), max(i, j)
    size = len(result.metrics)
    column = first * size - first * (first + 1) // 2 + second - first - 1  # place in the upper triangle
    drawn = result.null[:, column]
    drawn = drawn[~np.isnan(drawn)]
    return drawn if i < j else -drawn


# ---------------------------------------------------------------- between metrics


def inter_correlation(
    gathered: Gathered, level: Level = "seg", statistic: str = "pearson"
) -> tuple[list[str], FloatArray]:
    """Names and (metrics, metrics) correlation of metrics' scores with one another, over what people judged."""
    kinds = {name: ROW_STATISTICS[name] for name in ("pearson", "spearman", "kendall")}
    if statistic not in kinds:
        raise InputError(f"there is no correlation {statistic!r} between metrics", next=f"there are {', '.join(kinds)}")
    where = gathered.field
    gold = where.gold(level)
    named = [(metric.name, metric.at(level, where)) for metric in gathered.metrics]
    known = [(name, np.where(np.isnan(gold), np.nan, scores).ravel()) for name, scores in named if scores is not None]
    table = np.eye(len(known))
    for i, (_, one) in enumerate(known):
        for j in range(i + 1, len(known)):
            table[i, j] = table[j, i] = float(kinds[statistic](one, known[j][1]))
    return [name for name, _ in known], table


# ---------------------------------------------------------------- between systems, by category


@dataclass(frozen=True)
class CategoryTest:
    """One output of a metric (a category): two systems' means over documents, and the paired t-test between them."""

    category: str
    first: float
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
        raise MetricError("the two systems have scores of different metrics or documents",
                          next="score both in one run, with one metric")
    found = []
    one, two = first.table("doc"), second.table("doc")  # (documents, outputs)
    for column, category in enumerate(first.outputs):
        known = both_known(one[:, column], two[:, column])
        x, y = one[known, column], two[known, column]
        t, p = float("nan"), float("nan")
        if len(x) >= 2 and np.ptp(x - y) > 0:
            tested = stats.ttest_rel(x, y)
            t, p = float(tested.statistic), float(tested.pvalue)
        mean = [float(v.mean()) if len(v) else float("nan") for v in (x, y)]
        found.append(CategoryTest(category, mean[0], mean[1], t, p, len(x)))
    return found
