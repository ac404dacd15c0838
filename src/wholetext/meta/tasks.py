"""Tasks of a meta-evaluation: how well metrics agree with people at a level, and which metrics are significantly
better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from wholetext.errors import InputError, did_you_mean
from wholetext.meta.agreement.bootstrap import (
    Resample,
    Unit,
    bootstrap_agreement,
    drawn_means,
    interval,
    system_agreement,
)
from wholetext.meta.agreement.correlation import Average
from wholetext.meta.agreement.measures import STATISTICS, Estimate, Measure, estimate
from wholetext.meta.agreement.permutation import Comparisons, Draws, compare
from wholetext.meta.metric_scores import Gathered, MetricScores
from wholetext.meta.participants import Level, Participants
from wholetext.significance.clusters import cluster_ranks
from wholetext.types import FloatArray

_TASK = re.compile(r"(?P<level>[a-z]+):(?P<statistic>[a-z_0-9]+)(/(?P<average>[a-z]+))?(@(?P<gap>\d+(\.\d+)?))?")
_AVERAGE: dict[str, Average] = {"acc_eq": "item", "acc_eq0": "item", "tau23": "item", "tau23_0": "item", "darr": "item",
                                "pdp": "item"}
DEFAULTS: dict[str, tuple[str, ...]] = {
    "sys": ("sys:accuracy", "sys:pearson", "sys:spa"),
    "domain": ("domain:pearson",),
    "doc": ("doc:acc_eq", "doc:pearson"),
    "seg": ("seg:acc_eq", "seg:pearson"),
}


@dataclass(frozen=True)
class Task:
    """A level and a statistic: ``seg:acc_eq/item``, ``sys:pearson``, ``doc:darr/item@25`` (the least gold
    difference).
    """

    level: Level
    measure: Measure

    def __str__(self) -> str:
        m = self.measure
        average = "" if self.level == "sys" or m.average == _AVERAGE.get(m.statistic, "none") else f"/{m.average}"
        return f"{self.level}:{m.statistic}{average}" + (f"@{m.gap:g}" if m.statistic == "darr" else "")


def read_task(text: str) -> Task:
    """Parse a task; errors suggest the closest match."""
    found = _TASK.fullmatch(text.strip())
    if not found:
        raise InputError(f"{text!r} is not a task",
                         next="write LEVEL:STATISTIC[/AVERAGE], e.g. seg:acc_eq/item or sys:pearson")
    level, statistic = found["level"], found["statistic"]
    average = found["average"] or ("none" if level == "sys" else _AVERAGE.get(statistic, "none"))
    for value, known, what in ((level, list(get_args(Level)), "level"), (statistic, list(STATISTICS), "statistic"),
                               (average, list(get_args(Average)), "average")):
        if value not in known:
            raise InputError(f"there is no {what} {value!r} (in {text!r})",
                             next=did_you_mean(value, known) or f"there are {', '.join(known)}")
    if level == "sys" and (average != "none" or statistic in ("darr", "pdp")):
        raise InputError(f"{text!r}: there is one score per system, so there is nothing to average",
                         next="write sys:pearson")
    if level != "sys" and statistic == "spa":
        raise InputError("soft pairwise accuracy is defined for systems only", next="write sys:spa")
    if statistic in ("darr", "pdp") and average != "item":
        raise InputError(f"{statistic} compares outputs of the same item", next=f"write {level}:{statistic}")
    measure = Measure(statistic, average, float(found["gap"] or 25.0))  # type: ignore[arg-type]
    return Task(level, measure)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class TaskResult:
    """Metrics in order of agreement, best first, with significance; every value with its pairs and chance level."""

    task: Task
    where: str  # test set and language pair(s)
    gold: str
    metrics: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    ranks: tuple[int | None, ...]  # rank clusters; None where nothing was tested
    p: FloatArray  # (metrics, metrics): p that the row's metric is better than the column's
    null: FloatArray  # (draws, pairs) as in Comparisons
    draws: int
    systems: int
    items: int
    test: str
    low: tuple[float, ...] = ()  # bounds of 95 % intervals, where they were asked for
    high: tuple[float, ...] = ()

    def rank(self, metric: str) -> int | None:
        return self.ranks[self.metrics.index(metric)]

    def p_best(self, metric: str) -> float:
        """p that the first metric of the list agrees better than this one; NaN for itself, or where not tested."""
        return float(self.p[0, self.metrics.index(metric)])

    def value(self, metric: str) -> float:
        return self.estimates[self.metrics.index(metric)].value


@dataclass(frozen=True)
class MetricTests:
    """How significance is tested: draws (0 = not at all), seed, level, early stopping; and what intervals resample."""

    draws: int = 1000
    seed: int | None = 12345
    alpha: float = 0.05
    block: int = 0
    interval: Unit | None = None  # resample documents, systems or both for intervals; None: no intervals
    stop_below: float = 0.02  # with ``block``: p-values at which a pair is settled early
    stop_above: float = 0.5

    def plan(self) -> Draws:
        return Draws(self.draws, self.seed, self.block, self.stop_below, self.stop_above)


def run_task(gathered: Gathered, task: Task, testing: MetricTests | None = None) -> TaskResult:
    """One task on one language pair. Metrics without scores at the level are left out, with a note in ``gathered``."""
    where = gathered.field
    level: Level = "seg" if task.measure.statistic == "spa" else task.level
    gold = where.gold(level)
    names, values = [], []
    for metric in gathered.metrics:
        found = metric.at(level, where)
        if found is None:
            _note(gathered, f"{metric.name} has no scores at level {level}: left out of {task}")
            continue
        names.append(metric.name)
        values.append(found)
    if not names:
        raise InputError(f"no metric has scores at level {level}", where=where.name, next="choose another level")
    stack = np.stack(values)  # (metrics, systems, items)
    unknown = np.isnan(stack).any(axis=0) & ~np.isnan(gold)
    if unknown.any():
        _note(gathered, f"{task}: {int(unknown.sum())} judged scores are not used, because some metric has none there")
    gold = np.where(np.isnan(stack).any(axis=0), np.nan, gold)
    testing = testing or MetricTests()
    result = judge(gold, np.nan_to_num(stack), names, task, testing)
    if result.estimates[0].pairs == 0:
        _note(gathered, f"{task}: no two scores of {where.gold_name} could be compared in {where.name}")
    if testing.interval is not None:
        bounds = intervals(gathered, result, testing)
        result = replace(result, low=bounds[0], high=bounds[1])
    return replace(result, where=where.name, gold=where.gold_at(level))


def intervals(
    gathered: Gathered, result: TaskResult, testing: MetricTests
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """95 % bootstrap bounds of each metric's value; NaN where the statistic or the scores do not allow it."""
    low, high = (np.full(len(result.metrics), np.nan) for _ in range(2))
    by_name = {metric.name: metric for metric in gathered.metrics}
    for i, name in enumerate(result.metrics):
        try:
            drawn = _resampled(gathered.field, by_name[name], result.task, testing)
        except ValueError as fault:
            _note(gathered, f"{result.task}: no interval ({fault})")
            break
        if drawn is not None:
            low[i], high[i] = interval(drawn)
    return tuple(low.tolist()), tuple(high.tolist())


