"""Error spans: what one rater or metric marks in one segment, and the files that hold such marks.

These are MQM tables, EvalSet ratings, JSONL, and run folders (of any metric that marks spans).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import AlignmentError, InputError, count
from wholetext.files.parsing import integer, number, reader, reading
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.formats.jsonl import objects
from wholetext.io.text import FilePath, at, is_folder, opened, shown, stem
from wholetext.meta.judgments import corpus_segments, rating_lines, read_mqm
from wholetext.notebook.display import brief
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, damaged_details
from wholetext.types import Scores
from wholetext.views import glue_of, stretches

Severity = Literal["minor", "major"]
Place = tuple[str, str, int]  # system, document, segment of it from 0
RawSpan = tuple[Any, Any, Any]  # start, end and severity as a file has them
Errors = dict[RawSpan, None]  # each once

PENALTIES = {"minor": 1.0, "major": 5.0}
# None: no error; undecided and neutral are what the WMT25 script passes over, and MQM's weight 0
_NO_ERROR = ("neutral", "no-error", "no_error", "undecided")
_SEVERITIES: dict[str, Severity | None] = {
    "": "minor",
    "minor": "minor",
    "major": "major",
    "critical": "major",
    **dict.fromkeys(_NO_ERROR),
}
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

    def error_free(self, threshold: float = -math.inf) -> bool:
        """Tell whether there is no error, and no score below ``threshold``."""
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
        """Turn (start, end, severity) of marks into spans, and count errors without a place."""
        spans, unplaced = [], 0
        for start, end, severity in marks:
            word = str(severity or "").strip().lower()
            self.counts["no error"] += word in _NO_ERROR and word != "no-error"
            self.counts["no severity"] += not word
            if word not in _SEVERITIES:
                raise InputError(
                    f"there is no severity {word[:40]!r}",
                    where=where,
                    next=f"a severity is one of {', '.join(filter(None, _SEVERITIES))}",
                )
            kind = _SEVERITIES[word]
            if kind is None:
                continue
            a, b = self._place(start, end, text, where)
            if a < b:
                spans.append(ErrorSpan(a, b, kind))
            else:
                unplaced += 1
        self.counts["unplaced"] += unplaced
        return tuple(spans), unplaced

    def _place(self, start: Any, end: Any, text: str | None, where: str) -> tuple[int, int]:
        """Start and end; equal where an error has no place."""
        if any(value is None or str(value).strip() in _NOWHERE for value in (start, end)):
            return 0, 0
        what = "a place in a text"
        a, b = (integer(str(value), what=what, low=0, where=where) for value in (start, end))
        if a > b:
            raise InputError(f"a span begins at {a} and ends at {b}", where=where, next=_FORM)
        size = b if text is None else len(text)
        self.counts["cut"] += b > size
        return a, min(b, size)

    def notes(self, name: str) -> tuple[str, ...]:
        """Say what a reader of the measures must know about this file."""
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


# ---------------------------------------------------------------- files

_MQM = ("system", "doc", "doc_id", "rater", "source", "target", "severity")
_TAG = re.compile(r"<(/?)v>")
_KEYS = ("system", "doc", "segment", "text", "spans", "score")
_EXAMPLE = (
    'write {"system": "A", "doc": "d", "segment": 0, '
    '"spans": [{"start": 0, "end": 4, "severity": "major"}], "score": 90}'
)


@reader
def read_spans(path: FilePath, name: str = "", metrics: Sequence[str] = ()) -> list[Annotations]:
    """The spans of a file, or of each metric of a run folder (of those named, else of all), by content.

    ``name`` is what a file's spans are called in tables; its own name by default.
    """
    if is_folder(path):
        return run_spans(open_run(str(path)), metrics)
    called = name or stem(path)
    if str(path).endswith((".rating", ".rating.gz")):
        return [_evalset_ratings(Path(path), called)]
    with opened(path) as file:
        head = file.head()
    if head.startswith("{"):
        return [_jsonl(path, called)]
    header = head.split("\n", 1)[0].rstrip("\r").split("\t")
    if set(_MQM) <= set(header):
        return [_mqm_table(path, called)]
    raise InputError(
        "there are no error spans in this file",
        where=shown(path),
        next=f"give JSONL, a run folder, a .seg.rating file, or a table with {', '.join(_MQM)}",
    )


def _mqm_table(path: FilePath, name: str) -> Annotations:
    """MQM annotations, a line per error, its span between ``<v>`` and ``</v>``.

    Marks in the source have no place.
    """
    parser = SpanParser()
    segments: dict[tuple[str, str, int, str], tuple[str, list[RawSpan]]] = {}
    for error in read_mqm(path):
        text, spans, open_marks = _untagged(error.target)
        parser.counts["open"] += open_marks
        key = (error.system, *error.segment, error.rater)
        known, marks = segments.setdefault(key, (text, []))
        if known != text:
            raise InputError(
                f"segment {error.seg_id} of {error.system!r} has several outputs",
                where=shown(path),
                next="lines of a segment differ only in what is marked",
            )
        marks += [(a, b, error.severity) for a, b in spans] or [(None, None, error.severity)]
    annotated = []
    for key, (text, marks) in segments.items():
        placed, unplaced = parser.parse(marks, text, shown(path))
        annotated.append(Marked(*key, placed, text=text, unplaced=unplaced))
    return Annotations(name, tuple(annotated), parser.notes(name))


def _untagged(target: str) -> tuple[str, list[tuple[int, int]], int]:
    """The text without tags, the spans between them, and how many are not closed."""
    text, spans, start, last = "", [], -1, 0
    for tag in _TAG.finditer(target):
        text, last = text + target[last : tag.start()], tag.end()
        if not tag[1]:
            start = len(text) if start < 0 else start
        elif start >= 0:
            spans.append((start, len(text)))
            start = -1
    text += target[last:]
    return text, spans + ([(start, len(text))] if start >= 0 else []), int(start >= 0)


def _jsonl(path: FilePath, name: str) -> Annotations:
    """A segment per line; ``segment`` is its position in the document from 0."""
    parser, marks = SpanParser(), list[Marked]()
    with opened(path) as file:
        for line_number, record in objects(file):
            where = at(file.name, line_number)
            with reading(where, _EXAMPLE, what="this line cannot be read"):
                marks.append(_record(record, name, parser, where))
    marked = Counter((mark.place, mark.rater) for mark in marks)
    for ((system, doc, segment), _), times in marked.items():
        if times > 1:
            raise AlignmentError(
                f"segment {segment} of document {doc!r} of {system!r} is there twice",
                where=shown(path),
                next="give each segment once per rater, with all of its spans",
            )
    return Annotations(name, tuple(marks), parser.notes(name))


def _record(values: Mapping[str, Any], name: str, parser: SpanParser, where: str) -> Marked:
    system, doc, segment, text, spans, score = (values.get(key) for key in _KEYS)
    if not (
        isinstance(system, str)
        and isinstance(doc, str)
        and isinstance(segment, int)
        and isinstance(text, str | None)
    ):
        raise ValueError("there is no system, doc or segment, or the text is not a string")
    placed, unplaced = None, 0
    if spans is not None:
        marks = (  # those in the source have no place in the output
            (None, None, span.get("severity"))
            if span.get("is_source_error")
            else (span.get("start"), span.get("end"), span.get("severity"))
            for span in spans
        )
        placed, unplaced = parser.parse(marks, text, where)
    return Marked(
        system,
        doc,
        segment,
        str(values.get("rater") or name),
        placed,
        math.nan if score is None else number(str(score), where=where),
        text,
        unplaced,
    )


def _evalset_ratings(path: Path, name: str) -> Annotations:
    """``human-scores/LP.NAME.seg.rating`` of an EvalSet, with the texts of its outputs where they are there."""
    evalset = EvalSet.open(path.resolve().parent.parent, path.name.split(".")[0])
    parser, marks = SpanParser(), []
    outputs = evalset.load().outputs if evalset.systems else ()
    texts = {output.system: output.docs for output in outputs}
    for where, system, (doc, place), rater, value in rating_lines(path, corpus_segments(evalset)):
        values = {
            "system": system,
            "doc": doc,
            "segment": place,
            "rater": rater,
            "text": texts[system][doc][place] if system in texts else None,
            "score": value.get("score"),
            "spans": value.get("errors"),
        }
        with reading(where, _EXAMPLE, what="this rating cannot be read"):
            marks.append(_record(values, name, parser, where))
    return Annotations(name, tuple(marks), parser.notes(name))


# ---------------------------------------------------------------- run folders


def run_spans(results: Results, metrics: Sequence[str] = ()) -> list[Annotations]:
    """Read what the metrics of a run mark, and their scores of segments.

    A metric that marks nothing has scores only.
    """
    annotations = []
    for spec in metrics or results.scores:
        parser, marks = SpanParser(), list[Marked]()
        texts = {output.system: output.docs for output in results.outputs}
        by_system = results[spec]
        says = any(_errors(facts) for scores in by_system.values() for facts in scores.details)
        for system, scores in by_system.items():
            marks += _run_marks(
                spec, scores, texts[system], results.corpus.langs[1], parser if says else None
            )
        annotations.append(Annotations(spec, tuple(marks), parser.notes(spec)))
    return annotations


def _errors(facts: Any) -> list[tuple[int | None, int | None, str]]:
    """List (start, end, severity) of what a metric marked in a row.

    Errors that a judge could not quote have no place.

    Quotes that a judge gives as evidence for a score are no errors.
    """
    if not isinstance(facts, Mapping):
        return []
    placed = [
        (int(span["start"]), int(span["end"]), str(span.get("severity", "")))
        for span in facts.get("spans") or ()
    ]
    unplaced = [
        (None, None, str(error.get("severity", "")))
        for error in facts.get("errors") or ()
        if not error.get("located") or error.get("side") == "src"
    ]
    return [entry for entry in (*placed, *unplaced) if entry[2] != "evidence"]


def _run_marks(
    spec: str,
    scores: Scores,
    texts: Mapping[str, tuple[str, ...]],
    lang: str,
    parser: SpanParser | None,
) -> Iterator[Marked]:
    """Yield every segment that was scored, with the spans of all rows that cover it, each once.

    Where a metric that marks errors has no score, as when a judge refused, the segment is not
    marked at all.
    """
    glue, rows, errors = glue_of(lang, scores), scores.rows, dict[tuple[str, int], Errors]()
    whole = scores.signature.get("view") == "whole"
    with damaged_details(scores):
        for row, facts in zip(rows, scores.details if parser else ()):
            segments = texts[row.doc][row.start : None if whole else row.stop]
            for a, b, severity in _errors(facts):
                spread: Iterable[RawSpan] = [(0, None, None)]  # somewhere in the row
                if a is not None and b is not None:
                    spread = stretches(segments, glue, a, b)
                for place, start, end in spread:
                    errors.setdefault((row.doc, row.start + place), {})[start, end, severity] = None
    values = scores.at("segment") * (1 if scores.higher_is_better else -1)
    places = [(doc, at) for doc, size in zip(rows.docs, rows.sizes) for at in range(size)]
    for (doc, place), score, rows_there in zip(places, values.tolist(), rows.coverage()):
        marked = errors.get((doc, place), {})
        stated = not parser or not math.isnan(score) or marked
        if rows_there > 0.5 and stated and place < len(texts[doc]):
            text = texts[doc][place]
            spans, unplaced = parser.parse(marked, text, spec) if parser else (None, 0)
            yield Marked(scores.system, doc, place, spec, spans, score, text, unplaced)
