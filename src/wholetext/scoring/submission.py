"""Submissions to WMT26's evaluation task: error spans (task 1) and scores (task 2) of a run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import InputError, MetricError, RunError, count, known
from wholetext.files.parsing import read_json
from wholetext.io.formats.wmt26 import (
    SEGMENTS,
    TASKS,
    WmtItem,
    item_id,
    parse_submission,
    read_items,
    read_submission,
)
from wholetext.io.text import FilePath, shown, text_writer
from wholetext.registry import scorer
from wholetext.scoring.engine import trait
from wholetext.scoring.results import Results, damaged_details
from wholetext.types import FloatArray, Scores
from wholetext.views import glue_of, stretches

Range = tuple[float, float]
Mark = tuple[int, int, str, str]  # start, end, severity, category
_SEVERITIES = {"critical": "major", "major": "major", "minor": "minor", "": "minor"}
_COUNTED = {  # what is not written as the metric reports it
    "critical": "critical errors, written as major",
    "severity": "errors without a severity, written as minor",
    "category": "errors without a category, written as 'other'",
    "omission": "omissions, written in their own field without a span",
    "instruction_fault": "faults of the category instruction, written in their own field without a span",
    "nowhere": "errors without a place in one segment of the output, not written",
    "other": "marks that are no errors by their severity, not written",
}


def write_submission(
    results: Results,
    path: FilePath,
    items: FilePath,
    *,
    metric: str | None = None,
    range: Range | None = None,
    overwrite: bool = False,
) -> tuple[str, list[str]]:
    """Write scores and error spans of a run as a submission; return how much, and notes.

    Every item of the file ``items`` gets a line, in its order; null where a system was not scored.
    An existing submission is completed: what is there stays as it is. ``metric`` is needed where
    the run has several; ``range`` is that of its scores where it has none of its own. The text is
    read by ``read_submission``'s rules before it replaces the file.
    """
    by_id, out, exists = read_items(items), Path(path), Path(path).exists()
    if exists and out.samefile(items):
        raise InputError("this is the file of items", where=str(out), next="choose another file")
    if metric is None and len(results) != 1:
        raise RunError(
            f"this run has {count(len(results), 'metric')}",
            next=f"choose one with -m: {', '.join(results)}",
        )
    spec = next(iter(results)) if metric is None else scorer(metric).spec
    known("metric", spec, results.scores, error=RunError)
    predictions, notes = _predictions(results, spec, by_id, shown(items), range)
    earlier: Mapping[str, dict[str, Any]] = {}
    if exists and not overwrite:
        earlier, remarks = read_submission(path, by_id, partial=True)
        notes += remarks
    lines, filled, kept, empty = [], Counter[str](), 0, 0
    for key, item in by_id.items():
        line = {"item_id": key, **earlier.get(key, {})}
        for task in TASKS:
            values = dict(line.get(task) or {})
            for system in item.hyps:
                value, earlier_value = predictions.get((key, system, task)), values.get(system)
                values[system] = value if earlier_value is None else earlier_value
                filled[task] += earlier_value is None and value is not None
                kept += None not in (earlier_value, value) and value != earlier_value
                empty += values[system] is None
            line[task] = values
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    parse_submission("".join(lines).encode("utf-8"), str(path), by_id)
    with text_writer(path) as file:
        file.writelines(lines)
    if kept:
        notes.append(f"predictions that were there and stay, although the run differs: {kept}")
    made = count(len(by_id), "item"), f"filled in: {filled[TASKS[0]]} of task 1"
    return f"{', '.join(made)}, {filled[TASKS[1]]} of task 2, null: {empty}", notes


def _predictions(
    results: Results, spec: str, items: Mapping[str, WmtItem], where: str, range: Range | None
) -> tuple[dict[tuple[str, str, str], Any], list[str]]:
    """Return (item, system, task) → prediction, and notes on how they were made."""
    places = [
        (doc.id, place, item_id(doc.id, segment))
        for doc in results.corpus.docs
        for place, segment in enumerate(read_json(doc.meta.get(SEGMENTS, "[]")))
    ]
    if len(places) != int(results.corpus.sizes.sum()) or any(
        key not in items for *_, key in places
    ):
        raise RunError(
            "this run has segments that are not among these items",
            where=where,
            next=f"score the items themselves: wholetext score {where} -l PAIR -m {spec} --out RUN",
        )
    outputs = {output.system: output.docs for output in results.outputs}
    by_system, counts = results[spec], Counter[str]()
    facts = [fact for scores in by_system.values() for fact in scores.details if fact]
    marks = trait(scorer(spec).metric, "marks_errors") or any(
        span.get("severity") in _SEVERITIES for fact in facts for span in fact.get("spans") or ()
    )
    predictions = dict[tuple[str, str, str], Any]()
    for system, scores in by_system.items():
        values = _scaled(scores, range, counts)
        errors = _errors(scores, outputs[system], results.corpus.langs[1], counts) if marks else {}
        for (doc, place, key), value in zip(places, values.tolist()):
            text, other = outputs[system][doc][place], items[key].hyps.get(system)
            if text != (other or ""):
                raise RunError(
                    f"the output of {system!r} for {key!r} is another text in the run",
                    where=where,
                    next="score these items again",
                )
            if other is None:
                continue
            predictions[key, system, "task2_pred"] = value if value == value else None
            listed = errors.get((doc, place))
            if marks and (value == value or listed):
                predictions[key, system, "task1_pred"] = _written(listed or {}, counts)
    return predictions, [*_notes(results, spec, bool(marks), range, counts)]


def _scaled(scores: Scores, range: Range | None, counts: Counter[str]) -> FloatArray:
    """(segments,) scores from 0 to 100, by a linear map of the metric's range."""
    low, high = range or scores.range
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise MetricError(
            f"the scores of {scores.metric} have no fixed range that could be mapped to 0 to 100",
            next="state it, lowest first: --range=0,1 for COMET, --range=-25,0 for MQM",
        )
    values = scores.at("segment")
    if (low, high) != (0.0, 100.0):
        values = 100 * (values - low) / (high - low)
    values = values if scores.higher_is_better else 100 - values
    counts["cut"] += int(((values < 0) | (values > 100)).sum())
    return np.clip(values, 0.0, 100.0)


