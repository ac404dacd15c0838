"""From documents to scores: requests in chunks, looked up in the cache or computed and stored.

A chunk holds the requests of some documents under one metric, for all views and systems. Chunks are
computed here or by workers, and their results are added in order, so statistics do not depend on
where they were computed.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from wholetext.errors import WorkerError
from wholetext.executor import Executor
from wholetext.files.cache import Cache
from wholetext.models.device import pick_device
from wholetext.notes import BLIND
from wholetext.scoring.bound import (
    BoundMetric,
    references,
    refuse_losses,
    salt_of,
)
from wholetext.scoring.engine import Engine, Measured, decoded, request_key, trait
from wholetext.scoring.nulls import with_nulls
from wholetext.types import IntArray, Metric, Output, Request, Rows, Scores
from wholetext.version import __version__
from wholetext.views import Context, Whole

Progress = Callable[[str, int, int], None]  # spec or stage, rows done, rows in all
_PACKAGES = ("numpy", "sacrebleu", "tokenizers", "torch", "transformers", "spacy")  # of scores
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
class _Pending:
    """A chunk with the rows of its distinct requests, from the cache or from a worker to come."""

    chunk: Chunk
    places: list[int]  # of each request in rows
    rows: list[bytes]  # b"" where it is not in the cache
    keys: list[bytes]  # none without a cache
    computed: Future[Answer]  # the rows that are missing


@dataclass
class Computer:
    """Computes chunks on an executor; equal requests of a chunk are computed once."""

    engine: Engine
    executor: Executor | None = None  # None: in this process
    environments: dict[str, set[str]] = field(default_factory=dict)  # of workers

    def run(self, chunks: Iterable[Chunk]) -> None:
        """Compute chunks and pass on their statistics in order; store rows as chunks finish."""
        pending: deque[_Pending] = deque()
        try:
            for chunk in chunks:
                pending.append(self._begin(chunk))
                while len(pending) > (self.executor.ahead if self.executor else 0):
                    self._finish(pending.popleft())
            while pending:
                self._finish(pending.popleft())
        except WorkerError:
            for left in pending:
                if left.computed.done() and not left.computed.exception():
                    self._finish(left)
            if self.executor:
                self.executor.close()
            raise
        finally:
            for left in pending:
                left.computed.cancel()

    def _begin(self, chunk: Chunk) -> _Pending:
        """Look up the distinct requests; compute the missing ones, or submit them to a worker."""
        engine, numbers = self.engine, dict[Request, int]()
        places = [numbers.setdefault(request, len(numbers)) for request in chunk.requests]
        cache = engine.cache if trait(chunk.metric, "cacheable") else None
        keys = [request_key(chunk.salt, request) for request in numbers] if cache else []
        stored = cache.get(keys) if cache else {}
        rows = [stored.get(key, b"") for key in keys] or [b""] * len(numbers)
        missing = [request for request, row in zip(numbers, rows) if not row]
        engine.counts.update(
            requests=len(places),
            distinct=len(rows),
            cached=len(rows) - len(missing),
            computed=len(missing),
        )
        computed: Future[Answer] = Future()
        # services have budgets, so they are called from here
        if missing and self.executor and not trait(chunk.metric, "remote"):
            file = engine.cache.path if engine.cache and not self.executor.remote else None
            settings = (engine.langs, engine.device, engine.dtype, engine.batch_tokens, file)
            computed = self.executor.submit(
                compute_on_worker, settings, chunk.metric, missing, chunk.survey
            )
        else:
            work = (chunk.metric, missing, chunk.survey, chunk.report)
            computed.set_result((engine.rows(*work) if missing else [], {}))
        return _Pending(chunk, places, rows, keys, computed)

    def _finish(self, pending: _Pending) -> None:
        """Store new rows in the cache and pass on the statistics of the chunk."""
        computed, worker = pending.computed.result()
        own = environment("", here=False) if worker else {}
        for name, value in worker.items():
            if name in (*_PACKAGES, "wholetext") and own.get(name, value) != value:
                raise WorkerError(
                    f"a worker has {name} {value}, this process {own[name]}: scores could differ",
                    next=f"install {name} {own[name]} on every machine that has workers",
                )
            self.environments.setdefault(name, set()).add(value)
        missing = [at for at, row in enumerate(pending.rows) if not row]
        for at, row in zip(missing, computed):
            pending.rows[at] = row
        if pending.keys and self.engine.cache:
            new = ((pending.keys[at], pending.rows[at]) for at in missing)
            self.engine.cache.put(f"rows:{pending.chunk.metric.name}", new)
        pending.chunk.take(decoded([pending.rows[at] for at in pending.places]))


# ---------------------------------------------------------------- on a worker


def compute_on_worker(
    settings: tuple[tuple[str, str], str, str, int, Path | None],
    metric: Metric,
    requests: Sequence[Request],
    survey: Any,
) -> Answer:
    """Compute rows in a worker; its cache, for outputs of backends, is that of the machine."""
    engine = _worker_engine(*settings)
    return engine.rows(metric, requests, survey), environment(engine.device)


@lru_cache(maxsize=1)
def _worker_engine(
    langs: tuple[str, str], device: str, dtype: str, batch_tokens: int, file: Path | None
) -> Engine:
    return Engine(langs, device, dtype, batch_tokens, Cache(file) if file else None)


_version = lru_cache(version)  # reading a package's metadata takes a millisecond


def environment(device: str, here: bool = True) -> dict[str, str]:
    """Versions of the packages in use in this process and, where models run here, the device."""
    used = [name for name in _PACKAGES if sys.modules.get(name)]
    versions = {"wholetext": __version__, "python": python_version()}
    versions |= {name: _version(name) for name in used}
    if here and {"torch", "tokenizers"} & {*used}:  # not loaded when all scores are cached
        auto = device == "auto" and "torch" in used
        versions["device"] = pick_device("auto") if auto else device.replace("auto", "cpu")
    return versions


# ---------------------------------------------------------------- one metric under some views


@dataclass
class Part:
    """The rows of one output under one view, and their statistics as chunks are computed."""

    work: BoundMetric
    output: Output
    spans: array[float] = field(default_factory=lambda: array("d"))  # document and Span of each row
    chunks: list[Measured] = field(default_factory=list)

    def scores(self) -> Scores:
        """Scores of the output, when all chunks are computed."""
        work, output, metric, view = self.work, self.output, self.work.metric, self.work.scorer.view
        corpus, docs = work.corpus, work.corpus.docs
        columns = np.array(self.spans).reshape(-1, 4).T
        doc, start, stop = columns[:3].astype(np.int64)
        rows = Rows(corpus.ids, corpus.sizes, doc, start, stop, columns[3].copy())
        if work.only is not None:
            requested = np.concatenate([work.only[name] for name in corpus.ids])
            rows = replace(rows, unrequested=~requested)
        lost = np.concatenate([chunk.lost for chunk in self.chunks])
        stats = np.concatenate([chunk.stats for chunk in self.chunks])
        details = [row for chunk in self.chunks for row in chunk.details]
        details = details if any(details) else []
        if any(nulls.policy != "count" for nulls in output.nulls.values()):
            stats, details = with_nulls(metric, output, rows, stats, details)
        facts_after = trait(metric, "outcomes")
        outcomes = dict(facts_after(details)) if facts_after else {}
        if isinstance(view, Whole):
            scored = [docs[number] for number in np.unique(rows.doc)]
            if other := sum(len(output.docs[doc.id]) != len(doc) for doc in scored):
                outcomes["resegmented"] = f"{other}/{len(docs)}"
        # notes are printed after their spec, so the name of the metric is redundant
        stated = [note.removeprefix(f"{metric.name}: ") for note in metric.notes(corpus.langs)]
        if (
            isinstance(view, Context)
            and view.prev + view.next
            and not trait(metric, "reads_context")
        ):
            stated.append(BLIND)
        return Scores(
            metric=work.scorer.spec,
            system=output.system,
            rows=rows,
            stats=stats,
            reduce=metric.reduce,
            reduce_rows=metric.reduce_rows,
            outputs=metric.outputs,
            higher_is_better=metric.higher_is_better,
            range=metric.range,
            signature=work.signature(output, rows, (lost > 0).sum(axis=0), outcomes),
            details=tuple(details),
            lost=lost,
            stated=tuple(stated),
            reduce_docs=trait(metric, "reduce_docs"),
            decimals=metric.decimals,
        )


@dataclass
class MetricRun:
    """One metric under some views: the documents in chunks of requests."""

    works: Sequence[BoundMetric]
    progress: Progress | None
    parts: list[Part] = field(init=False, default_factory=list)
    before: IntArray = field(init=False)  # (documents + 1,) segments before each document
    done: int = field(init=False, default=-1)  # segments

    def chunks(self, size: int | None, refuse: bool) -> Iterator[Chunk]:
        """Yield about ``size`` requests at a time; ``refuse``: raise an error if a text is cut."""
        bound = self.works[0]
        metric, docs = bound.metric, bound.corpus.docs
        survey = metric.survey(references(bound), bound.engine) if metric.surveys else None
        for work in self.works if refuse else ():
            refuse_losses(work)
        salt = salt_of(bound, survey) if bound.engine.cache else ""
        self.parts = [Part(work, output) for work in self.works for output in work.outputs]
        self.before = np.concatenate([[0], np.cumsum(bound.corpus.sizes)])
        self._report(0, 0)
        block = max(1, (size or trait(metric, "block")) // len(self.parts))  # segments
        starts = np.flatnonzero(np.diff(self.before[:-1] // block, prepend=-1)).tolist()
        for begin, end in zip(starts, [*starts[1:], len(docs)]):  # documents stay whole
            requests, stops = list[Request](), list[int]()  # of all parts; where each part's end
            for part in self.parts:
                for number in range(begin, end):
                    spans, cut = part.work.cut(docs[number], part.output)
                    part.spans.extend(value for span in spans for value in (number, *span))
                    requests += cut
                stops.append(len(requests))
            if requests:
                take = partial(self._take, stops, end)
                report = partial(self._report, begin, end)
                yield Chunk(metric, requests, salt, take, survey, report)

    def _take(self, stops: Sequence[int], end: int, measured: Measured) -> None:
        stats, lost, details = measured.stats, measured.lost, measured.details
        for part, start, stop in zip(self.parts, [0, *stops], stops):
            part.chunks.append(Measured(stats[start:stop], lost[start:stop], details[start:stop]))
        self._report(end, end)

    def _report(self, begin: int, end: int, share: float = 1.0) -> None:
        """Report documents up to ``begin`` as done, and a share of those up to ``end``.

        The last segment counts only when it has its score.
        """
        begin, end, total = (int(self.before[at]) for at in (begin, end, -1))
        done = begin + int(share * max(0, end - begin - 1))
        if self.progress and done > self.done:  # a metric may read the documents several times
            self.done = done
            for work in self.works:
                systems = len(work.outputs)
                self.progress(work.scorer.spec, done * systems, total * systems)
