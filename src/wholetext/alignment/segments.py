"""Sentences put together to segments: which stretch of an output each segment gets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from wholetext.alignment.anchors import longest_in_order
from wholetext.alignment.beads import Bead
from wholetext.alignment.similarity import Span
from wholetext.alignment.word_cuts import cuts_by_words
from wholetext.text.sentences import Splitter

_SENTENCE = re.compile(r"[。！？]+[\"'”’»)\]」』）]*\s*|[.!?…؟।]+[\"'”’»)\]]*\s+")
_CLAUSE = re.compile(r"[,;:，；：、–—]+\s*")
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True)
class Sentences:
    """The sentences of segments, lines or paragraphs, and the index of their owner."""

    texts: tuple[str, ...]
    owner: tuple[int, ...]
    parts: int  # segments, with or without text

    @classmethod
    def of(cls, segments: Sequence[str], cut: Splitter) -> Sentences:
        pairs = [
            (text, i) for i, segment in enumerate(segments) for text in cut(segment) if text.strip()
        ]
        return cls(tuple(text for text, _ in pairs), tuple(i for _, i in pairs), len(segments))

    def rejoined(self) -> Sentences:
        """Join sentences that a line break had broken, and their lines.

        Where every third line goes on in the next (subtitles, lists, wrapped text), lines are units
        of their own and stay.
        """
        breaks = [at for at in range(1, len(self.owner)) if self.owner[at - 1] != self.owner[at]]
        joints = {
            at for at in breaks if _unended(self.texts[at - 1]) and self.texts[at][0].islower()
        }
        if len(joints) > max(2, len(breaks) / 3):
            return self
        texts: list[str] = []
        owner: list[int] = []
        first = {}  # line → the line that it continues
        for at, (text, line) in enumerate(zip(self.texts, self.owner)):
            if at in joints:
                texts[-1] += " " + text
                first[line] = owner[-1]
            else:
                texts.append(text)
                owner.append(first.get(line, line))
        return Sentences(tuple(texts), tuple(owner), self.parts)

    def lines(self) -> tuple[int, ...]:
        """Return the line of each sentence; a line without final punctuation goes on."""
        lines: list[int] = []
        for at, line in enumerate(self.owner):
            same = at and (self.owner[at - 1] == line or _unended(self.texts[at - 1]))
            lines.append(lines[-1] if same else at)
        return tuple(lines)

    def of_segments(self, span: Span) -> Span:
        """Return the segments of a stretch of sentences; an empty one follows the last."""
        if span[0] < span[1]:
            return self.owner[span[0]], self.owner[span[1] - 1] + 1
        at = self.owner[span[0] - 1] + 1 if span[0] else 0
        return at, at


def _unended(text: str) -> bool:
    """Tell whether a text has no final punctuation."""
    return text[-1].isalnum() or text[-1] in ",;"


def place(
    fixed: Sentences, free: Sequence[str], beads: Sequence[Bead], glue: str, *, across: bool = False
) -> tuple[list[str], list[list[Span]], list[tuple[int, int, str]]]:
    """Return the text of each segment, its stretches of ``glue.join(free)``, and additions.

    An addition is a segment, how many sentences were added to it, and its text without them.

    Where a bead has several segments, its text is cut near where words and lengths put the breaks
    (``across``: the two sides are of different languages). Added text goes to the segment before it
    (at the very start, the one after it), so that none is lost.
    """
    text = glue.join(free)
    starts = [0, *accumulate(len(sentence) + len(glue) for sentence in free)]
    spans: list[list[Span]] = [[] for _ in range(fixed.parts)]
    lead: list[str] = []  # added before the first segment
    added: list[list[str]] = [[] for _ in range(fixed.parts)]  # after a segment
    for bead in beads:
        if bead.free[0] == bead.free[1]:
            continue
        first, stop = fixed.of_segments(bead.fixed)
        begin, end = starts[bead.free[0]], starts[bead.free[1]] - len(glue)
        if first == stop:
            (added[first - 1] if first else lead).append(text[begin:end])
            continue
        sides = [
            " ".join(fixed.texts[i] for i in range(*bead.fixed) if fixed.owner[i] == at)
            for at in range(first, stop)
        ]
        places = cuts_by_words(sides, text[begin:end], across=across) if len(sides) > 1 else []
        for at, (a, b) in zip(range(first, stop), cut(text[begin:end], places)):
            spans[at] += [(begin + a, begin + b)] if a < b else []
    own = [
        glue.join(part for a, b in stretches if (part := text[a:b].strip())) for stretches in spans
    ]
    before = [lead, *([] for _ in own[1:])]
    parts = [
        glue.join(filter(None, (*front, middle, *back)))
        for front, middle, back in zip(before, own, added)
    ]
    extra = [
        (at, len(before[at]) + len(added[at]), middle)
        for at, middle in enumerate(own)
        if before[at] or added[at]
    ]
    return parts, spans, extra


def cut(text: str, targets: Sequence[int]) -> list[Span]:
    """Cut a text near these places: after sentences, clauses or words."""
    share = len(text) / (len(targets) + 1)
    places: dict[int, float] = {}  # where to cut → how unwelcome a cut is there
    if targets:
        for pattern, cost in ((_BLANK, 0.35), (_CLAUSE, 0.15), (_SENTENCE, 0.0)):
            places.update((match.end(), cost * share) for match in pattern.finditer(text))
        if not any(char.isspace() for char in text):
            places = {at: places.get(at, 0.6 * share) for at in range(1, len(text))}
    parts, start = [], 0
    for near in targets:
        rest = {at: cost + abs(at - near) for at, cost in places.items() if at > start}
        stop = min(rest, key=rest.__getitem__) if rest else len(text)
        parts.append((start, stop))
        start = stop
    return [*parts, (start, len(text))]


def beads_of_segments(beads: Sequence[Bead], fixed: Sentences) -> tuple[Bead, ...]:
    """Turn beads of sentences into beads of segments and sentences.

    Sentences of a segment that follow each other are one bead; a segment without text has an empty
    one.
    """
    merged: list[Bead] = []
    for bead in beads:
        if bead.free[0] == bead.free[1]:
            continue
        span, last = fixed.of_segments(bead.fixed), merged[-1] if merged else None
        if (
            last
            and last.linked
            and bead.linked
            and span[0] < last.fixed[1]
            and last.free[1] == bead.free[0]
        ):
            both = (last.fixed[0], max(span[1], last.fixed[1]))
            merged[-1] = Bead(both, (last.free[0], bead.free[1]))
        else:
            merged.append(Bead(span, bead.free))
    full = {at for bead in merged for at in range(*bead.fixed)}
    empty = [Bead((at, at + 1), (0, 0)) for at in range(fixed.parts) if at not in full]
    return tuple(sorted([*merged, *empty], key=lambda bead: (bead.fixed, bead.free)))


def moved(beads: Sequence[Bead]) -> tuple[Bead, ...]:
    """Return beads out of order: not in the longest chain that both sides have in order."""
    linked = [bead for bead in beads if bead.linked]
    chain = set(longest_in_order([(at, bead.free[0]) for at, bead in enumerate(linked)]))
    return tuple(bead for at, bead in enumerate(linked) if (at, bead.free[0]) not in chain)
