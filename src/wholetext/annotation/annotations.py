"""Annotations made in Pearmut, from its log (JSONL) or the file of its dashboard (JSON).

A line of the log is one submitted document: ``item`` (the items shown), ``annotation`` (for each
item, model → score and ``error_spans``), ``user_id`` and ``item_i``. Later submissions of a user
replace earlier ones; a reset (``annotation: "__RESET__"``) withdraws them. Tutorials and attention
checks are not judgments.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.annotation.campaign import characters, counted, units
from wholetext.errors import AlignmentError, InputError, WriteError, count
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.parsing import read_json, reader
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.formats import evalset
from wholetext.io.formats.scores import write_table
from wholetext.io.text import FilePath, at, opened, write_lines
from wholetext.meta.judgments.ratings import Ratings, Segment, gather
from wholetext.notebook.display import brief
from wholetext.types import Corpus, Document, Output

_RESET = "__RESET__"
_NOTES = {
    "controls": ("document", "of tutorials and attention checks not used"),
    "forms": ("form", "not used"),
    "reset": ("submission", "withdrawn by a reset"),
    "replaced": ("submission", "replaced by a later one of the same annotator"),
    "unscored": ("annotation", "without a score: not judged"),
    "beyond": ("error span", "of missing content: no place in the output"),
    "no severity": ("error span", "without severity"),
    "unnamed": ("submission", "without item_id: the document is named by its hash"),
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
    source: str | None = None
    weight: float = 1.0  # of the document, where it was sampled with unequal probability


@dataclass(frozen=True, eq=False)
class PearmutAnnotations:
    """Every annotation that counts, and what was left out."""

    given: tuple[Annotation, ...]
    notes: tuple[str, ...] = ()
    __repr__ = brief

    def ratings(self, segments: Iterable[Segment] = ()) -> Ratings:
        """Scores by rater, of ``segments`` (those of a corpus) or of the rated segments."""
        rows = (
            (annotation.system, annotation.segment, annotation.rater, annotation.score)
            for annotation in self.given
            if annotation.score is not None
        )
        return gather("esa", rows, tuple(segments))

    def loaded(self, langs: Langs = None) -> Loaded:
        """The annotated texts as corpus and outputs; an output without annotations is empty."""
        sizes: dict[str, int] = {}
        for annotation in self.given:
            sizes[annotation.segment[0]] = max(
                sizes.get(annotation.segment[0], 0), annotation.segment[1] + 1
            )
        sources = {
            annotation.segment: annotation.source
            for annotation in self.given
            if annotation.source is not None
        }
        texts = {
            (annotation.system, annotation.segment): annotation.text for annotation in self.given
        }
        systems = dict.fromkeys(annotation.system for annotation in self.given)
        docs = tuple(
            Document(
                doc, tuple(sources.get((doc, i), "") for i in range(size)) if sources else None
            )
            for doc, size in sizes.items()
        )
        outputs = [
            Output(
                system,
                {
                    doc: tuple(texts.get((system, (doc, i)), "") for i in range(size))
                    for doc, size in sizes.items()
                },
            )
            for system in systems
        ]
        return assemble(Corpus("pearmut", pair(langs), docs), outputs, self.notes)

    def system_scores(self) -> dict[str, float]:
        """Mean score of each system.

        The mean over raters, then over segments weighted as their documents (Hájek 1971).
        """
        ratings = self.ratings()
        weight = {annotation.segment: annotation.weight for annotation in self.given}
        values = ratings.judgments().values  # (systems, segments)
        weights = np.where(np.isnan(values), 0.0, [weight[segment] for segment in ratings.segments])
        means = (np.nan_to_num(values) * weights).sum(axis=1) / weights.sum(axis=1)
        return dict(zip(ratings.systems, means.tolist()))


@reader
def read_pearmut(path: FilePath) -> PearmutAnnotations:
    """Read the log of a Pearmut campaign, or the file of annotations that its dashboard gives."""
    reading = _Reading()
    last: dict[tuple[str, str, str], tuple[str, dict[str, Any]]] = {}
    for where, campaign, entry in _entries(path):
        key = (campaign, str(entry.get("user_id")), str(entry.get("item_i")))
        if entry.get("annotation") == _RESET:
            gone = [
                entered
                for entered in last
                if entered[:2] == key[:2] and key[2] in ("None", entered[2])
            ]  # without an item: all
            reading.seen["reset"] += len(gone)
            last = {entered: value for entered, value in last.items() if entered not in gone}
        elif key[2].startswith(_CONTROLS):
            reading.seen["controls"] += 1
        else:
            reading.seen["replaced"] += key in last
            last[key] = (where, entry)
    for where, entry in last.values():
        reading.add(entry, where)
    if not reading.found:
        raise InputError("there are no annotations in this file", where=str(path), next=_NEXT)
    return PearmutAnnotations(tuple(reading.found), reading.notes())


def _entries(path: FilePath) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(place, campaign, entry): of a line each, or of the lists of one JSON object."""
    with opened(path) as file:
        lines = list(file.lines())
    first = next((line for line in lines if line.strip()), "")
    if '"annotation"' in first and _is_object(first):
        for number, line in enumerate(lines, 1):
            if line.strip():
                where = at(file.name, number)
                yield where, "", _object(read_json(line, where=where, next=_NEXT), where)
        return
    for campaign, entries in _object(
        read_json("\n".join(lines), where=file.name, next=_NEXT), file.name
    ).items():
        if not isinstance(entries, list):
            raise InputError(
                f"{campaign!r} has no list of annotations", where=file.name, next=_NEXT
            )
        for number, entry in enumerate(entries, 1):
            where = f"{file.name}, annotation {number} of {campaign!r}"
            yield where, campaign, _object(entry, where)


