"""Bias and consistency of LLM judges.

Position (flip rate of pairwise judgments), length (errors per 1,000 characters by window size),
chance (spread over samples), wording (another prompt for the same task), and agreement between
judges. Statistics are additive sums by document, and ratios of them: all systems of a document are drawn
together in a bootstrap resample, so that intervals are about other documents of the same kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wholetext.errors import InputError, SpecError, known
from wholetext.io import Loaded
from wholetext.judges.prompts import REWORDED
from wholetext.notebook.display import brief
from wholetext.registry import expand, scorer
from wholetext.scoring.comparison import study_json
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results, write_run
from wholetext.scoring.significance.resample import FEW, Score, ratio, score_with_interval
from wholetext.spec import Call, Spec, Value, parse
from wholetext.types import Corpus, FloatArray, Output, Scores

_SWAPPED = {"A": "B", "B": "A", "tie": "tie"}
BySystem = Mapping[str, Scores]
Figure = tuple[str, FloatArray, Score, float]  # name, (documents, k) sums, their score, rows
CHECKS = ("position", "length", "consistency", "wording", "agreement")
ERROR_RATE = "errors per 1,000 characters"


@dataclass(frozen=True)
class JudgeCheckOptions:
    """Checks to run and their settings."""

    checks: tuple[str, ...] = CHECKS
    windows: tuple[int, ...] = (1, 2, 4, 8)  # segments that a judge reads at a time
    samples: int = 5
    temperature: float = 0.7  # of the samples
    prompts: tuple[str, ...] = ()  # files that word the task differently; built-in by default
    draws: int = 1_000
    seed: int | None = 12345

    def __post_init__(self) -> None:
        for check in self.checks:
            known("check", check, CHECKS)
        least = min(self.windows, default=0) >= 1 and self.samples >= 2 and self.draws >= 1
        if not self.checks or not least:
            what = "a check needs windows and draws from 1, samples from 2 up"
            raise InputError(what, next=f"checks are {', '.join(CHECKS)}")


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


@dataclass(frozen=True, eq=False)
class JudgeCheck:
    """Figures of all checks; ``results`` is the run they are computed from."""

    judges: tuple[str, ...]
    settings: JudgeCheckOptions
    measures: tuple[JudgeMeasure, ...]
    results: Results
    notes: tuple[str, ...] = field(default=())
    __repr__ = brief

    def as_json(self) -> dict[str, Any]:
        """Plain values; undefined numbers are null."""
        return study_json(
            "judge-check",
            self.results,
            self.settings,
            self.notes,
            judges=self.judges,
            measures=[asdict(measure) for measure in self.measures],
        )


def judge_check(
    corpus: Corpus,
    outputs: Sequence[Output],
    judges: Sequence[str] | str,
    settings: JudgeCheckOptions | None = None,
    options: Options | None = None,
) -> JudgeCheck:
    """Check judges (specs such as ``judge-esa@MODEL``) on a corpus; equal requests are sent once."""
    settings = settings or JudgeCheckOptions()
    names = [judges] if isinstance(judges, str) else judges
    specs = list(dict.fromkeys(scorer(name).spec for name in names))
    parsed = tuple(expand(parse(spec)) for spec in specs)
    for spec in parsed:
        if not spec.metric.name.startswith("judge-"):
            raise SpecError(
                f"{spec} is not a judge", next="name a judge: judge-esa@MODEL, judge-mqm@MODEL …"
            )
    plan = _Plan(corpus, outputs, settings, parsed)
    tasks = [task for check in settings.checks for task in getattr(plan, check)()]
    if not tasks:
        raise InputError(
            "none of the checks can be made", where=corpus.id, next="; ".join(plan.notes)
        )
    scored = dict.fromkeys(spec for task in tasks for spec in task.specs)
    results = score(Loaded(corpus, outputs), list(scored), options=options)
    measures = []
    for task in tasks:
        for name, totals, reduce, count in task.figures(*(results.scores[s] for s in task.specs)):
            values = score_with_interval(totals, reduce, settings.draws, settings.seed)
            label = (task.check, task.judge, name, task.setting)
            measures.append(JudgeMeasure(*label, *values, int(count)))
    if len(corpus) < FEW:
        plan.notes.append(
            f"{len(corpus)} documents only: with fewer than {FEW} the intervals are too narrow"
        )
    notes = tuple(dict.fromkeys((*plan.notes, *results.warnings)))
    return JudgeCheck(tuple(specs), settings, tuple(measures), results, notes)


def write_judge_check(check: JudgeCheck, folder: Path | str, *, overwrite: bool = True) -> None:
    """Write a run folder with the figures in judge-check.json."""
    figures = json.dumps(check.as_json(), ensure_ascii=False, indent=1)
    write_run(check.results, folder, {"judge-check.json": figures}, overwrite=overwrite)


def _with(spec: Spec, **args: Value) -> str:
    """Return the spec with other arguments, in its canonical form."""
    metric = Call(spec.metric.name, {**spec.metric.args, **args})
    return scorer(str(replace(spec, metric=metric))).spec


class _Task(NamedTuple):
    """A judge under a setting: specs to score, and the function of their scores for its figures."""

    check: str
    judge: str
    setting: str
    specs: Sequence[str]
    figures: Callable[..., Iterator[Figure]]  # of the scores by system of each spec


@dataclass
class _Plan:
    """The tasks of the checks; a check that is not possible leaves a note."""

    corpus: Corpus
    outputs: Sequence[Output]
    settings: JudgeCheckOptions
    judges: tuple[Spec, ...]
    notes: list[str] = field(default_factory=list)

    def position(self) -> Iterator[_Task]:
        """Compare every pair of systems in both orders."""
        if len(self.outputs) < 2:
            self.notes.append("position: needs outputs of two systems")
            return
        for judge in map(str, self._one_per_model("judge-pairwise")):
            yield _Task("position", judge, "", [judge], order_bias)

    def length(self) -> Iterator[_Task]:
        """Count errors per 1,000 characters in windows of several sizes over the same texts."""
        longest = max(map(len, self.corpus.docs))
        sizes = sorted({size for size in self.settings.windows if size <= longest})
        if len(sizes) < 2:
            self.notes.append(
                "length: needs windows of two sizes, and the longest document has "
                f"{longest} segments"
            )
            return
        rate = partial(error_rate, self.outputs)
        for judge in self._one_per_model("judge-mqm"):
            name = str(replace(judge, view=None))
            by_size = {
                size: scorer(str(replace(judge, view=Call("paragraph", {"size": size})))).spec
                for size in sizes
            }
            for size, spec in by_size.items():
                yield _Task("length", name, f"window {size}", [spec], rate)
            ends = f"window {sizes[-1]} to {sizes[0]}"
            yield _Task("length", name, ends, [by_size[sizes[-1]], by_size[sizes[0]]], rate)

    def consistency(self) -> Iterator[_Task]:
        """Measure how far the scores of repeated samples differ."""
        samples, temperature = self.settings.samples, self.settings.temperature
        setting = f"{samples} samples, temperature {temperature:g}"
        for judge in self.judges:
            spec = _with(judge, samples=samples, temperature=temperature)
            yield _Task("consistency", str(judge), setting, [spec], spread_of_samples)

    def wording(self) -> Iterator[_Task]:
        """Compare the judge with itself under other wordings of the prompt."""
        for judge in self.judges:
            for prompt in self.settings.prompts or (REWORDED,):
                args: dict[str, Value] = {"prompt": prompt}
                if judge.metric.name == "judge-esa" and prompt == REWORDED:
                    args["errors_prompt"] = prompt
                specs, setting = [str(judge), _with(judge, **args)], Path(prompt).name
                yield _Task("wording", str(judge), setting, specs, partial(paired, True))

    def agreement(self) -> Iterator[_Task]:
        """Compare pairs of judges on the same rows."""
        if len(self.judges) < 2:
            self.notes.append("agreement: needs two judges")
        for judges in combinations(self.judges, 2):
            first, second = map(str, judges)
            if judges[0].view == judges[1].view:
                alike = scorer(first).metric.range == scorer(second).metric.range
                yield _Task("agreement", first, second, [first, second], partial(paired, alike))
            else:
                self.notes.append(
                    f"agreement: {first} and {second} have different views and so other rows"
                )

    def _one_per_model(self, metric: str) -> list[Spec]:
        """Return a judge of this metric for every model: as named, or with the defaults."""
        by_model = {
            judge.model: Spec(Call(metric, {}), judge.view, judge.model, judge.revision)
            for judge in self.judges
        }
        by_model |= {judge.model: judge for judge in self.judges if judge.metric.name == metric}
        return [parse(scorer(str(judge)).spec) for judge in by_model.values()]


# ---------------------------------------------------------------- statistics


def pearson(totals: FloatArray) -> FloatArray:
    """Pearson's r from n, Σx, Σy, Σx², Σy², Σxy; undefined if a judge gives the same score to all."""
    n, x, y, xx, yy, xy = (totals[..., i] for i in range(6))
    spread = np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0)
    return np.asarray(
        (xy - x * y / n)
        / np.where(spread > 1e-9 * np.maximum(xx * yy, 1e-300), np.sqrt(spread), np.nan)
    )


