"""Views: how a document is divided into rows, and which text each row's request has."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from wholetext.errors import AlignmentError, SpecError, count
from wholetext.text import joiner
from wholetext.types import Document, Excerpt, Request, Scores

Span = tuple[int, int, float]  # start, stop, weight
Joiner = Literal["auto", "space", "none"]


@dataclass(frozen=True)
class Sides:
    """Sides of a document that a metric reads, and the languages that decide how they are joined."""

    langs: tuple[str, str] = ("", "")
    src: bool = False
    refs: tuple[str, ...] = ()
    context_refs: tuple[str, ...] = ()  # where reference context for the hypothesis may come from
    # content tokens of a request, for token budgets; None: the metric has no model
    count: Callable[[Request], int] | None = None
    other: tuple[Document, tuple[str, ...]] | None = (
        None  # a document and its output that provide wrong context
    )
    own_context: bool = False  # context(hyp=auto) is the hypothesis's own


def glue_of(lang: str, scores: Scores) -> str:
    """What the view of these scores joins segments with."""
    return joiner(lang, scores.signature.get("view.joiner", "auto"))


def stretches(
    segments: Sequence[str], glue: str, start: int, end: int
) -> Iterator[tuple[int, int, int]]:
    """Locate characters ``start:end`` of the joined segments as (segment, start, end)."""
    for place, text in enumerate(segments):
        if max(start, 0) < min(end, len(text)):
            yield place, max(start, 0), min(end, len(text))
        start, end = start - len(text) - len(glue), end - len(text) - len(glue)


@dataclass(frozen=True)
class View:
    """Division of a document into rows, and the text of each row's request."""

    name: ClassVar[str]

    joiner: Joiner = "auto"

    def spans(self, size: int) -> list[Span]:
        """(start, stop, weight) of each row of a document with ``size`` segments."""
        return [(i, i + 1, 1.0) for i in range(size)]

    def cut(
        self, doc: Document, hyp: tuple[str, ...], sides: Sides
    ) -> tuple[list[Span], list[Request]]:
        """The rows of a document and one request for each; call ``check`` first."""
        spans = self.spans(len(doc))
        return spans, [self.window(doc, hyp, sides, start, stop) for start, stop, _ in spans]

    def check(self, doc: Document, hyp: tuple[str, ...], sides: Sides) -> None:
        """Every side must have the document's number of segments."""
        texts = {"output": hyp, **{f"reference {name}": doc.refs[name] for name in sides.refs}}
        for side, text in texts.items():
            if len(text) != len(doc):
                raise AlignmentError(
                    f"the {side} has {count(len(text), 'segment')}, the document {len(doc)}",
                    where=f"document {doc.id}",
                    next="align them with `score --align`, or use a whole: view, which needs no segments",
                )

    def window(
        self, doc: Document, hyp: tuple[str, ...], sides: Sides, start: int, stop: int
    ) -> Request:
        """Segments ``start:stop`` of every side, all of them scored."""
        source, target = (joiner(lang, self.joiner) for lang in sides.langs)
        src = doc.src if sides.src else None
        return Request(
            hyp=(without_context(hyp[start:stop], target),),
            src=None if src is None else without_context(src[start:stop], source),
            refs=tuple(without_context(doc.refs[name][start:stop], target) for name in sides.refs),
        )


def without_context(parts: tuple[str, ...], glue: str) -> Excerpt:
    """Segments of which all are scored."""
    return Excerpt(parts, (0, len(parts)), glue)


@dataclass(frozen=True)
class Sentence(View):
    """Each segment by itself."""

    name: ClassVar[str] = "sentence"


