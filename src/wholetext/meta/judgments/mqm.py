"""MQM and ESA annotations: errors in a TSV or in JSON, their weights, scores per rater.

Weights of Freitag et al. 2021, "Experts, Errors, and Context" (table 12). A segment's score is
minus the sum of its errors' weights, averaged over raters.

EvalSet files ``LP.NAME.seg.rating`` hold ``SYSTEM<tab>JSON|None[<tab>RATER]``, a block per system.
The JSON has ``errors`` (category, severity, score) and, for ESA, the ``score`` of the segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wholetext.errors import AlignmentError, InputError, count
from wholetext.files.parsing import integer, number, read_json, reader, reading
from wholetext.io.text import FilePath, at, read_lines, shown
from wholetext.meta.judgments.ratings import Ratings, Segment, gather, table_rows

_COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "target", "category", "severity")
_EXAMPLE = 'write {"errors": [{"start": 0, "end": 4, "severity": "major"}]}'
STANDARD: Mapping[str, float] = {
    "major": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "major/non-translation!": 25.0,
    "minor/fluency/punctuation": 0.1,
}
#: as used by the organisers of WMT22: without the weight of 25 for non-translations
WMT22: Mapping[str, float] = {
    "major": 5.0,
    "minor": 1.0,
    "no-error": 0.0,
    "minor/fluency/punctuation": 0.1,
}


@dataclass(frozen=True)
class SeverityWeights:
    """``severity[/category[/subcategory]]`` → penalty; the most specific rule wins."""

    rules: Mapping[str, float] = field(default_factory=lambda: dict(STANDARD))

    def of(self, severity: str, category: str) -> float:
        """The penalty of one error; letter case does not matter."""
        parts = [severity, *category.split("/")[:2]]
        for length in range(len(parts), 0, -1):
            rule = "/".join(part.strip() for part in parts[:length]).lower()
            if rule in self.rules:
                return self.rules[rule]
        return 0.0


def read_weights(text: str) -> SeverityWeights:
    """``standard``, ``wmt22``, or rules such as
    ``major=5,minor=1,minor/Fluency/Punctuation=0.1``.
    """
    if text in ("standard", "wmt22"):
        return SeverityWeights(dict(STANDARD if text == "standard" else WMT22))
    rules: dict[str, float] = {}
    for rule in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = rule.rpartition("=")
        if not equals or not name.strip():
            raise InputError(
                f"invalid MQM weight {rule!r}", next="write standard, wmt22, or major=5,minor=1"
            )
        rules[name.strip().lower()] = number(value, low=0, next="write a weight as major=5")
    return SeverityWeights(rules)


@dataclass(frozen=True, slots=True)
class MqmError:
    """One marked error, or the mark "No-error": where, who, what kind."""

    system: str
    segment: Segment
    seg_id: str
    rater: str
    category: str
    severity: str
    target: str = ""  # the output, its errors between <v> and </v>


@reader
def read_mqm(path: FilePath) -> list[MqmError]:
    """The TSV of annotations, one row per error."""
    errors = []
    for where, row in table_rows(path, _COLUMNS):
        place = integer(row["doc_id"], what="a number from 1 (doc_id)", low=1, where=where) - 1
        errors.append(
            MqmError(
                row["system"],
                (row["doc"], place),
                row["seg_id"],
                row["rater"],
                row["category"],
                row["severity"],
                row["target"],
            )
        )
    return errors


def mqm_ratings(errors: Iterable[MqmError], weights: SeverityWeights | None = None) -> Ratings:
    """Scores per rater: minus the sum of the weights of what a rater marked in a segment."""
    weights = weights or SeverityWeights()
    totals: dict[tuple[str, Segment, str], float] = {}
    for error in errors:
        key = (error.system, error.segment, error.rater)
        totals[key] = totals.get(key, 0.0) + weights.of(error.severity, error.category)
    return gather("mqm", ((*key, 0.0 - total) for key, total in totals.items()))


@dataclass(frozen=True, slots=True)
class SpanRating:
    """The rating of one segment by one rater."""

    system: str
    segment: Segment
    rater: str
    penalty: float  # the sum of the errors' scores or, without these, weights
    overall: float | None = None  # the rater's own score (ESA, 0-100)


@reader
def read_span_ratings(path: FilePath, segments: Sequence[Segment]) -> list[SpanRating]:
    """A ``.seg.rating`` file of an EvalSet; a segment without a rating (None) is left out."""
    return [
        SpanRating(system, segment, rater, *_marks(text, where))
        for where, system, segment, rater, text in rating_lines(path, segments)
    ]


def rating_lines(
    path: FilePath, segments: Sequence[Segment]
) -> Iterator[tuple[str, str, Segment, str, str]]:
    """(place in the file, system, segment, rater, JSON) of each rating of a ``.seg.rating``
    file.
    """
    seen: dict[str, int] = {}
    for line_number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        where = at(shown(path), line_number)
        system, *rest = line.split("\t")
        if len(rest) not in (1, 2):
            raise InputError(
                f"this line has {count(len(rest) + 1, 'column')}",
                where=where,
                next="write SYSTEM<tab>JSON or None, and the rater after another tab",
            )
        place = seen.get(system, 0)
        seen[system] = place + 1
        if place >= len(segments):
            raise AlignmentError(
                f"system {system!r} has more ratings than the {len(segments)} segments", where=where
            )
        if rest[0].strip() != "None":
            yield where, system, segments[place], rest[1] if len(rest) == 2 else "unknown", rest[0]
    short = [system for system, count in seen.items() if count != len(segments)]
    if short:
        raise AlignmentError(
            f"system {short[0]!r} has {count(seen[short[0]], 'rating')}, expected {len(segments)}",
            where=shown(path),
            next="write None for segments that were not rated",
        )


def _marks(text: str, where: str) -> tuple[float, float | None]:
    """The penalty of the errors of a rating, and its overall score."""
    value, weights, penalty = read_json(text, where=where, next=_EXAMPLE), SeverityWeights(), 0.0
    with reading(where, _EXAMPLE, what="this rating cannot be read"):
        value = value if isinstance(value, dict) else {"errors": value}
        for mark in value["errors"]:
            weight = weights.of(str(mark["severity"]), str(mark.get("category") or ""))
            score = mark.get("score")
            penalty += weight if score is None else abs(number(str(score), where=where))
        overall = value.get("score")
        return penalty, None if overall is None else number(str(overall), where=where)
