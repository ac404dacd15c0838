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


def choose(results: Results, limit: int) -> tuple[dict[int, int], str]:
    """Choose the documents that the page can show: document → segments, and a notice.

    All documents if they have at most ``limit`` segments together, otherwise half of the
    segments are of documents on which the systems differ most, half of documents spread evenly
    over the corpus.
    """
    sizes = [
        max(len(doc), *(len(output.docs[doc.id]) for output in results.outputs))
        for doc in results.corpus.docs
    ]
    if sum(sizes) <= limit:
        return dict(enumerate(sizes)), ""
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
    return dict(sorted(chosen.items())), (
        f"Texts of {len(chosen):,} of {len(sizes):,} documents are in this file "
        f"({sum(chosen.values()):,} of {sum(sizes):,} segments): half are those on which the "
        "systems differ most, half are spread evenly over the corpus. Scores, charts and tests use "
        "all documents."
    )


def _most_different(results: Results) -> list[int]:
    scores = next(iter(results.scores.values()))
    table = np.stack([own.at("doc") for own in scores.values()])  # (systems, documents)
    gap = np.fmax.reduce(table) - np.fmin.reduce(table)  # without undefined scores
    return [int(doc) for doc in np.argsort(-np.where(np.isfinite(gap), gap, 0.0), kind="stable")]


@dataclass(frozen=True, eq=False)
class ReportTexts:
    """A run with its systems in the order of the page, its row scores and its flags."""

    results: Results
    systems: tuple[str, ...]
    scores: tuple[tuple[tuple[Scores, FloatArray], ...], ...]  # [metric][system] with row scores
    # [system][document] flags ``[segment, kind, note]``; segment −1 is the document itself
    faults: tuple[tuple[Faults, ...], ...]

    def document(self, index: int, size: int) -> dict[str, Any]:
        """The data of one document of all systems, cut to its first ``size`` segments."""
        corpus = self.results.corpus
        doc, outputs = corpus.docs[index], {each.system: each for each in self.results.outputs}
        hyps = [outputs[name].docs[doc.id] for name in self.systems]
        refs = tuple(doc.refs[name] for name in corpus.references)
        data: dict[str, Any] = {
            "src": None if doc.src is None else list(doc.src[:size]),
            "refs": [list(ref[:size]) for ref in refs],
            "out": [list(hyp[:size]) for hyp in hyps],
            "flags": [[flag for flag in faults[index] if flag[0] < size] for faults in self.faults],
            "rows": [_rows(ordered, index, size) for ordered in self.scores],
            "lost": [[_lost(scores, index) for scores, _ in ordered] for ordered in self.scores],
            "marks": [],
            "why": [[_reasons(scores, index) for scores, _ in ordered] for ordered in self.scores],
        }
        earlier: dict[str, int] = {}
        for at, ordered in enumerate(self.scores):
            marks = [
                marks_of(scores, index, Texts(hyp, refs, glue_of(corpus.langs[1], scores)), size)
                for (scores, _), hyp in zip(ordered, hyps)
            ]
            first = earlier.setdefault(repr(marks), at)  # d-blonde marks what blonde marks
            data["marks"].append(None if not any(marks) else marks if first == at else first)
        return data


def gather(results: Results, systems: Sequence[str]) -> ReportTexts:
    """Collect row scores and flags in the order of the page."""
    place = {doc.id: i for i, doc in enumerate(results.corpus.docs)}
    faults: dict[str, tuple[Faults, ...]] = {name: tuple([] for _ in place) for name in systems}
    for system, flags in results.flags.items():
        for flag in flags if system in faults else ():
            if flag["doc"] in place:
                segment = -1 if flag["segment"] is None else flag["segment"]
                faults[system][place[flag["doc"]]].append([segment, flag["kind"], flag["note"]])
    scores = tuple(
        tuple((by_system[name], by_system[name].at("row")) for name in systems)
        for by_system in results.scores.values()
    )
    return ReportTexts(results, tuple(systems), scores, tuple(faults.values()))


def blocks(texts: ReportTexts, chosen: Mapping[int, int]) -> Iterator[dict[int, dict[str, Any]]]:
    """Yield the chosen documents in blocks: document → its data for the page."""
    block: dict[int, dict[str, Any]] = {}
    size = 0
    for index, segments in chosen.items():
        data = block[index] = texts.document(index, segments)
        shown = (*data["out"], *data["refs"], data["src"] or ())
        size += sum(len(segment) for text in shown for segment in text)
        if size >= BLOCK:
            yield block
            block, size = {}, 0
    if block:
        yield block


def _rows(ordered: Sequence[tuple[Scores, FloatArray]], index: int, size: int) -> dict[str, Any]:
    """Spans and scores of rows: ``at`` is null for a row per segment; ``each`` is by system."""
    spans, values = [], []
    for scores, row_scores in ordered:
        rows = scores.rows.of(index)
        places = np.stack([scores.rows.start[rows], scores.rows.stop[rows]], axis=1)
        kept = places[:, 0] < size
        spans.append(places[kept].tolist())
        values.append(shorts(row_scores[rows][kept], 5))
    if any(span != spans[0] for span in spans):
        return {"each": spans, "v": values}
    single = spans[0] == [[i, i + 1] for i in range(len(spans[0]))] and len(spans[0]) > 1
    return {"at": None if single else spans[0], "v": values}


def _lost(scores: Scores, index: int) -> list[list[int]]:
    """``[row, context tokens, scored tokens]`` lost by rows that did not fit the model."""
    lost = () if scores.lost is None else scores.lost[scores.rows.of(index)].tolist()
    return [[row, *tokens] for row, tokens in enumerate(lost) if any(tokens)]


def _reasons(scores: Scores, index: int) -> list[list[Any]]:
    """``[row, reason]`` of rows whose metric gave a reason for a missing or unusual score."""
    details = scores.details[scores.rows.of(index)]
    return [[i, str(row["reason"])] for i, row in enumerate(details) if row and row.get("reason")]


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


def marks_of(
    scores: Scores, doc: int, texts: Texts, size: int
) -> dict[str, list[list[Any]]] | None:
    """Collect the marks in the first segments of a document; equal marks are merged.

    ``units``: side (-1 hyp, else reference), segment, start, end …; ``errors``: segment, start,
    end, severity, confidence, why; ``cuts``: segment, start of what the model did not see.
    """
    marks: dict[str, list[list[Any]]] = {"units": [], "errors": [], "cuts": []}
    rows, whole = scores.rows.of(doc), scores.signature.get("view") == "whole"
    with damaged_details(scores):
        for row in range(rows.start, rows.stop) if scores.details else ():
            facts, start = scores.details[row] or {}, int(scores.rows.start[row])
            ends = (start, len(texts.hyp) if whole else int(scores.rows.stop[row]))
            marks["units"] += _units(facts.get("blonde"), start, texts)
            marks["errors"] += _errors(facts.get("spans"), ends, texts)
            marks["cuts"] += _cuts(facts.get("cut"), ends, texts)
        for kind, segment in (("units", 1), ("errors", 0), ("cuts", 0)):  # its place in a mark
            distinct = dict.fromkeys(map(tuple, marks[kind]))
            marks[kind] = [list(mark) for mark in distinct if mark[segment] < size]
    return marks if any(marks.values()) else None


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
