"""The pipeline, readable top to bottom: cut documents into requests, measure them, give each system its scores."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.cache import Cache
from wholetext.engine import Engine
from wholetext.errors import AlignmentError, InputError, MetricError, TextTooLong
from wholetext.io import from_texts
from wholetext.registry import Scorer, metric_class, metric_names, scorer
from wholetext.registry import facts as facts_of
from wholetext.results import Results, read_run
from wholetext.text import degenerate
from wholetext.types import (
    Corpus,
    Document,
    Fit,
    FloatArray,
    IntArray,
    Metric,
    Output,
    Request,
    Rows,
    Scores,
    Signature,
    View,
)
from wholetext.version import __version__
from wholetext.views import Context, Sides, Span, glue_for, lenders

Progress = Callable[[str, int, int], None]  # spec, segments done, segments in all
DTYPES = ("fp32", "bf16", "fp16", "int8")


@dataclass(frozen=True)
class Options:
    """How a run is carried out. None of it changes a score, except where the signature says so (refs, dtype)."""

    refs: tuple[str, ...] | None = None  # which references to use; all of them by default
    cache: Path | str | bool = True
    device: str = "auto"  # cpu, cuda, cuda:1, mps
    dtype: str = "fp32"
    batch_tokens: int = 1024
    overflow: Literal["warn", "error"] = "warn"
    block: int = 1024  # requests measured and cached at a time
    flags: bool = True  # whether to look for degenerate output
    progress: Progress | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.refs, str):
            raise InputError(f"refs is a tuple of names, not {self.refs!r}", next=f"write refs=({self.refs!r},)")
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", self.device):
            raise InputError(f"there is no device {self.device!r}", next="it is auto, cpu, cuda, cuda:1 … or mps")
        if self.dtype not in DTYPES:
            raise InputError(f"there is no precision {self.dtype!r}", next=f"dtype is one of {', '.join(DTYPES)}")


def score(
    corpus: Corpus, outputs: Sequence[Output], metric: str, options: Options | None = None
) -> dict[str, Scores]:
    """Score every output under one spec string: system → Scores."""
    results = evaluate(corpus, outputs, [metric], options)
    return dict(next(iter(results.scores.values())))


def evaluate(
    corpus: Corpus, outputs: Sequence[Output], metrics: Sequence[str] | str, options: Options | None = None
) -> Results:
    """Score every output under every spec string."""
    options = options or Options()
    check(corpus, outputs)
    asked = [metrics] if isinstance(metrics, str) else metrics
    scorers = {one.spec: one for one in map(scorer, asked)}  # read all before any work; the same spec once
    cache = None if options.cache is False else Cache(None if options.cache is True else Path(options.cache))
    engine = Engine(corpus.langs, options.device, options.dtype, options.batch_tokens, cache)
    try:
        jobs = {spec: job(one, corpus, outputs, engine, options.refs) for spec, one in scorers.items()}
        together: dict[Metric, list[Job]] = {}
        for work in jobs.values():  # views of one metric run together: what they have in common is encoded once
            together.setdefault(work.metric, []).append(work)
        done = {spec: scores for works in together.values() for spec, scores in run(works, options).items()}
        scores = {spec: done[spec] for spec in jobs}
    finally:
        if cache:
            cache.close()
    notes = [f"{text} ({times}×)" if times > 1 else text for text, times in engine.warnings.items()]
    found = {output.system: degenerate.flags(corpus, output) for output in outputs} if options.flags else {}
    suspicions = [text for system, some in found.items() if (text := degenerate.summary(system, some))]
    return Results(
        corpus, tuple(outputs), scores,
        warnings=(*notes, *(cache.notes if cache else ()), *suspicions),
        counts=dict(engine.counts),
        flags={system: [dataclasses.asdict(flag) for flag in some] for system, some in found.items()},
    )


def open_run(folder: Path | str) -> Results:
    """Read a run folder back: the same Results, without computing anything."""
    return read_run(Path(folder), _reducing)


def _reducing(spec: str, langs: tuple[str, str]) -> Metric:
    """The metric whose ``reduce`` made the scores; where that is the default one, the model need not be there."""
    metric = scorer(spec).metric
    return metric if type(metric).reduce is Metric.reduce else metric.resolve(langs)


def check(corpus: Corpus, outputs: Sequence[Output]) -> None:
    """Every output has every document, and systems have different names."""
    if not corpus.docs:
        raise AlignmentError("there are no documents", where=corpus.id)
    if not outputs:
        raise AlignmentError("there is no output to score", where=corpus.id, next="give at least one system")
    names = [output.system for output in outputs]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise AlignmentError(f"several outputs are called {doubled[0]!r}", next="give each system a name of its own")
    ids = Counter(doc.id for doc in corpus.docs)
    if len(ids) < len(corpus.docs):
        raise AlignmentError(f"several documents are called {ids.most_common(1)[0][0]!r}", where=corpus.id,
                             next="give each document an id of its own")
    for output in outputs:
        gone = [doc.id for doc in corpus.docs if doc.id not in output.docs]
        if gone:
            raise AlignmentError(f"{len(gone)} documents are missing, first {gone[0]!r}",
                                 where=f"system {output.system}")


@dataclass(frozen=True)
class Job:
    """One metric over a corpus and its outputs, settled and ready to run."""

    scorer: Scorer
    metric: Metric  # with every auto parameter resolved
    corpus: Corpus
    outputs: tuple[Output, ...]
    sides: Sides
    engine: Engine

    def cut(self, doc: Document, output: Output) -> tuple[list[Span], list[Request]]:
        """Rows and requests of one document of one system."""
        sides = self.sides
        if doc.id in self.lenders:
            other = self.lenders[doc.id]
            sides = dataclasses.replace(sides, other=(other, output.docs[other.id]))
        return self.scorer.view.cut(doc, output.docs[doc.id], sides)

    @cached_property
    def lenders(self) -> Mapping[str, Document]:
        """Which document lends its context to which, where a control asks for wrong context."""
        view = self.scorer.view
        if not isinstance(view, Context) or view.source != "other":
            return {}
        return lenders(self.corpus.docs, view.seed, view.prev + view.next)


def job(one: Scorer, corpus: Corpus, outputs: Sequence[Output], engine: Engine, refs: tuple[str, ...] | None) -> Job:
    """Settle a scorer for a corpus; an error where something that the metric needs is missing."""
    metric = one.metric.resolve(corpus.langs)
    sides = sides_of(metric, corpus, refs, engine)
    for output in outputs:  # now, not after hours of other metrics
        for doc in corpus.docs:
            try:
                one.view.check(doc, output.docs[doc.id], sides)
            except AlignmentError as fault:
                where = f"system {output.system}, {fault.where}"
                raise AlignmentError(f"{one.spec}: {fault.what}", where=where, next=fault.next) from None
    return Job(one, metric, corpus, tuple(outputs), sides, engine)


def run(works: Sequence[Job], options: Options) -> dict[str, dict[str, Scores]]:
    """Views of one metric, documents block by block; requests equal in any view or system are measured once."""
    metric, engine, corpus, outputs = works[0].metric, works[0].engine, works[0].corpus, works[0].outputs
    if metric.surveys:
        engine.survey = metric.survey(_references(works[0]), engine)
    if options.overflow == "error":
        for work in works:
            refuse_losses(work)
    salt = salt_of(works[0])
    total, done = sum(map(len, corpus.docs)), 0
    parts, begin = [_Part() for _ in works for _ in outputs], 0
    for docs in _blocks(corpus.docs, max(1, options.block // len(parts))):
        requests, owner = _ask(works, docs, (begin, parts))
        begin += len(docs)
        measured = engine.measure(metric, requests, salt)
        for index, part in enumerate(parts):
            mine = np.flatnonzero(owner == index)
            if len(mine):
                part.stats.append(measured.stats[mine])
                part.lost.append(measured.lost[mine])
                part.details.extend(measured.details[i] for i in mine)
        done += sum(map(len, docs))
        for work in works:
            if options.progress:
                options.progress(work.scorer.spec, done, total)
    engine.survey = None
    mark, found = corpus_hash(corpus), iter(parts)
    return {
        work.scorer.spec: {output.system: _scores(work, output, next(found), mark) for output in outputs}
        for work in works
    }


@dataclass
class _Part:
    """What one system has gathered so far under one view."""

    spans: list[FloatArray] = field(default_factory=list)  # per document: its index, start, stop, weight of each row
    stats: list[FloatArray] = field(default_factory=list)
    lost: list[IntArray] = field(default_factory=list)
    details: list[Mapping[str, Any] | None] = field(default_factory=list)


def _ask(
    works: Sequence[Job], docs: Sequence[Document], into: tuple[int, Sequence[_Part]]
) -> tuple[list[Request], IntArray]:
    """The requests of a block, row by row over views and systems so that shared texts stay close, and whose each is."""
    requests: list[Request] = []
    owners: list[int] = []
    begin, parts = into
    for i, doc in enumerate(docs, begin):
        cuts = [work.cut(doc, output) for work in works for output in work.outputs]
        for part, (spans, _) in zip(parts, cuts):
            part.spans.append(np.array([(i, *span) for span in spans]).reshape(-1, 4))
        for row in range(max(len(spans) for spans, _ in cuts)):
            for index, (_, asked) in enumerate(cuts):
                if row < len(asked):
                    requests.append(asked[row])
                    owners.append(index)
    return requests, np.array(owners, dtype=np.int64)


def sides_of(metric: Metric, corpus: Corpus, chosen: tuple[str, ...] | None, engine: Engine) -> Sides:
    """Which sides the metric gets; an error where one that it needs is missing."""
    refs = corpus.references if chosen is None else chosen
    unknown = [name for name in refs if name not in corpus.references]
    if unknown:
        raise AlignmentError(f"there is no reference {unknown[0]!r} for every document", where=corpus.id,
                             next=f"references: {', '.join(corpus.references) or 'none'}")
    if "ref" in metric.needs and not refs:
        some = " for every document" if any(doc.refs for doc in corpus.docs) else ""
        raise MetricError(f"{metric.name} needs a reference, and there is none{some}", where=corpus.id,
                          next="give one with -r, or use a reference-free metric (`wholetext list --no-ref`)")
    if "src" in metric.needs and not corpus.has_source:
        raise MetricError(f"{metric.name} needs the source, and there is none", where=corpus.id, next="give it with -s")
    uses = metric.needs | metric.wants

    def count(request: Request) -> int:
        fits = metric.fits([request], engine)
        return content_tokens(fits[0]) if fits else 0

    probe = metric.fits([], engine)
    return Sides(
        langs=corpus.langs,
        src="src" in uses and corpus.has_source,
        refs=refs if "ref" in uses else (),
        context_refs=refs,
        count=None if probe is None else count,
    )


def content_tokens(fit: Fit) -> int:
    """Tokens of the text itself, without markers, whether or not they fit."""
    return fit.tokens - fit.special + fit.lost_context + fit.lost_focus


def refuse_losses(work: Job) -> None:
    """Under ``overflow=error``: stop before any model runs if any text would be cut."""
    for doc in work.corpus.docs:
        for output in work.outputs:
            spans, requests = work.cut(doc, output)
            for (start, stop, _), fit in zip(spans, work.metric.fits(requests, work.engine) or ()):
                if fit.lost_context or fit.lost_focus:
                    raise TextTooLong(
                        f"{work.scorer.spec}: {fit.lost_focus} scored and {fit.lost_context} context tokens "
                        "do not fit the model",
                        where=f"document {doc.id}, segments {start + 1}–{stop}, system {output.system}",
                        next="use a smaller view (context, slide), or --overflow warn to cut and count",
                    )


def _references(work: Job) -> Iterator[View]:
    glue = glue_for(work.corpus.langs[1], "auto")
    for doc in work.corpus.docs:
        for name in work.sides.refs:
            yield from (View((segment,), (0, 1), glue) for segment in doc.refs[name])


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


def salt_of(work: Job) -> str:
    """Everything besides the request that can change its statistics."""
    metric, engine = work.metric, work.engine
    survey = "" if engine.survey is None else hashlib.blake2b(repr(engine.survey).encode()).hexdigest()
    facts = [metric.name, parameters_of(metric), facts_of(metric), work.corpus.langs, engine.dtype, survey,
             type(metric).__module__, __version__]
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def parameters_of(thing: object) -> dict[str, str]:
    """Every parameter with its value, as the signature spells them."""
    return {f.name: _plain(getattr(thing, f.name)) for f in dataclasses.fields(thing)}  # type: ignore[arg-type]


def _plain(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def corpus_hash(corpus: Corpus) -> str:
    """A short hash of everything the documents hold."""
    digest = hashlib.blake2b(digest_size=6)
    for doc in corpus.docs:
        digest.update(json.dumps([doc.id, doc.src, list(doc.refs.items())]).encode())
    return digest.hexdigest()


def _scores(work: Job, output: Output, part: _Part, mark: str) -> Scores:
    metric, corpus = work.metric, work.corpus
    columns = np.concatenate(part.spans)  # (rows, 4)
    if not len(columns):
        raise MetricError(f"{work.scorer.spec} leaves no row to score: every document is shorter than the window",
                          where=corpus.id, next="use a smaller size, or partial=include")
    doc, start, stop = columns[:, :3].T.astype(np.int64)
    sizes = np.array([len(doc) for doc in corpus.docs], dtype=np.int64)
    rows = Rows(tuple(doc.id for doc in corpus.docs), sizes, doc, start, stop, weight=columns[:, 3])
    lost = np.concatenate(part.lost)
    return Scores(
        metric=work.scorer.spec, system=output.system, rows=rows, stats=np.concatenate(part.stats),
        reduce=metric.reduce, reduce_rows=metric.reduce_rows, outputs=metric.outputs,
        higher_is_better=metric.higher_is_better, range=metric.range,
        signature=_signature(work, rows, (lost > 0).sum(axis=0), mark),
        details=tuple(part.details) if any(d is not None for d in part.details) else (),
        lost=lost,
    )


def _signature(work: Job, rows: Rows, lost: IntArray, mark: str) -> Signature:
    view, metric = work.scorer.view, work.metric
    items: dict[str, object] = {"metric": metric.name, "view": view.name}
    items |= {f"view.{key}": value for key, value in parameters_of(view).items()}
    items |= parameters_of(metric)
    items |= facts_of(metric)
    items |= {"langs": "-".join(work.corpus.langs), "refs": ",".join(work.sides.refs) or "none"}
    if isinstance(view, Context) and not work.sides.refs and (lent := view.borrowed(work.sides)):
        items |= {"context_refs": ",".join(lent)}
    items |= {"dtype": work.engine.dtype} if metric.fits([], work.engine) is not None else {}
    items |= {"rows": len(rows), "dropped": f"{int((~rows.covered).sum())}/{rows.segments}"}
    items |= {"lost_context": int(lost[0]), "lost_focus": int(lost[1])}
    items |= {"corpus": mark, "wholetext": __version__}
    return Signature(items)


# ---------------------------------------------------------------- for notebooks


def score_texts(
    hyps: Sequence[str], *, metric: str,
    refs: Sequence[str] | Sequence[Sequence[str]] | Mapping[str, Sequence[str]] = (),
    srcs: Sequence[str] | None = None, docs: Sequence[str] | None = None, langs: str | None = None,
    options: Options | None = None,
) -> Scores:
    """Score a list of segments: ``refs`` is one list, several, or a mapping; ``docs`` a document id per segment.

    Without ``docs`` everything is one document.
    """
    if isinstance(hyps, Mapping):
        raise InputError("score_texts scores the texts of one system", next="call it once for each system")
    loaded = from_texts(hyps, srcs=srcs, refs=refs, docs=docs, langs=langs)
    return next(iter(score(loaded.corpus, loaded.outputs, metric, options).values()))


def metrics() -> dict[str, type[Metric]]:
    """Every metric by name: built-ins and installed plug-ins."""
    return {name: metric_class(name) for name in metric_names()}
