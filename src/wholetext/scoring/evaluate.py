"""The pipeline: cut documents into requests, measure them, give each system its scores."""

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
from wholetext.notes import Note, without_kinds
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

if TYPE_CHECKING:  # flags are imported where they are computed: other commands need none
    from wholetext.flags.degenerate import Flag

FLAGS, SIGNIFICANCE = "checking outputs", "significance tests"  # stages after scoring


@dataclass(frozen=True)
class Options:
    """Execution options; only those in the signature (refs, dtype) change scores."""

    refs: tuple[str, ...] | None = None  # which references to use; all of them by default
    cache: Path | str | bool = True
    device: str = "auto"  # cpu, cuda, cuda:1, mps
    dtype: str = "fp32"
    batch_tokens: int = 1024
    # processes, ray, ray://host:port; an Executor keeps its workers between calls
    executor: str | Executor = "local"
    workers: int | None = None
    gpus: int | None = None
    overflow: Literal["warn", "error"] = "warn"
    align: Any = None  # AlignOptions: align outputs with the segments of their documents first
    # how scores treat omissions and additions; None: as the outputs were aligned
    nulls: Literal["count", "worst", "drop"] | None = None
    block: int | None = None  # requests measured and cached at a time; None: as suits the metric
    flags: bool = True  # whether to look for suspicious input and degenerate output
    calls: Any = field(default_factory=default_calls, compare=False)  # of judges, with their budget
    # segments to score, by document; rows that touch none of them are left out
    only: Only | None = field(default=None, compare=False)
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        checks = (  # what must hold; what is wrong otherwise; the next step
            (
                self.refs is None or isinstance(self.refs, (tuple, list)),
                f"refs is a tuple of names, not {self.refs!r}",
                f"write refs=({self.refs!r},)",
            ),
            (
                isinstance(self.cache, (bool, str, Path)),
                f"cache is true, false or a file, not {self.cache!r}",
                "leave it out for the default",
            ),
            (
                re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", str(self.device)),
                f"there is no device {self.device!r}",
                "it is auto, cpu, cuda, cuda:1 … or mps",
            ),
            (
                self.dtype != "int8",
                "int8 was removed in 0.2: it was only 1.3 to 2 times as fast as fp32, and scores "
                "changed by up to 0.09",
                "use fp32; bf16 and fp16 are for GPUs",
            ),
            (
                self.dtype in DTYPES,
                f"there is no precision {self.dtype!r}",
                f"dtype is one of {', '.join(DTYPES)}",
            ),
            (
                self.overflow in ("warn", "error"),
                f"overflow is warn or error, not {self.overflow!r}",
                "warn truncates and counts text",
            ),
            (
                isinstance(self.batch_tokens, int) and self.batch_tokens > 0,
                f"batch_tokens must be at least 1; got {self.batch_tokens!r}",
                "leave it out for the default",
            ),
            (
                self.block is None or (isinstance(self.block, int) and self.block > 0),
                f"block must be at least 1; got {self.block!r}",
                "leave it out for the default",
            ),
            (
                not isinstance(self.executor, Executor) or not (self.workers or self.gpus),
                "workers and GPUs are settings of the executor",
                "give them to Executor(…)",
            ),
        )
        for valid, what, next_step in checks:
            if not valid:
                raise InputError(what, next=next_step)
        if not isinstance(self.executor, Executor):
            Executor(self.executor, self.workers, self.gpus)  # checks its settings

    @contextmanager
    def computer(self, langs: tuple[str, str]) -> Iterator[Computer]:
        """Open an engine and its executor; close the cache and its own workers at the end."""
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
    """Score every output: system → Scores for one spec string, Results for a list of them."""
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
    """Issue every note as a Python warning, at the line that called the public function."""
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
    specs: Sequence[Any] = metrics if isinstance(metrics, (list, tuple)) else [metrics]
    # all specs are read before any work; equal ones are scored once
    scorers = {parsed.spec: parsed for parsed in map(scorer, specs)}
    with options.computer(corpus.langs) as computer:
        executor = computer.executor
        aligned: Sequence[str] = ()
        if options.align is not None:
            done = slices.required("align", "alignment")(
                corpus, outputs, options.align, executor=executor
            )
            outputs, aligned = done.outputs, done.notes
        outputs = with_policy(outputs, options.nulls)
        scores = _measured(computer, list(scorers.values()), corpus, outputs, options)
        flags, suspicions = (
            _flagged(corpus, outputs, executor, options.progress) if options.flags else ({}, [])
        )
    realigned = [
        Note(
            "realigned",
            "aligned with the documents' segments by `wholetext align` in "
            f"{len(output.realigned)} of {count(len(corpus), 'document')}"
            f"{f'; {nulls}' if (nulls := null_note(output)) else ''}",
            output.system,
        )
        for output in outputs
        if output.realigned
    ]
    codes = [
        Note("language-code", text) for code in corpus.langs if (text := language(code).note())
    ]
    notes = (*codes, *aligned, *realigned, *Results(corpus, tuple(outputs), scores).notes)
    return Results(
        corpus,
        tuple(outputs),
        scores,
        warnings=tuple(dict.fromkeys((*notes, *suspicions))),
        counts={**computer.engine.counts, **getattr(options.calls, "counts", {})},
        flags={
            system: [dataclasses.asdict(flag) for flag in of_system]
            for system, of_system in flags.items()
        },
        environment=computer.environment(),
    )


