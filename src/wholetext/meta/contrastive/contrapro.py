"""ContraPro (Müller et al. 2018; En-Fr: Lopes et al. 2020), with context from aligned documents."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from wholetext.errors import InputError, count
from wholetext.files.parsing import reading
from wholetext.io.text import read_lines
from wholetext.meta.contrastive.items import (
    Candidate,
    ContrastOptions,
    ContrastSet,
    Item,
    distance,
    flag,
    text,
)

_REMEMBERED = 256  # documents
_PROBE = 50  # items by which the numbering of lines is recognised
_LOOSE = re.compile(r"[\s\"'“”„‘’«»`]+")  # what extraction from subtitles may change
Lines = tuple[tuple[str, ...], tuple[str, ...]]  # source and target, line by line


class Before(NamedTuple):
    """Sentences before an item, and whether the document's line is the item's source."""

    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    same: bool = False


class Documents:
    """A folder of line-aligned files ``ID.src`` and ``ID.tgt``, also in folders by year."""

    def __init__(self, path: Path | None, langs: tuple[str, str]) -> None:
        if path is not None and not path.is_dir():
            raise InputError(
                "there are no documents here",
                where=str(path),
                next="give the folder of line-aligned documents",
            )
        self.path, self.langs = path, langs
        self.lines = lru_cache(_REMEMBERED)(self._lines)

    def before(self, record: dict[str, Any], first: int, limit: int) -> Before | None:
        """Up to ``limit`` sentences before an item; None if its document or line is absent."""
        lines = self.lines(text(record, "document id", ""))
        place = record.get("segment id")
        if lines is None or place is None or not 0 <= int(place) - first < len(lines[0]):
            return None
        here = int(place) - first
        begin = max(0, here - limit)
        same = _LOOSE.sub("", lines[0][here]) == _LOOSE.sub("", text(record, "src segment"))
        return Before(lines[0][begin:here], lines[1][begin:here], same)

    def _lines(self, doc: str) -> Lines | None:
        stem = doc
        for lang in self.langs:
            stem = stem.removesuffix(f".{lang}")
        if self.path is None or ".." in Path(stem).parts or Path(stem).is_absolute():
            return None  # an id may not lead out of the folder
        name = Path(stem).name
        for parent in (Path(stem).parent, Path(name.split("_")[0]), Path()):
            files = [self.path / parent / f"{name}.{lang}" for lang in self.langs]
            # pathlib raises where a name is too long
            if all(os.path.isfile(file) for file in files):  # noqa: PTH113
                source, target = (tuple(map(str.strip, read_lines(file))) for file in files)
                if len(source) != len(target):
                    raise InputError(
                        f"{count(len(source), 'line')}, but {len(target)} in {files[1].name}",
                        where=str(files[0]),
                        next="documents must be aligned line by line",
                    )
                return source, target
        return None


def contrapro(rows: Sequence[Any], path: Path, options: ContrastOptions) -> ContrastSet:
    """Items with up to ``options.context`` sentences before them, where documents are given."""
    with reading(str(path)):
        ending = text(rows[0], "document id", "").rpartition(".")[2]
        langs = options.langs or ("en", ending if len(ending) == 2 else "de")
        documents = Documents(options.documents, langs)
        first = _first_line(rows[:_PROBE], documents)
    items, missing, differing = list[Item](), 0, 0
    for at, record in enumerate(rows):
        with reading(f"{path}, item {at}", what="this item cannot be read"):
            context = documents.before(record, first, options.context)
            missing += context is None
            differing += context is not None and not context.same
            before = context or Before()
            texts = [text(record, "ref segment")]
            texts += [text(error, "contrastive") for error in record["errors"]]
            pronouns = [text(record, key, "").lower() for key in ("src pronoun", "ref pronoun")]
            items.append(
                Item(
                    id=f"contrapro-{at}",
                    src=text(record, "src segment"),
                    src_context=before.source,
                    candidates=tuple(Candidate(variant, before.target) for variant in texts),
                    category=":".join(filter(None, pronouns)),
                    distance=distance(record, "ante distance"),
                    intra=flag(record.get("intrasegmental")),
                )
            )
    notes = []
    if options.documents is None:
        notes.append("no documents were given (--documents), so the items have no context")
    elif missing:
        notes.append(
            f"{count(missing, 'item', 'have')} no context: the document or line was not found"
        )
    if differing:
        notes.append(
            f"{count(differing, 'item', 'have')} another source sentence than the document's line"
        )
    return ContrastSet(path.stem, langs, tuple(items), tuple(notes))


def _first_line(rows: Sequence[dict[str, Any]], documents: Documents) -> int:
    """Whether ``segment id`` counts from 1 (German) or 0 (French), by where sources are."""

    def hits(first: int) -> int:
        return sum((documents.before(record, first, 0) or Before()).same for record in rows)

    return max((1, 0), key=hits)
