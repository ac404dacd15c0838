"""Requests of one metric, block by block of documents, and the results gathered for each output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MetricError
from wholetext.files.packages import unverified
from wholetext.notes import BLIND
from wholetext.registry import facts as facts_of
from wholetext.scoring.blocks.gathered import Gathered
from wholetext.scoring.blocks.stream import Block
from wholetext.scoring.bound import (
    BoundMetric,
    corpus_hash,
    parameters_of,
    references,
    refuse_losses,
    salt_of,
    signature,
)
from wholetext.scoring.engine import Measured
from wholetext.scoring.nulls import with_nulls
from wholetext.types import Document, Excerpt, IntArray, Output, Request, Rows, Scores
from wholetext.views import Context, Span, Whole, without_context

Progress = Callable[[str, int, int], None]  # spec, rows done, rows in all; then stages: FLAGS, SIGNIFICANCE
Only = Mapping[str, NDArray[np.bool_]]  # document → (segments,)


class MetricRun:
    """Views of one metric, documents block by block; requests equal in any view or system are measured once."""

    def __init__(self, works: Sequence[BoundMetric], only: Only | None, progress: Progress | None) -> None:
        self.works, self._progress = works, progress
        self._parts = [_Part(work, output, only) for work in works for output in works[0].outputs]
        self._blind: set[str] = set()

    def blocks(self, size: int | None, refuse: bool) -> Iterator[Block]:
        """About ``size`` requests at a time, or as many as suit the metric; ``refuse``: an error if a text is cut."""
        first, parts = self.works[0], self._parts
        metric, engine = first.metric, first.engine
        survey = metric.survey(references(first), engine) if metric.surveys else None
        for work in self.works if refuse else ():
            refuse_losses(work)
        salt = salt_of(first, survey)
        probes = {part.work.scorer.spec: pair for part in parts[:: len(first.outputs)]
                  if (pair := part.context_probe())}
        counters = [_RowCounter(work, self._progress) for work in self.works] if self._progress else []
        for docs in _blocks(first.corpus.docs, max(1, (size or metric.block) // len(parts))):
            asked = [pair for doc in docs for pair in _ask(parts, doc)]
            asked += [(-1, request) for pair in probes.values() for request in pair]
            owners = np.array([owner for owner, _ in asked])
            take = partial(self._take, [partial(one.add, docs) for one in counters], owners, tuple(probes))
            if asked:
                so_far = partial(_report, counters, docs) if counters else None
                yield Block(metric, [request for _, request in asked], salt, survey, take, so_far)
                probes = {}

    def _take(
        self, counters: Sequence[Callable[[], None]], owners: IntArray, probed: Sequence[str], measured: Measured
    ) -> None:
        for index, part in enumerate(self._parts):
            part.gathered.add(measured, np.flatnonzero(owners == index))
        tried = measured.stats[owners == -1]  # with and without context in turn
        self._blind |= {spec for spec, one, other in zip(probed, tried[::2], tried[1::2]) if np.array_equal(one, other)}
        for add in counters:
            add()

    def scores(self) -> dict[str, dict[str, Scores]]:
        """By spec and system, when all blocks are measured."""
        metric, corpus = self.works[0].metric, self.works[0].corpus
        mark = corpus_hash(corpus, self.works[0].sides.context_refs)
        own = tuple(note.removeprefix(f"{metric.name}: ") for note in metric.notes(corpus.langs))  # specs come before
        own += tuple(unverified((parameters_of(metric) | facts_of(metric)).values()))
        scores: dict[str, dict[str, Scores]] = {work.scorer.spec: {} for work in self.works}
        for part in self._parts:
            by_system = scores[spec := part.work.scorer.spec]
            rows = part.gathered.rows(corpus, part.only, [one.rows for one in by_system.values()])
            by_system[part.output.system] = part.scores(rows, mark, (*own, BLIND) if spec in self._blind else own)
        return scores


def _report(counters: Sequence[_RowCounter], docs: Sequence[Document], share: float) -> None:
    for counter in counters:
        counter.report(docs, share)


@dataclass
class _RowCounter:
    """Reports to ``progress`` how many rows of a metric are done, over all systems."""

    work: BoundMetric
    progress: Progress
    done: int = 0
    reported: int = 0  # also of a block that is not finished
    _rows: dict[int, int] = field(default_factory=dict)  # rows of a document by its number of segments

    def __post_init__(self) -> None:
        self.total = self._count(self.work.corpus.sizes.tolist())
        self.progress(self.work.scorer.spec, 0, self.total)

    def add(self, docs: Sequence[Document]) -> None:
        self.done += self._count([len(doc) for doc in docs])
        self.reported = self.done
        self.progress(self.work.scorer.spec, self.done, self.total)

    def report(self, docs: Sequence[Document], share: float) -> None:
        """Report a share of these documents; a metric may read them several times, and progress never decreases."""
        now = self.done + int(share * (self._count([len(doc) for doc in docs]) - 1))  # the last row, with its score
        if now > self.reported:
            self.reported = now
            self.progress(self.work.scorer.spec, now, self.total)

    def _count(self, sizes: Sequence[int]) -> int:
        for size in {*sizes} - {*self._rows}:
            self._rows[size] = len(self.work.outputs) * len(self.work.scorer.view.spans(size))
        return sum(map(self._rows.__getitem__, sizes))


@dataclass
class _Part:
    """Results of one output under one view, gathered so far."""

    work: BoundMetric
    output: Output
    only: Only | None
    gathered: Gathered = field(default_factory=Gathered)
    resegmented: int = 0  # documents of which the output has another number of segments

    def rows(self, doc: Document) -> list[tuple[Span, Request]]:
        """The rows of a document that are to be scored."""
        pairs = zip(*self.work.cut(doc, self.output))
        return [(span, request) for span, request in pairs
                if self.only is None or self.only[doc.id][span[0] : span[1]].any()]

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

    def scores(self, rows: Rows, mark: str, stated: tuple[str, ...]) -> Scores:
        """The scores of all rows; ``mark`` is the hash of the corpus."""
        metric, gathered = self.work.metric, self.gathered
        if not len(rows):
            raise MetricError(f"{self.work.scorer.spec} leaves no row to score", where=f"system {self.output.system}",
                              next="use a smaller view, or partial=include")
        stats, details = with_nulls(metric, self.output, rows, gathered.stats, list(gathered.details))
        outcomes = dict(metric.outcomes(details))
        if self.resegmented:
            outcomes["resegmented"] = f"{self.resegmented}/{len(self.work.corpus)}"
        return Scores(
            metric=self.work.scorer.spec, system=self.output.system, rows=rows, stats=stats,
            reduce=metric.reduce, reduce_rows=metric.reduce_rows, outputs=metric.outputs,
            higher_is_better=metric.higher_is_better, range=metric.range,
            signature=signature(self.work, self.output, rows, gathered.cut, mark, outcomes),
            details=tuple(details), lost=gathered.lost, stated=stated, reduce_docs=metric.reduce_docs,
            decimals=metric.decimals,
        )


def _alone(text: Excerpt) -> Excerpt:
    return without_context(text.scored, text.glue)


def _ask(parts: Sequence[_Part], doc: Document) -> Iterator[tuple[int, Request]]:
    """Whose request and the request, row by row over views and systems so that shared texts stay close."""
    found = [part.rows(doc) for part in parts]
    for part, rows in zip(parts, found):
        part.gathered.add_document([span for span, _ in rows])
        if isinstance(part.work.scorer.view, Whole):
            part.resegmented += any(len(request.hyp[0].parts) != len(doc) for _, request in rows)
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
