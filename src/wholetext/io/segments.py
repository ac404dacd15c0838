"""Texts side by side, one entry per segment, and their cutting into documents where the document id changes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wholetext.errors import AlignmentError, InputError
from wholetext.io.text import at
from wholetext.types import Document, Output


@dataclass(frozen=True)
class Column:
    """One text with an entry per segment: the source (no name), a reference or an output, and the file it is from."""

    name: str
    texts: Sequence[str]
    where: str


@dataclass(frozen=True)
class DocumentRun:
    """Segments ``start:stop`` are one document."""

    doc: str
    start: int
    stop: int
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TextColumns:
    """Parallel texts of one corpus."""

    src: Column | None = None
    refs: tuple[Column, ...] = ()
    hyps: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        for kind, columns in (("references", self.refs), ("systems", self.hyps)):
            first: dict[str, Column] = {}
            for column in columns:
                if column.name in first:
                    raise InputError(f"two {kind} are named {column.name!r}", where=column.where,
                                     next="give each system and reference its own name")
                first[column.name] = column

    def all(self) -> tuple[Column, ...]:
        """Every text, the source first."""
        return (*((self.src,) if self.src else ()), *self.refs, *self.hyps)

    def length(self) -> int:
        """The common number of segments; an AlignmentError names the two files that differ."""
        first, *others = self.all()
        for other in others:
            if len(other.texts) != len(first.texts):
                raise AlignmentError(
                    f"this has {len(other.texts)} lines, but {first.where} has {len(first.texts)}",
                    where=at(other.where, min(len(first.texts), len(other.texts)) + 1),
                    next="the files must be parallel, line by line; for outputs with other sentence breaks put "
                         "blank lines between the documents of every file, or give JSONL")
        return len(first.texts)

    def documents(self, runs: Sequence[DocumentRun]) -> tuple[Document, ...]:
        src = _cut(self.src, runs) if self.src else [None] * len(runs)
        refs = {column.name: _cut(column, runs) for column in self.refs}
        return tuple(Document(run.doc, src[i], {name: texts[i] for name, texts in refs.items()}, run.meta)
                     for i, run in enumerate(runs))

    def outputs(self, runs: Sequence[DocumentRun]) -> tuple[Output, ...]:
        ids = [run.doc for run in runs]
        return tuple(Output(column.name, dict(zip(ids, _cut(column, runs)))) for column in self.hyps)


def _cut(column: Column, runs: Sequence[DocumentRun]) -> list[tuple[str, ...]]:
    return [tuple(column.texts[run.start : run.stop]) for run in runs]


def runs_of(ids: Iterable[str], where: str, *, lines: Sequence[int] = (),
            domains: bool = False) -> tuple[list[DocumentRun], list[str]]:
    """Documents from one id per segment: each stretch of equal ids is a document.

    An id that comes back after another document starts a new document with a suffixed id, and a warning says so.
    ``lines`` are the lines of the ids where these are not 1, 2, 3 …; with ``domains`` an id may be ``DOMAIN<tab>ID``.
    """
    starts: list[tuple[str, int, dict[str, str]]] = []
    taken, again, known = Taken(), [], dict[str, str]()
    previous, count = None, 0
    for count, entry in enumerate(ids, 1):
        if entry == previous:
            continue
        previous, line = entry, lines[count - 1] if lines else count
        doc, meta = _with_domain(entry, at(where, line)) if domains else (entry, {})
        if not doc.strip():
            raise InputError("there is no document id here", where=at(where, line),
                             next="write one document id per segment")
        other = known.setdefault(comparable(doc), doc)
        if other != doc:
            raise alike("document ids", other, doc, at(where, line))
        name = taken.add(doc)
        if name != doc:
            again.append(f"{at(where, line)}: document id {doc!r} comes back after another document "
                         f"and is taken as a new document {name!r}")
        starts.append((name, count - 1, meta))
    stops = [start for _, start, _ in starts[1:]] + [count]
    runs = [DocumentRun(doc, start, stop, meta) for (doc, start, meta), stop in zip(starts, stops)]
    return runs, [again[0] + (f" ({len(again)} such in all)" if len(again) > 1 else "")] if again else []


def _with_domain(entry: str, where: str) -> tuple[str, dict[str, str]]:
    domain, _, doc = entry.rpartition("\t")
    if "\t" in domain:
        raise InputError("more than two columns in a line of document ids", where=where,
                         next="write one document id per segment, or DOMAIN<tab>ID")
    return doc.strip(), {"domain": domain.strip()} if domain.strip() else {}


def comparable(name: str) -> str:
    """A name without what cannot be seen: kinds and number of blanks, invisible characters, the Unicode form."""
    if name.isascii() and name.isprintable() and "  " not in name:
        return name.strip()
    seen = (" " if char.isspace() else char for char in unicodedata.normalize("NFC", name)
            if unicodedata.category(char) != "Cf" and (char.isspace() or char.isprintable()))
    return " ".join("".join(seen).split())


def alike(what: str, one: str, other: str, where: str) -> InputError:
    """Two names that look the same and are not: a slip, which would otherwise make a new document or system."""
    return InputError(f"the {what} {one!a} and {other!a} differ only in blanks, invisible characters or Unicode form",
                      where=where, next="write both in the same way")


class Taken:
    """Names in use; ``add`` gives the name itself or ``name#2``, ``name#3`` … where it is taken."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def add(self, name: str) -> str:
        fresh = name
        while fresh in self._last:
            self._last[name] += 1
            fresh = f"{name}#{self._last[name]}"
        self._last[fresh] = 1
        return fresh
