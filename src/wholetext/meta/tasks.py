"""Tasks of a meta-evaluation: how well metrics agree with people, and which agree significantly better.

Tasks are averaged as the WMT metrics tasks do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import get_args

import numpy as np

from wholetext.errors import InputError, known
from wholetext.meta.agreement.bootstrap import (
    Unit,
    bootstrap_agreement,
    drawn_means,
    interval,
    resample,
    system_agreement,
)
from wholetext.meta.agreement.correlation import (
    Grouping,
    both_known,
    correlations,
    pearson_rows,
    williams_test,
)
from wholetext.meta.agreement.measures import (
    STATISTICS,
    Estimate,
    Measure,
    Ranked,
    estimate,
)
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.conventions import SETS, Conventions, conventions
from wholetext.meta.metric_scores import Gathered
from wholetext.meta.participants import Level
from wholetext.scoring.significance.resample import cluster_ranks
from wholetext.text import pair_of, same_language
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
    for value, names, what in (
        (level, list(get_args(Level)), "level"),
        (statistic, list(STATISTICS), "statistic"),
        (average, list(get_args(Grouping)), "average"),
    ):
        known(what, value, names, where=text)
    if level == "sys" and (average != "none" or statistic in ("darr", "pdp")):
        raise InputError(
            f"{text!r}: there is one score per system, so there is nothing to average",
            next="write sys:pearson",
        )
    if level != "sys" and statistic == "spa":
        raise InputError("soft pairwise accuracy is defined for systems only", next="write sys:spa")
    if level != "sys" and statistic in _PAIRED and average != "item":
        raise InputError(
            f"{statistic} compares outputs of the same item",
            next=f"write {level}:{statistic}/item",
        )
    measure = Measure(statistic, average, float(match["gap"] or 25.0))  # type: ignore[arg-type]
    return AgreementTask(level, measure)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, kw_only=True)
class TaskResult(Ranked):
    """Metrics in order of agreement, with significance."""

    task: AgreementTask
    where: str = ""  # test set and language pair(s)
    gold: str = ""
    estimates: tuple[Estimate, ...]
    p: FloatArray  # (metrics, metrics): p that the row's metric is better than the column's
    null: FloatArray  # (draws, pairs) as in Comparisons
    draws: int
    systems: int
    items: int
    test: str
    pooled: int = 1  # language pairs


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
    where, testing, notes = gathered.participants, testing or MetricTests(), gathered.notes
    soft = task.measure.statistic == "spa"  # of systems, by their segments
    level: Level = "seg" if soft else task.level
    gold, gold_name = where.gold(level), where.gold_at(level)
    if soft and where.system_seg is not None:
        gold, gold_name = where.system_seg, where.system_gold
    known = gathered.at(level)
    notes += [
        f"{metric.name} has no scores at level {level}: left out of {task}"
        for metric in gathered.metrics
        if metric.name not in known
    ]
    if not known:
        raise InputError(
            f"no metric has scores at level {level}", where=where.name, next="choose another level"
        )
    stack = np.stack(list(known.values()))  # (metrics, systems, items)
    gaps = np.isnan(stack).any(axis=0)
    unused = int((gaps & ~np.isnan(gold)).sum())
    if unused:
        notes.append(
            f"{task}: {unused} judged scores are not used, because some metric has none there"
        )
    result = judge(np.where(gaps, np.nan, gold), np.nan_to_num(stack), list(known), task, testing)
    if result.estimates[0].pairs == 0:
        notes.append(
            f"{task}: no two scores of {where.gold_name} could be compared in {where.name}"
        )
    return replace(
        result,
        where=where.name,
        gold=gold_name,
        intervals=_intervals([gathered], result.metrics, task, testing),
        baseline=_baseline(gathered, task, np.where(gaps, np.nan, gold)),
    )


def _baseline(
    gathered: Gathered, task: AgreementTask, gold: FloatArray
) -> tuple[str, float] | None:
    """The agreement of the reference's length; NaN where outputs of an item are compared."""
    if gathered.length is None:
        return None
    (name, values), measure = gathered.length, task.measure
    correlation = measure.statistic in ("pearson", "spearman", "kendall")
    if task.level not in ("seg", "doc") or not correlation or measure.average == "item":
        return name, np.nan
    if task.level == "doc":
        values = np.add.reduceat(values, [run.start for run in gathered.participants.runs])
    return name, estimate(gold, np.broadcast_to(values, gold.shape).copy(), measure).value