def by_document(scores: Scores, values: FloatArray) -> FloatArray:
    """Sum the values of rows by document: (documents, k)."""
    totals = np.zeros((len(scores.rows.docs), values.shape[1]))
    np.add.at(totals, scores.rows.doc, values)
    return totals


def details_summed(
    by_system: BySystem, values: Callable[[Mapping[str, Any]], Sequence[float]]
) -> FloatArray:
    """Sum values of the rows' details by document, over all systems: (documents, k)."""
    totals = [
        by_document(scores, np.array([values(detail or {}) for detail in scores.details]))
        for scores in by_system.values()
    ]
    return np.asarray(np.sum(totals, axis=0))


def order_bias(by_system: BySystem) -> Iterator[Figure]:
    """Measure how often a verdict depends on the order of two texts, and the first is chosen.

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
    """Count errors and thousands of characters by document; rows without a score are left out."""
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


def error_rate(outputs: Sequence[Output], *scored: BySystem) -> Iterator[Figure]:
    """Compute errors per 1,000 characters; of two window sizes, the ratio of their rates."""
    totals = np.concatenate([error_density(by_system, outputs) for by_system in scored], axis=1)
    if len(scored) > 1:
        yield "ratio of error rates", totals, lambda t: ratio(t) / ratio(t[..., 2:]), 0
    else:
        rows = sum(len(scores.rows) for scores in scored[0].values())
        yield ERROR_RATE, totals, ratio, rows


def spread_of_samples(by_system: BySystem) -> Iterator[Figure]:
    """Compute the standard deviation of a row's samples, and how often all of them are equal."""

    def spread(detail: Mapping[str, Any]) -> Sequence[float]:
        samples = np.array([x for x in detail.get("samples", ()) if x is not None])
        return (samples.std(ddof=1), np.ptp(samples) == 0, 1) if len(samples) > 1 else (0, 0, 0)

    totals = details_summed(by_system, spread)
    rows = totals[:, 2].sum()
    yield "standard deviation", totals[:, [0, 2]], ratio, rows
    yield "rows with equal samples", totals[:, [1, 2]], ratio, rows


def paired(alike: bool, first: BySystem, second: BySystem) -> Iterator[Figure]:
    """Compute correlation, distance (of ``alike`` scales) and preferences of two judges.

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
