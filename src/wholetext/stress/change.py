"""Changes of a document: the sites where one can be made, and the labelled edits that make it.

A *site* is a set of replacements that are made together. A change finds its sites, the dose is how
many of them are made, and ``applied`` makes them: text outside the replacements cannot change.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

from wholetext import slices
from wholetext.errors import known
from wholetext.text.taggers.analysis import Analysis, Layer
from wholetext.text.taggers.plain import sentences

Kind = Literal["document", "sentence", "harmless"]
_ENDED = re.compile(r"[.!?…。！？][\"'”’»“)\]」』]*$")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|[A-ZÄÖÜ][a-zäöü]{1,2}|Prof|Capt|Sept|Corp|"
    r"Bros|etc|approx|vs|ca|al|pp|max|min|incl|excl|resp|tel|dept|figs?|"
    r"bzw|usw|evtl|тыс|млн|г|др|\d+)\.[\"'”’)]*$"
)
_WORDS = 4  # of the shortest sentence that is moved or left out: headings are shorter
_CHARACTERS = 8  # the same where words are not separated


class NotApplicable(Exception):
    """A change that cannot be made in a document with certainty; the message is the reason."""


class Replacement(NamedTuple):
    """Characters ``start:end`` of a segment, and their replacement."""

    segment: int
    start: int
    end: int
    text: str


Site = tuple[Replacement, ...]


class SentenceSpan(NamedTuple):
    """A sentence: its place in a segment. ``whole``: it ends like one and is not a heading."""

    segment: int
    start: int
    end: int
    text: str
    whole: bool


class Edit(NamedTuple):
    """One changed place: ``before`` at ``was`` of the original, ``after`` at ``now`` of the new."""

    segment: int
    was: tuple[int, int]
    now: tuple[int, int]
    before: str
    after: str


@dataclass(frozen=True)
class TaggedText:
    """A document to change; ``analyses`` are of its segments where the change needs a tagger."""

    doc: str
    lang: str
    segments: tuple[str, ...]
    analyses: tuple[Analysis, ...] = ()
    others: Sequence[tuple[str, ...]] = ()  # texts of other documents
    glue: str = " "  # between two sentences

    @cached_property
    def units(self) -> tuple[SentenceSpan, ...]:
        """Its sentences, split only where the end of one is certain."""
        return tuple(units_of(self.segments, self.glue))

    def whole_units(self) -> list[SentenceSpan]:
        return [unit for unit in self.units if unit.whole]


def units_of(segments: Sequence[str], glue: str = " ") -> Iterator[SentenceSpan]:
    """Split segments into sentences; a stop after an abbreviation or a number ends none."""
    for place, segment in enumerate(segments):
        begun: int | None = None
        for start, end in sentences(segment):
            begun = start if begun is None else begun
            if end < len(segment.rstrip()) and _ABBREVIATED.search(segment[begun:end]):
                continue
            text = segment[begun:end]
            long = len(text.split()) >= _WORDS if glue else len(text) >= _CHARACTERS
            yield SentenceSpan(
                place, begun, end, text, long and _ENDED.search(text) is not None and _closed(text)
            )
            begun = None


def _closed(text: str) -> bool:
    """Tell whether quotation marks and brackets are in pairs: no part of a longer quotation."""
    return text.count('"') % 2 == 0 and all(
        text.count(opening) == text.count(closing) for opening, closing in ("“”", "()", "«»")
    )


Find = Callable[[TaggedText, random.Random], Iterable[Site]]


@dataclass(frozen=True)
class Change:
    """A controlled change: ``find`` lists, in order, where it can be made with certainty."""

    name: str
    summary: str
    find: Find
    kind: Kind = "document"
    otherwise: str = ""  # why it is not made in a document where no site is found
    languages: frozenset[str] | None = None  # where it is certain; None: any language
    layers: frozenset[Layer] = frozenset()  # what it asks of a tagger
    in_a_row: bool = False  # whether the sites of a dose follow each other

    def sites(self, text: TaggedText, rng: random.Random) -> list[Site]:
        """List every place where the change can be made; ``NotApplicable`` if there is none."""
        sites = list(self.find(text, rng))
        if not sites:
            raise NotApplicable(self.otherwise)
        return sites


def change(name: str, summary: str, **settings: Any) -> Callable[[Find], Change]:
    """Make a ``Change`` of the function that finds its sites."""
    return lambda find: Change(name, summary, find, **settings)


def applied(
    segments: Sequence[str], sites: Sequence[Site]
) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """Make all replacements of these sites; return the segments and the edits."""
    changed, edits = list(segments), list[Edit]()
    shift: Counter[int] = Counter()  # segment → characters that its text has grown by
    for segment, start, end, new in sorted(chain(*sites)):
        before, begin = segments[segment][start:end], start + shift[segment]
        text = changed[segment]
        changed[segment] = text[:begin] + new + text[begin + len(before) :]
        edits.append(Edit(segment, (start, end), (begin, begin + len(new)), before, new))
        shift[segment] += len(new) - len(before)
    return tuple(changed), tuple(edits)


def without(unit: SentenceSpan, segments: Sequence[str]) -> Replacement:
    """Take a sentence out of its segment, with the blanks after it (or before the last one)."""
    before, after = segments[unit.segment][: unit.start], segments[unit.segment][unit.end :]
    rest = after.lstrip()
    start = unit.start if rest else len(before.rstrip())
    return Replacement(unit.segment, start, unit.end + len(after) - len(rest), "")


def apart(units: Sequence[SentenceSpan], chosen: Sequence[int]) -> list[int]:
    """Leave out chosen sentences that follow another in their segment: gaps must not touch."""
    alone: list[int] = []
    for at in sorted(chosen):
        if alone[-1:] != [at - 1] or units[at - 1].segment != units[at].segment:
            alone.append(at)
    return alone


def capitalised(text: str) -> str:
    """Write the first letter as a capital."""
    return text[:1].upper() + text[1:]


def like(word: str, model: str) -> str:
    """Capitalise a word as the model is."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return capitalised(word) if model[:1].isupper() else word


# ---------------------------------------------------------------- changes by name

# module and function in ``changes``: errors of documents, errors of sentences, harmless changes
CHANGES = (
    "consistency:pronoun",
    "consistency:tense",
    "consistency:name",
    "consistency:term",
    "relations:connective",
    "relations:no_connective",
    "structure:swap",
    "structure:shuffle",
    "structure:drop",
    "structure:double",
    "structure:foreign",
    "controls:number",
    "controls:negation",
    "controls:paraphrase",
    "controls:contraction",
    "controls:typography",
    "controls:resegment",
)


def list_changes() -> dict[str, Change]:
    """List every change by name."""
    changes = (slices.load(f"wholetext.stress.changes.{place}") for place in CHANGES)
    return {change.name: change for change in changes}


def described() -> dict[str, dict[str, Any]]:
    """Describe every change by its summary, kind and languages."""
    return {
        name: {
            "kind": change.kind,
            "summary": change.summary,
            "languages": None if change.languages is None else sorted(change.languages),
        }
        for name, change in list_changes().items()
    }


def chosen_changes(requested: Sequence[str] | None) -> list[Change]:
    """Return the requested changes, all of them by default."""
    changes = list_changes()
    names = dict.fromkeys(changes if requested is None else requested)
    return [changes[known("change", name, changes)] for name in names]