def _intervals(
    parts: Sequence[Gathered],
    metrics: Sequence[str],
    task: AgreementTask,
    testing: MetricTests,
    weights: Sequence[float] = (),
) -> tuple[tuple[float, float] | None, ...]:
    """Bounds of each metric's weighted mean over the sets, of which each is resampled by itself.

    NaN if undefined.
    """
    if not testing.interval:
        return (None,) * len(metrics)
    bounds = []
    for name in metrics:
        try:
            draws = [_resampled(part, name, task, testing, i) for i, part in enumerate(parts)]
        except ValueError as fault:  # a statistic without a bootstrap
            parts[0].notes.append(f"{task}: no interval ({fault})")
            return ((np.nan, np.nan),) * len(metrics)
        known = [drawn for drawn in draws if drawn is not None]
        if len(known) < len(parts):
            bounds.append((np.nan, np.nan))
        else:
            bounds.append(interval(np.average(known, axis=0, weights=weights or None)))
    return tuple(bounds)


def _resampled(
    gathered: Gathered, name: str, task: AgreementTask, testing: MetricTests, place: int
) -> FloatArray | None:
    """Draw (draws,) bootstrap values of one metric on the set of this place.

    None where documents are drawn and there are no scores of segments.
    """
    where, unit = gathered.participants, testing.interval or "documents"
    metric = next(metric for metric in gathered.metrics if metric.name == name)
    seed = None if testing.seed is None else testing.seed + place
    if task.level == "sys" and unit != "systems":
        seg = metric.at("seg", where)
        gold = where.seg if where.gold_at("sys") == where.gold_name else where.system_seg
        if gold is None or seg is None:
            return None
        by_system, by_item = resample(unit, len(where.systems), where.doc_of, seed=seed)
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
    weights = resample(unit, len(where.systems), docs, seed=seed)
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
            p, null = comparisons.p, comparisons.null
            test = "pairs" if measure.calibrated else "perm-both"
    tested = test != "none"
    known = ~np.isnan(gold)
    items = known.all(axis=0) if measure.statistic == "spa" else known.any(axis=0)
    ranked = [estimates[i] for i in order]
    return TaskResult(
        metrics=tuple(names[i] for i in order),
        values=tuple(estimate.value for estimate in ranked),
        ranks=tuple(cluster_ranks(p, testing.alpha)) if tested else (None,) * size,
        intervals=(None,) * size,
        chance=tuple(estimate.chance for estimate in ranked),
        task=task,
        estimates=tuple(ranked),
        p=p,
        null=null,
        draws=testing.draws if tested else 0,
        systems=len(gold),
        items=int(items.sum()),
        test=test,
    )


