"""BlonDe's counts from the analysed segments of an output and its references.

People may annotate ambiguity and ellipsis (``an.txt``) and names (``ner.txt``); these files have
one line per segment.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain
from pathlib import Path
from typing import Any

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
# 0 none, 2 pronoun ellipsis, 4 entity, 5 tense, 6 sentence carry no span
_ERRORS = {"1": "ambiguity", "3": "ellipsis"}
_GROUP = re.compile(r"\b(PERSON|NON-?PERSON)\s*:\s*\(([^)]*)\)", re.IGNORECASE)
_COUNT = 10_000  # occurrences of a name in one segment
# One line of a file: category or group → phrases, with the count a name has in the reference.
Checkpoints = Mapping[str, Sequence[tuple[str, int]]]


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


def read_annotations(name: str) -> tuple[Checkpoints, ...]:
    """Read reference phrases by category.

    A line is ``MT sentence<TAB>1,reference phrase, MT phrase <pos/…>;…<TAB>3,…``.
    """
    lines: list[Checkpoints] = []
    for line in _lines(name, "annotations"):
        phrases: dict[str, list[tuple[str, int]]] = {}
        for item in line.split("\t")[1:]:
            kind, _, rest = item.strip().partition(",")
            for span in rest.split(";") if kind in _ERRORS else ():
                phrase = span.split(",")[0].strip()
                if len(phrase) >= 2 and not phrase.startswith("<"):
                    phrases.setdefault(_ERRORS[kind], []).append((phrase, 1))
        lines.append(phrases)
    return tuple(lines)


def read_names(name: str) -> tuple[Checkpoints, ...]:
    """Read names of reference segments with counts: ``PERSON: (Name: 2; …)<TAB>NONPERSON: (…)``."""
    lines: list[Checkpoints] = []
    for number, line in enumerate(_lines(name, "names"), 1):
        names: dict[str, list[tuple[str, int]]] = {}
        for group, entries in _GROUP.findall(line):
            feature = "person" if group.upper() == "PERSON" else "nonperson"
            for entry in filter(str.strip, entries.split(";")):
                who, _, count = entry.rpartition(":")
                what, where = "the count of an entry 'Name: count'", f"{name}:{number}"
                many = integer(count, what=what, low=0, high=_COUNT, where=where)
                names.setdefault(feature, []).append((who.strip(), many))
        lines.append(names)
    return tuple(lines)


def _lines(name: str, kind: str) -> list[str]:
    """Read a file of annotations, or those of all chapters of a folder of BWB."""
    if Path(name).is_dir():
        return annotation_lines(name, kind)
    return read_lines(name)


def file_mark(name: str, kind: str) -> str:
    """Name a file or folder by its content hash, for the signature."""
    content = "\n".join(_lines(name, kind)).encode()
    return f"{Path(name).name}-{hashlib.blake2b(content, digest_size=4).hexdigest()}"


def find_phrases(text: str, checkpoints: Checkpoints) -> tuple[Occurrence, ...]:
    """Find phrases of ambiguity and ellipsis: whole words, any case."""
    return tuple(
        Occurrence(category, category, phrase.lower(), start, end)
        for category, phrases in checkpoints.items()
        for phrase in dict.fromkeys(phrase for phrase, _ in phrases)
        for start, end in _places(phrase, text)
    )


def find_names(text: str, checkpoints: Checkpoints, *, as_counted: bool) -> tuple[Occurrence, ...]:
    """Find annotated names; in the reference as often as the annotator counted them."""
    return tuple(
        Occurrence("entity", group, name.lower(), start, end)
        for group, names in checkpoints.items()
        for name, count in names
        for start, end in _places(name, text, count if as_counted else None)
    )


def _places(phrase: str, text: str, count: int | None = None) -> list[tuple[int, int]]:
    """Find a phrase between words; with ``count`` so many places, missing ones as (0, 0)."""
    pattern = rf"(?<!\w){re.escape(phrase)}(?!\w)" if len(phrase) <= len(text) else "(?!)"
    places = [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
    return places if count is None else (places + [(0, 0)] * count)[:count]


# ---------------------------------------------------------------- texts


@dataclass(frozen=True, eq=False)
class Reader:
    """Turns segments into units; a segment shared by systems is read once."""

    finder: Finder
    analyses: Mapping[str, Analysis]
    references: tuple[tuple[str, ...], ...] = ()  # of every segment of the corpus
    annotations: Sequence[Checkpoints] = ()  # one line for each of these segments
    names: Sequence[Checkpoints] = ()
    ngrams: bool = True
    by_document: bool = False
    lowercase: bool = False
    _read: dict[str, tuple[tuple[Occurrence, ...], Ngrams]] = field(default_factory=dict)

    def pairs(self, request: Request) -> list[Pair]:
        """Pair output and references by segment, or as whole documents."""
        texts = [request.hyp[0].scored, *(view.scored for view in request.refs)]
        lines = self._lines(request)
        sides = [self._units(parts, *lines, is_ref=i > 0) for i, parts in enumerate(texts)]
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

    def _lines(self, request: Request) -> tuple[Sequence[Checkpoints], Sequence[Checkpoints]]:
        """Find the lines of annotations and names of a request by its references' position."""
        files = [lines for lines in (self.annotations, self.names) if lines]
        if not files:
            return (), ()
        what = "the references of a text are not one piece of the corpus: use the view whole"
        segments = tuple(zip(*(view.parts for view in request.refs)))
        uneven = [len(lines) for lines in files if len(lines) != len(self.references)]
        if uneven:
            what = f"there are {uneven[0]} lines for {len(self.references)} segments"
        for place in range(0 if uneven else len(self.references)):
            begins = self.references[place : place + 1] == segments[:1]
            if begins and self.references[place : place + len(segments)] == segments:
                begin, stop = place + request.refs[0].focus[0], place + len(segments)
                return self.annotations[begin:stop], self.names[begin:stop]
        raise InputError(
            f"the annotation lines of a text are unknown: {what}",
            next="an annotation file has one line for each segment of the corpus, in order",
        )

    def _units(
        self,
        parts: Sequence[str],
        annotations: Sequence[Checkpoints],
        names: Sequence[Checkpoints],
        *,
        is_ref: bool,
    ) -> list[Unit]:
        units = []
        for index, part in enumerate(parts):
            if part not in self._read:
                analysis = self.analyses[part.lower() if self.lowercase else part]
                words = [token.text for token in analysis.tokens]
                orders = range(1, len(NGRAMS) + 1) if self.ngrams else ()
                grams = tuple(Counter(zip(*(words[i:] for i in range(n)))) for n in orders)
                self._read[part] = self.finder.find(analysis), grams
            occurrences, grams = self._read[part]
            if names:
                line = names[index] if index < len(names) else {}
                occurrences = tuple(item for item in occurrences if item.category != "entity")
                occurrences += find_names(part, line, as_counted=is_ref)
            if index < len(annotations):
                occurrences += find_phrases(part, annotations[index])
            units.append(Unit(tuple((index, item) for item in occurrences), grams))
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
    refs = max((len(refs) for _, refs in pairs), default=0)
    shown: dict[str, Any] = {"hyp": [], "refs": [[] for _ in range(refs)]}
    for hyp, units in pairs:
        shown["hyp"] += _marked(hyp, units, weights)
        for rows, unit in zip(shown["refs"], units):
            rows += _marked(unit, [hyp], weights)
    return shown


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
