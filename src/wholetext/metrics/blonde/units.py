"""BlonDe's counts from the analysed segments of an output and its references.

People may annotate ambiguity and ellipsis (``an.txt``) and names (``ner.txt``); these files have
one line per segment.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wholetext.errors import AlignmentError, InputError
from wholetext.files.parsing import integer
from wholetext.io.formats.bwb import annotation_lines
from wholetext.io.text import read_lines
from wholetext.metrics.blonde.categories import DISCOURSE as DISCOURSE, Finder, Occurrence
from wholetext.text.taggers.analysis import Analysis
from wholetext.types import FloatArray, Request

NGRAMS = ("ngram1", "ngram2", "ngram3", "ngram4")
HUMAN = ("ambiguity", "ellipsis")
CATEGORIES = (*DISCOURSE, *NGRAMS, *HUMAN)  # first columns of the statistics in any language
Ngrams = tuple[Counter[tuple[str, ...]], ...]  # one counter per order
Segment = tuple[tuple[Occurrence, ...], Ngrams]
# 0 none, 2 pronoun ellipsis, 4 entity, 5 tense, 6 sentence carry no span
_ERRORS = {"1": "ambiguity", "3": "ellipsis"}
_GROUP = re.compile(r"\b(PERSON|NON-?PERSON)\s*:\s*\(([^)]*)\)", re.IGNORECASE)
_COUNT = 10_000  # occurrences of a name in one segment


class Checkpoint(NamedTuple):
    """A phrase that people marked in a segment of the reference."""

    category: str
    feature: str
    phrase: str
    times: int | None = None  # of a name: how often the reference has it


@dataclass(frozen=True, eq=False)
class Unit:
    """What is clipped together: one segment (or one whole document) of one text."""

    occurrences: tuple[tuple[int, Occurrence], ...]  # (segment, occurrence)
    ngrams: Ngrams  # none for d-blonde

    @cached_property
    def counts(self) -> Counter[tuple[str, str, str]]:
        """Occurrences by category, feature and what must be equal."""
        return Counter(occurrence[:3] for _, occurrence in self.occurrences)


Pair = tuple[Unit, Sequence[Unit]]  # output, references


def pooled(units: Sequence[Unit]) -> Unit:
    """A document as one unit, for ``clip_scope=document``."""
    orders = zip(*(unit.ngrams for unit in units))
    ngrams = (Counter(chain.from_iterable(map(Counter.elements, order))) for order in orders)
    return Unit(tuple(item for unit in units for item in unit.occurrences), tuple(ngrams))


# ---------------------------------------------------------------- annotation files


def read_annotations(name: str) -> list[list[Checkpoint]]:
    """Read phrases of ambiguity and ellipsis by segment.

    A line is ``MT sentence<TAB>1,reference phrase, MT phrase <pos/…>;…<TAB>3,…``.
    """
    lines = []
    for line in _lines(name, "annotations"):
        items = (item.strip().partition(",") for item in line.split("\t")[1:])
        phrases = (
            (_ERRORS[kind], span.partition(",")[0].strip())
            for kind, _, spans in items
            if kind in _ERRORS
            for span in spans.split(";")
        )
        lines.append(
            [
                Checkpoint(category, category, phrase)
                for category, phrase in dict.fromkeys(phrases)
                if len(phrase) >= 2 and not phrase.startswith("<")
            ]
        )
    return lines


def read_names(name: str) -> list[list[Checkpoint]]:
    """Read names by segment, with counts: ``PERSON: (Name: 2; …)<TAB>NONPERSON: (…)``."""
    lines = []
    for number, line in enumerate(_lines(name, "names"), 1):
        names = []
        for group, entries in _GROUP.findall(line):
            feature = "person" if group.upper() == "PERSON" else "nonperson"
            for entry in filter(str.strip, entries.split(";")):
                phrase, _, count = entry.rpartition(":")
                what, where = "the count of an entry 'Name: count'", f"{name}:{number}"
                times = integer(count, what=what, low=0, high=_COUNT, where=where)
                names.append(Checkpoint("entity", feature, phrase.strip(), times))
        lines.append(names)
    return lines


def _lines(name: str, kind: str) -> list[str]:
    """Read a file of annotations, or those of all chapters of a folder of BWB."""
    if Path(name).is_dir():
        return annotation_lines(name, kind)
    return read_lines(name)


def file_mark(name: str, kind: str) -> str:
    """Name a file or folder by its content hash, for the signature."""
    content = "\n".join(_lines(name, kind)).encode()
    return f"{Path(name).name}-{hashlib.blake2b(content, digest_size=4).hexdigest()}"


def find_phrases(
    text: str, checkpoints: Sequence[Checkpoint], *, is_ref: bool
) -> Iterator[Occurrence]:
    """Find marked phrases: whole words, any case; names in the reference as often as counted."""
    for category, feature, phrase, times in checkpoints:
        pattern = rf"(?<!\w){re.escape(phrase)}(?!\w)" if len(phrase) <= len(text) else "(?!)"
        places = [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
        if is_ref and times is not None:
            places = [*places, *[(0, 0)] * times][:times]
        for start, end in places:
            yield Occurrence(category, feature, phrase.lower(), start, end)


# ---------------------------------------------------------------- texts


def read(finder: Finder, analysis: Analysis, orders: Sequence[str]) -> Segment:
    """Find the occurrences of a segment and count its n-grams."""
    words = [token.text for token in analysis.tokens]
    grams = (zip(*(words[i:] for i in range(n))) for n, _ in enumerate(orders, 1))
    return finder.find(analysis), tuple(map(Counter, grams))


@dataclass(frozen=True, eq=False)
class Reader:
    """Turns requests into the units that are compared."""

    segments: Mapping[str, Segment]  # shared by all systems
    references: tuple[tuple[str, ...], ...] = ()  # of every segment of the corpus
    # what people marked in each of these segments, by file
    files: Sequence[Sequence[Sequence[Checkpoint]]] = ()
    named: bool = False  # whether one of the files replaces the names that a tagger finds
    by_document: bool = False
    lowercase: bool = False

    def pairs(self, request: Request) -> list[Pair]:
        """Pair output and references by segment, or as whole documents."""
        texts = [request.hyp[0].scored, *(view.scored for view in request.refs)]
        marked = self._marked(request)
        sides = [self._units(parts, marked, is_ref=i > 0) for i, parts in enumerate(texts)]
        if self.by_document:
            sides = [[pooled(side)] for side in sides]
        for parts, side in zip(texts[1:], sides[1:]):
            if len(side) != len(sides[0]):
                raise AlignmentError(
                    f"blonde compares segment by segment, but the output has {len(sides[0])} "
                    f"and the reference {len(side)} "
                    f"in the document that begins {' '.join(parts)[:60]!r}",
                    next="align them with `wholetext align`, or use blonde(clip_scope=document)",
                )
        return [(units[0], units[1:]) for units in zip(*sides)]

    def _marked(self, request: Request) -> list[list[Checkpoint]]:
        """Collect what is marked in each segment, found by the references' place in the corpus."""
        if not self.files:
            return []
        refs = tuple(zip(*(view.parts for view in request.refs)))
        total, size = len(self.references), len(refs)
        places = (at for at in range(total) if self.references[at : at + size] == refs)
        place, uneven = next(places, None), [len(file) for file in self.files if len(file) != total]
        if place is None or uneven:
            what = "the references of a text are not one piece of the corpus: use the view whole"
            lines = f"there are {uneven[0]} lines for {total} segments" if uneven else what
            raise InputError(
                f"the annotation lines of a text are unknown: {lines}",
                next="an annotation file has one line for each segment of the corpus, in order",
            )
        scored = slice(place + request.refs[0].focus[0], place + size)
        return [[*chain(*line)] for line in zip(*(file[scored] for file in self.files))]

    def _units(
        self, parts: Sequence[str], marked: Sequence[Sequence[Checkpoint]], *, is_ref: bool
    ) -> list[Unit]:
        units = []
        for index, (part, checkpoints) in enumerate(zip(parts, chain(marked, repeat(())))):
            occurrences, grams = self.segments[part.lower() if self.lowercase else part]
            tagged = [item for item in occurrences if not self.named or item.category != "entity"]
            by_people = find_phrases(part, checkpoints, is_ref=is_ref)
            units.append(Unit(tuple((index, item) for item in (*tagged, *by_people)), grams))
        return units