def _measured(
    computer: Computer,
    scorers: Sequence[Scorer],
    corpus: Corpus,
    outputs: Sequence[Output],
    options: Options,
) -> dict[str, dict[str, Scores]]:
    """Score every spec and system; chunks of all metrics are one stream, so no worker waits."""
    cuts: dict[tuple[View, Sides], Cuts] = {}
    bound = [
        bind(
            parsed,
            corpus,
            outputs,
            computer.engine,
            options.refs,
            cuts,
            remote=computer.executor.remote,
        )
        for parsed in scorers
    ]
    together: dict[Metric, list[BoundMetric]] = {}
    for work in bound:  # views of a metric run together: texts that they share are encoded once
        together.setdefault(work.metric, []).append(work)
    runs = [MetricRun(works, options.only, options.progress) for works in together.values()]
    computer.run(
        chunk
        for run in runs
        for chunk in run.chunks(options.block, refuse=options.overflow == "error")
    )
    done = {spec: scores for run in runs for spec, scores in run.scores().items()}
    return {parsed.spec: done[parsed.spec] for parsed in scorers}


def _flagged(
    corpus: Corpus, outputs: Sequence[Output], executor: Executor, progress: Progress | None
) -> tuple[dict[str, list[Flag]], list[str]]:
    """Flags of each system, degenerate output before formats; and notes on input and flags."""
    from wholetext.flags import formats
    from wholetext.flags.input_checks import input_notes

    by_system: dict[str, list[Flag]] = {}
    if progress:
        progress(FLAGS, 0, len(outputs))
    submitted = map(partial(executor.submit, _flags, corpus), outputs)
    for output, flags in zip(outputs, submitted if executor.local else list(submitted)):
        broken, changed = flags.result()
        by_system[output.system] = [*broken, *changed]
        if progress:
            progress(FLAGS, len(by_system), len(outputs))
    lines = formats.notes_on_flags(by_system, source=corpus.has_source)
    notes = [*input_notes(corpus, outputs), *lines, formats.unchecked_note(corpus, outputs)]
    return by_system, [note for note in notes if note]


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

    A list of segments is one document, or those that ``docs`` names. ``refs`` is a reference in
    the form of ``hyps``, or a mapping of name to reference; ``references`` is a list of several.
    See ``from_texts``.
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