@dataclass(frozen=True)
class Context(View):
    """Each segment scored alone but read with its neighbours (Vernikos et al. 2022, §3).

    The hypothesis borrows the reference's context where there is one (``hyp=ref``), else its own.
    ``source`` is for controls: as much context, but from anywhere in the document (``shuffled``) or
    from another one (``other``).
    """

    name: ClassVar[str] = "context"

    prev: int = 2
    next: int = 0
    hyp: Literal["auto", "ref", "own"] = "auto"
    source: Literal["same", "shuffled", "other"] = "same"
    seed: int = 0  # of the draws that controls make

    def __post_init__(self) -> None:
        if self.prev < 0 or self.next < 0:
            raise SpecError(
                f"context(prev={self.prev},next={self.next}): context sizes cannot be negative",
                next="context(prev=0) reads each segment alone",
            )

    def window(
        self, doc: Document, hyp: tuple[str, ...], sides: Sides, start: int, stop: int
    ) -> Request:
        before, after = self._places(doc, start, sides)
        lender, lent = sides.other if self.source == "other" and sides.other else (doc, hyp)
        source, target = (joiner(lang, self.joiner) for lang in sides.langs)

        def around(segment: str, stream: tuple[str, ...], glue: str) -> Excerpt:
            parts = (*(stream[j] for j in before), segment, *(stream[j] for j in after))
            return Excerpt(parts, (len(before), len(before) + 1), glue)

        streams = [lender.refs[name] for name in self.borrowed(sides)] or [lent]
        hyps = tuple(around(hyp[start], stream, target) for stream in streams)
        src = doc.src if sides.src else None
        return Request(
            hyp=hyps[:1] if len(set(hyps)) == 1 else hyps,
            src=None if src is None else around(src[start], lender.src or (), source),
            refs=tuple(
                around(doc.refs[name][start], lender.refs[name], target) for name in sides.refs
            ),
        )

    def _places(self, doc: Document, i: int, sides: Sides) -> tuple[Sequence[int], Sequence[int]]:
        """Indices of the context before and after segment ``i``, here or in the lending document."""
        many, more = min(i, self.prev), min(len(doc) - i - 1, self.next)
        if self.source == "same":
            return range(i - many, i), range(i + 1, i + 1 + more)
        if self.source == "shuffled":
            others = [j for j in range(len(doc)) if j != i]
            places = sorted(others, key=lambda j: draw(self.seed, doc.id, i, j))
            return places[:many], places[many : many + more]
        if sides.other is None:
            raise SpecError(
                "context(source=other) needs at least two documents", next="use source=shuffled"
            )
        other, lent = sides.other
        size = min(len(other), len(lent), *(len(other.refs[name]) for name in sides.refs))
        start = draw(self.seed, doc.id, i) % max(1, size - many - more + 1)
        middle = min(start + many, size)  # consecutive segments there, up to the end of its text
        return range(start, middle), range(middle, min(middle + more, size))

    def borrowed(self, sides: Sides) -> tuple[str, ...]:
        """Names of the references whose context the hypothesis borrows; none = its own."""
        if self.hyp == "own" or (self.hyp == "auto" and sides.own_context):
            return ()
        if self.hyp == "ref" and not (sides.refs or sides.context_refs):
            raise SpecError(
                "context(hyp=ref) needs a reference, and there is none", next="use context(hyp=own)"
            )
        return sides.refs or (sides.context_refs[:1] if self.hyp == "ref" else ())


def lenders(docs: Sequence[Document], seed: int, size: int) -> dict[str, Document]:
    """Document id → another document for wrong context, independent of their order.

    Only documents of at least ``size`` segments provide context, if there are two of them.
    """
    order = sorted(docs, key=lambda doc: (draw(seed, doc.id), doc.id))
    enough = size if sum(len(doc) >= size for doc in docs) > 1 else 1
    lending: dict[str, Document] = {}
    following: Document | None = None
    for doc in (*reversed(order), *reversed(order)):  # twice: the last documents find the first
        if following is not None and following.id != doc.id:
            lending[doc.id] = following
        if len(doc) >= enough:
            following = doc
    return lending


