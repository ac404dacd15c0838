"""A plan: everything `score` would do up to the point where a model would run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from wholetext.errors import MetricError, count
from wholetext.files.cache import Cache
from wholetext.files.storage import write_file
from wholetext.notebook.display import brief
from wholetext.registry import scorer
from wholetext.scoring.bound import BoundMetric, bind, check
from wholetext.scoring.engine import Engine, trait
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
class PlannedCalls:
    """Calls to a chat model; an answer that cannot be read adds another call."""

    calls: int
    stored: int  # of them, answered before
    tokens_in: int  # of the others; four bytes are taken for a token
    tokens_out: int  # at most
    cost: float | None  # at most; None without a price of the model
    currency: str

    def __str__(self) -> str:
        """Calls, tokens and cost in four lines."""
        cost = (
            "cost unknown: no price of this model (--prices)"
            if self.cost is None
            else f"cost at most {self.cost:.4f} {self.currency}".rstrip()
        )
        return (
            f"{count(self.calls, 'call')}, {self.stored} answered before; the others:\n"
            f"  about {self.tokens_in:,} input tokens, at most {self.tokens_out:,} output tokens,\n"
            f"  {cost}\n"
            "  an answer that cannot be read costs one call more"
        )


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
    calls: PlannedCalls | None = None  # where a service does the work
    __repr__ = brief

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return dataclasses.asdict(self)


def plan(
    corpus: Corpus, outputs: Sequence[Output], spec: str, *, show: int = 2, calls: Any | None = None
) -> Plan:
    """Cut every document and fit every request without a model; ``calls``: settings of judges."""
    with _bound(corpus, outputs, spec, calls) as work:
        rows = [
            (doc, output, span, request)
            for doc in corpus.docs
            for output in outputs
            for span, request in zip(*work.cut(doc, output))
        ]
        requests = list(dict.fromkeys(request for *_, request in rows))
        covered = {
            (doc.id, segment)
            for doc, output, (start, stop, _), _ in rows
            for segment in range(start, stop)
            if output is outputs[0]
        }
        shows = trait(work.metric, "shows") or (lambda *_: None)  # tokens, else the text is shown
        fits = work.metric.fits(requests, work.engine)
        segments = sum(map(len, corpus.docs))
        return Plan(
            spec=work.scorer.spec,
            systems=len(outputs),
            rows=len(rows),
            distinct=len(requests),
            segments=segments,
            dropped=segments - len(covered),
            tokens=None
            if fits is None or trait(work.metric, "remote")
            else sum(fit.tokens for fit in fits),
            lost_context=sum(fit.lost_context > 0 for fit in fits or ()),
            lost_focus=sum(fit.lost_focus > 0 for fit in fits or ()),
            shown=tuple(
                ShownRow(
                    doc.id,
                    start,
                    stop,
                    output.system,
                    tuple(shows(request, work.engine) or _sides(request)),
                )
                for doc, output, (start, stop, _), request in rows[:show]
            ),
            calls=_calls(work, requests),
        )


def write_prompts(
    corpus: Corpus,
    outputs: Sequence[Output],
    specs: Sequence[str],
    path: Path | str,
    calls: Any | None = None,
) -> int:
    """Write the body of every call that judges would make as JSON Lines; return their number."""
    lines = []
    for spec in specs:
        with _bound(corpus, outputs, spec, calls) as work:
            plan_calls = trait(work.metric, "planned")
            if plan_calls is None:
                raise MetricError(
                    f"{work.scorer.spec} calls no chat model, so it has no prompts",
                    next="a dry run is for judges, such as judge-esa@MODEL",
                )
            pairs = product(corpus.docs, outputs)
            requests = dict.fromkeys(request for pair in pairs for request in work.cut(*pair)[1])
            chat, first, later = plan_calls(list(requests), work.engine)
            known = work.engine.stored(chat, [*first, *later])
            open_ = {*later}.difference(known)  # what they say depends on answers
            lines += [
                {
                    "metric": work.scorer.spec,
                    "stored": ask in known,
                    "preliminary": ask in open_,
                    "request": chat.body(ask),
                }
                for ask in dict.fromkeys((*first, *later))
            ]
    write_file(Path(path), "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return len(lines)


@contextmanager
def _bound(
    corpus: Corpus, outputs: Sequence[Output], spec: str, calls: Any | None
) -> Iterator[BoundMetric]:
    """The metric with the corpus; with the cache where it may have answers of a service."""
    check(corpus, outputs)
    parsed = scorer(spec)
    with closing(Cache()) if trait(parsed.metric, "remote") else nullcontext() as cache:
        yield bind(parsed, corpus, outputs, Engine(corpus.langs, cache=cache, calls=calls), None)


def _calls(work: BoundMetric, requests: Sequence[Request]) -> PlannedCalls | None:
    plan_calls = trait(work.metric, "planned")
    if plan_calls is None:
        return None
    chat, first, later = plan_calls(requests, work.engine)
    asks = list(dict.fromkeys((*first, *later)))
    known, calls = work.engine.stored(chat, asks), work.engine.calls
    missing = [ask for ask in asks if ask not in known]
    tokens = sum(chat.fit(ask).tokens for ask in missing)
    most = len(missing) * chat.sampling.max_tokens
    cost = calls.cost(chat.model, tokens, most)
    return PlannedCalls(len(asks), len(known), tokens, most, cost, calls.currency)


def _sides(request: Request) -> tuple[tuple[str, str], ...]:
    """Each side as context, «the scored part», context; bars separate its segments."""
    bar, sources = " ┃ ", (request.src,) if request.src is not None else ()
    return tuple(
        (
            side,
            bar.join([*excerpt.before, f"«{bar.join(excerpt.scored)}»", *excerpt.after]),
        )
        for side, excerpts in (("hyp", request.hyp), ("src", sources), ("ref", request.refs))
        for excerpt in excerpts
    )
