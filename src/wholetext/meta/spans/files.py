"""Spans from files: MQM tables, WMT25 tables, EvalSet ratings, JSONL, and run folders (any metric
that marks spans).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import InputError
from wholetext.files.parsing import integer, read_json, reader
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.text import FilePath, at, is_folder, opened, shown, stem
from wholetext.meta.judgments.mqm import rating_lines
from wholetext.meta.judgments.ratings import table_lines
from wholetext.meta.judgments.sources import corpus_segments
from wholetext.meta.spans.marks import Annotations, Marked, SpanParser, unique
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, damaged_details
from wholetext.types import Scores
from wholetext.views import glue_of, stretches

_MQM = ("system", "doc", "doc_id", "rater", "source", "target", "severity")
_WMT25 = (
    "doc_id",
    "segment_id",
    "system_id",
    "hypothesis_segment",
    "start_indices",
    "end_indices",
    "error_types",
)
_TAG = re.compile(r"<(/?)v>")
_PLACES = 10**9
# keys of a line: of wholetext, then of WMT24's ESA file
_KEYS = {
    "system": ("system",),
    "doc": ("doc", "doc_id"),
    "segment": ("segment",),
    "number": ("line_id",),
    "rater": ("rater", "annotator"),
    "text": ("text", "tgt"),
    "score": ("score", "esa_score"),
    "spans": ("spans", "esa_spans"),
}
_EXAMPLE = (
    'write {"system": "A", "doc": "d", "segment": 0, '
    '"spans": [{"start": 0, "end": 4, "severity": "major"}], "score": 90}'
)


@reader
def read_spans(path: FilePath, name: str = "", metrics: Sequence[str] = ()) -> list[Annotations]:
    """The spans of a file, or of each metric of a run folder (of those named, else of all), by
    content.

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
    for columns, table in ((_MQM, _mqm_table), (_WMT25, _wmt25_table)):
        if set(columns) <= set(header):
            return [table(path, called)]
    raise InputError(
        "there are no error spans in this file",
        where=shown(path),
        next=f"give JSONL, a run folder, a .seg.rating file, or a table with {', '.join(_MQM)} or "
        f"{', '.join(_WMT25)}",
    )


# ---------------------------------------------------------------- tables


@dataclass
class _Segment:
    """The marks of one segment, gathered from the lines of a table."""

    text: str
    found: list[tuple[Any, Any, Any]] = field(default_factory=list)
    where: str = ""


def _columns(header: Sequence[str], required: Sequence[str], path: FilePath) -> list[int]:
    """Indices of the required columns.

    A stray CR may cut the header, which the format was detected by.
    """
    missing = [column for column in required if column not in header]
    if missing:
        raise InputError(
            f"the first line has no column {missing[0]}",
            where=shown(path),
            next="write the header in one line, without carriage returns",
        )
    return [header.index(column) for column in required]


def _mqm_table(path: FilePath, name: str) -> Annotations:
    """MQM annotations, a line per error, its span between ``<v>`` and ``</v>``.

    Marks in the source have no place.
    """
    lines, parser = table_lines(path), SpanParser()
    columns = _columns(next(lines)[1], _MQM, path)
    segments: dict[tuple[str, str, int, str], _Segment] = {}
    for where, cells in lines:
        system, doc, number, rater, _, target, severity = (cells[column] for column in columns)
        place = (
            integer(number, what="a number from 1 (doc_id)", low=1, high=_PLACES, where=where) - 1
        )
        text, spans, open_marks = _untagged(target)
        parser.counts["open"] += open_marks
        gathered = segments.setdefault((system, doc, place, rater), _Segment(text, where=where))
        if gathered.text != text:
            raise InputError(
                "this line has another output than others of its segment",
                where=where,
                next="lines of a segment differ only in what is marked",
            )
        gathered.found += [(a, b, severity) for a, b in spans] or [(None, None, severity)]
    marks = [
        Marked(system, doc, place, rater, *_parsed(parser, gathered))
        for (system, doc, place, rater), gathered in segments.items()
    ]
    return Annotations(name, tuple(marks), parser.notes(name))


def _parsed(
    parser: SpanParser, gathered: _Segment, score: float = math.nan
) -> tuple[Any, float, str, int]:
    """What a ``Marked`` has after its place: spans, score, text, errors without a place."""
    spans, unplaced = parser.parse(gathered.found, gathered.text, gathered.where)
    return spans, score, gathered.text, unplaced


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


def _wmt25_table(path: FilePath, name: str) -> Annotations:
    """The table of the WMT25 error-span task, gold or submitted: indices and severities separated
    by blanks.
    """
    lines, parser = table_lines(path), SpanParser()
    columns = _columns(next(lines)[1], _WMT25, path)
    marks = []
    for where, cells in lines:
        doc, number, system, text, starts, ends, severities = (cells[column] for column in columns)
        listed = [column.split() for column in (starts, ends, severities)]
        if len({len(values) for values in listed}) > 1:
            raise InputError(
                "start_indices, end_indices and error_types have different lengths",
                where=where,
                next="separate them by blanks; without errors write -1, -1 and no-error",
            )
        place = integer(number, what="a number (segment_id)", low=0, high=_PLACES, where=where)
        gathered = _Segment(text, list(zip(*listed)), where)
        marks.append(Marked(system, doc, place, name, *_parsed(parser, gathered)))
    return Annotations(name, unique(_ranked(marks), shown(path)), parser.notes(name))