def _errors(
    scores: Scores, texts: Mapping[str, tuple[str, ...]], lang: str, counts: Counter[str]
) -> dict[tuple[str, int], dict[Mark, None]]:
    """Return (document, segment) → its errors; one without a place in the output is at 0:0."""
    glue, rows = glue_of(lang, scores), scores.rows
    whole, errors = (
        scores.signature.get("view") == "whole",
        dict[tuple[str, int], dict[Mark, None]](),
    )
    with damaged_details(scores):
        for row, fact in zip(rows, scores.details):
            segments = texts[row.doc][row.start : None if whole else row.stop]
            for start, end, severity, category in _reported(fact or {}, counts):
                places = [*stretches(segments, glue, start, end)]
                if not places and len(segments) == 1:
                    places = [(0, 0, 0)]
                counts["nowhere"] += not places
                for place, first, last in places:
                    mark = first, last, severity, category
                    errors.setdefault((row.doc, row.start + place), {})[mark] = None
    return errors


def _reported(fact: Mapping[str, Any], counts: Counter[str]) -> Iterator[Mark]:
    """Yield the errors of a row: spans, and what a judge quotes from the source or nowhere."""
    quoted = [
        {**error, "start": 0, "end": 0}
        for error in fact.get("errors") or ()
        if not error.get("located") or error.get("side") == "src"
    ]
    for error in (*(fact.get("spans") or ()), *quoted):
        severity = str(error.get("severity") or "")
        if severity not in _SEVERITIES:
            counts["other"] += 1
            continue
        category = str(error.get("category") or "").strip().lower()
        lacks = {"critical": severity == "critical", "severity": not severity}
        counts.update({**lacks, "category": not category})
        yield int(error["start"]), int(error["end"]), _SEVERITIES[severity], category or "other"


def _written(marks: Mapping[Mark, None], counts: Counter[str]) -> dict[str, Any]:
    """Return the prediction of task 1 for one output."""
    errors = list[dict[str, Any]]()
    fields: dict[str, str | None] = {"omission": None, "instruction_fault": None}
    for start, end, severity, category in sorted(marks):
        own = {
            "omission": "omission" in category,
            "instruction_fault": category.startswith("instruction"),
        }
        kind = next((name for name, holds in own.items() if holds), "")
        counts[kind or ("" if end else "nowhere")] += 1
        if kind:
            fields[kind] = "major" if "major" in (severity, fields[kind]) else "minor"
        elif end:
            errors.append({"start": start, "end": end, "severity": severity, "category": category})
    return {"errors": errors, **fields}


def _notes(
    results: Results, spec: str, marks: bool, range: Range | None, counts: Counter[str]
) -> Iterator[str]:
    scores = next(iter(results[spec].values()))
    (low, high), name = range or scores.range, results.labels[spec]
    if (low, high, scores.higher_is_better) == (0.0, 100.0, True):
        yield f"task 2: scores of {name} as they are"
    else:
        ends = (low, high) if scores.higher_is_better else (high, low)
        yield f"task 2: scores of {name}, {ends[0]:g} mapped to 0 and {ends[1]:g} to 100, linearly"
    if counts["cut"]:
        yield f"task 2: {count(counts['cut'], 'score', 'are')} outside this range, cut at 0 or 100"
    if np.any(scores.rows.stop - scores.rows.start > 1):
        yield "task 2: a segment has the mean score of the windows that cover it"
    if not marks:
        yield f"task 1 stays as it is: {name} marks no errors"
    for kind, text in _COUNTED.items():
        if counts[kind]:
            yield f"task 1: {text}: {counts[kind]}"
