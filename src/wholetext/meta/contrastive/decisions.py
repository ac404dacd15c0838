"""Decisions of a metric: the correct candidate must score strictly better than every other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError, MetricError, count
from wholetext.files.parsing import number
from wholetext.io.text import read_lines
from wholetext.meta.contrastive.items import ContrastSet
from wholetext.meta.contrastive.wrong_context import with_controls
from wholetext.notes import Evidence, merged, row_notes
from wholetext.registry import Scorer, scorer
from wholetext.scoring.bound import BoundMetric, bind, salt_of
from wholetext.scoring.compute import Chunk, Computer
from wholetext.scoring.engine import Measured, trait
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
        """(items,) the correct candidate's lead over the best other.

        NaN if a score is undefined.
        """
        # numpy's max of NaN and a number is NaN
        return np.array([scores[0] - scores[1:].max() for scores in self.scores])

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
    bound = scorer(metric) if isinstance(metric, str) else metric
    if "ref" in bound.metric.needs:
        raise MetricError(
            f"{bound.spec} needs a reference, which would make the decision trivial",
            next="use a reference-free metric (`wholetext list --no-ref`)",
        )
    options = options or Options()
    spec = bound.spec
    shown, bound = with_controls(items, bound)
    corpus, output = as_documents(shown)
    with options.computer(items.langs) as computer:
        work = bind(bound, corpus, [output], computer.engine, (), remote=computer.executor.remote)
        evidence = _last_segments(
            computer, work, output, options.block or trait(work.metric, "block")
        )
    sign = 1.0 if work.metric.higher_is_better else -1.0
    ends = np.cumsum([len(item.candidates) for item in items.items])[:-1]
    notes = [
        *shown.warnings[len(items.warnings) :],
        *merged({spec: {"": row_notes(evidence, "candidates")}}),
    ]
    return Decisions(spec, items, tuple(np.split(sign * evidence.scores, ends)), tuple(notes))


def as_documents(items: ContrastSet) -> tuple[Corpus, Output]:
    """Each candidate as a separate document, with the sentences before it."""
    docs, texts = [], {}
    for place, item in enumerate(items.items):
        for at, candidate in enumerate(item.candidates):
            name = f"{place}/{at}"
            docs.append(Document(name, (*item.src_context, item.src)))
            texts[name] = (*candidate.context, candidate.text)
    return Corpus(items.name, items.langs, tuple(docs)), Output("candidates", texts)


def _last_segments(computer: Computer, work: BoundMetric, output: Output, size: int) -> Evidence:
    """The score of each candidate: the mean of the rows that cover a document's last segment."""
    requests: list[Request] = []
    ends: list[int] = []  # of the requests of each candidate
    for doc in work.corpus.docs:
        spans, cut = work.cut(doc, output)
        requests += [request for (_, stop, _), request in zip(spans, cut) if stop == len(doc)]
        ends.append(len(requests))
    salt, measured = salt_of(work), list[Measured]()
    computer.run(
        Chunk(work.metric, requests[at : at + size], salt, measured.append)
        for at in range(0, len(requests), size)
    )
    rows = np.concatenate(
        [np.zeros(0), *(work.metric.reduce_rows(chunk.stats)[:, 0] for chunk in measured)]
    )
    scores = [
        float(part.mean()) if len(part) else float("nan") for part in np.split(rows, ends[:-1])
    ]
    lost = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(chunk.lost for chunk in measured)])
    details = [facts for chunk in measured for facts in chunk.details]
    return Evidence(work.metric.notes(work.corpus.langs), np.array(scores), lost, details)


def stored_decisions(
    items: ContrastSet, path: str | Path, *, higher_is_better: bool = True, name: str = ""
) -> Decisions:
    """Decisions from a file of scores: a line per candidate, the correct one first."""
    sizes = [len(item.candidates) for item in items.items]
    values = [
        number(line, finite=False, where=f"{path}:{place}", next=_LINES)
        for place, line in enumerate(read_lines(path), 1)
    ]
    if len(values) != sum(sizes):
        raise InputError(
            f"{count(len(values), 'score')} for {count(sum(sizes), 'candidate')}",
            where=str(path),
            next=_LINES,
        )
    signed = np.array(values) * (1.0 if higher_is_better else -1.0)
    return Decisions(name or Path(path).stem, items, tuple(np.split(signed, np.cumsum(sizes)[:-1])))
