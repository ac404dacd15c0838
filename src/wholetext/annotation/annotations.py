"""Annotations made in Pearmut, from its log (JSONL) or the file of its dashboard (JSON).

A line of the log is one submitted document: ``item`` (the items shown), ``annotation`` (for each
item, model → score and ``error_spans``), ``user_id`` and ``item_i``. Later submissions of a user
replace earlier ones; a reset (``annotation: "__RESET__"``) withdraws them. Tutorials and attention
checks are not judgments.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.annotation.campaign import characters, counted, units
from wholetext.errors import AlignmentError, InputError, WriteError
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.parsing import number, read_json, reader, reading
from wholetext.io.assembly import Loaded
from wholetext.io.formats import evalset
from wholetext.io.formats.scores import write_table
from wholetext.io.text import FilePath, at, opened, write_lines
from wholetext.notebook.display import brief
from wholetext.types import Judgments

Segment = tuple[str, int]  # document, position in it from 0
_RESET = "__RESET__"
_NOTES = {
    "controls": ("document", "of tutorials and attention checks not used"),
    "forms": ("form", "not used"),
    "reset": ("submission", "withdrawn by a reset"),
    "replaced": ("submission", "replaced by a later one of the same annotator"),
    "failed": ("attention check", "failed"),
    "unscored": ("annotation", "without a score: not judged"),
    "beyond": ("error span", "of missing content: no place in the output"),
    "no severity": ("error span", "without severity"),
}
_CONTROLS = ("welcome_", "random_", "goodbye_")
_NEXT = (
    "give the annotations that Pearmut wrote: its log (JSONL) or annotations.json of its dashboard"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """An error span: characters ``start:end`` of the output.

    None where the annotator chose a token after the text.
    """

    start: int | None
    end: int | None
    severity: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation of one segment of one system by one annotator."""

    system: str
    segment: Segment
    rater: str
    score: float | None
    marks: tuple[Mark, ...]
    text: str
    weight: float = 1.0  # of the document, where it was sampled with unequal probability


@dataclass(frozen=True, eq=False)
class PearmutAnnotations:
    """Every annotation that counts, and what was left out."""

    given: tuple[Annotation, ...]
    notes: tuple[str, ...] = ()
    __repr__ = brief

    def judgments(self, segments: Sequence[Segment] = ()) -> Judgments:
        """Average scores over raters, of ``segments`` (those of a corpus) or of the scored ones."""
        scored = [mark for mark in self.given if mark.score is not None]
        systems = tuple(dict.fromkeys(mark.system for mark in scored))
        segments = segments or tuple(dict.fromkeys(mark.segment for mark in scored))
        row, column = ({name: i for i, name in enumerate(names)} for names in (systems, segments))
        total, number_of = np.zeros((2, len(systems), len(segments)))
        for mark in scored:
            place = row[mark.system], column[mark.segment]
            total[place] += mark.score
            number_of[place] += 1
        with np.errstate(invalid="ignore"):
            return Judgments("esa", "seg", systems, total / number_of)

    def system_scores(self) -> dict[str, float]:
        """Average the scores of each system.

        The mean over raters, then over segments weighted as their documents (Hájek 1971).
        """
        weight = {mark.segment: mark.weight for mark in self.given if mark.score is not None}
        judged = self.judgments(tuple(weight))
        weights = np.where(np.isnan(judged.values), 0.0, list(weight.values()))
        means = (np.nan_to_num(judged.values) * weights).sum(axis=1) / weights.sum(axis=1)
        return dict(zip(judged.systems, means.tolist()))


@reader
def read_pearmut(path: FilePath) -> PearmutAnnotations:
    """Read the log of a Pearmut campaign, or the file of annotations that its dashboard gives."""
    seen, annotations = Counter[str](), list[Annotation]()
    last: dict[tuple[str, str, str], tuple[str, dict[str, Any]]] = {}
    for where, campaign, entry in _entries(path):
        key = (campaign, str(entry.get("user_id")), str(entry.get("item_i")))
        if entry.get("annotation") == _RESET:
            gone = [
                entered
                for entered in last
                if entered[:2] == key[:2] and key[2] in ("None", entered[2])
            ]  # without an item: all
            seen["reset"] += len(gone)
            last = {entered: value for entered, value in last.items() if entered not in gone}
        elif key[2].startswith(_CONTROLS):
            seen["controls"] += 1
        else:
            seen["replaced"] += key in last
            last[key] = (where, entry)
    for where, entry in last.values():
        with reading(where, _NEXT, what="this submission cannot be read"):
            annotations += _submission(entry, where, seen)
    if not annotations:
        raise InputError("there are no annotations in this file", where=str(path), next=_NEXT)
    return PearmutAnnotations(tuple(annotations), counted(_NOTES, seen))


