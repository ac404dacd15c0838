"""Decisions of a metric: the correct candidate must score strictly better than every other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError, MetricError, count
from wholetext.files.parsing import number
from wholetext.io.text import read_lines
from wholetext.meta.contrast.items import ContrastSet
from wholetext.meta.contrast.wrong_context import with_controls
from wholetext.notes import Evidence, merged, row_notes
from wholetext.registry import Scorer, scorer
from wholetext.scoring.blocks.stream import Block, Stream
from wholetext.scoring.bound import BoundMetric, bind, salt_of
from wholetext.scoring.engine import Measured
from wholetext.scoring.evaluate import Options
from wholetext.types import Corpus, Document, FloatArray, Output, Request

BoolArray = NDArray[np.bool_]
_LINES = "one score per line: for each item the correct candidate, then the others"


@dataclass(frozen=True, eq=False)
class Decisions:
    """What one metric decided, item by item."""

    metric: str
    set: ContrastSet
    scores: tuple[FloatArray, ...]  # per item, the correct candidate first; higher is better
    warnings: tuple[str, ...] = ()

    @cached_property
    def margin(self) -> FloatArray:
        """(items,) the correct candidate's lead over the best other; NaN if a score is undefined."""
        # numpy's max of NaN and a number is NaN
        return np.array([one[0] - one[1:].max() for one in self.scores])

    @property
    def correct(self) -> BoolArray:
        """(items,) ties and undefined scores are errors."""
        return np.asarray(self.margin > 0)

    @property
    def chance(self) -> FloatArray:
        """(items,) the chance that the correct candidate comes first by luck."""
        return np.array([1 / len(item.candidates) for item in self.set.items])


def decide(items: ContrastSet, metric: str | Scorer, options: Options | None = None) -> Decisions:
    """Score every candidate in its context under the metric's view; each distinct request once."""
    one = scorer(metric) if isinstance(metric, str) else metric
    if "ref" in one.metric.needs:
        raise MetricError(f"{one.spec} needs a reference, which would make the decision trivial",
                          next="use a reference-free metric (`wholetext list --no-ref`)")
    options = options or Options()
    spec = one.spec
    shown, one = with_controls(items, one)
    corpus, output = as_documents(shown)
    with options.engine(items.langs) as engine, options.opened() as executor:
        stream = Stream(engine, executor)
        work = bind(one, corpus, [output], engine, (), remote=executor.remote)
        found = _last_segments(stream, work, output, options.block or work.metric.block)
    sign = 1.0 if work.metric.higher_is_better else -1.0
    ends = np.cumsum([len(item.candidates) for item in items.items])[:-1]
    notes = [*shown.warnings[len(items.warnings) :], *merged({spec: {"": row_notes(found, "candidates")}})]
    return Decisions(spec, items, tuple(np.split(sign * found.scores, ends)), tuple(notes))


def as_documents(items: ContrastSet) -> tuple[Corpus, Output]:
    """Each candidate as a separate document, with the sentences before it."""
    docs, texts = [], {}
    for place, item in enumerate(items.items):
        for at, candidate in enumerate(item.candidates):
            name = f"{place}/{at}"
            docs.append(Document(name, (*item.src_context, item.src)))
            texts[name] = (*candidate.context, candidate.text)
    return Corpus(items.name, items.langs, tuple(docs)), Output("candidates", texts)


def _last_segments(stream: Stream, work: BoundMetric, output: Output, block: int) -> Evidence:
    """The score of each candidate: the mean of the rows that cover a document's last segment."""
    salt = salt_of(work)
    found: list[float] = []
    details: list[Mapping[str, Any] | None] = []
    lost = [np.zeros((0, 2), dtype=np.int64)]

    def take(counts: list[int], measured: Measured) -> None:
        rows = work.metric.reduce_rows(measured.stats)[:, 0] if sum(counts) else np.zeros(0)
        for part in np.split(rows, np.cumsum(counts)[:-1]):
            found.append(float(part.mean()) if len(part) else float("nan"))
        details.extend(measured.details)
        lost.append(measured.lost)

    def blocks() -> Iterator[Block]:
        for begin in range(0, len(work.corpus.docs), block):
            asked: list[Request] = []
            counts = []
            for doc in work.corpus.docs[begin : begin + block]:
                spans, requests = work.cut(doc, output)
                mine = [request for (_, stop, _), request in zip(spans, requests) if stop == len(doc)]
                asked += mine
                counts.append(len(mine))
            yield Block(work.metric, asked, salt, then=partial(take, counts))

    stream.run(blocks())
    return Evidence(work.metric.notes(work.corpus.langs), np.array(found), np.concatenate(lost), details)


def given_scores(items: ContrastSet, path: str | Path, *, higher_is_better: bool = True, name: str = "") -> Decisions:
    """Decisions from a file of scores: a line per candidate, the correct one first."""
    sizes = [len(item.candidates) for item in items.items]
    values = [number(line, finite=False, where=f"{path}:{place}", next=_LINES)
              for place, line in enumerate(read_lines(path), 1)]
    if len(values) != sum(sizes):
        raise InputError(f"{count(len(values), 'score')} for {count(sum(sizes), 'candidate')}", where=str(path),
                         next=_LINES)
    signed = np.array(values) * (1.0 if higher_is_better else -1.0)
    return Decisions(name or Path(path).stem, items, tuple(np.split(signed, np.cumsum(sizes)[:-1])))
