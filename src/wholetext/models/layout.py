"""Token ids of a view: positions of the scored tokens, and truncation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Literal

from wholetext.types import Excerpt, Fit

Ids = tuple[int, ...]
Truncation = Literal["context", "reference"]


@dataclass(frozen=True)
class Markers:
    """A model's special ids: start and end of a sequence, separators of parts and of texts."""

    opening: Ids
    closing: Ids
    between: Ids  # parts of one text: context and scored segment
    pair: Ids  # two texts in one sequence (RoBERTa doubles the separator there)


@dataclass(frozen=True)
class Layout:
    """One sequence for the model: ``ids[start:stop]`` are the scored tokens."""

    ids: Ids
    start: int
    stop: int
    fit: Fit

    def kept(self, markers: bool) -> list[int]:
        """Positions of the scored tokens, optionally with the markers around them."""
        scored = range(self.start, self.stop)
        if not markers:
            return list(scored)
        closing = [self.stop] if self.stop < len(self.ids) else []
        return [*([0] if self.start > 0 else []), *scored, *closing]

    def marked(self, tokens: Sequence[str]) -> str:
        """The tokens as text, with «the scored ones» marked."""
        scored = f"«{' '.join(tokens[self.start : self.stop])}»"
        return " ".join([*tokens[: self.start], scored, *tokens[self.stop :]])


@dataclass(frozen=True)
class Parts:
    """The token ids of a view: context parts before, scored tokens, context parts after."""

    before: tuple[Ids, ...]
    scored: Ids
    after: tuple[Ids, ...]

    @classmethod
    def of(cls, view: Excerpt, ids: Callable[[str], Ids]) -> Parts:
        """A view part by part; the scored segments are one text."""
        return cls(tuple(map(ids, view.before)), ids(view.text), tuple(map(ids, view.after)))

    @property
    def context(self) -> int:
        return sum(map(len, self.before)) + sum(map(len, self.after))


def lay_out(
    parts: Parts, markers: Markers, limit: int, truncation: Truncation = "context"
) -> Layout:
    """``opening c1 sep c2 sep scored closing`` within ``limit`` ids, as ``truncation`` says."""
    if truncation == "reference":
        return _cut_right(parts, markers, limit)
    room = max(0, limit - len(markers.opening) - len(markers.closing))
    fitted = fit_in(parts, room, len(markers.between))
    ids, spans = assemble(fitted, markers)
    start, stop = spans[len(fitted.before)]
    text = len(fitted.scored) + fitted.context
    return Layout(
        ids,
        start,
        stop,
        Fit(
            tokens=len(ids),
            special=len(ids) - text,
            lost_context=parts.context - fitted.context,
            lost_focus=len(parts.scored) - len(fitted.scored),
        ),
    )


def assemble(parts: Parts, markers: Markers) -> tuple[Ids, list[tuple[int, int]]]:
    """The sequence, and where each part of the text begins and ends in it."""
    ids, spans = [*markers.opening], list[tuple[int, int]]()
    for text in (*parts.before, parts.scored, *parts.after):
        ids += markers.between if spans else ()
        spans.append((len(ids), len(ids) + len(text)))
        ids += text
    return (*ids, *markers.closing), spans


def fit_in(parts: Parts, room: int, gap: int) -> Parts:
    """Truncate parts to ``room`` ids, with ``gap`` more per context part.

    The farthest context sentences are dropped first (the earlier of two equally far), then the
    outer tokens of the last one; scored tokens only if they alone are too many.
    """
    scored = parts.scored[:room]
    room -= len(scored)
    before, after = list(parts.before), list(parts.after)
    size = parts.context + gap * (len(before) + len(after))
    while size > room and (len(before) > 1 or len(after) > 1):
        gone = before.pop(0) if len(before) >= len(after) else after.pop()
        size -= len(gone) + gap
    if size > room and before:
        rest = before[0][size - room :]
        size -= len(before[0]) - len(rest)
        before = [rest] if rest else []
        size -= 0 if rest else gap
    if size > room and after:
        rest = after[0][: max(0, len(after[0]) - (size - room))]
        after = [rest] if rest else []
    return Parts(tuple(before), scored, tuple(after))


def _cut_right(parts: Parts, markers: Markers, limit: int) -> Layout:
    """Truncate on the right as the published tools do, for comparison with them.

    The scored segment is then whatever follows the last remaining separator.
    """
    full, spans = assemble(parts, markers)
    body = full[: len(full) - len(markers.closing)][: max(0, limit - len(markers.closing))]
    ids = (*body, *markers.closing)
    separators = [i for i, token in enumerate(ids) if token == markers.between[-1]]
    start = separators[-2] + 1 if len(separators) > 1 else len(markers.opening)
    sizes = [max(0, min(stop, len(body)) - begin) for begin, stop in spans]  # what remains of each
    lost_focus = len(parts.scored) - sizes[len(parts.before)]
    lost_context = parts.context + len(parts.scored) - sum(sizes) - lost_focus
    fit = Fit(len(ids), len(ids) - sum(sizes), lost_context, lost_focus)
    return Layout(ids, start, len(body), fit)


def together(fits: Iterable[Fit]) -> Fit:
    """The sum over all sequences of a request."""
    return Fit(*map(sum, zip(*map(astuple, fits))))


def pad(sequences: Sequence[Ids], filler: int, min_length: int = 0) -> list[list[int]]:
    """Sequences padded on the right to the longest, or to ``min_length`` if that is longer."""
    longest = max(min_length, *map(len, sequences))
    return [[*ids, *[filler] * (longest - len(ids))] for ids in sequences]