def _entries(path: FilePath) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (place, campaign, entry) of each line, or of the lists of one JSON object."""
    with opened(path) as file:
        lines = list(file.lines())
    try:
        whole = read_json("\n".join(lines), where=file.name, next=_NEXT)
    except InputError:  # a line each
        whole = None
    if isinstance(whole, dict) and "annotation" not in whole:
        for campaign, entries in whole.items():
            for number, entry in enumerate(entries, 1):
                where = f"{file.name}, annotation {number} of {campaign!r}"
                yield where, campaign, dict(entry)
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = at(file.name, number)
            yield where, "", dict(read_json(line, where=where, next=_NEXT))


def _submission(entry: Mapping[str, Any], where: str, seen: Counter[str]) -> Iterator[Annotation]:
    """Yield the annotations of one submitted document; a form has no texts of systems."""
    items, answers = entry["item"], entry["annotation"]
    if not all(isinstance(item.get("tgt"), dict) for item in items):
        seen["forms"] += 1
        return
    rater = " ".join(str(entry.get("user_id") or "unknown").split())  # a cell of a table
    seen["failed"] += (entry.get("validations") or []).count(False)
    doc = str(items[0]["doc"] if "doc" in items[0] else items[0]["item_id"])
    for place, (item, answer) in enumerate(zip(items, answers, strict=True)):
        segment = (doc, int(item.get("seg", place)) if "doc" in item else place)
        for system, judgment in (answer or {}).items():
            text, score = item["tgt"][system], judgment.get("score")
            seen["unscored"] += score is None
            places = units(text)
            value = 0.0 if score is None else number(str(score), low=0, where=where)
            weight = number(str(item.get("weight", 1.0)), low=1e-9, where=where)
            if value > 100:
                raise ValueError("a score is at most 100")
            yield Annotation(
                system,
                segment,
                rater,
                None if score is None else value,
                tuple(_mark(span, places, seen) for span in judgment.get("error_spans") or []),
                text,
                weight,
            )


def _mark(span: Mapping[str, Any], places: list[int], seen: Counter[str]) -> Mark:
    first, last = int(span["start_i"]), int(span["end_i"])
    if not 0 <= first <= last:
        raise ValueError(f"an error span goes from start_i to end_i, not {first} to {last}")
    start, end = characters(places, first, last) or (None, None)
    seen["beyond"] += start is None
    seen["no severity"] += span.get("severity") is None
    severity, category = (str(span.get(key) or "") for key in ("severity", "category"))
    return Mark(start, end, severity.lower(), category)


def write_judgments(folder: FilePath, annotations: PearmutAnnotations, loaded: Loaded) -> None:
    """Write an EvalSet with the annotations as judgments ``esa``: scores, ratings, spans.

    ``loaded`` has the texts of the run. Where annotated texts differ from them, or a document is not
    there, it is an error. All files are written at once or none, and none that others wrote is
    replaced.
    """
    texts = {output.system: output.docs for output in loaded.outputs}
    for annotation in annotations.given:
        doc, place = annotation.segment
        known = texts.get(annotation.system, {}).get(doc)
        if known is None or place >= len(known) or known[place] != annotation.text:
            raise AlignmentError(
                f"segment {place + 1} of document {doc!r} by {annotation.system!r} has another "
                "text than "
                "the one that was annotated, or is not there",
                where=str(folder),
                next="give the run that the campaign was made from",
            )
    with changing(Path(folder), SharedFolder("EvalSet", WriteError)) as staged:
        segments = [(doc.id, i) for doc in loaded.corpus.docs for i in range(len(doc))]
        line = {segment: i for i, segment in enumerate(segments)}
        evalset.write(staged, loaded)
        base, name = staged / "human-scores", "-".join(loaded.corpus.langs)
        judged = annotations.judgments(segments)
        write_table(base / f"{name}.esa.seg.score", judged.systems, judged.values, gaps=True)
        means = annotations.system_scores()
        write_table(
            base / f"{name}.esa.sys.score",
            list(means),
            np.array([[mean] for mean in means.values()]),
        )
        rows = [
            f"{annotation.system}\t{line[annotation.segment]}\t{annotation.rater}\t{annotation.score!r}"
            for annotation in annotations.given
            if annotation.score is not None
        ]
        write_lines(base / f"{name}.esa.raters.tsv", ["system\tseg\trater\tscore", *rows])
        write_lines(base / f"{name}.esa.spans.jsonl", map(_span_line, annotations.given))


def _span_line(annotation: Annotation) -> str:
    spans = [
        {
            "start": "missing" if mark.start is None else mark.start,
            "end": "missing" if mark.end is None else mark.end,
            "severity": mark.severity,
            "category": mark.category,
        }
        for mark in annotation.marks
    ]
    return json.dumps(
        {
            "system": annotation.system,
            "doc": annotation.segment[0],
            "segment": annotation.segment[1],
            "rater": annotation.rater,
            "text": annotation.text,
            "score": annotation.score,
            "spans": spans,
        },
        ensure_ascii=False,
    )
