"""Decisions of a metric: the correct candidate must score strictly better than every other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError, MetricError, SpecError, count
from wholetext.files.parsing import number
from wholetext.io.text import read_lines
from wholetext.meta.contrastive.formats import Candidate, ContrastSet, Item
from wholetext.notes import Evidence, merged, row_notes
from wholetext.registry import Scorer, scorer
from wholetext.scoring.bound import BoundMetric, bind, salt_of
from wholetext.scoring.compute import Chunk, Computer
from wholetext.scoring.engine import Measured
from wholetext.scoring.evaluate import Options
from wholetext.scoring.traits import trait
from wholetext.types import Corpus, Document, FloatArray, Output, Request
from wholetext.views import Context, draw

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
    options, spec = options or Options(), bound.spec
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


# ---------------------------------------------------------------- wrong context, as a control


def with_controls(items: ContrastSet, scorer: Scorer) -> tuple[ContrastSet, Scorer]:
    """The items with the context that ``context(source=…)`` asks for, and the metric under
    ``source=same``.

    Views draw wrong context document by document, and every candidate is a separate document: drawn
    there, candidates of one item would be compared in different contexts.
    """
    view, warnings = scorer.view, items.warnings
    if not isinstance(view, Context) or view.source == "same":
        return items, scorer
    if view.source == "shuffled":
        changed = [_shuffled(item, view.seed) for item in items.items]
        short = sum(len(item.src_context) < 2 for item in items.items)
        if short:
            note = f"source=shuffled changes nothing in {count(short, 'item')} of {len(items)}"
            warnings = (*warnings, f"{note}: no two sentences")
    else:
        changed = _of_another(items.items, view.seed)
    return (
        replace(items, items=tuple(changed), warnings=warnings),
        replace(scorer, view=replace(view, source="same")),
    )


def _shuffled(item: Item, seed: int) -> Item:
    """Context sentences in an order drawn by item, the same on both sides."""
    drawn = [draw(seed, item.id, at) for at in range(len(item.src_context))]
    order = sorted(range(len(drawn)), key=drawn.__getitem__)
    candidates = tuple(
        Candidate(candidate.text, tuple(candidate.context[at] for at in order))
        for candidate in item.candidates
    )
    source = tuple(item.src_context[at] for at in order)
    return replace(item, src_context=source, candidates=candidates)


def _of_another(items: Sequence[Item], seed: int) -> list[Item]:
    """The context of an item whose source context is another one, and as long where there is such
    an item.
    """
    circle = sorted(range(len(items)), key=lambda at: (draw(seed, items[at].id), at))
    replaced = list(items)
    for place, at in enumerate(circle):
        item, size = items[at], len(items[at].src_context)
        lenders = [
            items[other]
            for other in (*circle[place + 1 : place + 200], *circle[:place][:200])
            if items[other].src_context and items[other].src_context != item.src_context
        ]
        if not lenders:
            raise SpecError(
                "context(source=other) needs items with different contexts",
                next="use source=shuffled",
            )
        lender = next((other for other in lenders if len(other.src_context) >= size), lenders[0])
        source, target = lender.src_context, lender.candidates[0].context
        cut = slice(len(source) - min(size, len(source)), None)
        candidates = tuple(Candidate(own.text, target[cut]) for own in item.candidates)
        replaced[at] = replace(item, src_context=source[cut], candidates=candidates)
    return replaced
