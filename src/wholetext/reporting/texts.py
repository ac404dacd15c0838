"""The documents as the page draws them: texts, row scores, marks, losses and flags, in blocks loaded on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.reporting.rounding import shorts
from wholetext.reporting.spans import Texts, marks_of
from wholetext.scoring.results import Results
from wholetext.types import FloatArray, Scores
from wholetext.views import glue_of

Faults = list[list[Any]]
BLOCK = 100_000  # characters of text in one block: unpacked in a few milliseconds


@dataclass(frozen=True)
class Drawn:
    """Which documents the page can show: their places in the corpus, and how many segments of each."""

    segments: Mapping[int, int]  # document → segments
    notice: str = ""


def choose(results: Results, limit: int) -> Drawn:
    """All documents where they have at most ``limit`` segments together; else half of the room goes to those on
    which the systems differ most, half to documents spread evenly over the corpus.
    """
    sizes = [max(len(doc), *(len(output.docs[doc.id]) for output in results.outputs)) for doc in results.corpus.docs]
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
    return Drawn(dict(sorted(chosen.items())), (
        f"Texts of {len(chosen):,} of {len(sizes):,} documents are in this file ({shown:,} of {sum(sizes):,} "
        "segments): half are those on which the systems differ most, half are spread evenly over the corpus. "
        "Scores, charts and tests use all documents."))


def _most_different(results: Results) -> list[int]:
    scores = next(iter(results.scores.values()))
    table = np.stack([each.at("doc") for each in scores.values()])  # (systems, documents)
    gap = np.nan_to_num(np.nanmax(np.where(np.isnan(table), -np.inf, table), axis=0)
                        - np.nanmin(np.where(np.isnan(table), np.inf, table), axis=0), nan=0.0, posinf=0.0, neginf=0.0)
    return [int(doc) for doc in np.argsort(-gap, kind="stable")]


@dataclass(frozen=True, eq=False)
class ReportTexts:
    """A run as documents are drawn from it: systems in the page's order, row scores and faults worked out once."""

    results: Results
    systems: tuple[str, ...]
    references: tuple[str, ...]
    scores: tuple[tuple[tuple[Scores, FloatArray], ...], ...]  # [metric][system] with (rows,) scores
    faults: tuple[tuple[Faults, ...], ...]  # [system][document]

    def outputs(self, doc: int) -> list[tuple[str, ...]]:
        by_name = {output.system: output for output in self.results.outputs}
        return [by_name[name].docs[self.results.corpus.docs[doc].id] for name in self.systems]


def gather(results: Results, systems: Sequence[str]) -> ReportTexts:
    return ReportTexts(
        results, tuple(systems), results.corpus.references,
        tuple(tuple((scores[name], scores[name].at("row")) for name in systems) for scores in results.scores.values()),
        tuple(_faults(results, name) for name in systems),
    )


def _faults(results: Results, system: str) -> tuple[Faults, ...]:
    """By document: ``[segment, kind, note]`` of what is suspicious in an output; segment −1 is the document itself."""
    place = {doc.id: i for i, doc in enumerate(results.corpus.docs)}
    found: tuple[Faults, ...] = tuple([] for _ in place)
    for flag in results.flags.get(system, ()):
        if flag["doc"] in place:
            segment = -1 if flag["segment"] is None else flag["segment"]
            found[place[flag["doc"]]].append([segment, flag["kind"], flag["note"]])
    return found


def blocks(material: ReportTexts, drawn: Drawn) -> Iterator[dict[int, dict[str, Any]]]:
    """The chosen documents in blocks: document → what the page draws of it."""
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
        found: dict[str, Any] = {
            "src": None if doc.src is None else list(doc.src[:size]),
            "refs": [list(doc.refs[name][:size]) for name in self.material.references],
            "out": [list(hyp[:size]) for hyp in self.hyps],
            "flags": [[one for one in faults[self.index] if one[0] < size] for faults in self.material.faults],
            "rows": [], "lost": [], "marks": [], "why": [],
        }
        earlier: dict[str, int] = {}
        for at, ordered in enumerate(self.material.scores):
            found["rows"].append(self._rows(ordered))
            found["lost"].append([self._lost(scores) for scores, _ in ordered])
            found["why"].append([self._why(scores) for scores, _ in ordered])
            marks = [self._marks(scores, hyp) for (scores, _), hyp in zip(ordered, self.hyps)]
            same = earlier.setdefault(repr(marks), at) if any(marks) else at  # d-blonde marks what blonde marks
            found["marks"].append(same if same != at else marks if any(marks) else None)
        return found

    def _rows(self, ordered: Sequence[tuple[Scores, FloatArray]]) -> dict[str, Any]:
        """Where the rows lie and what they score: ``at`` is null for a row per segment, by system where they differ."""
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
        """``[row, context tokens, scored tokens]`` of the rows that did not fit the model."""
        if scores.lost is None:
            return []
        lost = scores.lost[scores.rows.of(self.index)]
        return [[int(row), int(lost[row, 0]), int(lost[row, 1])] for row in np.flatnonzero(lost.any(axis=1))]

    def _why(self, scores: Scores) -> list[list[Any]]:
        """``[row, reason]`` of the rows whose metric said why they have no score, or an odd one."""
        rows = scores.rows.of(self.index)
        details = scores.details[rows] if scores.details else ()
        return [[i, str(facts["reason"])] for i, facts in enumerate(details) if facts and facts.get("reason")]

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
