"""The pipeline, readable top to bottom: cut documents into requests, measure them, give each system its scores."""

from __future__ import annotations

import dataclasses
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.chat.calls import Calls
from wholetext.backends.device import DTYPES, pick_device
from wholetext.errors import InputError, MetricError, WholetextWarning, count
from wholetext.files.cache import Cache, damage_notes
from wholetext.files.packages import unverified
from wholetext.flags import degenerate, formats
from wholetext.flags.input_checks import input_notes
from wholetext.io import from_texts
from wholetext.languages import language
from wholetext.notes import BLIND
from wholetext.registry import facts as facts_of
from wholetext.registry import metric_class, metric_names, scorer
from wholetext.scoring.bound import (
    BoundMetric,
    Cuts,
    bind,
    check,
    corpus_hash,
    parameters_of,
    references,
    refuse_losses,
    salt_of,
    signature,
)
from wholetext.scoring.engine import Engine, Measured
from wholetext.scoring.results import Results, read_run
from wholetext.types import Corpus, Document, Excerpt, FloatArray, IntArray, Metric, Output, Request, Rows, Scores
from wholetext.views import Context, Sides, Span, View, without_context

Progress = Callable[[str, int, int], None]  # spec, rows done, rows in all; then stages: FLAGS, SIGNIFICANCE
FLAGS, SIGNIFICANCE = "checking outputs", "significance tests"  # stages after scoring, by system and by metric
Only = Mapping[str, NDArray[np.bool_]]  # document → (segments,)


@dataclass(frozen=True)
class Options:
    """Execution options. They do not change scores, except for those in the signature (refs, dtype)."""

    refs: tuple[str, ...] | None = None  # which references to use; all of them by default
    cache: Path | str | bool = True
    device: str = "auto"  # cpu, cuda, cuda:1, mps
    dtype: str = "fp32"
    batch_tokens: int = 1024
    overflow: Literal["warn", "error"] = "warn"
    block: int = 1024  # requests measured and cached at a time
    flags: bool = True  # whether to look for suspicious input and degenerate output
    calls: Calls = field(default_factory=Calls, compare=False)  # how judges are called; a budget is of this object
    only: Only | None = field(default=None, compare=False)  # segments that matter: rows that touch none are not scored
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.refs is not None and not isinstance(self.refs, (tuple, list)):
            raise InputError(f"refs is a tuple of names, not {self.refs!r}", next=f"write refs=({self.refs!r},)")
        if not isinstance(self.cache, (bool, str, Path)):
            raise InputError(f"cache is true, false or a file, not {self.cache!r}", next="leave it out for the default")
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", str(self.device)):
            raise InputError(f"there is no device {self.device!r}", next="it is auto, cpu, cuda, cuda:1 … or mps")
        if self.dtype == "int8":
            raise InputError("int8 was removed in 0.2: it was only 1.3 to 2 times as fast as fp32, and scores changed "
                             "by up to 0.09", next="use bf16 if the processor has bf16 instructions, otherwise fp32")
        if self.dtype not in DTYPES:
            raise InputError(f"there is no precision {self.dtype!r}", next=f"dtype is one of {', '.join(DTYPES)}")
        if self.overflow not in ("warn", "error"):
            raise InputError(f"overflow is warn or error, not {self.overflow!r}", next="warn truncates and counts text")
        for name in ("batch_tokens", "block"):
            if not isinstance(value := getattr(self, name), int) or value < 1:
                raise InputError(f"{name} is a number from 1 up, not {value!r}", next="leave it out for the default")


def score(
    corpus: Corpus, outputs: Sequence[Output], metric: str, options: Options | None = None
) -> dict[str, Scores]:
    """Score every output under one spec string: system → Scores."""
    results = _evaluate(corpus, outputs, [metric], options)
    _warn(results)
    return dict(next(iter(results.scores.values())))