def pooled_accuracy_task(
    parts: Sequence[Gathered], testing: MetricTests | None = None
) -> TaskResult:
    """System accuracy over several language pairs: pairs within each, counts pooled."""
    scores = [part.at("sys") for part in parts]
    names = [name for name in scores[0] if all(name in by_metric for by_metric in scores)]
    if not names:
        raise InputError(
            "no metric has system scores for every language pair",
            next="score the same metrics everywhere",
        )
    sizes = [len(part.participants.systems) for part in parts]
    gold = np.full((len(parts), max(sizes)), np.nan)  # a row per language pair
    stack = np.zeros((len(names), *gold.shape))
    for row, (part, by_metric, size) in enumerate(zip(parts, scores, sizes)):
        gold[row, :size] = part.participants.gold("sys")[:, 0]
        stack[:, row, :size] = [by_metric[name][:, 0] for name in names]
    task = AgreementTask("sys", Measure("accuracy", "system"))  # rows are language pairs
    testing = testing or MetricTests()
    result = judge(gold, stack, names, task, testing)
    pairs = [size * (size - 1.0) for size in sizes]
    single = AgreementTask("sys", Measure("accuracy"))
    return replace(
        result,
        intervals=_intervals(parts, result.metrics, single, testing, pairs),
        task=single,
        where=" + ".join(part.participants.name for part in parts),
        pooled=len(parts),
        gold=", ".join(dict.fromkeys(part.participants.gold_at("sys") for part in parts)),
        systems=int((~np.isnan(gold)).sum()),
        items=1,
    )


# ---------------------------------------------------------------- several tasks


def preset(name: str | None) -> Conventions:
    """The conventions of a year with an official task list; empty ones where none is named."""
    lists = {name: year for name, year in SETS.items() if year.tasks}
    return lists[known("task list", name, lists)] if name else Conventions({})


def official_langs(name: str, test_set: str, pairs: Sequence[str]) -> list[str]:
    """The language pairs of an official table: of the folder's own test set, else of the preset's year, else all."""
    official = (conventions(test_set).pairs or conventions(name).pairs or " ".join(pairs)).split()
    # ``en-cs_CZ`` may also be called en-cs
    same = (
        [langs] * (langs in pairs)
        or [pair for pair in pairs if all(map(same_language, pair_of(langs), pair_of(pair)))][:1]
        for langs in official
    )
    return [pair for candidates in same for pair in candidates]


def tasks_for(
    levels: Sequence[str], tasks: Sequence[str], micro: bool = False, nan_as_zero: bool = False
) -> list[AgreementTask]:
    """The tasks given by name, and the usual ones of the given levels.

    ``micro`` weighs rows by their number of scores; with ``nan_as_zero`` undefined rows count as 0
    instead of being left out.
    """
    by_level = (DEFAULTS[known("level", level, DEFAULTS)] for level in levels)
    names = [*tasks, *chain.from_iterable(by_level)]
    return [
        replace(task, measure=replace(task.measure, micro=micro, nan_as_zero=nan_as_zero))
        for task in dict.fromkeys(map(read_task, names))
    ]


def run_tasks(
    groups: Sequence[Sequence[Gathered]],
    tasks: Sequence[AgreementTask],
    pooled: bool,
    testing: MetricTests,
    even_by: Sequence[str] = (),
) -> tuple[tuple[TaskResult, ...], Average | None]:
    """Run every task on every language pair of every group, and average over all of them.

    A group has the language pairs of one gold: accuracy is pooled within it, and weighs as much as
    it has pairs. With ``even_by`` weights are split evenly over langs, level, statistic instead, in
    this order.
    """
    results = list[TaskResult]()
    for parts in groups:
        single = list(tasks)
        if pooled and (len(parts) > 1 or "sys:accuracy" not in map(str, tasks)):
            results.append(pooled_accuracy_task(parts, testing))
            single = [task for task in tasks if str(task) != "sys:accuracy"]
        results += [run_task(part, task, testing) for part in parts for task in single]
    weights = [float(result.pooled) for result in results]
    if even_by:
        for name in even_by:
            known("attribute of tasks", name, ("langs", "level", "statistic"))
        keys = [
            {"langs": r.where, "level": r.task.level, "statistic": r.task.measure.statistic}
            for r in results
        ]
        weights = even_weights([tuple(key[name] for name in even_by) for key in keys])
    averaged = len(results) > 1 and _shared(results)
    return tuple(results), average(results, weights, testing.alpha) if averaged else None


@dataclass(frozen=True, eq=False, kw_only=True)
class SetMean(Ranked):
    """A task's values averaged over sets and language pairs, on its own scale."""

    task: str
    gold: str
    sets: int


