"""Tasks of a meta-evaluation: how well metrics agree with people at a level, and which are
significantly better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from wholetext.errors import InputError
from wholetext.meta.agreement.bootstrap import (
    Unit,
    bootstrap_agreement,
    drawn_means,
    interval,
    resample,
    system_agreement,
)
from wholetext.meta.agreement.correlation import Average
from wholetext.meta.agreement.measures import STATISTICS, Estimate, Measure, estimate
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.conventions import check_known
from wholetext.meta.metric_scores import Gathered, MetricScores
from wholetext.meta.participants import Level, Participants
from wholetext.scoring.significance.clusters import cluster_ranks
from wholetext.types import FloatArray

_TASK = re.compile(
    r"(?P<level>[a-z]+):(?P<statistic>[a-z_0-9]+)(/(?P<average>[a-z]+))?(@(?P<gap>\d+(\.\d+)?))?"
)
_BY_ITEM = ("acc_eq", "acc_eq0", "tau23", "tau23_0", "darr", "pdp")  # averaged by item by default
_PAIRED = (*_BY_ITEM, "accuracy", "kendall_c")  # averaged by item only, beside scores of systems
DEFAULTS: dict[str, tuple[str, ...]] = {
    "sys": ("sys:accuracy", "sys:pearson", "sys:spa"),
    "domain": ("domain:pearson",),
    "doc": ("doc:acc_eq", "doc:pearson"),
    "seg": ("seg:acc_eq", "seg:pearson"),
}


@dataclass(frozen=True)
class AgreementTask:
    """A level and a statistic: ``seg:acc_eq/item``, ``sys:pearson``, ``doc:darr/item@25``."""

    level: Level
    measure: Measure

    def __str__(self) -> str:
        m = self.measure
        usual = "item" if m.statistic in _BY_ITEM else "none"
        average = "" if self.level == "sys" or m.average == usual else f"/{m.average}"
        return f"{self.level}:{m.statistic}{average}" + (
            f"@{m.gap:g}" if m.statistic == "darr" else ""
        )


def read_task(text: str) -> AgreementTask:
    """Parse a task; errors suggest the closest match."""
    match = _TASK.fullmatch(text.strip())
    if not match:
        raise InputError(
            f"{text!r} is not a task",
            next="write LEVEL:STATISTIC[/AVERAGE], e.g. seg:acc_eq/item or sys:pearson",
        )
    level, statistic = match["level"], match["statistic"]
    average = match["average"] or ("item" if level != "sys" and statistic in _BY_ITEM else "none")
    for value, known, what in (
        (level, list(get_args(Level)), "level"),
        (statistic, list(STATISTICS), "statistic"),
        (average, list(get_args(Average)), "average"),
    ):
        check_known(what, [value], known, text)
    if level == "sys" and (average != "none" or statistic in ("darr", "pdp")):
        raise InputError(
            f"{text!r}: there is one score per system, so there is nothing to average",
            next="write sys:pearson",
        )
    if level != "sys" and statistic == "spa":
        raise InputError("soft pairwise accuracy is defined for systems only", next="write sys:spa")
    if level != "sys" and statistic in _PAIRED and average != "item":
        raise InputError(
            f"{statistic} compares outputs of the same item", next=f"write {level}:{statistic}/item"
        )
    measure = Measure(statistic, average, float(match["gap"] or 25.0))  # type: ignore[arg-type]
    return AgreementTask(level, measure)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class TaskResult:
    """Metrics in order of agreement, best first, with significance."""

    task: AgreementTask
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
    low: tuple[float, ...] = ()  # bounds of 95 % intervals, if requested
    high: tuple[float, ...] = ()

    def rank(self, metric: str) -> int | None:
        return self.ranks[self.metrics.index(metric)]

    def value(self, metric: str) -> float:
        return self.estimates[self.metrics.index(metric)].value


@dataclass(frozen=True)
class MetricTests:
    """How significance is tested, and what intervals resample."""

    draws: int = 1000  # 0: no test
    seed: int | None = 12345
    alpha: float = 0.05
    block: int = 0  # early-stopping interval, in draws; 0: never
    interval: Unit | None = None  # None: no intervals


def run_task(
    gathered: Gathered, task: AgreementTask, testing: MetricTests | None = None
) -> TaskResult:
    """One task on one language pair.

    Metrics without scores at the level are left out, with a note.
    """
    where, testing = gathered.participants, testing or MetricTests()
    level: Level = "seg" if task.measure.statistic == "spa" else task.level
    gold, gold_name = where.gold(level), where.gold_at(level)
    if (
        task.measure.statistic == "spa" and where.system_seg is not None
    ):  # of systems, by their segments
        gold, gold_name = where.system_seg, where.system_gold
    scores = {metric.name: metric.at(level, where) for metric in gathered.metrics}
    for name, values in scores.items():
        if values is None:
            gathered.notes.append(f"{name} has no scores at level {level}: left out of {task}")
    known = {name: values for name, values in scores.items() if values is not None}
    if not known:
        raise InputError(
            f"no metric has scores at level {level}", where=where.name, next="choose another level"
        )
    stack = np.stack(list(known.values()))  # (metrics, systems, items)
    gaps = np.isnan(stack).any(axis=0)
    unused = int((gaps & ~np.isnan(gold)).sum())
    if unused:
        gathered.notes.append(
            f"{task}: {unused} judged scores are not used, because some metric has none there"
        )
    result = judge(np.where(gaps, np.nan, gold), np.nan_to_num(stack), list(known), task, testing)
    if result.estimates[0].pairs == 0:
        gathered.notes.append(
            f"{task}: no two scores of {where.gold_name} could be compared in {where.name}"
        )
    if testing.interval is not None:
        low, high = intervals(gathered, result, testing)
        result = replace(result, low=low, high=high)
    return replace(result, where=where.name, gold=gold_name)


def intervals(
    gathered: Gathered, result: TaskResult, testing: MetricTests
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """95 % bootstrap bounds of each metric's value.

    NaN where the statistic or the scores do not allow it.
    """
    bounds = [(np.nan, np.nan)] * len(result.metrics)
    by_name = {metric.name: metric for metric in gathered.metrics}
    for i, name in enumerate(result.metrics):
        try:
            drawn = _resampled(gathered.participants, by_name[name], result.task, testing)
        except ValueError as fault:
            gathered.notes.append(f"{result.task}: no interval ({fault})")
            break
        if drawn is not None:
            bounds[i] = interval(drawn)
    return tuple(low for low, _ in bounds), tuple(high for _, high in bounds)


def _resampled(
    where: Participants, metric: MetricScores, task: AgreementTask, testing: MetricTests
) -> FloatArray | None:
    """(draws,) values of one metric.

    None where documents are drawn and there are no scores of segments.
    """
    unit, systems = testing.interval or "documents", len(where.systems)
    if task.level == "sys" and unit != "systems":
        seg = metric.at("seg", where)
        gold = where.seg if where.gold_at("sys") == where.gold_name else where.system_seg
        if gold is None or seg is None:
            return None
        by_system, by_item = resample(unit, systems, where.doc_of, seed=testing.seed)
        if metric.resampled:
            y = metric.resampled(by_item[:, [run.start for run in where.runs]])
        else:
            y = drawn_means(np.where(np.isnan(gold), np.nan, seg), by_item)
        return system_agreement(drawn_means(gold, by_item), y, by_system, task.measure)
    scores = metric.at(task.level, where)
    if scores is None:
        return None
    gold = np.where(np.isnan(scores), np.nan, where.gold(task.level))
    docs = where.doc_of if task.level == "seg" else np.arange(scores.shape[1])
    weights = resample(unit, systems, docs, seed=testing.seed)
    return bootstrap_agreement(gold, np.nan_to_num(scores), task.measure, *weights)


def judge(
    gold: FloatArray,
    stack: FloatArray,
    names: Sequence[str],
    task: AgreementTask,
    testing: MetricTests,
) -> TaskResult:
    """The task on (systems, items) gold and (metrics, systems, items) scores."""
    measure, size = task.measure, len(names)
    estimates = [estimate(gold, metric, measure) for metric in stack]
    order = sorted(
        range(size), key=lambda i: (-np.nan_to_num(estimates[i].value, nan=-np.inf), names[i])
    )
    p, null, test = np.full((size, size), np.nan), np.zeros((0, size * (size - 1) // 2)), "none"
    if testing.draws and size > 1:
        with suppress(ValueError):  # pair counts of too many systems: values without a test
            comparisons = compare(
                gold, stack[order], measure, testing.draws, testing.seed, testing.block
            )
            p, null, test = (
                comparisons.p,
                comparisons.null,
                "pairs" if measure.calibrated else "perm-both",
            )
    tested = test != "none"
    known = ~np.isnan(gold)
    items = known.all(axis=0) if measure.statistic == "spa" else known.any(axis=0)
    return TaskResult(
        task,
        "",
        "",
        tuple(names[i] for i in order),
        tuple(estimates[i] for i in order),
        tuple(cluster_ranks(p, testing.alpha)) if tested else (None,) * size,
        p,
        null,
        testing.draws if tested else 0,
        len(gold),
        int(items.sum()),
        test,
    )


def pooled_accuracy_task(
    parts: Sequence[Gathered], testing: MetricTests | None = None
) -> TaskResult:
    """System accuracy over several language pairs: pairs within each, counts pooled."""
    scores = [
        {metric.name: metric.at("sys", part.participants) for metric in part.metrics}
        for part in parts
    ]
    names = [
        name for name in scores[0] if all(by_metric.get(name) is not None for by_metric in scores)
    ]
    if not names:
        raise InputError(
            "no metric has system scores for every language pair",
            next="score the same metrics everywhere",
        )
    size = max(len(part.participants.systems) for part in parts)
    gold = np.full((len(parts), size), np.nan)  # a row per language pair
    stack = np.zeros((len(names), len(parts), size))
    for row, (part, by_metric) in enumerate(zip(parts, scores)):
        gold[row, : len(part.participants.systems)] = part.participants.gold("sys")[:, 0]
        for k, name in enumerate(names):
            stack[k, row, : len(part.participants.systems)] = by_metric[name][:, 0]  # type: ignore[index]
    task = AgreementTask("sys", Measure("accuracy", "system"))  # rows are language pairs
    result = judge(gold, stack, names, task, testing or MetricTests())
    return replace(
        result,
        task=AgreementTask("sys", Measure("accuracy")),
        where=" + ".join(part.participants.name for part in parts),
        gold=", ".join(dict.fromkeys(part.participants.gold_at("sys") for part in parts)),
        systems=int((~np.isnan(gold)).sum()),
        items=1,
    )