def evaluate(
    corpus: Corpus, outputs: Sequence[Output], metrics: Sequence[str] | str, options: Options | None = None
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
        raise InputError(f"options are of the type {type(options).__name__}", next="write Options(dtype=…, refs=…)")
    check(corpus, outputs)
    asked: Sequence[Any] = metrics if isinstance(metrics, (list, tuple)) else [metrics]
    scorers = {one.spec: one for one in map(scorer, asked)}  # read all before any work; the same spec once
    cache = None if options.cache is False else Cache(None if options.cache is True else Path(options.cache))
    engine = Engine(corpus.langs, options.device, options.dtype, options.batch_tokens, cache, calls=options.calls)
    try:
        cuts: dict[tuple[View, Sides], Cuts] = {}
        bound = [bind(one, corpus, outputs, engine, options.refs, cuts) for one in scorers.values()]
        together: dict[Metric, list[BoundMetric]] = {}
        for work in bound:  # views of one metric run together: what they have in common is encoded once
            together.setdefault(work.metric, []).append(work)
        done = {spec: scores for works in together.values() for spec, scores in run(works, options).items()}
        scores = {spec: done[spec] for spec in scorers}
    finally:
        if cache:
            cache.close()
    lined_up = [f"{one.system}: lined up with the documents' segments by `wholetext align` in {len(one.realigned)} of "
                f"{count(len(corpus), 'document')}" for one in outputs if one.realigned]
    codes = [note for code in corpus.langs if (note := language(code).note())]
    notes = (*codes, *lined_up, *Results(corpus, tuple(outputs), scores).notes)
    found, suspicions = _flagged(corpus, outputs, options.progress) if options.flags else ({}, [])
    return Results(
        corpus, tuple(outputs), scores,
        warnings=tuple(dict.fromkeys((*notes, *(cache.notes if cache else ()), *damage_notes(), *suspicions))),
        counts={**engine.counts, **options.calls.counts},
        flags={system: [dataclasses.asdict(flag) for flag in some] for system, some in found.items()},
        environment=environment(engine), spell=_spell,
    )


def _flagged(
    corpus: Corpus, outputs: Sequence[Output], progress: Progress | None
) -> tuple[dict[str, list[degenerate.Flag]], list[str]]:
    """Flags of each system, degenerate output before formats; and the notes on the input and on these flags."""
    found: dict[str, list[degenerate.Flag]] = {}
    lines: list[str] = []
    for done, output in enumerate(outputs):
        if progress:
            progress(FLAGS, done, len(outputs))
        broken = degenerate.flags(corpus, output)
        changed = formats.format_flags(corpus, output, broken)
        found[output.system] = [*broken, *changed]
        lines += [degenerate.summary(output.system, broken),
                  formats.format_summary(output.system, changed, source=corpus.has_source)]
    notes = [*input_notes(corpus, outputs), *lines, formats.unchecked_note(corpus, outputs)]
    if progress:
        progress(FLAGS, len(outputs), len(outputs))
    return found, [note for note in notes if note]


def environment(engine: Engine) -> dict[str, str]:
    """What computed the scores: versions of the packages that did, and, where models ran, the device."""
    from importlib.metadata import version
    from platform import python_version

    used = [name for name in ("numpy", "sacrebleu", "torch", "transformers", "spacy") if name in sys.modules]
    found = {"python": python_version()} | {name: version(name) for name in used}
    if "torch" in used:  # not loaded when all scores are cached
        found["device"] = pick_device("auto") if engine.device == "auto" else engine.device
    return found


def open_run(folder: Path | str) -> Results:
    """Read a run folder back: the same Results, without computing anything."""
    if not isinstance(folder, (str, Path)):
        raise InputError(f"expected a folder, got {type(folder).__name__}", next='open_run("run")')
    return replace(read_run(Path(folder), _reducing), spell=_spell)


def _spell(text: str) -> str:
    return scorer(text).spec


def _reducing(spec: str, langs: tuple[str, str]) -> Metric:
    """The metric whose ``reduce`` made the scores; where that is the default one, the model need not be there."""
    metric = scorer(spec).metric
    return metric if type(metric).reduce is Metric.reduce else metric.resolve(langs)


def run(works: Sequence[BoundMetric], options: Options) -> dict[str, dict[str, Scores]]:
    """Views of one metric, documents block by block; requests equal in any view or system are measured once."""
    metric, engine, corpus, outputs = works[0].metric, works[0].engine, works[0].corpus, works[0].outputs
    if metric.surveys:
        engine.survey = metric.survey(references(works[0]), engine)
    if options.overflow == "error":
        for work in works:
            refuse_losses(work)
    salt, mark = salt_of(works[0]), corpus_hash(corpus, works[0].sides.context_refs)
    parts = [_Part(work, output, options.only) for work in works for output in outputs]
    probes = {part.work.scorer.spec: pair for part in parts[:: len(outputs)] if (pair := part.context_probe())}
    blind: set[str] = set()
    counters = [_RowCounter(work, options.progress) for work in works] if options.progress else []
    for docs in _blocks(corpus.docs, max(1, options.block // len(parts))):
        asked = [pair for doc in docs for pair in _ask(parts, doc)]
        asked += [(-1, request) for pair in probes.values() for request in pair]
        if not asked:
            continue
        measured = engine.measure(metric, [request for _, request in asked], salt)
        owners = np.array([owner for owner, _ in asked])
        for index, part in enumerate(parts):
            part.add(measured, np.flatnonzero(owners == index))
        tried = measured.stats[owners == -1]  # with and without context in turn
        blind |= {spec for spec, one, other in zip(probes, tried[::2], tried[1::2]) if np.array_equal(one, other)}
        probes = {}
        for counter in counters:
            counter.add(docs)
    own = tuple(note.removeprefix(f"{metric.name}: ") for note in metric.notes(corpus.langs))  # specs are named before
    own += tuple(unverified((parameters_of(metric) | facts_of(metric)).values()))
    scores: dict[str, dict[str, Scores]] = {work.scorer.spec: {} for work in works}
    for part in parts:
        spec = part.work.scorer.spec
        scores[spec][part.output.system] = part.scores(mark, (*own, BLIND) if spec in blind else own)
    engine.survey = None
    return scores


@dataclass
class _RowCounter:
    """Tells ``progress`` how many rows of a metric are done, over all systems."""

    work: BoundMetric
    progress: Progress
    done: int = 0
    _rows: dict[int, int] = field(default_factory=dict)  # rows of a document by its number of segments

    def __post_init__(self) -> None:
        self.total = self._count(self.work.corpus.docs)
        self.progress(self.work.scorer.spec, 0, self.total)

    def add(self, docs: Sequence[Document]) -> None:
        self.done += self._count(docs)
        self.progress(self.work.scorer.spec, self.done, self.total)

    def _count(self, docs: Sequence[Document]) -> int:
        for size in {len(doc) for doc in docs} - {*self._rows}:
            self._rows[size] = len(self.work.outputs) * len(self.work.scorer.view.spans(size))
        return sum(self._rows[len(doc)] for doc in docs)


@dataclass
class _Part:
    """What one output has gathered so far under one view."""

    work: BoundMetric
    output: Output
    only: Only | None
    spans: list[FloatArray] = field(default_factory=list)  # per document: its index, start, stop, weight of each row
    measured: list[Measured] = field(default_factory=list)

    def rows(self, doc: Document) -> list[tuple[Span, Request]]:
        """The rows of a document that are to be scored."""
        pairs = zip(*self.work.cut(doc, self.output))
        return [(span, request) for span, request in pairs
                if self.only is None or self.only[doc.id][span[0] : span[1]].any()]

    def add(self, measured: Measured, mine: IntArray) -> None:
        if len(mine):
            details = [measured.details[i] for i in mine]
            self.measured.append(Measured(measured.stats[mine], measured.lost[mine], details))

    def context_probe(self) -> tuple[Request, Request] | None:
        """A request with and without its context, where it has to be tried whether the metric reads any."""
        work = self.work
        if not isinstance(work.scorer.view, Context) or work.metric.fits([], work.engine) is not None:
            return None  # metrics that have a model read context through it
        for doc in work.corpus.docs:
            for _, request in self.rows(doc):
                alone = Request(tuple(map(_alone, request.hyp)), request.src and _alone(request.src),
                                tuple(map(_alone, request.refs)))
                if alone != request:
                    return request, alone
        return None

    def scores(self, mark: str, stated: tuple[str, ...]) -> Scores:
        """Everything together; ``mark`` is the hash of the corpus."""
        metric, corpus = self.work.metric, self.work.corpus
        columns = np.concatenate(self.spans)  # (rows, 4)
        if not len(columns):
            raise MetricError(f"{self.work.scorer.spec} leaves no row to score", where=f"system {self.output.system}",
                              next="use a smaller view, or partial=include")
        doc, start, stop = columns[:, :3].T.astype(np.int64)
        sizes = np.array([len(doc) for doc in corpus.docs], dtype=np.int64)
        unasked = None if self.only is None else ~np.concatenate([self.only[doc.id] for doc in corpus.docs])
        rows = Rows(tuple(doc.id for doc in corpus.docs), sizes, doc, start, stop, columns[:, 3], unasked)
        lost = np.concatenate([one.lost for one in self.measured])
        details = tuple(detail for one in self.measured for detail in one.details)
        return Scores(
            metric=self.work.scorer.spec, system=self.output.system, rows=rows,
            stats=np.concatenate([one.stats for one in self.measured]),
            reduce=metric.reduce, reduce_rows=metric.reduce_rows, outputs=metric.outputs,
            higher_is_better=metric.higher_is_better, range=metric.range,
            signature=signature(self.work, self.output, rows, (lost > 0).sum(axis=0), mark, metric.outcomes(details)),
            details=details if any(detail is not None for detail in details) else (),
            lost=lost, stated=stated, reduce_docs=metric.reduce_docs, decimals=metric.decimals,
        )


def _alone(text: Excerpt) -> Excerpt:
    return without_context(text.scored, text.glue)


def _ask(parts: Sequence[_Part], doc: Document) -> Iterator[tuple[int, Request]]:
    """Whose request and the request, row by row over views and systems so that shared texts stay close."""
    found = [part.rows(doc) for part in parts]
    for part, rows in zip(parts, found):
        part.spans.append(np.array([(len(part.spans), *span) for span, _ in rows]).reshape(-1, 4))
    for row in zip_longest(*found):
        yield from ((owner, one[1]) for owner, one in enumerate(row) if one is not None)


def _blocks(docs: Sequence[Document], segments: int) -> Iterator[list[Document]]:
    """Documents in groups of about ``segments`` segments, never splitting one."""
    block: list[Document] = []
    size = 0
    for doc in docs:
        if block and size + len(doc) > segments:
            yield block
            block, size = [], 0
        block.append(doc)
        size += len(doc)
    yield block


# ---------------------------------------------------------------- for notebooks


def score_texts(
    hyps: Sequence[str], *, metric: str,
    refs: Sequence[str] | Sequence[Sequence[str]] | Mapping[str, Sequence[str]] | None = None,
    srcs: Sequence[str] | None = None, docs: Sequence[str] | None = None, langs: str | None = None,
    options: Options | None = None,
) -> Scores:
    """Score a list of segments: ``refs`` is one list, several, or a mapping; ``docs`` a document id per segment.

    Without ``docs`` everything is one document.
    """
    if isinstance(hyps, Mapping):
        raise InputError("score_texts scores the texts of one system", next="call it once for each system")
    loaded = from_texts(hyps, srcs=srcs, refs=() if refs is None else refs, docs=docs, langs=langs)
    results = _evaluate(loaded.corpus, loaded.outputs, [metric], options)
    read = [note for note in loaded.warnings if docs is not None or "one document" not in note]  # as documented
    _warn(replace(results, warnings=(*read, *results.warnings)))
    return next(iter(next(iter(results.scores.values())).values()))


def list_metrics() -> dict[str, type[Metric]]:
    """Every metric by name: built-ins and installed plug-ins."""
    return {name: metric_class(name) for name in metric_names()}
