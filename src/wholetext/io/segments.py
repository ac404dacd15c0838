"""Parallel texts, one entry per segment, cut into documents where the document id changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.text import at
from wholetext.types import Corpus, Document, Output

Segments = tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A source, reference or output with one entry per segment, and the file it is from."""

    kind: str  # src, ref, hyp
    name: str
    texts: Sequence[Any]
    where: str


@dataclass(frozen=True)
class DocumentRun:
    """Segments ``start:stop`` are one document."""

    doc: str
    start: int
    stop: int
    meta: Mapping[str, str] = field(default_factory=dict)


def length(columns: Sequence[Column]) -> int:
    """Return the common number of segments; files that differ are an AlignmentError."""
    first, *others = columns
    for other in others:
        if len(other.texts) != len(first.texts):
            raise AlignmentError(
                f"found {count(len(other.texts), 'line')}, "
                f"but {first.where} has {len(first.texts)}",
                where=at(other.where, min(len(first.texts), len(other.texts)) + 1),
                next="the files must be parallel, line by line; for outputs with other sentence "
                "breaks put blank lines between the documents of every file, or give JSONL",
            )
    return len(first.texts)


def load(
    columns: Sequence[Column],
    runs: Sequence[DocumentRun],
    corpus: str,
    langs: Langs,
    notes: Sequence[str],
    where: str,
    parts: Sequence[Sequence[Segments]] = (),
) -> Loaded:
    """Cut columns into documents; ``parts`` are those of columns that are already cut."""
    if not parts:
        length(columns)
        parts = [[tuple(column.texts[run.start : run.stop]) for run in runs] for column in columns]
    texts: dict[str, dict[str, Sequence[Segments]]] = {"src": {}, "ref": {}, "hyp": {}}
    for column, part in zip(columns, parts):
        texts[column.kind][column.name] = part
    src = texts["src"].get("")
    docs = tuple(
        Document(
            run.doc,
            src[i] if src else None,
            {name: part[i] for name, part in texts["ref"].items()},
            run.meta,
        )
        for i, run in enumerate(runs)
    )
    ids = [run.doc for run in runs]
    outputs = [Output(name, dict(zip(ids, part))) for name, part in texts["hyp"].items()]
    return assemble(Corpus(corpus, pair(langs), docs), outputs, notes, where)


def runs_of(
    ids: Iterable[str], where: str, *, lines: Sequence[int] = (), domains: bool = False
) -> tuple[list[DocumentRun], list[str]]:
    """Make documents of one id per segment: each stretch of equal ids is a document.

    An id that recurs after another document starts a new document with a suffixed id, with a note.
    ``lines`` are the line numbers of the ids where these are not 1, 2, 3 …; with ``domains`` an id
    may be ``DOMAIN<tab>ID``.
    """

    def parsed(entry: str) -> tuple[str, str]:
        domain, _, doc = entry.rpartition("\t") if domains else ("", "", entry)
        return domain.strip(), doc.strip()

    runs, copies, again = list[DocumentRun](), Counter[str](), list[str]()
    stop = 0
    for (domain, doc), group in groupby(map(parsed, ids)):
        start, stop = stop, stop + sum(1 for _ in group)
        place = at(where, lines[start] if lines else start + 1)
        if not doc or "\t" in domain:
            raise InputError(
                "there is no document id here",
                where=place,
                next="write one document id per segment, or DOMAIN<tab>ID",
            )
        name = doc
        while name in copies:
            copies[doc] += 1
            name = f"{doc}#{copies[doc]}"
        copies[name] = 1
        if name != doc:
            again.append(
                f"{place}: document id {doc!r} comes back after another document "
                f"and is taken as a new document {name!r}"
            )
        runs.append(DocumentRun(name, start, stop, {"domain": domain} if domain else {}))
    if len(again) > 1:
        again[0] += f" ({len(again)} such in all)"
    return runs, again[:1]
