"""Metrics over several tasks: the task lists of the WMT metrics tasks, average ranks and values
with significance, correlation between metrics, tests by category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from wholetext.errors import InputError, MetricError
from wholetext.meta.agreement.correlation import both_known, pearson_rows
from wholetext.meta.conventions import check_known, conventions
from wholetext.meta.metric_scores import Gathered
from wholetext.meta.participants import Level
from wholetext.meta.tasks import (
    DEFAULTS,
    AgreementTask,
    MetricTests,
    TaskResult,
    pooled_accuracy_task,
    read_task,
    run_task,
)
from wholetext.scoring.significance.resample import cluster_ranks
from wholetext.text import pair_of, same_language
from wholetext.types import FloatArray, Scores


@dataclass(frozen=True)
class Preset:
    """The tasks of a year's official table."""

    tasks: tuple[str, ...]  # for every language pair
    pooled: bool = False  # accuracy over all pairs too, which weighs as much as there are pairs
    gold: str = (
        ""  # human scores that count where a language pair has them; else MQM where there is MQM
    )


PRESETS: dict[str, Preset] = {
    "wmt21": Preset(("sys:pearson", "seg:kendall/item")),
    "wmt22": Preset(
        ("sys:pearson", "seg:kendall/none", "seg:kendall/item", "seg:kendall/system"), pooled=True
    ),
    "wmt23": Preset(("sys:pearson", "seg:pearson", "seg:acc_eq"), pooled=True),
    "wmt24": Preset(("sys:spa", "seg:acc_eq")),
    "wmt24pp": Preset(("sys:spa", "seg:acc_eq")),
    "wmt25": Preset(("sys:spa", "seg:acc_eq"), gold="esa"),
}


def preset(name: str) -> Preset:
    check_known("task list", [name], PRESETS)
    return PRESETS[name]


def official_langs(name: str, test_set: str, pairs: Sequence[str]) -> list[str]:
    """The language pairs of an official table: of the folder's own test set, else of the preset's
    year, else all.
    """
    official = (conventions(test_set).pairs or conventions(name).pairs or " ".join(pairs)).split()
    # ``en-cs_CZ`` may also be called en-cs
    same = (
        [langs] * (langs in pairs)
        or [pair for pair in pairs if all(map(same_language, pair_of(langs), pair_of(pair)))][:1]
        for langs in official
    )
    return [pair for candidates in same for pair in candidates]


@dataclass(frozen=True)
class Averaging:
    """How rows become a value and tasks an average."""

    micro: bool = False  # weight rows by their number of scores
    nan_as_zero: bool = False  # undefined rows count as 0 instead of being left out
    weights: Mapping[str, float] | None = (
        None  # task → its weight in the average; the others keep theirs
    )
    even_by: tuple[
        str, ...
    ] = ()  # weights split evenly over langs, level, statistic, in this order


def read_task_weights(texts: Sequence[str]) -> dict[str, float]:
    """``seg:acc_eq=2`` … → task → weight."""
    weights: dict[str, float] = {}
    for text in texts:
        task, equals, number = text.rpartition("=")
        try:
            weights[task] = float(number)
        except ValueError:
            equals = ""
        if not equals or not 0 <= weights[task] < float("inf"):
            raise InputError(f"invalid weight {text!r}", next="write --weight seg:acc_eq=2")
    return weights


def tasks_for(
    levels: Sequence[str], tasks: Sequence[str], averaging: Averaging | None = None
) -> list[AgreementTask]:
    """The tasks given by name, and the usual ones of the given levels."""
    check_known("level", levels, DEFAULTS)
    names = [*tasks, *(task for level in levels for task in DEFAULTS[level])]
    rule = averaging or Averaging()
    return [
        replace(task, measure=replace(task.measure, micro=rule.micro, nan_as_zero=rule.nan_as_zero))
        for task in dict.fromkeys(read_task(name) for name in names)
    ]


@dataclass(frozen=True, eq=False)
class TaskTable:
    """Results of several tasks on one or more language pairs and kinds of human scores, and their
    average.
    """

    results: tuple[TaskResult, ...]
    average: Average | None


def run_tasks(
    groups: Sequence[Sequence[Gathered]],
    tasks: Sequence[AgreementTask],
    pooled: bool,
    testing: MetricTests,
    averaging: Averaging | None = None,
) -> TaskTable:
    """Every task on every language pair of every group, and the average over all of them.

    A group has the language pairs of one gold: accuracy is pooled within it.
    """
    weighted: list[tuple[TaskResult, float]] = []
    for parts in groups:
        single = list(tasks)
        if pooled and (len(parts) > 1 or "sys:accuracy" not in map(str, tasks)):
            weighted.append((pooled_accuracy_task(parts, testing), float(len(parts))))
            single = [task for task in tasks if str(task) != "sys:accuracy"]
        weighted += [(run_task(part, task, testing), 1.0) for part in parts for task in single]
    results = tuple(result for result, _ in weighted)
    weights = _weighted(results, [weight for _, weight in weighted], averaging or Averaging())
    common = set(results[0].metrics).intersection(*(result.metrics for result in results))
    return TaskTable(
        results, average(results, weights, testing.alpha) if len(results) > 1 and common else None
    )


