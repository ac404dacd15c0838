"""MQM and ESA ratings as JSON: error spans with severities, one line per system and segment.

EvalSet files ``LP.NAME.seg.rating`` hold ``SYSTEM<tab>JSON|None[<tab>RATER]``, a block per system in segment order.
The JSON has ``errors`` (start, end, category, severity, score, is_source_error) and, for ESA, the overall ``score``
of the segment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wholetext.errors import AlignmentError, InputError
from wholetext.files.parsing import read_json
from wholetext.io.text import FilePath, at, opened
from wholetext.meta.judgments.mqm import SeverityWeights
from wholetext.meta.judgments.ratings import Ratings, Segment, gather

_EXAMPLE = 'write {"errors": [{"start": 0, "end": 4, "severity": "major"}]}'


@dataclass(frozen=True, slots=True)
class ErrorSpan:
    """One marked error."""

    start: int
    end: int
    severity: str
    category: str = ""
    score: float | None = None  # as the file gives it
    source: bool = False  # it is marked in the source


@dataclass(frozen=True, slots=True)
class SpanRating:
    """What one rater said of one segment; ``overall`` is the rater's own score of it (ESA, 0-100)."""

    system: str
    segment: Segment
    rater: str
    spans: tuple[ErrorSpan, ...]
    overall: float | None = None

    def penalty(self, weights: SeverityWeights) -> float:
        """The sum of the errors' scores where the file gives them, else of their weights."""
        return sum(weights.of(s.severity, s.category) if s.score is None else abs(s.score) for s in self.spans)


def read_span_ratings(path: FilePath, segments: Sequence[Segment]) -> list[SpanRating]:
    """A ``.seg.rating`` file of an EvalSet; a segment without a rating (None) is left out."""
    with opened(path) as file:
        return list(_ratings(file.name, file.lines(), segments))


def _ratings(name: str, lines: Iterator[str], segments: Sequence[Segment]) -> Iterator[SpanRating]:
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) not in (2, 3):
            raise InputError(f"this line has {len(cells)} columns", where=at(name, number),
                             next="write SYSTEM<tab>JSON or None, and the rater after another tab")
        place = seen.get(cells[0], 0)
        seen[cells[0]] = place + 1
        if place >= len(segments):
            raise AlignmentError(f"system {cells[0]!r} has more ratings than the {len(segments)} segments",
                                 where=at(name, number))
        if cells[1].strip() != "None":
            yield _rating(cells, segments[place], at(name, number))
    short = [system for system, count in seen.items() if count != len(segments)]
    if short:
        raise AlignmentError(f"system {short[0]!r} has {seen[short[0]]} ratings, expected {len(segments)}",
                             where=name, next="write None for segments that were not rated")


def _rating(cells: Sequence[str], segment: Segment, where: str) -> SpanRating:
    value = read_json(cells[1], where=where, next=_EXAMPLE)
    try:
        marks = value["errors"] if isinstance(value, dict) else value
        spans = tuple(_span(mark) for mark in marks)
        overall = value.get("score") if isinstance(value, dict) else None
        overall = None if overall is None else _finite(overall)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"this rating cannot be read ({type(error).__name__}: {str(error)[:80]})", where=where,
                         next=_EXAMPLE) from None
    rater = cells[2] if len(cells) == 3 else "unknown"
    return SpanRating(cells[0], segment, rater, spans, overall)


def _span(mark: Any) -> ErrorSpan:
    score = mark.get("score")
    return ErrorSpan(_place(mark["start"]), _place(mark["end"]), str(mark["severity"]), str(mark.get("category") or ""),
                None if score is None else _finite(score), bool(mark.get("is_source_error", False)))


def _finite(score: Any) -> float:
    if isinstance(score, bool) or not math.isfinite(float(score)):
        raise ValueError(f"{score!r} is not a score")
    return float(score)


def _place(value: Any) -> int:
    """A count of characters; some files have -1 for "nowhere"."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) or not abs(float(value)) < 1e9:
        raise ValueError(f"{value!r} is not a place in a text")
    return int(value)


def span_ratings(
    found: Sequence[SpanRating], scheme: str, segments: Sequence[Segment], weights: SeverityWeights | None = None
) -> Ratings:
    """Scores per rater: the overall score where ``scheme`` is esa, minus the penalty of the spans otherwise."""
    weights = weights or SeverityWeights()
    if scheme.startswith("esa"):
        missing = next((one for one in found if one.overall is None), None)
        if missing is not None:
            raise InputError(f"segment {missing.segment[1] + 1} of {missing.segment[0]!r} has no overall score",
                             where=f"system {missing.system}", next="ESA ratings have a score beside their errors")
        return gather(scheme, ((r.system, r.segment, r.rater, float(r.overall or 0.0)) for r in found), segments)
    return gather(scheme, ((r.system, r.segment, r.rater, 0.0 - r.penalty(weights)) for r in found), segments)
