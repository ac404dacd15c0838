"""The sets of tasks that the WMT metrics tasks printed: which statistics per language pair, and their weights.

As in the official tables, the metrics are primary submissions and baselines, and human translations are judged as
systems where a pair has a second reference (``conventions.HUMAN``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wholetext.errors import InputError, did_you_mean
from wholetext.meta.conventions import official_pairs
from wholetext.meta.metric_scores import Gathered
from wholetext.meta.ranking import Average, average, even_weights
from wholetext.meta.tasks import (
    DEFAULTS,
    MetricTests,
    Task,
    TaskResult,
    pooled_accuracy_task,
    read_task,
    run_task,
)


@dataclass(frozen=True)
class Preset:
    """Tasks for every language pair; ``pooled`` adds accuracy over all pairs, which weighs as much as there are
    pairs.
    """

    tasks: tuple[str, ...]
    pooled: bool = False


PRESETS: dict[str, Preset] = {
    "wmt21": Preset(("sys:pearson", "seg:kendall/item")),
    "wmt22": Preset(("sys:pearson", "seg:kendall/none", "seg:kendall/item", "seg:kendall/system"), pooled=True),
    "wmt23": Preset(("sys:pearson", "seg:pearson", "seg:acc_eq"), pooled=True),
    "wmt24": Preset(("sys:spa", "seg:acc_eq")),
}


def preset(name: str) -> Preset:
    if name not in PRESETS:
        raise InputError(f"there is no task list {name!r}",
                         next=did_you_mean(name, list(PRESETS)) or f"there are {', '.join(PRESETS)}")
    return PRESETS[name]


@dataclass(frozen=True)
class Averaging:
    """How rows become a value and tasks an average."""

    micro: bool = False  # weight rows by their number of scores
    nan_as_zero: bool = False  # undefined rows count as 0 instead of being left out
    weights: Mapping[str, float] | None = None  # task → its weight in the average; the others keep theirs
    even_by: tuple[str, ...] = ()  # instead: weights split evenly over langs, level, statistic …, one after another


def tasks_for(levels: Sequence[str], tasks: Sequence[str], averaging: Averaging | None = None) -> list[Task]:
    """The tasks asked for by name, and the usual ones of the levels asked for."""
    unknown = [level for level in levels if level not in DEFAULTS]
    if unknown:
        raise InputError(f"there is no level {unknown[0]!r}", next=f"there are {', '.join(DEFAULTS)}")
    names = [*tasks, *(task for level in levels for task in DEFAULTS[level])]
    rule = averaging or Averaging()
    return [replace(task, measure=replace(task.measure, micro=rule.micro, nan_as_zero=rule.nan_as_zero))
            for task in dict.fromkeys(read_task(name) for name in names)]


def official_langs(name: str, test_set: str, there: Sequence[str]) -> list[str]:
    """The language pairs of an official table: those of the folder's own test set, else of the preset's year."""
    wanted = official_pairs(test_set) or official_pairs(name)
    return [langs for langs in wanted if langs in there]


@dataclass(frozen=True, eq=False)
class TaskTable:
    """Results of several tasks on one or more language pairs, and their average."""

    results: tuple[TaskResult, ...]
    average: Average | None


def run_tasks(
    parts: Sequence[Gathered], tasks: Sequence[Task], pooled: bool, testing: MetricTests,
    averaging: Averaging | None = None,
) -> TaskTable:
    """Every task on every language pair; the average is over all of them, with pooled accuracy weighing for all
    pairs.
    """
    results: list[TaskResult] = []
    weights: list[float] = []
    pooled = pooled and (len(parts) > 1 or "sys:accuracy" not in map(str, tasks))
    if pooled:
        results.append(pooled_accuracy_task(parts, testing))
        weights.append(float(len(parts)))
    for part in parts:
        for task in tasks:
            if pooled and str(task) == "sys:accuracy":
                continue
            results.append(run_task(part, task, testing))
            weights.append(1.0)
    weights = _weighted(results, weights, averaging or Averaging())
    common = set(results[0].metrics).intersection(*(result.metrics for result in results))
    return TaskTable(tuple(results), average(results, weights, testing.alpha) if len(results) > 1 and common else None)


def _weighted(results: Sequence[TaskResult], weights: list[float], rule: Averaging) -> list[float]:
    """The weights of the tasks as asked for."""
    if rule.even_by:
        keys = {"langs": lambda r: r.where, "level": lambda r: r.task.level,
                "statistic": lambda r: r.task.measure.statistic}
        unknown = [name for name in rule.even_by if name not in keys]
        if unknown:
            raise InputError(f"weights cannot be split over {unknown[0]!r}", next=f"write {', '.join(keys)}")
        weights = even_weights([tuple(keys[name](result) for name in rule.even_by) for result in results])
    given = dict(rule.weights or {})
    tasks = [str(result.task) for result in results]
    unknown = [name for name in given if name not in tasks]
    if unknown:
        raise InputError(f"there is no task {unknown[0]!r} to weight",
                         next=did_you_mean(unknown[0], tasks) or f"there are {', '.join(dict.fromkeys(tasks))}")
    weights = [given.get(task, weight) for task, weight in zip(tasks, weights)]
    if min(weights) < 0 or not sum(weights) > 0:
        raise InputError("weights are numbers from 0, not all of them 0", next="write --weight seg:acc_eq=2")
    return weights
