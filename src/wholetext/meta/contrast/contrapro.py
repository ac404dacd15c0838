"""ContraPro (Müller et al. 2018) and sets in its format (En-Fr: Lopes et al. 2020): pronouns in OpenSubtitles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.meta.contrast.documents import Documents
from wholetext.meta.contrast.items import Candidate, ContrastSet, Fields, Item, Wanted

_LOOSE = re.compile(r"[\s\"'“”„‘’«»`]+")  # what extraction from subtitles may change
_PROBE = 50  # items by which the numbering of lines is recognised


def matches(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "errors" in data[0]


def read(data: Any, path: Path, wanted: Wanted) -> ContrastSet:
    """Items with up to ``wanted.context`` sentences before them, where the documents are given."""
    if not matches(data):
        raise InputError("expected a list of objects with \"errors\"", where=str(path))
    rows = [Fields(one, f"{path}, item {at}") for at, one in enumerate(data)]
    langs = wanted.langs or _langs(rows)
    documents = Documents(wanted.documents, langs) if wanted.documents else None
    first = first_line(rows, documents)
    items, missing, differing = [], 0, 0
    for at, fields in enumerate(rows):
        before = context(fields, documents, first, wanted.context)
        missing += documents is not None and before is None
        differing += before is not None and not before[2]
        source, target = (before[0], before[1]) if before else ((), ())
        items.append(_item(fields, at, source, target))
    return ContrastSet(path.stem, langs, tuple(items), _warnings(documents, missing, differing))


def _langs(rows: Sequence[Fields]) -> tuple[str, str]:
    ending = rows[0].text("document id", "").rpartition(".")[2]
    return ("en", ending if len(ending) == 2 else "de")


def first_line(rows: Sequence[Fields], documents: Documents | None) -> int:
    """Whether ``segment id`` counts from 1 (German) or from 0 (French): the one under which sources are found."""
    hits = {1: 0, 0: 0}
    for fields in rows[:_PROBE]:
        for first in hits:
            found = context(fields, documents, first, 0)
            hits[first] += found is not None and found[2]
    return max(hits, key=lambda first: hits[first])


def context(
    fields: Fields, documents: Documents | None, first: int, many: int
) -> tuple[tuple[str, ...], tuple[str, ...], bool] | None:
    """Source and target sentences before an item, and whether the document's line is the item's source."""
    lines = documents.lines(fields.text("document id", "")) if documents else None
    at = fields.number("segment id")
    if lines is None or at is None or not 0 <= at - first < len(lines[0]):
        return None
    here = at - first
    begin = max(0, here - many)
    same = _LOOSE.sub("", lines[0][here]) == _LOOSE.sub("", fields.text("src segment"))
    return lines[0][begin:here], lines[1][begin:here], same


def _item(fields: Fields, at: int, source: tuple[str, ...], target: tuple[str, ...]) -> Item:
    wrong = [Candidate(error.text("contrastive"), target) for error in fields.list("errors")]
    pronouns = [fields.text(key, "").lower() for key in ("src pronoun", "ref pronoun")]
    return fields.item(
        id=f"contrapro-{at}", src=fields.text("src segment"), src_context=source,
        candidates=(Candidate(fields.text("ref segment"), target), *wrong), category=":".join(filter(None, pronouns)),
        distance=fields.number("ante distance"), intra=fields.flag("intrasegmental"),
    )


def _warnings(documents: Documents | None, missing: int, differing: int) -> tuple[str, ...]:
    notes = []
    if documents is None:
        notes.append("no documents were given (--documents), so the items have no context")
    if missing:
        notes.append(f"{missing} items have no context: their document or line was not found")
    if differing:
        notes.append(f"{differing} items have another source sentence than their document's line")
    return tuple(notes)