def _weighted(results: Sequence[TaskResult], weights: list[float], rule: Averaging) -> list[float]:
    keys = [
        {
            "langs": result.where,
            "level": result.task.level,
            "statistic": result.task.measure.statistic,
        }
        for result in results
    ]
    check_known("attribute of tasks", rule.even_by, keys[0])
    if rule.even_by:
        weights = even_weights([tuple(key[name] for name in rule.even_by) for key in keys])
    named, tasks = rule.weights or {}, [str(result.task) for result in results]
    check_known("task", named, tasks)
    weights = [named.get(task, weight) for task, weight in zip(tasks, weights)]
    if min(weights) < 0 or not sum(weights) > 0:
        raise InputError(
            "weights are numbers from 0, not all of them 0", next="write --weight seg:acc_eq=2"
        )
    return weights


def even_weights(keys: Sequence[tuple[str, ...]]) -> list[float]:
    """Split weights evenly over the values of the first attribute, in each over the next …"""
    weights = []
    for key in keys:
        weight = 1.0
        for depth in range(len(key)):
            weight /= len({other[depth] for other in keys if other[:depth] == key[:depth]})
        weights.append(weight / keys.count(key))
    return weights


@dataclass(frozen=True, eq=False)
class Average:
    """Metrics that all tasks have, best first."""

    metrics: tuple[str, ...]
    values: tuple[float, ...]  # weighted means, each task rescaled to 0-1
    mean_ranks: tuple[float, ...]  # NaN where some task was not tested
    ranks: tuple[
        int | None, ...
    ]  # clusters by the test of the averaged difference; None where not tested
    p: FloatArray  # (metrics, metrics), upper triangle
    weights: tuple[float, ...]  # of the tasks

    def value(self, metric: str) -> float:
        return self.values[self.metrics.index(metric)]


def average(
    results: Sequence[TaskResult], weights: Sequence[float] = (), alpha: float = 0.05
) -> Average:
    """The table over several tasks, as the WMT metrics task makes it.

    The p-value of an averaged difference comes from the tasks' own draws; a task that stopped early
    has its repeated.
    """
    parts = np.array(weights or [1.0] * len(results), dtype=np.float64)
    parts = parts / parts.sum()
    common = [
        name for name in results[0].metrics if all(name in result.metrics for result in results)
    ]
    lows, spans = zip(
        *((low, high - low) for low, high in (result.task.measure.range for result in results))
    )
    values = {
        name: sum(
            w * ((r.value(name) - low) / span)
            for w, r, low, span in zip(parts, results, lows, spans)
        )
        for name in common
    }
    ranks = {
        name: sum(w * float(r.rank(name) or np.nan) for w, r in zip(parts, results))
        for name in common
    }
    order = sorted(common, key=lambda name: (-values[name], name))
    p = np.full((len(order), len(order)), np.nan)
    tested = all(result.draws for result in results)
    for i, j in zip(*np.triu_indices(len(order), 1)) if tested else ():
        drawn = [_draws(result, order[i], order[j]) for result in results]
        size = max(map(len, drawn))
        null = sum(
            w * np.resize(null_draws, size) / span
            for w, null_draws, span in zip(parts, drawn, spans)
        )
        p[i, j] = float((null >= values[order[i]] - values[order[j]] - 1e-12).mean())
    return Average(
        tuple(order),
        tuple(values[n] for n in order),
        tuple(ranks[n] for n in order),
        tuple(cluster_ranks(p, alpha)) if tested else (None,) * len(order),
        p,
        tuple(parts.tolist()),
    )


def _draws(result: TaskResult, first: str, second: str) -> FloatArray:
    """(draws,) a task's drawn differences between two metrics."""
    i, j = result.metrics.index(first), result.metrics.index(second)
    columns = list(combinations(range(len(result.metrics)), 2))  # the upper triangle
    drawn = result.null[:, columns.index((min(i, j), max(i, j)))]
    drawn = drawn[~np.isnan(drawn)]
    return drawn if i < j else -drawn


def inter_correlation(gathered: Gathered, level: Level = "seg") -> tuple[list[str], FloatArray]:
    """Names and (metrics, metrics) correlation of metrics' scores with one another, over what
    people judged.
    """
    where = gathered.participants
    gold = where.gold(level)
    scores = {metric.name: metric.at(level, where) for metric in gathered.metrics}
    known = {
        name: np.where(np.isnan(gold), np.nan, values).ravel()
        for name, values in scores.items()
        if values is not None
    }
    table = np.eye(len(known))
    for (i, first), (j, second) in combinations(enumerate(known.values()), 2):
        table[i, j] = table[j, i] = float(pearson_rows(first, second))
    return list(known), table


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
        known = both_known(*(table[:, column] for table in tables))
        x, y = (table[known, column] for table in tables)
        t, p = stats.ttest_rel(x, y) if len(x) >= 2 and np.ptp(x - y) > 0 else (np.nan, np.nan)
        first_mean, second_mean = (
            float(values.mean()) if len(values) else np.nan for values in (x, y)
        )
        tests.append(CategoryTest(category, first_mean, second_mean, float(t), float(p), len(x)))
    return tests
