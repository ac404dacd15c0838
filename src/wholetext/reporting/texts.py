"""Documents of the page: texts, row scores, losses, flags and marks, in blocks loaded on demand.

Marks are what metrics mark in a text (BlonDe's categories, error spans, cuts), by segment and in
UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.reporting.panels import shorts
from wholetext.scoring.results import Results, damaged_details
from wholetext.types import FloatArray, Scores
from wholetext.views import glue_of, stretches

Faults = list[list[Any]]
BLOCK = 100_000  # characters of text in one block: unpacked in a few milliseconds


@dataclass(frozen=True)
class Drawn:
    """Documents that the page can show, and a notice if these are not all."""

    segments: Mapping[int, int]  # document → number of segments
    notice: str = ""


def choose(results: Results, limit: int) -> Drawn:
    """Choose all documents if they have at most ``limit`` segments together.

    Otherwise half of the segments are of documents on which the systems differ most, half of
    documents spread evenly over the corpus.
    """
    sizes = [
        max(len(doc), *(len(output.docs[doc.id]) for output in results.outputs))
        for doc in results.corpus.docs
    ]
    if sum(sizes) <= limit:
        return Drawn(dict(enumerate(sizes)))
    chosen: dict[int, int] = {}

    def take(order: Sequence[int], room: int) -> None:
        for doc in order:
            if doc not in chosen and (sizes[doc] <= room or not chosen):
                chosen[doc] = min(sizes[doc], limit)
                room -= chosen[doc]

    take(_most_different(results), limit // 2)
    step = max(1, len(sizes) * 2 // max(1, limit // max(1, sum(sizes) // len(sizes))))
    spread = sorted(range(len(sizes)), key=lambda doc: (doc % step, doc))
    take(spread, limit - sum(chosen.values()))
    shown = sum(chosen.values())
    return Drawn(
        dict(sorted(chosen.items())),
        (
            f"Texts of {len(chosen):,} of {len(sizes):,} documents are in this file "
            f"({shown:,} of {sum(sizes):,} segments): half are those on which the systems differ "
            "most, half are spread evenly over the corpus. Scores, charts and tests use all "
            "documents."
        ),
    )


def _most_different(results: Results) -> list[int]:
    scores = next(iter(results.scores.values()))
    table = np.stack([own.at("doc") for own in scores.values()])  # (systems, documents)
    undefined = np.isnan(table)
    highest = np.where(undefined, -np.inf, table).max(axis=0)
    gap = highest - np.where(undefined, np.inf, table).min(axis=0)
    return [int(doc) for doc in np.argsort(-np.where(np.isfinite(gap), gap, 0.0), kind="stable")]


@dataclass(frozen=True, eq=False)
class ReportTexts:
    """A run with its systems in the order of the page, its row scores and its flags."""

    results: Results
    systems: tuple[str, ...]
    references: tuple[str, ...]
    scores: tuple[tuple[tuple[Scores, FloatArray], ...], ...]  # [metric][system] with row scores
    # [system][document] flags ``[segment, kind, note]``; segment −1 is the document itself
    faults: tuple[tuple[Faults, ...], ...]

    def outputs(self, doc: int) -> list[tuple[str, ...]]:
        by_name = {output.system: output for output in self.results.outputs}
        return [by_name[name].docs[self.results.corpus.docs[doc].id] for name in self.systems]


def gather(results: Results, systems: Sequence[str]) -> ReportTexts:
    place = {doc.id: i for i, doc in enumerate(results.corpus.docs)}
    faults: list[tuple[Faults, ...]] = []
    for system in systems:
        faults.append(tuple([] for _ in place))
        for flag in results.flags.get(system, ()):
            if flag["doc"] in place:
                segment = -1 if flag["segment"] is None else flag["segment"]
                faults[-1][place[flag["doc"]]].append([segment, flag["kind"], flag["note"]])
    scores = tuple(
        tuple((by_system[name], by_system[name].at("row")) for name in systems)
        for by_system in results.scores.values()
    )
    return ReportTexts(results, tuple(systems), results.corpus.references, scores, tuple(faults))


def blocks(material: ReportTexts, drawn: Drawn) -> Iterator[dict[int, dict[str, Any]]]:
    """Yield the chosen documents in blocks: document → its data for the page."""
    block: dict[int, dict[str, Any]] = {}
    size = 0
    for index, segments in drawn.segments.items():
        shown = _Document(material, index, segments)
        block[index] = shown.plain()
        size += shown.characters
        if size >= BLOCK:
            yield block
            block, size = {}, 0
    if block:
        yield block


class _Document:
    """One document of all systems, cut to its first ``size`` segments."""

    def __init__(self, material: ReportTexts, index: int, size: int) -> None:
        self.material, self.index, self.size = material, index, size
        self.doc = material.results.corpus.docs[index]
        self.hyps = material.outputs(index)

    @property
    def characters(self) -> int:
        texts = [*self.hyps, *self.doc.refs.values(), self.doc.src or ()]
        return sum(len(segment) for text in texts for segment in text[: self.size])

    def plain(self) -> dict[str, Any]:
        size, doc = self.size, self.doc
        data: dict[str, Any] = {
            "src": None if doc.src is None else list(doc.src[:size]),
            "refs": [list(doc.refs[name][:size]) for name in self.material.references],
            "out": [list(hyp[:size]) for hyp in self.hyps],
            "flags": [
                [flag for flag in faults[self.index] if flag[0] < size]
                for faults in self.material.faults
            ],
            "rows": [],
            "lost": [],
            "marks": [],
            "why": [],
        }
        earlier: dict[str, int] = {}
        for at, ordered in enumerate(self.material.scores):
            data["rows"].append(self._rows(ordered))
            data["lost"].append([self._lost(scores) for scores, _ in ordered])
            data["why"].append([self._reasons(scores) for scores, _ in ordered])
            marks = [self._marks(scores, hyp) for (scores, _), hyp in zip(ordered, self.hyps)]
            if not any(marks):
                data["marks"].append(None)
            else:  # d-blonde marks what blonde marks
                first = earlier.setdefault(repr(marks), at)
                data["marks"].append(marks if first == at else first)
        return data

    def _rows(self, ordered: Sequence[tuple[Scores, FloatArray]]) -> dict[str, Any]:
        """Spans and scores of rows: ``at`` is null for a row per segment; ``each`` is by system."""
        spans, values = [], []
        for scores, row_scores in ordered:
            rows = scores.rows.of(self.index)
            places = np.stack([scores.rows.start[rows], scores.rows.stop[rows]], axis=1)
            kept = places[:, 0] < self.size
            spans.append(places[kept].tolist())
            values.append(shorts(row_scores[rows][kept], 5))
        if all(span == spans[0] for span in spans):
            single = spans[0] == [[i, i + 1] for i in range(len(spans[0]))] and len(spans[0]) > 1
            return {"at": None if single else spans[0], "v": values}
        return {"each": spans, "v": values}

    def _lost(self, scores: Scores) -> list[list[int]]:
        """``[row, context tokens, scored tokens]`` lost by rows that did not fit the model."""
        if scores.lost is None:
            return []
        lost = scores.lost[scores.rows.of(self.index)]
        return [
            [int(row), int(lost[row, 0]), int(lost[row, 1])]
            for row in np.flatnonzero(lost.any(axis=1))
        ]

    def _reasons(self, scores: Scores) -> list[list[Any]]:
        """``[row, reason]`` of rows whose metric gave a reason for a missing or unusual score."""
        rows = scores.rows.of(self.index)
        details = scores.details[rows] if scores.details else ()
        return [
            [i, str(facts["reason"])]
            for i, facts in enumerate(details)
            if facts and facts.get("reason")
        ]

    def _marks(self, scores: Scores, hyp: tuple[str, ...]) -> dict[str, Any] | None:
        refs = tuple(self.doc.refs[name] for name in self.material.references)
        texts = Texts(hyp, refs, glue_of(self.material.results.corpus.langs[1], scores))
        marks = marks_of(scores, self.index, texts)
        if not marks:
            return None
        return {
            "units": [unit for unit in marks.units if unit[1] < self.size],
            "errors": [error for error in marks.errors if error[0] < self.size],
            "cuts": [cut for cut in marks.cuts if cut[0] < self.size],
        }


# ---------------------------------------------------------------- marks


def utf16(text: str, at: int) -> int:
    """Convert a position in code points to UTF-16 units, in which browsers count."""
    at = max(0, min(at, len(text)))
    return at + sum(char > "\uffff" for char in text[:at]) if text and max(text) > "\uffff" else at


@dataclass(frozen=True)
class Texts:
    """One document: an output with its references, and how its segments are joined."""

    hyp: Sequence[str]
    refs: tuple[Sequence[str], ...] = ()
    glue: str = " "


@dataclass
class Marks:
    """Marks in one document of one system under one metric, ready for JSON."""

    units: list[list[Any]]  # side (-1 hyp, else reference), segment, start, end, …
    errors: list[list[Any]]  # segment, start, end, severity, confidence, why
    cuts: list[list[Any]]  # segment, start: what follows was not seen by the model

    def __bool__(self) -> bool:
        return bool(self.units or self.errors or self.cuts)


def marks_of(scores: Scores, doc: int, texts: Texts) -> Marks:
    """Collect the marks of one document; equal marks of overlapping windows are merged."""
    units, errors, cuts = list[list[Any]](), list[list[Any]](), list[list[Any]]()
    rows = scores.rows.of(doc)
    with damaged_details(scores):
        for row in range(rows.start, rows.stop) if scores.details else ():
            facts, start = scores.details[row], int(scores.rows.start[row])
            whole = scores.signature.get("view") == "whole"
            stop = len(texts.hyp) if whole else int(scores.rows.stop[row])
            if isinstance(facts, Mapping):
                units += _units(facts.get("blonde"), start, texts)
                errors += _errors(facts.get("spans"), (start, stop), texts)
                cuts += _cuts(facts.get("cut"), (start, stop), texts)
        return Marks(
            *(
                [list(mark) for mark in dict.fromkeys(map(tuple, marks))]
                for marks in (units, errors, cuts)
            )
        )


def _units(blonde: Any, start: int, texts: Texts) -> Iterator[list[Any]]:
    """Yield BlonDe's units of the output (side −1) and of each reference.

    They are stored as ``[segment, start, end, category, feature, matched]``.
    """
    if not isinstance(blonde, Mapping):
        return
    sides = zip((texts.hyp, *texts.refs), (blonde["hyp"], *blonde["refs"]))
    for side, (segments, spans) in enumerate(sides, -1):
        for segment, begin, end, category, feature, matched in spans:
            if start + segment < len(segments):
                text = segments[start + segment]
                place = [start + segment, utf16(text, begin), utf16(text, end)]
                yield [side, *place, category, feature, int(matched)]


def _errors(spans: Any, rows: tuple[int, int], texts: Texts) -> Iterator[list[Any]]:
    """Yield error spans of the joined scored segments, with the reasons of judges."""
    for span in spans if isinstance(spans, list) else ():
        why = ": ".join(str(span[key]) for key in ("category", "reason") if span.get(key))
        facts = [str(span.get("severity", "")), round(float(span.get("confidence", 0)), 3)]
        for place in _split(int(span["start"]), int(span["end"]), rows, texts):
            yield [*place, *facts, *([why] if why else [])]


def _cuts(cut: Any, rows: tuple[int, int], texts: Texts) -> Iterator[list[Any]]:
    """Yield what the model did not see: ``cut["hyp"]`` characters were read."""
    seen = cut.get("hyp") if isinstance(cut, Mapping) else None
    if seen is None:
        return
    length = len(texts.glue.join(texts.hyp[slice(*rows)]))
    for segment, begin, _ in _split(int(seen), length, rows, texts):
        yield [segment, begin]


def _split(
    begin: int, end: int, rows: tuple[int, int], texts: Texts
) -> Iterator[tuple[int, int, int]]:
    """Split a span of the joined segments into (segment, start, end) in UTF-16 units."""
    for place, start, stop in stretches(texts.hyp[slice(*rows)], texts.glue, begin, end):
        text = texts.hyp[rows[0] + place]
        yield rows[0] + place, utf16(text, start), utf16(text, stop)
