"""What metrics say about stretches of text (BlonDe's categories, error spans, cuts), by segment and in UTF-16 units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wholetext.scoring.results import damaged_details
from wholetext.types import Scores
from wholetext.views import stretches

Segments = Sequence[str]


def utf16(text: str, at: int) -> int:
    """A position counted in code points, as browsers count it."""
    at = max(0, min(at, len(text)))
    return at + sum(char > "\uffff" for char in text[:at]) if text and max(text) > "\uffff" else at


@dataclass(frozen=True)
class Texts:
    """One document: an output beside its references, and how its segments are joined."""

    hyp: Segments
    refs: tuple[Segments, ...] = ()
    glue: str = " "


@dataclass
class Marks:
    """Everything to be marked in one document of one system, under one metric; ready for JSON."""

    units: list[list[Any]] = field(default_factory=list)  # side (-1 hyp, else reference), segment, start, end, …
    errors: list[list[Any]] = field(default_factory=list)  # segment, start, end, severity, confidence
    cuts: list[list[Any]] = field(default_factory=list)  # segment, start: what follows was not seen by the model

    def __bool__(self) -> bool:
        return bool(self.units or self.errors or self.cuts)


def marks_of(scores: Scores, doc: int, texts: Texts) -> Marks:
    """The marks of one document; overlapping windows that say the same say it once."""
    marks = Marks()
    if not scores.details:
        return marks
    with damaged_details(scores):
        _read_marks(marks, scores, doc, texts)
    return marks


def _read_marks(marks: Marks, scores: Scores, doc: int, texts: Texts) -> None:
    rows = scores.rows.of(doc)
    for row in range(rows.start, rows.stop):
        facts, start = scores.details[row], int(scores.rows.start[row])
        stop = len(texts.hyp) if scores.signature.get("view") == "whole" else int(scores.rows.stop[row])
        if isinstance(facts, Mapping):
            marks.units += _units(facts.get("blonde"), start, texts)
            marks.errors += _errors(facts.get("spans"), (start, stop), texts)
            marks.cuts += _cuts(facts.get("cut"), (start, stop), texts)
    marks.units, marks.errors, marks.cuts = (_distinct(each) for each in (marks.units, marks.errors, marks.cuts))


def _units(found: Any, start: int, texts: Texts) -> Iterator[list[Any]]:
    """BlonDe's ``[segment, start, end, category, feature, matched]`` of the output and of each reference."""
    if not isinstance(found, Mapping):
        return
    for side, (segments, spans) in enumerate(zip((texts.hyp, *texts.refs), (found["hyp"], *found["refs"])), -1):
        for segment, begin, end, category, feature, matched in spans:
            if start + segment < len(segments):
                text = segments[start + segment]
                place = [start + segment, utf16(text, begin), utf16(text, end)]
                yield [side, *place, category, feature, int(matched)]


def _errors(found: Any, rows: tuple[int, int], texts: Texts) -> Iterator[list[Any]]:
    """Error spans ``{start, end, severity, confidence}`` over the joined scored segments."""
    for span in found if isinstance(found, list) else ():
        for segment, begin, end in _split(int(span["start"]), int(span["end"]), rows, texts):
            yield [segment, begin, end, str(span.get("severity", "")), round(float(span.get("confidence", 0)), 3)]


def _cuts(found: Any, rows: tuple[int, int], texts: Texts) -> Iterator[list[Any]]:
    """``{"hyp": characters}``: how much of the joined scored segments the model saw."""
    seen = found.get("hyp") if isinstance(found, Mapping) else None
    if seen is None:
        return
    length = len(texts.glue.join(texts.hyp[slice(*rows)]))
    for segment, begin, _ in _split(int(seen), length, rows, texts):
        yield [segment, begin]


def _split(begin: int, end: int, rows: tuple[int, int], texts: Texts) -> Iterator[tuple[int, int, int]]:
    """A stretch of the joined segments as stretches of single ones: (segment, start, end) in UTF-16 units."""
    for place, start, stop in stretches(texts.hyp[slice(*rows)], texts.glue, begin, end):
        text = texts.hyp[rows[0] + place]
        yield rows[0] + place, utf16(text, start), utf16(text, stop)


def _distinct(items: list[list[Any]]) -> list[list[Any]]:
    return [list(item) for item in dict.fromkeys(map(tuple, items))]
