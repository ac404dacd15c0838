"""Parallel texts, one entry per segment, cut into documents where the document id changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import Langs, Loaded, alike, assemble, comparable, pair
from wholetext.io.text import at, stem
from wholetext.types import Corpus, Document, Output

Segments = tuple[str, ...]
Key = tuple[str, str]  # kind (doc, src, ref, hyp, system, meta) and name of a column
# What a field may be called, by what it is. `target` is the reference in WMT24++ and EvalSet files.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "doc": ("doc", "doc_id", "docid", "document", "document_id"),
    "src": ("src", "source"),
    "ref": ("ref", "reference", "target"),
    "hyp": ("hyp", "hypothesis", "mt", "translation"),
    "system": ("system",),
    "meta": ("domain", "origlang", "collection_id"),
}


@dataclass(frozen=True)
class Column:
    """A source, reference or output with one entry per segment, and the file it is from."""

    kind: str  # src, ref, hyp
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
    starts: list[tuple[str, int, dict[str, str]]] = []
    last: dict[str, int] = {}  # the number of the newest copy of a name
    again, known = list[str](), dict[str, str]()
    previous, current, count = None, None, 0
    for count, entry in enumerate(ids, 1):
        if entry == previous:
            continue
        previous, place = entry, at(where, lines[count - 1] if lines else count)
        doc, meta = _with_domain(entry, place) if domains else (entry, {})
        if not doc.strip():
            raise InputError(
                "there is no document id here",
                where=place,
                next="write one document id per segment",
            )
        if (doc, meta) == current:  # the line differs in blanks around the id
            continue
        current = (doc, meta)
        other = known.setdefault(comparable(doc), doc)
        if other != doc:
            raise alike("document ids", other, doc, place)
        name = doc
        while name in last:
            last[doc] += 1
            name = f"{doc}#{last[doc]}"
        last[name] = 1
        if name != doc:
            again.append(
                f"{place}: document id {doc!r} comes back after another document "
                f"and is taken as a new document {name!r}"
            )
        starts.append((name, count - 1, meta))
    stops = [start for _, start, _ in starts[1:]] + [count]
    runs = [DocumentRun(doc, start, stop, meta) for (doc, start, meta), stop in zip(starts, stops)]
    if len(again) > 1:
        again[0] += f" ({len(again)} such in all)"
    return runs, again[:1]


def _with_domain(entry: str, where: str) -> tuple[str, dict[str, str]]:
    domain, _, doc = entry.rpartition("\t")
    if "\t" in domain:
        raise InputError(
            "more than two columns in a line of document ids",
            where=where,
            next="write one document id per segment, or DOMAIN<tab>ID",
        )
    return doc.strip(), {"domain": domain.strip()} if domain.strip() else {}


def load_records(
    columns: Mapping[Key, list[str]],
    lines: Sequence[int],
    corpus: str,
    langs: Langs,
    notes: Sequence[str],
    where: str,
) -> Loaded:
    """Load records (rows of a TSV, lines of a JSONL), by column, with their line numbers."""
    notes = list(notes)
    if ("system", "") in columns:
        columns, lines = _unstacked(columns, lines, where)
    if ("doc", "") in columns:
        runs, more = runs_of(columns["doc", ""], where, lines=lines)
        notes += more
    else:
        runs = [DocumentRun("doc1", 0, len(lines))]
        notes.append(
            f"no document ids are given: all {count(len(lines), 'segment', 'are')} "
            "taken as one document"
        )
    metas = {name: values for (kind, name), values in columns.items() if kind == "meta"}
    runs = [
        replace(
            run,
            meta={name: values[run.start] for name, values in metas.items() if values[run.start]},
        )
        for run in runs
    ]
    texts = [
        Column(kind, name or (stem(where) if kind == "hyp" else ""), texts, where)
        for (kind, name), texts in columns.items()
        if kind in ("src", "ref", "hyp")
    ]
    return load(texts, runs, corpus or stem(where), langs, notes, where)


def _unstacked(
    columns: Mapping[Key, list[str]], lines: Sequence[int], where: str
) -> tuple[dict[Key, list[str]], list[int]]:
    """Turn records of systems that follow each other into one column per system.

    Every system must have the same segments in the same order: document ids, sources, references.
    """
    rows: dict[str, list[int]] = {}
    for i, system in enumerate(columns["system", ""]):
        if not system.strip():
            raise InputError("there is no system name here", where=at(where, lines[i]))
        rows.setdefault(system, []).append(i)
    lead = next(iter(rows.values()))
    shared = {
        key: [texts[i] for i in lead]
        for key, texts in columns.items()
        if key[0] not in ("system", "hyp")
    }
    compared = {key: texts for key, texts in shared.items() if key[0] in ("doc", "src", "ref")}
    for system, places in rows.items():
        for key, texts in compared.items():
            own = [columns[key][i] for i in places]
            if own == texts:
                continue
            differing = (i for i, pair in enumerate(zip(own, texts)) if pair[0] != pair[1])
            line = places[next(differing, min(len(own), len(texts)) - 1)]
            raise AlignmentError(
                f"the segments of system {system!r} differ here from those of "
                f"{next(iter(rows))!r} ({key[0]})",
                where=at(where, lines[line]),
                next="every system needs the same segments in the same order",
            )
    hyps = {
        ("hyp", system): [columns["hyp", ""][i] for i in places] for system, places in rows.items()
    }
    return shared | hyps, [lines[i] for i in lead]