def _resampled(where: Participants, metric: MetricScores, task: Task, testing: MetricTests) -> FloatArray | None:
    """(draws,) values of one metric; None where documents are drawn and there are no scores of segments."""
    unit = testing.interval or "documents"
    resample = Resample(unit, where.doc_of if where.seg is not None else None, 1000, testing.seed)
    if task.level == "sys" and unit != "systems":
        seg = metric.at("seg", where)
        gold = where.seg if where.gold_at("sys") == where.gold_name else where.system_seg
        if gold is None or seg is None:
            return None
        by_system, by_item = resample.weights(*gold.shape)
        starts = np.array([run.start for run in where.runs])
        y = metric.resampled(by_item[:, starts]) if metric.resampled else drawn_means(
            np.where(np.isnan(gold), np.nan, seg), by_item)
        return system_agreement(drawn_means(gold, by_item), y, by_system, task.measure)
    scores = metric.at(task.level, where)
    if scores is None:
        return None
    gold = np.where(np.isnan(scores), np.nan, where.gold(task.level))
    if task.level != "seg":
        resample = replace(resample, docs=None)
    return bootstrap_agreement(gold, np.nan_to_num(scores), task.measure, resample)


def _note(gathered: Gathered, text: str) -> None:
    if text not in gathered.notes:
        gathered.notes.append(text)


