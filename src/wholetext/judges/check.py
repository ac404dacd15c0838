"""Bias and consistency of LLM judges.

Position (flip rate of pairwise judgments), length (errors per 1,000 characters by window size),
chance (spread over samples), wording (another prompt for the same task), and agreement between
judges.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import InputError, SpecError, choices
from wholetext.io import Loaded
from wholetext.judges import statistics
from wholetext.judges.prompts import REWORDED
from wholetext.judges.statistics import JudgeMeasure, Label
from wholetext.notebook.display import brief
from wholetext.registry import expand, scorer
from wholetext.scoring.comparison import study_json
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results, write_run
from wholetext.scoring.significance.power import FEW
from wholetext.scoring.significance.resample import ratio
from wholetext.spec import Call, Spec, Value, parse
from wholetext.types import Corpus, Output, Scores

CHECKS = ("position", "length", "consistency", "wording", "agreement")
FILE = "judge-check.json"
Scored = Mapping[str, Mapping[str, Scores]]  # spec → system → scores


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
        unknown = [name for name in self.checks if name not in CHECKS]
        least = min(self.windows, default=0) >= 1 and self.samples >= 2 and self.draws >= 1
        if unknown or not self.checks or not least:
            raise InputError(
                f"there is no check {unknown[0]!r}"
                if unknown
                else "a check needs windows and draws from 1, samples from 2 up",
                next=choices(unknown[0] if unknown else "", CHECKS),
            )


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
    plan = _Plan(corpus, outputs, settings, tuple(map(_judge, specs)))
    tasks = [task for check in settings.checks for task in getattr(plan, check)()]
    if not tasks:
        raise InputError(
            "none of the checks can be made", where=corpus.id, next="; ".join(plan.notes)
        )
    results = score(
        Loaded(corpus, outputs),
        list(dict.fromkeys(spec for task in tasks for spec in task.specs)),
        options=options,
    )
    measures = tuple(measure for task in tasks for measure in task.figures(results.scores))
    if len(corpus) < FEW:
        plan.notes.append(
            f"{len(corpus)} documents only: with fewer than {FEW} the intervals are too narrow"
        )
    notes = tuple(dict.fromkeys((*plan.notes, *results.warnings)))
    return JudgeCheck(tuple(specs), settings, measures, results, notes)


def write_judge_check(check: JudgeCheck, folder: Path | str, *, overwrite: bool = True) -> None:
    """Write a run folder with the figures in judge-check.json."""
    figures = json.dumps(check.as_json(), ensure_ascii=False, indent=1)
    write_run(check.results, folder, {FILE: figures}, overwrite=overwrite)


def _judge(text: str) -> Spec:
    spec = expand(parse(text))
    if not spec.metric.name.startswith("judge-"):
        raise SpecError(
            f"{text} is not a judge", next="name a judge: judge-esa@MODEL, judge-mqm@MODEL …"
        )
    return spec


def _with(spec: Spec, **args: Value) -> str:
    """The spec with other arguments, in its canonical form."""
    return scorer(
        str(replace(spec, metric=Call(spec.metric.name, {**spec.metric.args, **args})))
    ).spec


@dataclass(frozen=True)
class _Task:
    """Specs that a check needs scored, and the function that computes its figures."""

    specs: tuple[str, ...]
    figures: Callable[[Scored], Iterator[JudgeMeasure]]


@dataclass
class _Plan:
    """The tasks of the checks; a check that is not possible leaves a note."""

    corpus: Corpus
    outputs: Sequence[Output]
    settings: JudgeCheckOptions
    judges: tuple[Spec, ...]
    notes: list[str] = field(default_factory=list)

    def _label(self, check: str, judge: str, setting: str = "") -> Label:
        return Label(check, judge, setting, self.settings.draws, self.settings.seed)

    def position(self) -> Iterator[_Task]:
        """Compare every pair of systems in both orders."""
        if len(self.outputs) < 2:
            self.notes.append("position: needs outputs of two systems")
            return
        for judge in self._one_per_model("judge-pairwise"):
            yield _Task((str(judge),), partial(self._position, str(judge)))

    def _position(self, spec: str, scores: Scored) -> Iterator[JudgeMeasure]:
        totals, label = statistics.orders(scores[spec]), self._label("position", spec)
        pairs = totals[:, 1].sum()
        yield label.measure("flip rate", totals[:, :2], ratio, pairs)
        yield label.measure("first of two chosen", totals[:, 2:], ratio, totals[:, 3].sum())

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
        for judge in self._one_per_model("judge-mqm"):
            specs = {
                size: scorer(str(replace(judge, view=Call("paragraph", {"size": size})))).spec
                for size in sizes
            }
            yield _Task(
                tuple(specs.values()), partial(self._length, str(replace(judge, view=None)), specs)
            )

    def _length(
        self, judge: str, specs: Mapping[int, str], scores: Scored
    ) -> Iterator[JudgeMeasure]:
        lengths = {
            output.system: [np.array([*map(len, output.docs[doc.id])]) for doc in self.corpus.docs]
            for output in self.outputs
        }
        totals = {
            size: statistics.error_density(scores[spec], lengths) for size, spec in specs.items()
        }
        for size, sums in totals.items():
            rows = sum(len(by_system.rows) for by_system in scores[specs[size]].values())
            yield self._label("length", judge, f"window {size}").measure(
                "errors per 1,000 characters", sums, ratio, rows
            )
        smallest, largest = min(totals), max(totals)
        both = np.concatenate([totals[largest], totals[smallest]], axis=1)
        yield self._label("length", judge, f"window {largest} to {smallest}").measure(
            "ratio of error rates", both, statistics.ratio_of_ratios, 0
        )

    def consistency(self) -> Iterator[_Task]:
        """Measure how far the scores of repeated samples differ."""
        samples, temperature = self.settings.samples, self.settings.temperature
        for judge in self.judges:
            spec = _with(judge, samples=samples, temperature=temperature)
            label = self._label(
                "consistency", str(judge), f"{samples} samples, temperature {temperature:g}"
            )
            yield _Task((spec,), partial(self._consistency, label, spec))

    def _consistency(self, label: Label, spec: str, scores: Scored) -> Iterator[JudgeMeasure]:
        totals = statistics.spread_of_samples(scores[spec])
        rows = totals[:, 2].sum()
        yield label.measure("standard deviation", totals[:, [0, 2]], ratio, rows)
        yield label.measure("rows with equal samples", totals[:, [1, 2]], ratio, rows)

    def wording(self) -> Iterator[_Task]:
        """Compare the judge with itself under other wordings of the prompt."""
        for judge in self.judges:
            for prompt in self.settings.prompts or (REWORDED,):
                args: dict[str, Value] = {"prompt": prompt}
                if judge.metric.name == "judge-esa" and prompt == REWORDED:
                    args["errors_prompt"] = prompt
                yield self._against("wording", str(judge), _with(judge, **args), Path(prompt).name)

    def agreement(self) -> Iterator[_Task]:
        """Compare pairs of judges on the same rows."""
        for first, second in combinations(self.judges, 2):
            if first.view != second.view:
                self.notes.append(
                    f"agreement: {first} and {second} have different views and so other rows"
                )
                continue
            yield self._against("agreement", str(first), str(second), str(second))
        if len(self.judges) < 2:
            self.notes.append("agreement: needs two judges")

    def _against(self, check: str, judge: str, other: str, setting: str) -> _Task:
        label = self._label(check, judge, setting)
        return _Task((judge, other), partial(self._paired, label, other))

    def _paired(self, label: Label, other: str, scores: Scored) -> Iterator[JudgeMeasure]:
        sums, preferences = statistics.paired(scores[label.judge], scores[other])
        rows = sums[:, 0].sum()
        yield label.measure("Pearson's r of rows", sums, statistics.pearson, rows)
        if scorer(label.judge).metric.range == scorer(other).metric.range:
            yield label.measure("mean absolute difference", sums[:, [6, 0]], ratio, rows)
        if len(self.outputs) > 1:
            yield label.measure(
                "equal preferences between systems", preferences, ratio, preferences[:, 1].sum()
            )

    def _one_per_model(self, metric: str) -> list[Spec]:
        """A judge of this metric for every model: one that was named, or one with the defaults."""
        by_model = {
            judge.model: Spec(Call(metric, {}), judge.view, judge.model, judge.revision)
            for judge in self.judges
        }
        by_model |= {judge.model: judge for judge in self.judges if judge.metric.name == metric}
        return [parse(scorer(str(judge)).spec) for judge in by_model.values()]