def set_means(
    parts: Sequence[Gathered], results: Sequence[TaskResult], testing: MetricTests
) -> list[SetMean]:
    """The mean over the sets of every task that several of them have."""
    names, means = {part.participants.name for part in parts}, []
    for task in dict.fromkeys(result.task for result in results):
        own = [result for result in results if result.task == task and result.where in names]
        if len(own) < 2:
            continue
        chance, values = dict[str, float](), dict[str, float]()
        for name in _shared(own):
            values[name] = float(np.mean([result.value(name) for result in own]))
            chance[name] = float(np.mean([dict(zip(r.metrics, r.chance))[name] for r in own]))
        order = tuple(sorted(values, key=lambda name: -np.nan_to_num(values[name], nan=-np.inf)))
        lengths = [result.baseline for result in own if result.baseline]
        means.append(
            SetMean(
                metrics=order,
                values=tuple(values[name] for name in order),
                ranks=(None,) * len(order),
                intervals=_intervals(parts, order, task, testing),
                chance=tuple(chance[name] for name in order),
                baseline=(lengths[0][0], float(np.mean([value for _, value in lengths])))
                if lengths
                else None,
                task=str(task),
                gold=", ".join(dict.fromkeys(result.gold for result in own)),
                sets=len(own),
            )
        )
    return means


def _shared(results: Sequence[TaskResult]) -> list[str]:
    """Metrics that all results have."""
    return [
        name for name in results[0].metrics if all(name in result.metrics for result in results)
    ]


def even_weights(keys: Sequence[tuple[str, ...]]) -> list[float]:
    """Split weights evenly over the values of the first attribute, in each over those of the next, and so on."""
    weights = []
    for key in keys:
        weight = 1.0
        for depth in range(len(key)):
            weight /= len({other[depth] for other in keys if other[:depth] == key[:depth]})
        weights.append(weight / keys.count(key))
    return weights


@dataclass(frozen=True, eq=False, kw_only=True)
class Average(Ranked):
    """Weighted means of the metrics that all tasks have, each task rescaled to 0-1.

    Ranks are clusters by the test of the averaged difference.
    """

    mean_ranks: tuple[float, ...]  # NaN where some task was not tested
    p: FloatArray  # (metrics, metrics), upper triangle
    weights: tuple[float, ...]  # of the tasks


def average(
    results: Sequence[TaskResult], weights: Sequence[float] = (), alpha: float = 0.05
) -> Average:
    """The table over several tasks, as the WMT metrics task makes it.

    The p-value of an averaged difference comes from the tasks' own draws; a task that stopped early
    has its repeated.
    """
    parts = np.array(weights or [1.0] * len(results), dtype=np.float64)
    parts = parts / parts.sum()
    lows, spans = zip(
        *((low, high - low) for low, high in (result.task.measure.range for result in results))
    )
    values, ranks = dict[str, float](), dict[str, float]()
    for name in _shared(results):
        values[name] = sum(
            w * ((r.value(name) - low) / span)
            for w, r, low, span in zip(parts, results, lows, spans)
        )
        ranks[name] = sum(
            w * float(dict(zip(r.metrics, r.ranks))[name] or np.nan) for w, r in zip(parts, results)
        )
    order = sorted(values, key=lambda name: (-values[name], name))
    p = np.full((len(order), len(order)), np.nan)
    tested = all(result.draws for result in results)
    for i, j in combinations(range(len(order)), 2) if tested else ():
        drawn = [_draws(result, order[i], order[j]) for result in results]
        size = max(map(len, drawn))
        null = sum(
            w * np.resize(null_draws, size) / span
            for w, null_draws, span in zip(parts, drawn, spans)
        )
        p[i, j] = float((null >= values[order[i]] - values[order[j]] - 1e-12).mean())
    return Average(
        metrics=tuple(order),
        values=tuple(values[name] for name in order),
        ranks=tuple(cluster_ranks(p, alpha)) if tested else (None,) * len(order),
        intervals=(None,) * len(order),
        mean_ranks=tuple(ranks[name] for name in order),
        p=p,
        weights=tuple(parts.tolist()),
    )


