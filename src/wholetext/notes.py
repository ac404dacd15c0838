"""Notes: what a reader of scores must know, each stated once, with how much of the text it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.rows import FloatArray, IntArray, Rows

CUT = "scored text was cut to fit the model"
CONTEXT_CUT = "context was cut to fit the model"
DROPPED = "text that fills no window is not scored; partial=include scores it"
UNDEFINED = "the score is undefined and left out of the averages"
ALL_UNDEFINED = "every score is undefined, so there is no average"
BLIND = "the metric reads no context: its scores are those of the sentence view"
_UNITS = {
    "whole": "documents",
    "slide": "windows",
    "paragraph": "paragraphs",
}  # what a row of a view is; else segments
_SPECS = 3  # specs that share a note and are named


@dataclass(frozen=True)
class Note:
    """A sentence, and how many rows or segments of one system it concerns (``total`` 0: the metric as a whole)."""

    text: str
    count: int = 0
    total: int = 0
    unit: str = "segments"

    @property
    def extent(self) -> str:
        """ "3 of 1,000 segments", or nothing for a note about the metric as a whole."""
        if not self.total:
            return ""
        unit = self.unit.removesuffix("s") if self.total == 1 else self.unit
        return f"{self.count:,} of {self.total:,} {unit}"

    def __str__(self) -> str:
        return f"{self.text} ({self.extent})" if self.total else self.text


@dataclass(frozen=True, eq=False)
class Evidence:
    """Data from which notes on a system's scores are made; stored with the rows, so cached runs have the same notes."""

    stated: Sequence[str]  # what the metric states about itself
    scores: FloatArray  # (rows,)
    lost: IntArray | None  # (rows, 2) context and scored tokens
    details: Sequence[Mapping[str, Any] | None]  # per row, or empty


def row_notes(found: Evidence, unit: str) -> list[Note]:
    """Statements of the metric, its warnings about rows, undefined rows, cut text."""
    whole = dict.fromkeys(found.stated)
    counted: Counter[str] = Counter()
    for facts in found.details:
        if facts:
            whole.update(dict.fromkeys(facts.get("said", ())))
            counted.update(facts.get("notes", ()))
    undefined = np.isnan(found.scores)
    what = ALL_UNDEFINED if undefined.all() else UNDEFINED
    for at in np.flatnonzero(undefined).tolist():
        reason = (found.details[at] or {}).get("reason", "") if len(found.details) else ""
        counted[f"{what}: {reason}" if reason else what] += 1
    if found.lost is not None and len(found.lost):
        context, scored = (int(number) for number in (found.lost > 0).sum(axis=0))
        counted.update(
            {text: many for text, many in ((CUT, scored), (CONTEXT_CUT, context)) if many}
        )
    total = len(found.scores)
    return [Note(text) for text in whole] + [
        Note(text, many, total, unit) for text, many in counted.items()
    ]


def notes_of(found: Evidence, rows: Rows, view: str) -> tuple[Note, ...]:
    """All notes on one system's scores under one metric."""
    notes = row_notes(found, _UNITS.get(view, "segments"))
    dropped = int((~rows.covered).sum())
    return (*notes, *([Note(DROPPED, dropped, rows.segments)] if dropped else []))


def merged(notes: Mapping[str, Mapping[str, Sequence[Note]]]) -> list[str]:
    """Notes by spec and system as sentences; notes shared by several systems or specs are merged."""
    found: dict[str, list[str]] = {}
    for spec, by_system in notes.items():
        by_text: dict[str, dict[str, Note]] = {}
        for system, some in by_system.items():
            for note in some:
                by_text.setdefault(note.text, {})[system] = note
        for text, of in by_text.items():
            extent = _extents(of, len(by_system))
            found.setdefault(f"{text} ({extent})" if extent else text, []).append(spec)
    more = {
        text: f" and {len(specs) - _SPECS} more" if len(specs) > _SPECS else ""
        for text, specs in found.items()
    }
    return [f"{', '.join(specs[:_SPECS])}{more[text]}: {text}" for text, specs in found.items()]


def _extents(of: Mapping[str, Note], systems: int) -> str:
    """Which systems a note concerns, and how much of each."""
    extents = {note.extent for note in of.values()}
    if len(of) == systems and len(extents) == 1:
        return extents.pop()
    if not any(extents):
        return ", ".join(of)
    totals = {(note.total, note.unit) for note in of.values()}
    if len(totals) == 1:
        ending = next(iter(of.values())).extent.partition(" ")[2]
        return ", ".join(f"{system} {note.count:,}" for system, note in of.items()) + f" {ending}"
    return ", ".join(f"{system} {note.extent}" for system, note in of.items())
