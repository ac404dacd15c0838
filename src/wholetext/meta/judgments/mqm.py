"""MQM annotations: the TSV of marked errors, weights by severity and category, scores per rater, breakdowns.

Weights of Freitag et al. 2021, "Experts, Errors, and Context" (table 12). A segment's score is minus the sum of its
errors' weights, averaged over raters; a system's score is the mean over its rated segments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wholetext.errors import InputError
from wholetext.files.parsing import integer, number
from wholetext.io.text import FilePath, at, opened
from wholetext.meta.judgments.ratings import Ratings, Segment, gather

_COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
Mark = tuple[int, int, str, str]  # start, end, severity, category
_PLACES = 10**9  # segments of a document at most
_MARK = re.compile(r"</?v>")
STANDARD: Mapping[str, float] = {
    "major": 5.0, "minor": 1.0, "neutral": 0.0, "major/non-translation!": 25.0, "minor/fluency/punctuation": 0.1,
}
#: what the organisers of WMT22 used: no 25 for a segment that is no translation at all
WMT22: Mapping[str, float] = {"major": 5.0, "minor": 1.0, "no-error": 0.0, "minor/fluency/punctuation": 0.1}


@dataclass(frozen=True)
class SeverityWeights:
    """``severity[/category[/subcategory]]`` → penalty; the most specific rule that matches wins, nothing costs 0."""

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
    """``standard``, ``wmt22``, or rules such as ``major=5,minor=1,minor/Fluency/Punctuation=0.1``."""
    if text in ("standard", "wmt22"):
        return SeverityWeights(dict(STANDARD if text == "standard" else WMT22))
    rules: dict[str, float] = {}
    for rule in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = rule.rpartition("=")
        if not equals or not name.strip():
            raise InputError(f"invalid MQM weight {rule!r}", next="write standard, wmt22, or major=5,minor=1")
        rules[name.strip().lower()] = number(value, low=0, next="write a weight as major=5")
    return SeverityWeights(rules)


@dataclass(frozen=True, slots=True)
class MqmError:
    """One marked error, or the mark "No-error": where, who, what kind, and which stretch of which text."""

    system: str
    doc: str
    place: int  # segment of the document, from 0
    seg_id: str
    rater: str
    category: str
    severity: str
    side: str = ""  # "source", "target", or "" where nothing is marked
    start: int = 0  # characters of the unmarked text
    end: int = 0

    @property
    def segment(self) -> Segment:
        return self.doc, self.place


def read_mqm(path: FilePath) -> list[MqmError]:
    """The TSV of annotations (``<v>…</v>`` marks the error), one row per error; quotes have no meaning in it."""
    with opened(path) as file:
        lines = enumerate(file.lines(), 1)
        header = next(lines, (0, ""))[1].split("\t")
        missing = [name for name in _COLUMNS if name not in header]
        if missing:
            raise InputError(f"there is no column {missing[0]!r}", where=file.name,
                             next=f"MQM tables have {', '.join(_COLUMNS)}")
        places = [header.index(name) for name in _COLUMNS]
        return [_error([cells[i] for i in places], at(file.name, number))
                for number, line in lines if (cells := _cells(line, len(header), at(file.name, number)))]


def _cells(line: str, size: int, where: str) -> list[str]:
    cells = line.split("\t")
    if line.strip() and len(cells) != size:
        raise InputError(f"this line has {len(cells)} columns, the header has {size}", where=where)
    return cells if line.strip() else []


def _error(cells: Sequence[str], where: str) -> MqmError:
    system, doc, doc_id, seg_id, rater, source, target, category, severity = cells
    place = integer(doc_id, what="a number from 1 (doc_id)", low=1, high=_PLACES, where=where) - 1
    side, start, end = "", 0, 0
    for name, text in (("target", target), ("source", source)):
        if "<v>" in text and not side:
            side, (start, end) = name, _span(text)
    return MqmError(system, doc, place, seg_id, rater, category, severity, side, start, end)


def _span(text: str) -> tuple[int, int]:
    """Where ``<v>…</v>`` stands in the text without marks; an unclosed mark reaches to the end."""
    start = text.index("<v>")
    close = text.find("</v>", start)
    bare = len(_MARK.sub("", text))
    return start, bare if close < 0 else close - len("<v>")


def mqm_ratings(
    errors: Iterable[MqmError], weights: SeverityWeights | None = None, segments: Sequence[Segment] = ()
) -> Ratings:
    """Scores per rater: minus the sum of the weights of what a rater marked in a segment."""
    weights = weights or SeverityWeights()
    totals: dict[tuple[str, Segment, str], float] = {}
    for error in errors:
        key = (error.system, error.segment, error.rater)
        totals[key] = totals.get(key, 0.0) + weights.of(error.severity, error.category)
    return gather("mqm", ((*key, 0.0 - total) for key, total in totals.items()), segments)


def breakdown(
    errors: Iterable[MqmError], by: str = "category", weights: SeverityWeights | None = None
) -> dict[str, dict[str, tuple[int, float]]]:
    """system → kind → (errors, penalty); ``by`` is category, top (the part before the first /), severity or rater."""
    weights = weights or SeverityWeights()
    table: dict[str, dict[str, tuple[int, float]]] = {}
    for error in errors:
        if error.severity.lower() == "no-error":
            table.setdefault(error.system, {})
            continue
        kind = error.category.split("/")[0] if by == "top" else str(getattr(error, by))
        count, penalty = table.setdefault(error.system, {}).get(kind, (0, 0.0))
        table[error.system][kind] = (count + 1, penalty + weights.of(error.severity, error.category))
    return table


def spans(errors: Iterable[MqmError], side: str = "target") -> dict[tuple[str, Segment], list[Mark]]:
    """(system, segment) → marked (start, end, severity, category) of one side, in text order."""
    found: dict[tuple[str, Segment], list[Mark]] = {}
    for error in errors:
        if error.side == side:
            mark = (error.start, error.end, error.severity, error.category)
            found.setdefault((error.system, error.segment), []).append(mark)
    return {key: sorted(marks) for key, marks in found.items()}


def gaps(errors: Iterable[MqmError]) -> list[str]:
    """Documents whose annotated segments are not contiguous: context and paragraphs break there."""
    seen: dict[str, set[int]] = {}
    for error in errors:
        seen.setdefault(error.doc, set()).add(error.place)
    return [doc for doc, places in seen.items() if max(places) - min(places) + 1 != len(places)]
