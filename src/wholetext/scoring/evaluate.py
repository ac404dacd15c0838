"""The pipeline, readable top to bottom: cut documents into requests, measure them, give each system its scores."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from wholetext import slices
from wholetext.errors import InputError, WholetextWarning, count
from wholetext.executor import Executor
from wholetext.files.cache import Cache
from wholetext.io import from_texts
from wholetext.io.formats.lines import Texts
from wholetext.models.device import DTYPES, need_gpus
from wholetext.notes import without_kinds
from wholetext.registry import Scorer, metric_class, metric_names, scorer
from wholetext.scoring.bound import BoundMetric, Cuts, bind, check
from wholetext.scoring.compute import Computer, MetricRun, Only, Progress
from wholetext.scoring.engine import Engine, default_calls
from wholetext.scoring.nulls import null_note, with_policy
from wholetext.scoring.results import Results
from wholetext.scoring.results import open_run as open_run
from wholetext.text import language
from wholetext.types import Corpus, Metric, Output, Scores
from wholetext.views import Sides, View

if (
    TYPE_CHECKING
):  # aligning and flags: imported where they are done, since `compare` and `report` do neither
    from wholetext.flags.degenerate import Flag

FLAGS, SIGNIFICANCE = (
    "checking outputs",
    "significance tests",
)  # stages after scoring, by system and by metric


@dataclass(frozen=True)
class Options:
    """Execution options. They do not change scores, except for those in the signature (refs, dtype)."""

    refs: tuple[str, ...] | None = None  # which references to use; all of them by default
    cache: Path | str | bool = True
    device: str = "auto"  # cpu, cuda, cuda:1, mps
    dtype: str = "fp32"
    batch_tokens: int = 1024
    executor: str | Executor = (
        "local"  # processes, ray, ray://host:port; an Executor keeps its workers between calls
    )
    workers: int | None = None
    gpus: int | None = None
    overflow: Literal["warn", "error"] = "warn"
    align: Any = None  # AlignOptions: align outputs that have other segments than their document before scoring
    nulls: Literal["count", "worst", "drop"] | None = (
        None  # what alignment found left out or added; as aligned if None
    )
    block: int | None = (
        None  # requests measured and cached at a time; by default as many as suit the metric
    )
    flags: bool = True  # whether to look for suspicious input and degenerate output
    calls: Any = field(
        default_factory=default_calls, compare=False
    )  # of judges; a budget is of this object
    only: Only | None = field(
        default=None, compare=False
    )  # segments that matter: rows that touch none are not scored
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.refs is not None and not isinstance(self.refs, (tuple, list)):
            raise InputError(
                f"refs is a tuple of names, not {self.refs!r}", next=f"write refs=({self.refs!r},)"
            )
        if not isinstance(self.cache, (bool, str, Path)):
            raise InputError(
                f"cache is true, false or a file, not {self.cache!r}",
                next="leave it out for the default",
            )
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", str(self.device)):
            raise InputError(
                f"there is no device {self.device!r}", next="it is auto, cpu, cuda, cuda:1 … or mps"
            )
        if self.dtype == "int8":
            raise InputError(
                "int8 was removed in 0.2: it was only 1.3 to 2 times as fast as fp32, and scores changed "
                "by up to 0.09",
                next="use fp32; bf16 and fp16 are for GPUs",
            )
        if self.dtype not in DTYPES:
            raise InputError(
                f"there is no precision {self.dtype!r}", next=f"dtype is one of {', '.join(DTYPES)}"
            )
        if self.overflow not in ("warn", "error"):
            raise InputError(
                f"overflow is warn or error, not {self.overflow!r}",
                next="warn truncates and counts text",
            )
        for name in ("batch_tokens", "block"):
            value = getattr(self, name)
            if not ((isinstance(value, int) and value > 0) or (name == "block" and value is None)):
                raise InputError(
                    f"{name} must be at least 1; got {value!r}", next="leave it out for the default"
                )
        if not isinstance(self.executor, Executor):
            Executor(self.executor, self.workers, self.gpus)  # an error now, not when it is used
        elif self.workers or self.gpus:
            raise InputError(
                "workers and GPUs are settings of the executor", next="give them to Executor(…)"
            )

    @contextmanager
    def computer(self, langs: tuple[str, str]) -> Iterator[Computer]:
        """An engine and its executor; the cache, and workers that were started for this, are closed at the end."""
        shared = isinstance(self.executor, Executor)
        executor = (
            self.executor
            if isinstance(self.executor, Executor)
            else Executor(self.executor, self.workers, self.gpus)
        )
        if executor.on == "processes" and executor.gpus:
            need_gpus(executor.gpus)
        cache = (
            None if self.cache is False else Cache(None if self.cache is True else Path(self.cache))
        )
        try:
            yield Computer(
                Engine(langs, self.device, self.dtype, self.batch_tokens, cache, calls=self.calls),
                executor,
            )
        finally:
            if not shared:
                executor.close()
            if cache:
                cache.close()


@overload
def score(
    corpus: Corpus, outputs: Sequence[Output], metric: str, options: Options | None = None
) -> dict[str, Scores]: ...


@overload
def score(
    corpus: Corpus,
    outputs: Sequence[Output],
    metric: list[str] | tuple[str, ...],
    options: Options | None = None,
) -> Results: ...


def score(
    corpus: Corpus,
    outputs: Sequence[Output],
    metric: str | list[str] | tuple[str, ...],
    options: Options | None = None,
) -> dict[str, Scores] | Results:
    """Score every output under one spec string: system → Scores; under a list of them: Results, as ``evaluate``."""
    results = _evaluate(corpus, outputs, metric, options)
    _warn(results)
    return (
        results if isinstance(metric, (list, tuple)) else dict(next(iter(results.scores.values())))
    )


def evaluate(
    corpus: Corpus,
    outputs: Sequence[Output],
    metrics: Sequence[str] | str,
    options: Options | None = None,
) -> Results:
    """Score every output under every spec string; notes on the scores are Python warnings too."""
    results = _evaluate(corpus, outputs, metrics, options)
    _warn(results)
    return results


def _warn(results: Results) -> None:
    """Every note as a Python warning at the line that called the public function which calls this."""
    for note in results.warnings:
        warnings.warn(note, WholetextWarning, stacklevel=3)


def _evaluate(
    corpus: Corpus, outputs: Sequence[Output], metrics: Sequence[str] | str, options: Options | None
) -> Results:
    options = Options() if options is None else options
    if not isinstance(options, Options):
        raise InputError(
            f"options are of the type {type(options).__name__}",
            next="write Options(dtype=…, refs=…)",
        )
    check(corpus, outputs)
    asked: Sequence[Any] = metrics if isinstance(metrics, (list, tuple)) else [metrics]
    scorers = {
        one.spec: one for one in map(scorer, asked)
    }  # read all before any work; the same spec once
    with options.computer(corpus.langs) as computer:
        executor = computer.executor
        outputs, aligned = _aligned(corpus, outputs, options, executor)
        scores = _measured(computer, list(scorers.values()), corpus, outputs, options)
        found, suspicions = (
            _flagged(corpus, outputs, executor, options.progress) if options.flags else ({}, [])
        )
    realigned = [
        f"{one.system}: aligned with the documents' segments by `wholetext align` in {len(one.realigned)} of "
        f"{count(len(corpus), 'document')}{f'; {nulls}' if (nulls := null_note(one)) else ''}"
        for one in outputs
        if one.realigned
    ]
    codes = [note for code in corpus.langs if (note := language(code).note())]
    notes = (*codes, *aligned, *realigned, *Results(corpus, tuple(outputs), scores).notes)
    return Results(
        corpus,
        tuple(outputs),
        scores,
        warnings=tuple(dict.fromkeys((*notes, *suspicions))),
        counts={**computer.engine.counts, **getattr(options.calls, "counts", {})},
        flags={
            system: [dataclasses.asdict(flag) for flag in some] for system, some in found.items()
        },
        environment=computer.environment(),
    )


def _aligned(
    corpus: Corpus, outputs: Sequence[Output], options: Options, executor: Executor
) -> tuple[tuple[Output, ...], list[str]]:
    """The outputs aligned with the segments of the corpus, if requested, and notes on it."""
    notes: list[str] = []
    if options.align is not None:
        align = slices.required("align", "alignment")
        done = align(corpus, outputs, options.align, executor=executor)
        outputs, notes = done.outputs, done.notes
    return with_policy(outputs, options.nulls), notes


def _measured(
    computer: Computer,
    scorers: Sequence[Scorer],
    corpus: Corpus,
    outputs: Sequence[Output],
    options: Options,
) -> dict[str, dict[str, Scores]]:
    """The scores of every spec and system. Chunks of all metrics are one stream, so that no worker waits at an end."""
    cuts: dict[tuple[View, Sides], Cuts] = {}
    bound = [
        bind(
            one,
            corpus,
            outputs,
            computer.engine,
            options.refs,
            cuts,
            remote=computer.executor.remote,
        )
        for one in scorers
    ]
    together: dict[Metric, list[BoundMetric]] = {}
    for work in bound:  # views of one metric run together: what they have in common is encoded once
        together.setdefault(work.metric, []).append(work)
    runs = [MetricRun(works, options.only, options.progress) for works in together.values()]
    computer.run(
        chunk
        for run in runs
        for chunk in run.chunks(options.block, refuse=options.overflow == "error")
    )
    done = {spec: scores for run in runs for spec, scores in run.scores().items()}
    return {one.spec: done[one.spec] for one in scorers}


def _flagged(
    corpus: Corpus, outputs: Sequence[Output], executor: Executor, progress: Progress | None
) -> tuple[dict[str, list[Flag]], list[str]]:
    """Flags of each system, degenerate output before formats; and the notes on the input and on these flags."""
    from wholetext.flags import formats
    from wholetext.flags.input_checks import input_notes

    found: dict[str, list[Flag]] = {}
    if progress:
        progress(FLAGS, 0, len(outputs))
    submitted = map(partial(executor.submit, _flags, corpus), outputs)
    for output, flags in zip(outputs, submitted if executor.local else list(submitted)):
        broken, changed = flags.result()
        found[output.system] = [*broken, *changed]
        if progress:
            progress(FLAGS, len(found), len(outputs))
    lines = formats.notes_on_flags(found, source=corpus.has_source)
    notes = [*input_notes(corpus, outputs), *lines, formats.unchecked_note(corpus, outputs)]
    return found, [note for note in notes if note]


def _flags(corpus: Corpus, output: Output) -> tuple[tuple[Flag, ...], tuple[Flag, ...]]:
    from wholetext.flags import degenerate, formats

    broken = degenerate.flags(corpus, output)
    return broken, formats.format_flags(corpus, output, broken)


# ---------------------------------------------------------------- for notebooks


def score_texts(
    hyps: Texts,
    *,
    metric: str,
    refs: Texts | Sequence[Texts] | Mapping[str, Texts] | None = None,
    references: Sequence[Texts] = (),
    srcs: Texts | None = None,
    docs: Sequence[str] | None = None,
    langs: str | None = None,
    options: Options | None = None,
) -> Scores:
    """Score a list of segments, or of documents (``[["…", "…"], ["…"]]``), of one system.

    A list of segments is one document, or those that ``docs`` names. ``refs`` is a reference in the form of ``hyps``,
    or a mapping of name to reference; ``references`` is a list of several. See ``from_texts``.
    """
    if isinstance(hyps, Mapping):
        raise InputError(
            "score_texts scores the texts of one system", next="call it once for each system"
        )
    loaded = from_texts(
        hyps,
        srcs=srcs,
        refs=() if refs is None else refs,
        references=references,
        docs=docs,
        langs=langs,
    )
    results = _evaluate(loaded.corpus, loaded.outputs, [metric], options)
    read = (
        loaded.warnings if docs is not None else without_kinds(loaded.warnings, "single-document")
    )
    _warn(replace(results, warnings=(*read, *results.warnings)))
    return next(iter(next(iter(results.scores.values())).values()))


def list_metrics() -> dict[str, type[Metric]]:
    """Every metric by name: built-ins and installed plug-ins."""
    return {name: metric_class(name) for name in metric_names()}