# ---------------------------------------------------------------- counts


def count(
    pairs: Sequence[Pair], features: Sequence[tuple[str, str]], weights: Mapping[str, float]
) -> FloatArray:
    """Count matches, reference and system: weighted by category, then plain by feature, (k,).

    Clipping is per unit (Eq. 2 over aligned segments); several references count as their maximum.
    """
    stats = np.zeros((len(CATEGORIES) + len(features), 3))
    columns = {feature: len(CATEGORIES) + i for i, feature in enumerate(features)}
    for hyp, refs in pairs:
        reference = _maximum([ref.counts for ref in refs])
        for key in hyp.counts.keys() | reference.keys():
            sys, ref = hyp.counts[key], reference[key]
            three = np.array((min(sys, ref), ref, sys), dtype=np.float64)
            stats[CATEGORIES.index(key[0])] += weights.get(key[1], 1.0) * three
            if key[:2] in columns:
                stats[columns[key[:2]]] += three
        for order, grams in enumerate(hyp.ngrams):
            needed = _maximum([unit.ngrams[order] for unit in refs])
            stats[len(DISCOURSE) + order] += (
                (grams & needed).total(),
                needed.total(),
                grams.total(),
            )
    return stats.reshape(-1)


def spans(pairs: Sequence[Pair], weights: Mapping[str, float]) -> dict[str, Any]:
    """List ``[segment, start, end, category, feature, matched]`` of output and references."""
    hyps = (_marked(hyp, refs, weights) for hyp, refs in pairs)
    refs = zip(*([_marked(ref, [hyp], weights) for ref in refs] for hyp, refs in pairs))
    return {"hyp": [*chain(*hyps)], "refs": [[*chain(*rows)] for rows in refs]}


def _marked(
    unit: Unit, others: Sequence[Unit], weights: Mapping[str, float]
) -> Iterator[list[Any]]:
    """Mark as many as the other side has: those with the same words first, then from the left."""
    left = Counter(_maximum([other.counts for other in others]))
    words = [Counter((*item[:3], item.word) for _, item in other.occurrences) for other in others]
    same = Counter(_maximum(words))
    matched = set()
    for by_word in (True, False):
        for place, (_, item) in enumerate(unit.occurrences):
            kind, named = item[:3], (*item[:3], item.word)
            if place not in matched and left[kind] > 0 and (not by_word or same[named] > 0):
                matched.add(place)
                left[kind] -= 1
                same[named] -= 1
    for place, (segment, item) in enumerate(unit.occurrences):
        if weights.get(item.feature, 1.0) > 0:
            yield [
                segment,
                item.start,
                item.end,
                item.category,
                item.feature,
                int(place in matched),
            ]


def _maximum(counters: Sequence[Counter[Any]]) -> Counter[Any]:
    return counters[0] if len(counters) == 1 else reduce(Counter.__or__, counters, Counter())
