"""A plan: everything `score` would do up to the point where a model would run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.registry import scorer
from wholetext.scoring.bound import bind, check
from wholetext.scoring.engine import Engine
from wholetext.types import Corpus, Output, Request


@dataclass(frozen=True)
class ShownRow:
    """One row in full: the text of each side with the scored part marked."""

    doc: str
    start: int
    stop: int
    system: str
    sides: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Plan:
    """What a scorer would do on a corpus."""

    spec: str
    systems: int
    rows: int
    distinct: int
    segments: int
    dropped: int  # segments of one system that are not scored
    tokens: int | None  # tokens of all distinct requests; None where no model reads them
    lost_context: int  # distinct requests
    lost_focus: int
    shown: tuple[ShownRow, ...]

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def plan(corpus: Corpus, outputs: Sequence[Output], spec: str, *, show: int = 2) -> Plan:
    """Cut every document and fit every request, running no model."""
    check(corpus, outputs)
    engine = Engine(corpus.langs)
    work = bind(scorer(spec), corpus, outputs, engine, None)
    rows, covered, seen = 0, 0, {}
    shown: list[ShownRow] = []
    for doc in corpus.docs:
        for output in outputs:
            spans, requests = work.cut(doc, output)
            rows += len(spans)
            if output is outputs[0]:
                inside = np.zeros(len(doc), dtype=bool)
                for start, stop, _ in spans:
                    inside[start:stop] = True
                covered += int(inside.sum())
            seen.update(dict.fromkeys(requests))
            for (start, stop, _), request in zip(spans, requests):
                if len(shown) < show:
                    sides = work.metric.shows(request, engine)  # tokens where a model reads them, else the text
                    shown.append(ShownRow(doc.id, start, stop, output.system, tuple(sides or _sides(request))))
    fits = work.metric.fits(list(seen), engine)
    segments = sum(len(doc) for doc in corpus.docs)
    return Plan(
        spec=work.scorer.spec, systems=len(outputs), rows=rows, distinct=len(seen), segments=segments,
        dropped=segments - covered,
        tokens=None if fits is None else sum(fit.tokens for fit in fits),
        lost_context=sum(fit.lost_context > 0 for fit in fits or ()),
        lost_focus=sum(fit.lost_focus > 0 for fit in fits or ()),
        shown=tuple(shown),
    )


def _sides(request: Request) -> tuple[tuple[str, str], ...]:
    """Each side as context, «the scored part», context; parts divided by a bar, since models see them apart."""
    bar, sources = " ┃ ", (request.src,) if request.src is not None else ()
    excerpts = [("hyp", one) for one in request.hyp] + [("src", one) for one in sources]
    excerpts += [("ref", one) for one in request.refs]
    found = []
    for side, one in excerpts:
        pieces = [bar.join(one.before), f"«{bar.join(one.scored)}»", bar.join(one.after)]
        found.append((side, bar.join(filter(None, pieces))))
    return tuple(found)
