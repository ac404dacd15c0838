"""The pipeline, readable top to bottom: cut documents into requests, measure them, give each system its scores."""

from __future__ import annotations

import dataclasses
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.device import DTYPES, pick_device
from wholetext.errors import InputError, MetricError, WholetextWarning
from wholetext.files.cache import Cache, damage_notes
from wholetext.flags import degenerate
from wholetext.flags.input_checks import input_notes
from wholetext.io import from_texts
from wholetext.notes import BLIND
from wholetext.registry import metric_class, metric_names, scorer
from wholetext.scoring.bound import BoundMetric, bind, check, corpus_hash, references, refuse_losses, salt_of, signature
from wholetext.scoring.engine import Engine
from wholetext.scoring.results import Results, read_run
from wholetext.types import (
    Corpus,
    Document,
    Excerpt,
    FloatArray,
    IntArray,
    Metric,
    Output,
    Request,
    Rows,
    Scores,
)
from wholetext.views import Context, Span

Progress = Callable[[str, int, int], None]  # spec, segments done, segments in all
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
    engine = Engine(corpus.langs, options.device, options.dtype, options.batch_tokens, cache)
    try:
        jobs = {spec: bind(one, corpus, outputs, engine, options.refs) for spec, one in scorers.items()}
        together: dict[Metric, list[BoundMetric]] = {}
        for work in jobs.values():  # views of one metric run together: what they have in common is encoded once
            together.setdefault(work.metric, []).append(work)
        done = {spec: scores for works in together.values() for spec, scores in run(works, options).items()}
        scores = {spec: done[spec] for spec in jobs}
    finally:
        if cache:
            cache.close()
    lined_up = [f"{one.system}: lined up with the documents' segments by `wholetext align` in {len(one.realigned)} of "
                f"{len(corpus)} documents" for one in outputs if one.realigned]
    notes = (*lined_up, *Results(corpus, tuple(outputs), scores).notes)
    found = {output.system: degenerate.flags(corpus, output) for output in outputs} if options.flags else {}
    suspicions = input_notes(corpus, outputs) if options.flags else []
    suspicions += [text for system, some in found.items() if (text := degenerate.summary(system, some))]
    return Results(
        corpus, tuple(outputs), scores,
        warnings=(*notes, *(cache.notes if cache else ()), *damage_notes(), *suspicions),
        counts=dict(engine.counts),
        flags={system: [dataclasses.asdict(flag) for flag in some] for system, some in found.items()},
        environment=environment(engine), spell=_spell,
    )


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
    salt = salt_of(works[0])
    total, done = sum(map(len, corpus.docs)), 0
    parts, begin, probe = [_Part() for _ in works for _ in outputs], 0, _ContextProbe(works)
    for docs in _blocks(corpus.docs, max(1, options.block // len(parts))):
        requests, owner = _ask(works, docs, (begin, parts), options.only)
        begin += len(docs)
        done += sum(map(len, docs))
        if not requests:
            continue
        probe.add(requests, owner)
        measured = engine.measure(metric, requests, salt)
        probe.learn(measured.stats)
        for index, part in enumerate(parts):
            mine = np.flatnonzero(owner == index)
            if len(mine):
                part.stats.append(measured.stats[mine])
                part.lost.append(measured.lost[mine])
                part.details.extend(measured.details[i] for i in mine)
        for work in works:
            if options.progress:
                options.progress(work.scorer.spec, done, total)
    mark, found = corpus_hash(corpus, works[0].sides.context_refs), iter(parts)
    scores: dict[str, dict[str, Scores]] = {}
    for work in works:
        own = (note.removeprefix(f"{metric.name}: ") for note in metric.notes(corpus.langs))  # the spec is named before
        stated = (*own, *([BLIND] if work.scorer.spec in probe.blind else []))
        scores[work.scorer.spec] = {
            one.system: _scores(work, one, next(found), (mark, stated), options.only) for one in outputs}
    engine.survey = None
    return scores


class _ContextProbe:
    """Which views show a metric context that it does not read: one segment each is measured without it as well."""

    def __init__(self, works: Sequence[BoundMetric]) -> None:
        self.open = [(at, work) for at, work in enumerate(works)  # metrics that have a model read context through it
                     if isinstance(work.scorer.view, Context) and work.metric.fits([], work.engine) is None]
        self.tried: list[tuple[str, int, int]] = []  # spec, where the segment is measured with and without context
        self.blind: set[str] = set()

    def add(self, requests: list[Request], owner: IntArray) -> None:
        """Add the segments without context to the requests of a block."""
        for at, work in list(self.open):
            mine = np.flatnonzero(owner == at * len(work.outputs)).tolist()
            shown = next((i for i in mine if any(view.before or view.after for view in _views(requests[i]))), None)
            if shown is not None:
                one = requests[shown]
                requests.append(Request(tuple(map(_alone, one.hyp)), one.src and _alone(one.src),
                                        tuple(map(_alone, one.refs))))
                self.tried.append((work.scorer.spec, shown, len(requests) - 1))
                self.open.remove((at, work))

    def learn(self, stats: FloatArray) -> None:
        self.blind |= {spec for spec, shown, alone in self.tried if np.array_equal(stats[shown], stats[alone])}
        self.tried.clear()


def _views(request: Request) -> tuple[Excerpt, ...]:
    return (*request.hyp, *request.refs, *((request.src,) if request.src else ()))


def _alone(view: Excerpt) -> Excerpt:
    return Excerpt(view.scored, (0, len(view.scored)), view.glue)


@dataclass
class _Part:
    """What one system has gathered so far under one view."""

    spans: list[FloatArray] = field(default_factory=list)  # per document: its index, start, stop, weight of each row
    stats: list[FloatArray] = field(default_factory=list)
    lost: list[IntArray] = field(default_factory=list)
    details: list[Mapping[str, Any] | None] = field(default_factory=list)


def _ask(
    works: Sequence[BoundMetric], docs: Sequence[Document], into: tuple[int, Sequence[_Part]],
    only: Only | None = None,
) -> tuple[list[Request], IntArray]:
    """The requests of a block, row by row over views and systems so that shared texts stay close, and whose each is."""
    requests: list[Request] = []
    owners: list[int] = []
    begin, parts = into
    for i, doc in enumerate(docs, begin):
        cuts = [work.cut(doc, output) for work in works for output in work.outputs]
        if only is not None:
            cuts = [_touching(cut, only[doc.id]) for cut in cuts]
        for part, (spans, _) in zip(parts, cuts):
            part.spans.append(np.array([(i, *span) for span in spans]).reshape(-1, 4))
        for row in range(max(len(spans) for spans, _ in cuts)):
            for index, (_, asked) in enumerate(cuts):
                if row < len(asked):
                    requests.append(asked[row])
                    owners.append(index)
    return requests, np.array(owners, dtype=np.int64)


def _touching(cut: tuple[list[Span], list[Request]], wanted: NDArray[np.bool_]) -> tuple[list[Span], list[Request]]:
    """The rows that touch a wanted segment."""
    kept = [(span, request) for span, request in zip(*cut) if wanted[span[0] : span[1]].any()]
    return [span for span, _ in kept], [request for _, request in kept]


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


def _scores(
    work: BoundMetric, output: Output, part: _Part, said: tuple[str, tuple[str, ...]], only: Only | None
) -> Scores:
    metric, corpus, (mark, stated) = work.metric, work.corpus, said
    columns = np.concatenate(part.spans)  # (rows, 4)
    if not len(columns):
        raise MetricError(f"{work.scorer.spec} leaves no row to score", where=f"system {output.system}",
                          next="use a smaller view, or partial=include")
    doc, start, stop = columns[:, :3].T.astype(np.int64)
    sizes = np.array([len(doc) for doc in corpus.docs], dtype=np.int64)
    unasked = None if only is None else ~np.concatenate([only[doc.id] for doc in corpus.docs])
    rows = Rows(tuple(doc.id for doc in corpus.docs), sizes, doc, start, stop, columns[:, 3], unasked)
    lost = np.concatenate(part.lost)
    return Scores(
        metric=work.scorer.spec, system=output.system, rows=rows, stats=np.concatenate(part.stats),
        reduce=metric.reduce, reduce_rows=metric.reduce_rows, outputs=metric.outputs,
        higher_is_better=metric.higher_is_better, range=metric.range,
        signature=signature(work, output, rows, (lost > 0).sum(axis=0), mark),
        details=tuple(part.details) if any(d is not None for d in part.details) else (),
        lost=lost, stated=stated, reduce_docs=metric.reduce_docs, decimals=metric.decimals,
    )


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
