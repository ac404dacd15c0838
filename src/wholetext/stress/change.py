"""A change: where it can be made in a document, and the document with it made; every edit is labelled with its place.

A *site* is a set of replacements that are made together. A change finds its sites, the dose is how many of them are
made, and ``applied`` makes them: text outside the replacements cannot change.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

from wholetext.errors import MetricError
from wholetext.text.taggers.analysis import Analysis, Layer
from wholetext.text.taggers.plain import sentences

Kind = Literal["document", "sentence", "harmless"]
_ENDED = re.compile(r"[.!?…。！？][\"'”’»“)\]」』]*$")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|[A-ZÄÖÜ][a-zäöü]{1,2}|Prof|Capt|Sept|Corp|Bros|etc|approx|vs|ca|al|pp|"
    r"max|min|incl|excl|resp|tel|dept|figs?|"
    r"bzw|usw|evtl|тыс|млн|г|др|\d+)\.[\"'”’)]*$"
)
_WORDS = 4  # of the shortest sentence that is moved or left out: headings are shorter
_CHARACTERS = 8  # the same where words are not separated


class Refused(Exception):
    """A change that cannot be made in a document with certainty; the message is the reason."""


class Replacement(NamedTuple):
    """Characters ``start:end`` of a segment, and their replacement."""

    segment: int
    start: int
    end: int
    text: str


Site = tuple[Replacement, ...]


class Unit(NamedTuple):
    """A sentence: its place in a segment. ``whole``: it ends like one and is not a heading."""

    segment: int
    start: int
    end: int
    text: str
    whole: bool


class Edit(NamedTuple):
    """One place that was changed: ``before`` at ``was`` in the original segment, ``after`` at ``now`` in the new."""

    segment: int
    was: tuple[int, int]
    now: tuple[int, int]
    before: str
    after: str


@dataclass(frozen=True)
class Text:
    """A document to change, in one language; ``analyses`` are of its segments where the change asks for a tagger."""

    doc: str
    lang: str
    segments: tuple[str, ...]
    analyses: tuple[Analysis, ...] = ()
    others: Sequence[tuple[str, ...]] = ()  # texts of other documents
    glue: str = " "  # between two sentences
    units: tuple[Unit, ...] = field(
        init=False
    )  # its sentences, split only where the end of one is certain

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", tuple(units_of(self.segments, self.glue)))

    def whole_units(self) -> list[Unit]:
        return [unit for unit in self.units if unit.whole]


def units_of(segments: Sequence[str], glue: str = " ") -> Iterator[Unit]:
    """The sentences of segments; a stop after an abbreviation or a number ends none."""
    for place, segment in enumerate(segments):
        begun: int | None = None
        for start, end in sentences(segment):
            begun = start if begun is None else begun
            if end < len(segment.rstrip()) and _ABBREVIATED.search(segment[begun:end]):
                continue
            text = segment[begun:end]
            long = len(text.split()) >= _WORDS if glue else len(text) >= _CHARACTERS
            yield Unit(
                place, begun, end, text, long and _ENDED.search(text) is not None and _closed(text)
            )
            begun = None


def _closed(text: str) -> bool:
    """Whether quotation marks and brackets are in pairs: a sentence that is part of a longer quotation is no unit."""
    return text.count('"') % 2 == 0 and all(
        text.count(one) == text.count(other) for one, other in ("“”", "()", "«»")
    )


class Change:
    """A controlled change. Subclass, name it, and write ``sites``; docs/stress.md is the guide."""

    name: ClassVar[str]
    summary: ClassVar[str] = ""
    kind: ClassVar[Kind] = "document"
    languages: ClassVar[frozenset[str] | None] = (
        None  # codes of those in which it is sure; None: any
    )
    layers: ClassVar[frozenset[Layer]] = frozenset()  # what it asks of a tagger
    in_a_row: ClassVar[bool] = False  # whether the sites of a dose follow each other

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        """Every place where the change can be made, in order; raises ``Refused`` if the effect is uncertain."""
        raise MetricError(
            f"{type(self).__name__} cannot change a text", next="write its sites(text, rng) method"
        )


def certain(sites: list[Site], otherwise: str) -> list[Site]:
    """Return the sites, or refuse for this reason if there are none."""
    if not sites:
        raise Refused(otherwise)
    return sites


def applied(
    segments: Sequence[str], sites: Sequence[Site]
) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """The segments with all replacements of these sites made, and where they are."""
    made, edits = list(segments), []
    every = sorted((one for site in sites for one in site), key=lambda one: one[:3])
    for segment in sorted({one.segment for one in every}):
        old, new, at = segments[segment], "", 0
        for one in (one for one in every if one.segment == segment):
            if not at <= one.start <= one.end <= len(old):
                raise MetricError(
                    f"two replacements overlap in segment {segment}, or one is outside its text",
                    next="sites of a change must not touch each other",
                )
            new += old[at : one.start]
            edits.append(
                Edit(
                    segment,
                    (one.start, one.end),
                    (len(new), len(new) + len(one.text)),
                    old[one.start : one.end],
                    one.text,
                )
            )
            new, at = new + one.text, one.end
        made[segment] = new + old[at:]
    return tuple(made), tuple(edits)


def without(unit: Unit, segments: Sequence[str]) -> Replacement:
    """A sentence taken out of its segment, with the blanks that followed it (or came before the last one)."""
    segment = segments[unit.segment]
    start, end = unit.start, unit.end
    while end < len(segment) and segment[end].isspace():
        end += 1
    if end == len(segment):
        while start > 0 and segment[start - 1].isspace():
            start -= 1
    return Replacement(unit.segment, start, end, "")


def apart(units: Sequence[Unit], chosen: Sequence[int]) -> list[int]:
    """The chosen sentences without those that follow another of them in a segment: two gaps there would be one."""
    found: list[int] = []
    for at in sorted(chosen):
        if not (found and found[-1] == at - 1 and units[at - 1].segment == units[at].segment):
            found.append(at)
    return found


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def like(word: str, model: str) -> str:
    """A word in capitals or with a first capital where the model has them."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return capitalised(word) if model[:1].isupper() else word
