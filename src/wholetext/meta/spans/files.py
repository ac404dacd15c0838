"""Spans from files: MQM tables, EvalSet ratings, JSONL, and run folders (any metric
that marks spans).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import InputError
from wholetext.files.parsing import number, read_json, reader, reading
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.text import FilePath, at, is_folder, opened, shown, stem
from wholetext.meta.judgments.mqm import rating_lines, read_mqm
from wholetext.meta.judgments.sources import corpus_segments
from wholetext.meta.spans.marks import Annotations, Marked, RawSpan, SpanParser, unique
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, damaged_details
from wholetext.types import Scores
from wholetext.views import glue_of, stretches

_MQM = ("system", "doc", "doc_id", "rater", "source", "target", "severity")
_TAG = re.compile(r"<(/?)v>")
_KEYS = ("system", "doc", "segment", "text", "spans", "score")
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
        for line_number, line in enumerate(file.lines(), 1):
            if line.strip():
                where = at(file.name, line_number)
                record = read_json(line, where=where, next=_EXAMPLE)
                with reading(where, _EXAMPLE, what="this line cannot be read"):
                    marks.append(_record(record, name, parser, where))
    return Annotations(name, unique(marks, shown(path)), parser.notes(name))


def _record(values: Mapping[str, Any], name: str, parser: SpanParser, where: str) -> Marked:
    system, doc, segment, text, spans, score = map(values.get, _KEYS)
    kinds = ((str, system), (str, doc), (int, segment), (str | None, text))
    if not all(isinstance(value, kind) for kind, value in kinds):
        raise ValueError("there is no system, doc or segment, or the text is not a string")
    placed, unplaced = None, 0
    if spans is not None:
        placed, unplaced = parser.parse(map(_raw_span, spans), text, where)
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


def _raw_span(span: Mapping[str, Any]) -> RawSpan:
    if span.get("is_source_error"):
        return None, None, span.get("severity")
    return span.get("start"), span.get("end"), span.get("severity")


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
        errors: list[dict[tuple[int | None, int | None, str], None]] = [{} for _ in segments]
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
                        errors[start][None, None, severity] = None
                    else:
                        for place, first_of, end in stretches(segments[start:stop], glue, a, b):
                            errors[start + place][first_of, end, severity] = None
        for place, text in enumerate(segments[: int(rows.sizes[at_doc])]):
            score = float(value[first[at_doc] + place])
            if reached[first[at_doc] + place] and not (
                parser and math.isnan(score) and not errors[place]
            ):
                spans, unplaced = parser.parse(errors[place], text, spec) if parser else (None, 0)
                yield Marked(scores.system, doc, place, spec, spans, score, text, unplaced)