def judge(gold: FloatArray, stack: FloatArray, names: Sequence[str], task: Task, testing: MetricTests) -> TaskResult:
    """The task on arrays: (systems, items) gold, (metrics, systems, items) scores."""
    estimates = [estimate(gold, metric, task.measure) for metric in stack]
    order = sorted(range(len(names)), key=lambda i: (-_sortable(estimates[i].value), names[i]))
    stack = stack[order]
    found, test = _compare(gold, stack, task.measure, testing)
    tested = test != "none"
    ranks = cluster_ranks(found.p, testing.alpha) if tested else [None] * len(names)
    known = ~np.isnan(gold)
    items = known.all(axis=0) if task.measure.statistic == "spa" else known.any(axis=0)
    return TaskResult(
        task, "", "", tuple(names[i] for i in order), tuple(estimates[i] for i in order), tuple(ranks), found.p,
        found.null, testing.draws if tested else 0, gold.shape[0], int(items.sum()), test)


def _sortable(value: float) -> float:
    return -np.inf if np.isnan(value) else value


def _compare(gold: FloatArray, stack: FloatArray, measure: Measure, testing: MetricTests) -> tuple[Comparisons, str]:
    size = len(stack)
    if not testing.draws or size < 2:
        blank = np.full((size, size), np.nan)
        return Comparisons(blank, blank, np.zeros((0, size * (size - 1) // 2))), "none"
    try:
        return compare(gold, stack, measure, testing.plan()), "pairs" if measure.calibrated else "perm-both"
    except ValueError:  # pair counts of very many systems: no test, the values stand
        return _compare(gold, stack, measure, replace(testing, draws=0))


def pooled_accuracy_task(parts: Sequence[Gathered], testing: MetricTests | None = None) -> TaskResult:
    """System accuracy over several language pairs: pairs within each, counts pooled, metrics that all of them have."""
    testing = testing or MetricTests()
    names = [m.name for m in parts[0].metrics if all(m.name in {o.name for o in part.metrics} for part in parts)]
    systems = max(len(part.field.systems) for part in parts)
    gold = np.full((len(parts), systems), np.nan)  # a row per language pair
    stack = np.zeros((len(names), len(parts), systems))
    kept = []
    for k, name in enumerate(names):
        for row, part in enumerate(parts):
            metric = next(m for m in part.metrics if m.name == name)
            scores = metric.at("sys", part.field)
            if scores is not None:
                stack[k, row, : scores.shape[0]] = scores[:, 0]
                kept.append((k, row))
    usable = [k for k in range(len(names)) if all((k, row) in kept for row in range(len(parts)))]
    if not usable:
        raise InputError("no metric has system scores for every language pair",
                         next="score the same metrics everywhere")
    for row, part in enumerate(parts):
        gold[row, : len(part.field.systems)] = part.field.gold("sys")[:, 0]
    task = Task("sys", Measure("accuracy", "system"))  # rows are language pairs
    result = judge(gold, stack[usable], [names[k] for k in usable], task, testing)
    where = " + ".join(part.field.name for part in parts)
    golds = ", ".join(dict.fromkeys(part.field.gold_at("sys") for part in parts))
    return replace(result, task=Task("sys", Measure("accuracy")), where=where, gold=golds,
                   systems=int((~np.isnan(gold)).sum()), items=1)
