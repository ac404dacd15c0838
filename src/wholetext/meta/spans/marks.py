"""What one rater or metric marks in one segment: error spans, errors without a place, a score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from wholetext.errors import AlignmentError, InputError, count
from wholetext.files.parsing import integer
from wholetext.notebook.display import brief

Severity = Literal["minor", "major"]
Place = tuple[str, str, int]  # system, document, segment of it from 0
RawSpan = tuple[Any, Any, Any]  # start, end and severity as a file has them

PENALTIES = {"minor": 1.0, "major": 5.0}
_SEVERITIES: dict[str, Severity] = {"minor": "minor", "major": "major", "critical": "major"}
_NO_ERROR = (
    "neutral",
    "no-error",
    "no_error",
    "undecided",
)  # what the WMT25 script passes over, and MQM's weight 0
_NOWHERE = ("missing", "-1", "")  # places of an omission in ESA files
_FORM = 'write {"start": 0, "end": 4, "severity": "major"}, in characters from 0'


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """Characters ``start:end`` of a segment's output; critical errors count as major."""

    start: int
    end: int
    severity: Severity


@dataclass(frozen=True, slots=True)
class Marked:
    """One segment of one output as one rater or metric sees it."""

    system: str
    doc: str
    segment: int  # position in the document from 0
    rater: str
    spans: tuple[ErrorSpan, ...] | None  # None: spans were not annotated
    score: float = math.nan  # of the segment, higher is better; for people: ESA, 0-100
    text: str | None = None  # of the output
    unplaced: int = 0  # errors without a place in the output (omissions, marks in the source)

    @property
    def place(self) -> Place:
        return self.system, self.doc, self.segment

    @property
    def penalty(self) -> float:
        """The sum of MQM weights (major 5, minor 1) of the spans."""
        return sum(PENALTIES[span.severity] for span in self.spans or ())

    def error_free(self, threshold: float) -> bool:
        """No error of any kind, and where there is a score, one of at least ``threshold``."""
        return not self.spans and not self.unplaced and not self.score < threshold


@dataclass(frozen=True, eq=False)
class Annotations:
    """Marked segments of one metric, or of one or more raters."""

    name: str
    marks: tuple[Marked, ...]
    notes: tuple[str, ...] = ()
    __repr__ = brief

    @property
    def raters(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(mark.rater for mark in self.marks))


@dataclass
class SpanParser:
    """Marks as files have them → spans; what is repaired or passed over is counted."""

    counts: Counter[str] = field(default_factory=Counter)

    def parse(
        self, marks: Iterable[RawSpan], text: str | None, where: str
    ) -> tuple[tuple[ErrorSpan, ...], int]:
        """(start, end, severity) of each mark → spans, and the number of errors without a place."""
        spans, unplaced = [], 0
        for start, end, word in marks:
            severity = self._severity(word, where)
            if severity is None:
                continue
            place = self._place(start, end, text, where)
            if place is None:
                unplaced += 1
            else:
                spans.append(ErrorSpan(*place, severity))
        self.counts["unplaced"] += unplaced
        return tuple(spans), unplaced

    def _severity(self, severity: Any, where: str) -> Severity | None:
        word = str(severity or "").strip().lower()
        if word in _NO_ERROR:
            self.counts["no error"] += word != "no-error"
            return None
        if not word:
            self.counts["no severity"] += 1
            return "minor"
        if word not in _SEVERITIES:
            raise InputError(
                f"there is no severity {word[:40]!r}",
                where=where,
                next=f"a severity is one of {', '.join((*_SEVERITIES, *_NO_ERROR))}",
            )
        return _SEVERITIES[word]

    def _place(self, start: Any, end: Any, text: str | None, where: str) -> tuple[int, int] | None:
        if any(value is None or str(value).strip() in _NOWHERE for value in (start, end)):
            return None
        what = "a place in a text"
        a, b = (integer(str(value), what=what, low=0, where=where) for value in (start, end))
        if a > b:
            raise InputError(f"a span begins at {a} and ends at {b}", where=where, next=_FORM)
        if text is not None and b > len(text):
            self.counts["cut"] += 1
            b = len(text)
        return (a, b) if a < b else None

    def notes(self, name: str) -> tuple[str, ...]:
        """What a reader of the measures must know about this file."""
        sentences = {
            "no error": ("mark", "are", "no error by severity (neutral, undecided) and left out"),
            "no severity": ("span", "have", "no severity, taken as minor"),
            "unplaced": (
                "error",
                "have",
                "no place in the output (omissions, marks in the source): they are in no span, but "
                "their segments are not error-free",
            ),
            "cut": ("span", "end", "after the text, cut there"),
            "open": ("mark", "are", "not closed, taken to the end of the segment"),
        }
        return tuple(
            f"{name}: {count(self.counts[key], noun, verb)} {text}"
            for key, (noun, verb, text) in sentences.items()
            if self.counts[key]
        )


def unique(marks: Iterable[Marked], where: str) -> tuple[Marked, ...]:
    """The marks; an error where one rater has a segment twice."""
    by_place: dict[tuple[Place, str], Marked] = {}
    for mark in marks:
        if (mark.place, mark.rater) in by_place:
            raise AlignmentError(
                f"segment {mark.segment} of document {mark.doc!r} of {mark.system!r} is there "
                "twice",
                where=where,
                next="give each segment once per rater, with all of its spans",
            )
        by_place[mark.place, mark.rater] = mark
    return tuple(by_place.values())