def _draws(result: TaskResult, first: str, second: str) -> FloatArray:
    """Return (draws,) a task's drawn differences between two metrics."""
    i, j = result.metrics.index(first), result.metrics.index(second)
    columns = list(combinations(range(len(result.metrics)), 2))  # the upper triangle
    drawn = result.null[:, columns.index((min(i, j), max(i, j)))]
    drawn = drawn[~np.isnan(drawn)]
    return drawn if i < j else -drawn


def gold_correlation(parts: Sequence[Gathered], level: Level) -> tuple[list[str], FloatArray]:
    """Return names and (golds, golds) Pearson correlation of kinds of human scores of the same texts.

    Over systems that have all of them (Zhao et al. 2023, Figure 3).
    """
    common = set(parts[0].participants.systems).intersection(
        *(part.participants.systems for part in parts)
    )
    vectors = [
        part.participants.gold(level)[
            [i for i, system in enumerate(part.participants.systems) if system in common]
        ].ravel()
        for part in parts
    ]
    return [part.participants.gold_at(level) for part in parts], correlations(vectors)


def paired_t_tests(results: Sequence[TaskResult]) -> tuple[list[str], FloatArray]:
    """Return names and (metrics, metrics) two-sided p of t-tests of agreement, paired over tasks.

    NaN where fewer than two tasks have both metrics, or all differences are equal.
    """
    from scipy import stats

    names = list(dict.fromkeys(name for result in results for name in result.metrics))
    # (metrics, tasks)
    values = np.array(
        [
            [result.value(name) if name in result.metrics else np.nan for result in results]
            for name in names
        ]
    )
    p = np.full((len(names), len(names)), np.nan)
    for i, j in combinations(range(len(names)), 2):
        known = both_known(values[i], values[j])
        x, y = values[i][known], values[j][known]
        if len(x) >= 2 and np.ptp(x - y) > 1e-12:
            p[i, j] = p[j, i] = float(stats.ttest_rel(x, y).pvalue)
    return names, p


def inter_correlation(gathered: Gathered, level: Level = "seg") -> tuple[list[str], FloatArray]:
    """Names and (metrics, metrics) correlation of metrics' scores with one another, over what people judged."""
    gold, scores = gathered.participants.gold(level), gathered.at(level)
    judged = [np.where(np.isnan(gold), np.nan, values).ravel() for values in scores.values()]
    return list(scores), correlations(judged)


@dataclass(frozen=True, eq=False)
class Williams:
    """Williams' test of every two metrics (Graham and Baldwin 2014; Jiang et al. 2022, Table 5)."""

    where: str
    level: str
    metrics: list[str]
    pearson: list[float]  # absolute correlation with people
    p: FloatArray  # (metrics, metrics) that the first correlates higher by chance


def williams_tests(gathered: Gathered, level: Level) -> Williams:
    """Test absolute correlations over what people judged; p is 1 − p of the reverse."""
    where = gathered.participants
    gold, scores = where.gold(level).ravel(), gathered.at(level)
    signed = [
        values.ravel() * (-1 if pearson_rows(gold, values.ravel()) < 0 else 1)
        for values in scores.values()
    ]
    pearson = [float(pearson_rows(gold, values)) for values in signed]
    p = np.full((len(scores), len(scores)), np.nan)
    for (i, first), (j, second) in combinations(enumerate(signed), 2):
        smaller = williams_test(gold, first, second)  # of the larger of the two
        larger = (i, j) if pearson[i] >= pearson[j] else (j, i)
        p[larger], p[larger[::-1]] = smaller, 1 - smaller
    return Williams(where.name, level, list(scores), pearson, p)