def _is_object(line: str) -> bool:
    """Whether a line is an entry by itself, not the only line of a whole file."""
    try:
        return "annotation" in read_json(line)
    except (InputError, TypeError):
        return False


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("expected a JSON object", where=where, next=_NEXT)
    return value


@dataclass
class _Reading:
    """Annotations read so far, and counts of what is not used."""

    found: list[Annotation] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, entry: Mapping[str, Any], where: str) -> None:
        """The annotations of one submitted document."""
        items, answers = entry.get("item"), entry.get("annotation")
        if (
            not isinstance(items, list)
            or not isinstance(answers, list)
            or len(items) != len(answers)
        ):
            raise InputError(
                "`item` and `annotation` are not lists of the same length", where=where, next=_NEXT
            )
        if not all(isinstance(item, dict) and isinstance(item.get("tgt"), dict) for item in items):
            self.seen["forms"] += 1
            return
        rater = str(entry.get("user_id") or "unknown")
        checks = entry.get("validations")
        self.failed[rater] += (
            sum(check is False for check in checks) if isinstance(checks, list) else 0
        )
        doc = self._document(items)
        for place, (item, answer) in enumerate(zip(items, answers)):
            segment = (doc, item["seg"] if _is_count(item.get("seg")) and "doc" in item else place)
            for system, judgment in _object(answer or {}, where).items():
                self._answer(item, system, segment, rater, _object(judgment, where), where)

    def _document(self, items: list[dict[str, Any]]) -> str:
        """The id that wholetext wrote, else that of the first item, else a hash of the texts."""
        first = items[0] if items else {}
        name = first.get("doc", first.get("item_id"))
        if isinstance(name, (str, int)) and str(name):
            return str(name)
        self.seen["unnamed"] += 1
        shown = json.dumps([item.get("src", item["tgt"]) for item in items], sort_keys=True)
        return f"doc-{hashlib.sha256(shown.encode()).hexdigest()[:12]}"

    def _answer(
        self,
        item: Mapping[str, Any],
        system: str,
        segment: Segment,
        rater: str,
        judgment: Mapping[str, Any],
        where: str,
    ) -> None:
        text, source = item["tgt"].get(system), item.get("src")
        if not isinstance(text, str):
            raise InputError(
                f"{system!r} is annotated, and its text is not there", where=where, next=_NEXT
            )
        score = judgment.get("score")
        if score is not None and not (_is_number(score) and 0 <= score <= 100):
            raise InputError(
                f"a score is a number from 0 to 100, not {str(score)[:40]!r}",
                where=where,
                next=_NEXT,
            )
        self.seen["unscored"] += score is None
        weight = item.get("weight", 1.0)
        if not (_is_number(weight) and 1e-9 < weight < 1e9):
            raise InputError(
                "the weight of a document is a number above 0 and below 1e9, not "
                f"{str(weight)[:40]!r}",
                where=where,
            )
        spans = judgment.get("error_spans") or []
        if not isinstance(spans, list):
            raise InputError("`error_spans` is not a list", where=where, next=_NEXT)
        places = units(text)
        marks = tuple(self._mark(_object(span, where), places, where) for span in spans)
        self.found.append(
            Annotation(
                system,
                segment,
                rater,
                None if score is None else float(score),
                marks,
                text,
                source if isinstance(source, str) else None,
                float(weight),
            )
        )

    def _mark(self, span: Mapping[str, Any], places: list[int], where: str) -> Mark:
        first, last = (
            int(span[key]) if _is_count(span.get(key)) else -1 for key in ("start_i", "end_i")
        )
        if not 0 <= first <= last:
            raise InputError(
                f"an error span goes from start_i to end_i, not {json.dumps(span)[:60]}",
                where=where,
                next=_NEXT,
            )
        span_of = characters(places, first, last) or (None, None)
        self.seen["beyond"] += span_of[0] is None
        self.seen["no severity"] += span.get("severity") is None
        category = span.get("category") or ""
        return Mark(span_of[0], span_of[1], str(span.get("severity") or "").lower(), str(category))

    def notes(self) -> tuple[str, ...]:
        failed = {rater: number for rater, number in self.failed.items() if number}
        return (
            *counted(_NOTES, self.seen),
            *(
                f"annotator {rater!r} failed {count(number, 'attention check')}"
                for rater, number in failed.items()
            ),
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9


def write_judgments(folder: FilePath, annotations: PearmutAnnotations, loaded: Loaded) -> None:
    """Write an EvalSet with the annotations as judgments ``esa``: scores, ratings, spans.

    ``loaded`` has the texts, of a run or of the annotations themselves. Where the texts of both
    differ, or a document is not there, it is an error. All files are written at once or none, and
    none that others wrote is replaced.
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
        if "\t" in annotation.rater or len(annotation.rater.splitlines()) > 1:
            raise InputError(
                f"the name of the annotator {annotation.rater!r} breaks the lines of a table",
                where=str(folder),
                next="rename it in the annotations (user_id)",
            )
    with changing(Path(folder), SharedFolder("EvalSet", WriteError)) as staged:
        _write(staged, annotations, loaded)


def _write(folder: Path, annotations: PearmutAnnotations, loaded: Loaded) -> None:
    segments = [(doc.id, i) for doc in loaded.corpus.docs for i in range(len(doc))]
    ratings, line = (
        annotations.ratings(segments),
        {segment: i for i, segment in enumerate(segments)},
    )
    evalset.write(folder, loaded)
    base, name = folder / "human-scores", "-".join(loaded.corpus.langs)
    judged = ratings.judgments()
    write_table(base / f"{name}.esa.seg.score", judged.systems, judged.values, gaps=True)
    means = annotations.system_scores()
    write_table(
        base / f"{name}.esa.sys.score", list(means), np.array([[mean] for mean in means.values()])
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