def _ranked(marks: Sequence[Marked]) -> list[Marked]:
    """Numbers of segments that go on from document to document → positions in their document."""
    numbers: dict[str, set[int]] = {}
    for mark in marks:
        numbers.setdefault(mark.doc, set()).add(mark.segment)
    position = {
        doc: {number: i for i, number in enumerate(sorted(present))}
        for doc, present in numbers.items()
    }
    return [replace(mark, segment=position[mark.doc][mark.segment]) for mark in marks]


# ---------------------------------------------------------------- JSON


def _jsonl(path: FilePath, name: str) -> Annotations:
    """A segment per line; ``segment`` is its position in the document from 0, ``line_id`` one in
    the whole file.
    """
    parser, marks, numbered = SpanParser(), list[Marked](), False
    with opened(path) as file:
        for line_number, line in enumerate(file.lines(), 1):
            if not line.strip():
                continue
            where = at(file.name, line_number)
            record = read_json(line, where=where, next=_EXAMPLE)
            if not isinstance(record, dict):
                raise InputError("this line is not an object", where=where, next=_EXAMPLE)
            mark = _record(
                {
                    key: next((record[word] for word in words if word in record), None)
                    for key, words in _KEYS.items()
                },
                name,
                parser,
                where,
            )
            numbered = numbered or "segment" not in record
            marks.append(mark)
    return Annotations(
        name, unique(_ranked(marks) if numbered else marks, shown(path)), parser.notes(name)
    )


def _record(values: Mapping[str, Any], name: str, parser: SpanParser, where: str) -> Marked:
    number = values["number"] if values["segment"] is None else values["segment"]
    system, doc = values["system"], values["doc"]
    if not (isinstance(system, str) and isinstance(doc, str) and type(number) is int):
        raise InputError("this line has no system, doc or segment", where=where, next=_EXAMPLE)
    text, score = values["text"], values["score"]
    if text is not None and not isinstance(text, str):
        raise InputError("the text is not a string", where=where, next=_EXAMPLE)
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
        raise InputError("the score is not a number", where=where, next=_EXAMPLE)
    spans, unplaced = (
        (None, 0)
        if values["spans"] is None
        else parser.parse(_json_spans(values["spans"], where), text, where)
    )
    return Marked(
        system,
        doc,
        number,
        str(values["rater"] or name),
        spans,
        math.nan if score is None else float(score),
        text,
        unplaced,
    )


def _json_spans(spans: Any, where: str) -> Iterator[tuple[Any, Any, Any]]:
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise InputError("the spans are not a list of objects", where=where, next=_EXAMPLE)
    for span in spans:
        a, b = (span.get(key, span.get(f"{key}_i")) for key in ("start", "end"))
        yield (
            (None, None, span.get("severity"))
            if span.get("is_source_error")
            else (a, b, span.get("severity"))
        )


def _evalset_ratings(path: Path, name: str) -> Annotations:
    """``human-scores/LP.NAME.seg.rating`` of an EvalSet, with the texts of its outputs where they
    are there.
    """
    evalset = EvalSet.open(path.resolve().parent.parent, path.name.split(".")[0])
    parser, marks = SpanParser(), []
    outputs = evalset.load().outputs if evalset.systems else ()
    texts = {output.system: output.docs for output in outputs}
    for where, system, (doc, place), rater, line in rating_lines(path, corpus_segments(evalset)):
        value = read_json(line, where=where, next=_EXAMPLE)
        value = value if isinstance(value, dict) else {"errors": value}
        text = texts[system][doc][place] if system in texts else None
        values = {
            "system": system,
            "doc": doc,
            "segment": place,
            "rater": rater,
            "text": text,
            "number": None,
            "score": value.get("score"),
            "spans": value.get("errors"),
        }
        marks.append(_record(values, name, parser, where))
    return Annotations(name, tuple(marks), parser.notes(name))


# ---------------------------------------------------------------- run folders


def run_spans(results: Results, metrics: Sequence[str] = ()) -> list[Annotations]:
    """What the metrics of a run mark, and their scores of segments.

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
    """(start, end, severity) of what a metric marked in a row.

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
    """Every segment that the metric scored, with the spans of all rows that cover it, each once.

    Where a metric that marks errors has no score, as when a judge refused, the segment is not
    marked at all.
    """
    glue, rows = glue_of(lang, scores), scores.rows
    value = scores.at("segment") * (1 if scores.higher_is_better else -1)
    reached, first = rows.coverage() > 0.5, np.concatenate([[0], np.cumsum(rows.sizes)])
    for at_doc, doc in enumerate(rows.docs):
        segments, of = texts[doc], rows.of(at_doc)
        found: list[dict[tuple[int | None, int | None, str], None]] = [{} for _ in segments]
        with damaged_details(scores):
            for row in range(of.start, of.stop) if parser else ():
                start = int(rows.start[row])
                stop = (
                    len(segments)
                    if scores.signature.get("view") == "whole"
                    else int(rows.stop[row])
                )
                for a, b, severity in _errors(scores.details[row]):
                    if a is None or b is None:  # somewhere in the row
                        found[start][None, None, severity] = None
                    else:
                        for place, first_of, end in stretches(segments[start:stop], glue, a, b):
                            found[start + place][first_of, end, severity] = None
        for place, text in enumerate(segments[: int(rows.sizes[at_doc])]):
            score = float(value[first[at_doc] + place])
            if reached[first[at_doc] + place] and not (
                parser and math.isnan(score) and not found[place]
            ):
                spans, unplaced = parser.parse(found[place], text, spec) if parser else (None, 0)
                yield Marked(scores.system, doc, place, spec, spans, score, text, unplaced)
