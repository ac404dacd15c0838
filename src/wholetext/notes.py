"""Notes: what a reader of scores must know, and how much of the text it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNITS = {"whole": "documents", "slide": "windows", "paragraph": "paragraphs"}  # rows of a view
_NAMED_SPECS = 3  # of the specs that share a note


class Note(str):
    """A sentence that is also data: code selects notes by ``kind`` and never by their wording.

    ``affected`` and ``total`` count rows or segments of a system; ``total`` is 0 in a note about
    everything. Of notes of one ``group`` (of many documents) terminals show the first few.
    """

    kind: str
    text: str  # without subject and extent
    subject: str
    affected: int
    total: int
    unit: str
    group: str
    extent: str  # "3 of 1,000 segments", or nothing for a note about everything

    def __new__(
        cls,
        kind: str,
        text: str,
        subject: str = "",
        affected: int = 0,
        total: int = 0,
        unit: str = "segments",
        group: str = "",
    ) -> Note:
        """Render the sentence: ``subject: text (3 of 1,000 segments)``."""
        unit = unit.removesuffix("s") if total == 1 else unit
        extent = f"{affected:,} of {total:,} {unit}" if total else ""
        sentence = f"{text} ({extent})" if extent else text
        note = super().__new__(cls, f"{subject}: {sentence}" if subject else sentence)
        note.kind, note.text, note.subject, note.group = kind, text, subject, group
        note.affected, note.total, note.unit, note.extent = affected, total, unit, extent
        return note

    def __getnewargs__(self) -> tuple[Any, ...]:
        where = self.kind, self.text, self.subject
        return *where, self.affected, self.total, self.unit, self.group


BLIND = Note("blind", "the metric reads no context: its scores are those of the sentence view")


def without_kinds(notes: Sequence[str], *kinds: str) -> list[str]:
    """Leave out notes of some kinds; plain strings, as run folders store notes, have none."""
    return [note for note in notes if getattr(note, "kind", None) not in kinds]


def row_notes(
    stated: Sequence[str],
    scores: NDArray[np.float64],
    lost: NDArray[np.int64] | None,
    details: Sequence[Mapping[str, Any] | None],
    unit: str,
) -> list[Note]:
    """Statements of the metric, its warnings about rows, undefined rows, cut text.

    Args:
        stated: what the metric states about itself.
        scores: (rows,)
        lost: (rows, 2) context and scored tokens that did not fit the model.
        details: facts of each row, or empty.
        unit: what a row is.
    """
    statements = dict.fromkeys(stated)
    counted: Counter[tuple[str, str]] = Counter()  # (kind, text) → rows
    for facts in filter(None, details):
        statements.update(dict.fromkeys(facts.get("said", ())))
        counted.update(("row", text) for text in facts.get("notes", ()))
    undefined = np.isnan(scores)
    text = (
        "every score is undefined, so there is no average"
        if undefined.all()
        else "the score is undefined and left out of the averages"
    )
    for at in np.flatnonzero(undefined).tolist():
        reason = (details[at] or {}).get("reason", "") if len(details) else ""
        counted["undefined", f"{text}: {reason}" if reason else text] += 1
    if lost is not None and len(lost):
        context, scored = (int(number) for number in (lost > 0).sum(axis=0))
        counted["cut", "scored text was cut to fit the model"] += scored
        counted["context-cut", "context was cut to fit the model"] += context
    total = len(scores)
    return [
        *(note if isinstance(note, Note) else Note("metric", note) for note in statements),
        *(Note(*key, "", rows, total, unit) for key, rows in counted.items() if rows),
    ]


def merged(notes: Mapping[str, Mapping[str, Sequence[Note]]]) -> list[Note]:
    """Merge notes by spec and system: what several systems or specs share is stated once."""
    specs: dict[tuple[str, str], list[str]] = {}  # (kind, text with extent) → specs
    for spec, by_system in notes.items():
        systems: dict[tuple[str, str], dict[str, Note]] = {}  # (kind, text) → system → note
        for system, of_system in by_system.items():
            for note in of_system:
                systems.setdefault((note.kind, note.text), {})[system] = note
        for (kind, text), of_text in systems.items():
            extent = _extents(of_text, len(by_system))
            specs.setdefault((kind, f"{text} ({extent})" if extent else text), []).append(spec)
    return [
        Note(
            kind,
            text,
            ", ".join(names)
            if len(names) <= _NAMED_SPECS
            else f"{', '.join(names[:_NAMED_SPECS])} and {len(names) - _NAMED_SPECS} more",
        )
        for (kind, text), names in specs.items()
    ]


def _extents(notes: Mapping[str, Note], systems: int) -> str:
    """Which systems a note concerns, and how much of each."""
    extents = {note.extent for note in notes.values()}
    if len(notes) == systems and len(extents) == 1:
        return extents.pop()
    if not any(extents):
        return ", ".join(notes)
    if len({(note.total, note.unit) for note in notes.values()}) == 1:
        counts = ", ".join(f"{system} {note.affected:,}" for system, note in notes.items())
        return f"{counts} {extents.pop().partition(' ')[2]}"
    return ", ".join(f"{system} {note.extent}" for system, note in notes.items())
