"""From documents to scores: requests in chunks, looked up in the cache or computed and stored.

A chunk holds the requests of some documents under one metric, for all views and systems. Chunks are
computed here or by workers, and their results are added in order, so statistics do not depend on
where they were computed.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MetricError, WorkerError
from wholetext.executor import Executor
from wholetext.files.cache import Cache
from wholetext.models.device import pick_device
from wholetext.notes import BLIND
from wholetext.scoring.bound import (
    BoundMetric,
    corpus_hash,
    references,
    refuse_losses,
    salt_of,
    signature,
)
from wholetext.scoring.engine import Engine, Measured, decoded, request_key
from wholetext.scoring.nulls import with_nulls
from wholetext.scoring.traits import trait
from wholetext.types import Document, Excerpt, IntArray, Metric, Output, Request, Rows, Scores
from wholetext.version import __version__
from wholetext.views import Context, Span, Whole, without_context

Progress = Callable[[str, int, int], None]  # spec or stage, rows done, rows in all
_PACKAGES = ("numpy", "sacrebleu", "torch", "transformers", "spacy")  # scores depend on them
Only = Mapping[str, NDArray[np.bool_]]  # document → (segments,)
Answer = tuple[list[bytes], dict[str, str]]  # encoded rows, environment of the worker


# ---------------------------------------------------------------- chunks of requests


@dataclass(frozen=True)
class Chunk:
    """Requests that are computed together; ``take`` receives their statistics."""

    metric: Metric
    requests: Sequence[Request]
    salt: str
    take: Callable[[Measured], None]
    survey: Any = None
    report: Callable[[float], None] | None = None  # progress within the chunk, if computed here


@dataclass(frozen=True)
class _Lookup:
    """The distinct requests of a chunk, and the rows of those that are in the cache."""

    chunk: Chunk
    rows: list[bytes]  # b"" where it is not in the cache
    keys: list[bytes]  # none without a cache
    where: IntArray  # (requests,) index into rows


@dataclass
class Computer:
    """Computes chunks on an executor; equal requests of a chunk are computed once."""

    engine: Engine
    executor: Executor = field(default_factory=Executor)
    _environments: dict[str, set[str]] = field(default_factory=dict)  # of workers

    def run(self, chunks: Iterable[Chunk]) -> None:
        """Compute chunks and pass on their statistics in order; store rows as chunks finish."""
        pending: deque[tuple[_Lookup, Future[Answer] | None]] = deque()
        try:
            for chunk in chunks:
                pending.append(self._begin(chunk))
                while len(pending) > self.executor.ahead:
                    self._finish(*pending.popleft())
            while pending:
                self._finish(*pending.popleft())
        except WorkerError:
            for lookup, future in pending:
                if future and future.done() and not future.exception():
                    self._store(lookup, *future.result())
            self.executor.close()
            raise
        finally:
            for _, future in pending:
                if future:
                    future.cancel()

    def environment(self) -> dict[str, str]:
        """The packages and devices that computed the scores, here and on workers."""
        workers = {name: ", ".join(sorted(values)) for name, values in self._environments.items()}
        return environment(self.engine.device, here=self.executor.local) | workers

    def _begin(self, chunk: Chunk) -> tuple[_Lookup, Future[Answer] | None]:
        """Look up the distinct requests; compute the missing ones, or submit them to a worker."""
        engine, numbers = self.engine, dict[Request, int]()
        cache = engine.cache if trait(chunk.metric, "cacheable") else None
        where = np.array(
            [numbers.setdefault(request, len(numbers)) for request in chunk.requests],
            dtype=np.int64,
        )
        keys = [request_key(chunk.salt, request) for request in numbers] if cache else []
        stored = cache.get(keys) if cache else {}
        rows = [stored.get(key, b"") for key in keys] if cache else [b""] * len(numbers)
        missing = [request for request, row in zip(numbers, rows) if not row]
        engine.counts.update(
            requests=len(where),
            distinct=len(rows),
            cached=len(rows) - len(missing),
            computed=len(missing),
        )
        lookup = _Lookup(chunk, rows, keys, where)
        # services have budgets, so they are called from here
        if missing and (self.executor.local or trait(chunk.metric, "remote")):
            self._store(lookup, engine.rows(chunk.metric, missing, chunk.survey, chunk.report), {})
            missing = []
        if not missing:
            return lookup, None
        file = engine.cache.path if engine.cache and not self.executor.remote else None
        settings = (engine.langs, engine.device, engine.dtype, engine.batch_tokens, file)
        return lookup, self.executor.submit(
            compute_on_worker, settings, chunk.metric, missing, chunk.survey
        )

    def _finish(self, lookup: _Lookup, future: Future[Answer] | None) -> None:
        if future is not None:
            self._store(lookup, *future.result())
        lookup.chunk.take(decoded(lookup.rows).of(lookup.where))

    def _store(self, lookup: _Lookup, computed: list[bytes], worker: dict[str, str]) -> None:
        for name, value in worker.items():
            if (here := installed(name)) not in ("", value):
                raise WorkerError(
                    f"a worker has {name} {value}, this process {here}: scores could differ",
                    next=f"install {name} {here} on every machine that has workers",
                )
            if name != "wholetext":  # it is in every signature
                self._environments.setdefault(name, set()).add(value)
        missing = [at for at, row in enumerate(lookup.rows) if not row]
        for at, row in zip(missing, computed):
            lookup.rows[at] = row
        if lookup.keys and self.engine.cache:
            kind = f"rows:{lookup.chunk.metric.name}"
            self.engine.cache.put(kind, ((lookup.keys[at], lookup.rows[at]) for at in missing))


# ---------------------------------------------------------------- on a worker


def compute_on_worker(
    settings: tuple[tuple[str, str], str, str, int, Path | None],
    metric: Metric,
    requests: Sequence[Request],
    survey: Any,
) -> Answer:
    """Compute rows in a worker; its cache, for outputs of backends, is that of the machine."""
    engine = _worker_engine(*settings)
    return engine.rows(metric, requests, survey), environment(engine.device) | {
        "wholetext": __version__
    }


@lru_cache(maxsize=1)
def _worker_engine(
    langs: tuple[str, str], device: str, dtype: str, batch_tokens: int, file: Path | None
) -> Engine:
    return Engine(langs, device, dtype, batch_tokens, Cache(file) if file else None)


def environment(device: str, here: bool = True) -> dict[str, str]:
    """Versions of the packages in use in this process and, where models run here, the device."""
    used = [name for name in _PACKAGES if name in sys.modules]
    versions = {"python": python_version()} | {name: installed(name) for name in used}
    if "torch" in used and here:  # not loaded when all scores are cached
        versions["device"] = pick_device("auto") if device == "auto" else device
    return versions


@lru_cache
def installed(package: str) -> str:
    """Version of a package; "" if it is not installed or scores do not depend on it."""
    if package == "wholetext":
        return __version__
    try:
        return version(package) if package in _PACKAGES else ""
    except PackageNotFoundError:
        return ""


# ---------------------------------------------------------------- one metric under some views


class MetricRun:
    """One metric under some views: documents in chunks, then scores."""

    def __init__(
        self, works: Sequence[BoundMetric], only: Only | None, progress: Progress | None
    ) -> None:
        self.works, self._progress = works, progress
        self._parts = [_Part(work, output, only) for work in works for output in works[0].outputs]
        self._blind: set[str] = set()  # specs whose metric gives the same score without the context

    def chunks(self, size: int | None, refuse: bool) -> Iterator[Chunk]:
        """Yield about ``size`` requests at a time; ``refuse``: raise an error if a text is cut."""
        bound, parts = self.works[0], self._parts
        metric = bound.metric
        survey = metric.survey(references(bound), bound.engine) if metric.surveys else None
        for work in self.works if refuse else ():
            refuse_losses(work)
        salt = salt_of(bound, survey)
        probes = {
            part.work.scorer.spec: probe
            for part in parts[:: len(bound.outputs)]
            if isinstance(part.work.scorer.view, Context) and (probe := part.probe())
        }
        meter = _Meter(self.works, self._progress) if self._progress else None
        for begin, end in _ranges(
            bound.corpus.sizes.tolist(), max(1, (size or trait(metric, "block")) // len(parts))
        ):
            pairs = [  # row by row over views and systems
                (owner, request)
                for number in range(begin, end)
                for row in zip_longest(*(part.cut(number) for part in parts))
                for owner, request in enumerate(row)
                if request is not None
            ]
            pairs += [(-1, request) for probe in probes.values() for request in probe]
            if pairs:
                owners = np.array([owner for owner, _ in pairs])
                requests = [request for _, request in pairs]
                take = partial(self._take, owners, list(probes), meter, end)
                report = partial(meter.report, begin, end) if meter else None
                yield Chunk(metric, requests, salt, take, survey, report)
                probes = {}

    def _take(
        self,
        owners: IntArray,
        probed: Sequence[str],
        meter: _Meter | None,
        end: int,
        measured: Measured,
    ) -> None:
        for number, part in enumerate(self._parts):
            part.measured.append(measured.of(np.flatnonzero(owners == number)))
        probes = measured.stats[owners == -1]  # with and without context in turn
        self._blind |= {
            spec
            for spec, with_context, without in zip(probed, probes[::2], probes[1::2])
            if np.array_equal(with_context, without)
        }
        if meter:
            meter.report(end, end)

    def scores(self) -> dict[str, dict[str, Scores]]:
        """Scores by spec and system, when all chunks are computed."""
        metric, corpus = self.works[0].metric, self.works[0].corpus
        mark = corpus_hash(corpus, self.works[0].sides.context_refs)
        # notes are printed after their spec, so the name of the metric is redundant
        stated = tuple(note.removeprefix(f"{metric.name}: ") for note in metric.notes(corpus.langs))
        scores: dict[str, dict[str, Scores]] = {work.scorer.spec: {} for work in self.works}
        for part in self._parts:
            by_system = scores[spec := part.work.scorer.spec]
            known = next((other.rows for other in by_system.values()), None)
            by_system[part.output.system] = part.scores(
                known, mark, (*stated, BLIND) if spec in self._blind else stated
            )
        return scores


@dataclass
class _Part:
    """One output under one view."""

    work: BoundMetric
    output: Output
    only: Only | None
    # document, start, stop, weight of each row
    spans: array[float] = field(default_factory=lambda: array("d"))
    measured: list[Measured] = field(default_factory=list)  # by chunk
    resegmented: int = 0  # documents whose output has another number of segments

    def cut(self, number: int) -> list[Request]:
        """Cut a document into requests and record the spans of its rows."""
        doc = self.work.corpus.docs[number]
        rows = list(self._selected(doc))
        for span, _ in rows:
            self.spans.extend((number, *span))
        if isinstance(self.work.scorer.view, Whole):
            self.resegmented += any(len(request.hyp[0].parts) != len(doc) for _, request in rows)
        return [request for _, request in rows]

    def _selected(self, doc: Document) -> Iterator[tuple[Span, Request]]:
        for span, request in zip(*self.work.cut(doc, self.output)):
            if self.only is None or self.only[doc.id][span[0] : span[1]].any():
                yield span, request

    def probe(self) -> tuple[Request, Request] | None:
        """A request with and without its context, to detect metrics that read none."""
        work = self.work
        if work.metric.fits([], work.engine) is not None:
            return None  # metrics that have a model read context through it
        for doc in work.corpus.docs:
            for _, request in self._selected(doc):
                alone = Request(
                    tuple(map(_alone, request.hyp)),
                    request.src and _alone(request.src),
                    tuple(map(_alone, request.refs)),
                )
                if alone != request:
                    return request, alone
        return None

    def scores(self, known: Rows | None, mark: str, stated: tuple[str, ...]) -> Scores:
        """Scores of all rows; ``mark`` is the hash of the corpus.

        ``known`` are the rows of another system, which are shared if they are equal.
        """
        metric, corpus = self.work.metric, self.work.corpus
        columns = np.array(self.spans).reshape(-1, 4).T
        if known and all(
            map(np.array_equal, (known.doc, known.start, known.stop, known.weight), columns)
        ):
            rows = known
        else:
            doc, start, stop = columns[:3].astype(np.int64)
            rows = Rows(corpus.ids, corpus.sizes, doc, start, stop, columns[3].copy())
            if self.only is not None:
                requested = np.concatenate([self.only[name] for name in corpus.ids])
                rows = replace(rows, unrequested=~requested)
        if not len(rows):
            raise MetricError(
                f"{self.work.scorer.spec} leaves no row to score",
                where=f"system {self.output.system}",
                next="use a smaller view, or partial=include",
            )
        measured = [chunk for chunk in self.measured if len(chunk.stats)]
        lost = np.concatenate([chunk.lost for chunk in measured])
        stats = np.concatenate([chunk.stats for chunk in measured])
        details = [row for chunk in measured for row in chunk.details]
        details = details if any(details) else []
        if any(nulls.policy != "count" for nulls in self.output.nulls.values()):
            stats, details = with_nulls(metric, self.output, rows, stats, details)
        facts_after = trait(metric, "outcomes")
        outcomes = dict(facts_after(details)) if facts_after else {}
        if self.resegmented:
            outcomes["resegmented"] = f"{self.resegmented}/{len(corpus)}"
        return Scores(
            metric=self.work.scorer.spec,
            system=self.output.system,
            rows=rows,
            stats=stats,
            reduce=metric.reduce,
            reduce_rows=metric.reduce_rows,
            outputs=metric.outputs,
            higher_is_better=metric.higher_is_better,
            range=metric.range,
            signature=signature(
                self.work, self.output, rows, (lost > 0).sum(axis=0), mark, outcomes
            ),
            details=tuple(details),
            lost=lost,
            stated=stated,
            reduce_docs=trait(metric, "reduce_docs"),
            decimals=metric.decimals,
        )


class _Meter:
    """Reports to ``progress`` how many rows of each view are done, over all systems."""

    def __init__(self, works: Sequence[BoundMetric], progress: Progress) -> None:
        self._progress = progress
        self._rows = {work.scorer.spec: _rows_before(work) for work in works}
        self._done = dict.fromkeys(self._rows, -1)
        self.report(0, 0)

    def report(self, begin: int, end: int, share: float = 1.0) -> None:
        """Report documents up to ``begin`` as done, and a share of those up to ``end``.

        The last row counts only when it has its score.
        """
        for spec, rows in self._rows.items():
            done = int(rows[begin]) + int(share * max(0, rows[end] - rows[begin] - 1))
            if done > self._done[spec]:  # a metric may read the documents several times
                self._done[spec] = done
                self._progress(spec, done, int(rows[-1]))


def _rows_before(work: BoundMetric) -> IntArray:
    """Count the rows before each document, over all systems: (documents + 1,)."""
    sizes = work.corpus.sizes.tolist()
    rows = {size: len(work.outputs) * len(work.scorer.view.spans(size)) for size in set(sizes)}
    return np.cumsum([0, *(rows[size] for size in sizes)])


def _alone(text: Excerpt) -> Excerpt:
    return without_context(text.scored, text.glue)


def _ranges(sizes: Sequence[int], segments: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents with about ``segments`` segments; documents stay whole."""
    begin = total = 0
    for end, size in enumerate(sizes):
        if end > begin and total + size > segments:
            yield begin, end
            begin, total = end, 0
        total += size
    yield begin, len(sizes)