def draw(*key: object) -> int:
    """A pseudo-random number that depends on the key alone, in every version of Python."""
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True)
class Slide(View):
    """A window of ``size`` segments moved by ``step`` (SLIDE: Raunak et al. 2024, §3), or of up to ``tokens`` tokens.

    ``partial``: text at the end that fills no window is dropped, is a window, or is a window
    weighted by length. ``remainder``: whether that last window starts where the next one would
    (strided) or holds only uncovered segments.
    """

    name: ClassVar[str] = "slide"

    size: int | None = None
    step: int | None = None  # windows side by side unless given
    partial: Literal["drop", "include", "weighted"] = "drop"
    remainder: Literal["strided", "uncovered"] = "strided"
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.step is None:
            object.__setattr__(self, "step", self.size)
        numbers = [n for n in (self.size, self.tokens, self.step) if n is not None]
        one_window = (self.size is None) != (self.tokens is None)
        if not one_window or min(numbers) < 1 or (self.step or 0) > (self.size or sys.maxsize):
            raise SpecError(
                "slide needs a window, size=segments or tokens=budget, and a step of 1 up to size",
                next="e.g. slide(size=6,step=6):… or slide(tokens=500):…",
            )

    def spans(self, size: int) -> list[Span]:
        window, step = self.size or 1, self.step or 1
        count = (size - window) // step + 1 if size >= window else 0
        bounds = [(i * step, i * step + window) for i in range(count)]
        left = (size - window) % step if count else size
        if left and self.partial != "drop":
            bounds.append((count * step if self.remainder == "strided" else size - left, size))
        return [(a, b, float(b - a) if self.partial == "weighted" else 1.0) for a, b in bounds]

    def cut(
        self, doc: Document, hyp: tuple[str, ...], sides: Sides
    ) -> tuple[list[Span], list[Request]]:
        if self.tokens is None:
            return super().cut(doc, hyp, sides)
        if sides.count is None:
            raise SpecError(
                "slide(tokens=…) counts a model's tokens, and this metric has no model",
                next="use slide(size=…) instead",
            )
        sizes = [sides.count(self.window(doc, hyp, sides, i, i + 1)) for i in range(len(doc))]
        windows = token_windows(sizes, self.tokens, self.step)
        spans = [(start, stop, float(stop - start)) for start, stop in windows]
        return spans, [self.window(doc, hyp, sides, *window) for window in windows]


def token_windows(sizes: Sequence[int], budget: int, step: int | None) -> list[tuple[int, int]]:
    """Windows of at most ``budget`` tokens, at least one segment each (SLIDE, appendix A.2)."""
    windows, start = [], 0
    while start < len(sizes):
        stop, used = start + 1, sizes[start]
        while stop < len(sizes) and used + sizes[stop] <= budget:
            used += sizes[stop]
            stop += 1
        windows.append((start, stop))
        if stop == len(sizes):
            break
        start = stop if step is None else min(start + step, stop)
    return windows


@dataclass(frozen=True)
class Paragraph(View):
    """Blocks of ``size`` consecutive segments (Deutsch et al. 2023, §3); the last one may be shorter."""

    name: ClassVar[str] = "paragraph"

    size: int = 5
    partial: Literal["include", "drop"] = "include"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise SpecError(
                f"paragraph(size={self.size}) must be at least 1", next="e.g. paragraph(size=5):…"
            )

    def spans(self, size: int) -> list[Span]:
        stops = [(a, min(a + self.size, size)) for a in range(0, size, self.size)]
        return [(a, b, 1.0) for a, b in stops if self.partial == "include" or b - a == self.size]


@dataclass(frozen=True)
class Whole(View):
    """The whole document at once; sides may have different numbers of segments."""

    name: ClassVar[str] = "whole"

    def spans(self, size: int) -> list[Span]:
        return [(0, size, 1.0)]

    def check(self, doc: Document, hyp: tuple[str, ...], sides: Sides) -> None:
        """Nothing to check: segments need not be aligned."""

    def window(
        self, doc: Document, hyp: tuple[str, ...], sides: Sides, start: int, stop: int
    ) -> Request:
        return super().window(doc, hyp, sides, 0, sys.maxsize)  # each side to its own end


VIEWS: Mapping[str, type[View]] = {
    "sentence": Sentence,
    "context": Context,
    "slide": Slide,
    "paragraph": Paragraph,
    "whole": Whole,
}
