"""The sets of tasks that the WMT metrics tasks printed: which statistics per language pair, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wholetext.errors import InputError, did_you_mean
from wholetext.meta.agreement import DEFAULTS, Significance, Task, TaskResult, pooled_accuracy_task, read_task, run_task
from wholetext.meta.ranking import Average, average
from wholetext.meta.scored import Gathered


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
        raise InputError(f"there is no set of tasks {name!r}",
                         next=did_you_mean(name, list(PRESETS)) or f"there are {', '.join(PRESETS)}")
    return PRESETS[name]


def tasks_for(levels: Sequence[str], tasks: Sequence[str]) -> list[Task]:
    """The tasks asked for by name, and the usual ones of the levels asked for."""
    unknown = [level for level in levels if level not in DEFAULTS]
    if unknown:
        raise InputError(f"there is no level {unknown[0]!r}", next=f"there are {', '.join(DEFAULTS)}")
    names = [*tasks, *(task for level in levels for task in DEFAULTS[level])]
    return list(dict.fromkeys(read_task(name) for name in names))


@dataclass(frozen=True, eq=False)
class Table:
    """Results of several tasks on one or more language pairs, and their average."""

    results: tuple[TaskResult, ...]
    average: Average | None


def run_tasks(parts: Sequence[Gathered], tasks: Sequence[Task], pooled: bool, testing: Significance) -> Table:
    """Every task on every language pair; the average is over all of them, with pooled accuracy weighing for all
    pairs.
    """
    results: list[TaskResult] = []
    weights: list[float] = []
    if pooled and len(parts) > 1:
        results.append(pooled_accuracy_task(parts, testing))
        weights.append(float(len(parts)))
    for part in parts:
        for task in tasks:
            if pooled and len(parts) > 1 and str(task) == "sys:accuracy":
                continue
            results.append(run_task(part, task, testing))
            weights.append(1.0)
    common = set(results[0].metrics).intersection(*(result.metrics for result in results))
    return Table(tuple(results), average(results, weights, testing.alpha) if len(results) > 1 and common else None)
