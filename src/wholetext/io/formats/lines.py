"""Parallel text files, one segment per line; documents by an id per line, by blank lines, or all one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wholetext.errors import AlignmentError, InputError
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.files import LineFiles, named
from wholetext.io.segments import Column, DocumentRun, TextColumns, runs_of
from wholetext.io.text import FilePath, at, clean, opened, shown, stem
from wholetext.types import Corpus, Document, Output


def read(files: LineFiles, langs: Langs = None) -> Loaded:
    """Read parallel files. Only where blank lines part documents may an output have other segments than the source."""
    refs, hyps = named(files.refs, numbered="ref"), named(files.hyps)
    paths = [files.src, files.docs, *refs.values(), *hyps.values()]
    if paths.count("-") > 1:
        raise InputError("standard input (-) can be read only once", next="give files for the others")
    notes: list[str] = []
    columns = TextColumns(
        _column("", files.src, notes) if files.src is not None else None,
        tuple(_column(name, path, notes) for name, path in refs.items()),
        tuple(_column(name, path, notes) for name, path in hyps.items()))
    if not columns.all():
        raise InputError("no texts were given", next="give outputs (-t) and a source (-s) or references (-r)")
    if files.docs is None:
        return _without_ids(columns, files.breaks, notes, langs)
    with opened(files.docs) as docs:
        runs, more = runs_of(docs.lines(), docs.name, domains=True)
    _compare_docs(columns, runs, shown(files.docs))
    return _loaded(columns, runs, [*notes, *more], langs)


def from_texts(hyps: Sequence[str] | Mapping[str, Sequence[str]], *, srcs: Sequence[str] | None = None,
               refs: Sequence[str] | Sequence[Sequence[str]] | Mapping[str, Sequence[str]] = (),
               docs: Sequence[str] | None = None, langs: Langs = None) -> Loaded:
    """The same from lists of strings: one system (named ``hyp``) or a mapping; one reference, several, or a mapping."""
    columns = TextColumns(
        _texts("", srcs, "srcs") if srcs is not None else None,
        tuple(_texts(name, texts, f"refs[{name!r}]") for name, texts in _lists(refs, "ref").items()),
        tuple(_texts(name, texts, f"hyps[{name!r}]") for name, texts in _lists(hyps, "hyp").items()))
    if not columns.all():
        raise InputError("no texts were given", next="give hyps, and refs or srcs")
    if docs is None:
        return _without_ids(columns, "none", (), langs)
    runs, notes = runs_of((str(doc) for doc in docs), "docs")
    _compare_docs(columns, runs, "docs")
    return _loaded(columns, runs, notes, langs)


# ---------------------------------------------------------------- documents


def _loaded(columns: TextColumns, runs: Sequence[DocumentRun], notes: Sequence[str], langs: Langs) -> Loaded:
    where = columns.all()[0].where
    return assemble(Corpus(stem(where), pair(langs), columns.documents(runs)), columns.outputs(runs), notes, where)


def _compare_docs(columns: TextColumns, runs: Sequence[DocumentRun], where: str) -> None:
    length, ids = columns.length(), runs[-1].stop if runs else 0
    if ids != length:
        first = columns.all()[0].where
        raise AlignmentError(f"this has {ids} document ids, but {first} has {length} lines",
                             where=at(where, min(ids, length) + 1), next="give one document id per line of text")


def _without_ids(columns: TextColumns, breaks: str, notes: Sequence[str], langs: Langs) -> Loaded:
    if breaks not in ("auto", "blank", "none"):
        raise InputError(f"breaks is auto, blank or none, not {breaks!r}")
    if breaks == "blank" or (breaks == "auto" and _breaks_coincide(columns)):
        return _by_blank_lines(columns, notes, langs)
    length = columns.length()
    note = f"no document ids were given: all {length} segments are taken as one document (-d FILE names the documents)"
    return _loaded(columns, [DocumentRun("doc1", 0, length)] if length else [], [*notes, note], langs)


def _blank_lines(texts: Sequence[str]) -> list[int]:
    """Positions of blank lines that have a document after them."""
    blank = [i for i, text in enumerate(texts) if not text.strip()]
    last = len(texts)
    while blank and blank[-1] == last - 1:
        last = blank.pop()
    return blank


def _breaks_coincide(columns: TextColumns) -> bool:
    """Whether blank lines look like document breaks: in the same places of all files, where these are equally long.

    Where files differ in length they cannot be parallel lines, so any blank line in the first is taken for a break,
    and what does not fit is an error later on.
    """
    first, *others = columns.all()
    places = _blank_lines(first.texts)
    if not places:
        return False
    if any(len(other.texts) != len(first.texts) for other in others):
        return True
    return all(_blank_lines(other.texts) == places for other in others)


def _by_blank_lines(columns: TextColumns, notes: Sequence[str], langs: Langs) -> Loaded:
    first = columns.all()[0]
    parts = [_split(column) for column in columns.all()]
    for column, docs in zip(columns.all(), parts):
        if len(docs) != len(parts[0]):
            raise AlignmentError(f"this has {len(docs)} documents (between blank lines), but {first.where} has "
                                 f"{len(parts[0])}", where=column.where, next=_diverging(parts[0], docs))
    ids = [f"doc{i}" for i in range(1, len(parts[0]) + 1)]
    skip = 1 if columns.src else 0
    refs = {column.name: docs for column, docs in zip(columns.refs, parts[skip:])}
    hyps = {column.name: docs for column, docs in zip(columns.hyps, parts[skip + len(refs) :])}
    corpus = tuple(Document(doc, parts[0][i] if columns.src else None, {name: texts[i] for name, texts in refs.items()})
                   for i, doc in enumerate(ids))
    note = f"no document ids were given: blank lines are taken as breaks between {len(ids)} documents"
    return assemble(Corpus(stem(first.where), pair(langs), corpus),
                    [Output(name, dict(zip(ids, texts))) for name, texts in hyps.items()], [*notes, note], first.where)


def _split(column: Column) -> list[tuple[str, ...]]:
    cuts = [-1, *_blank_lines(column.texts)]
    end = len(column.texts)
    while end and not column.texts[end - 1].strip():
        end -= 1
    docs = []
    for start, stop in zip(cuts, [*cuts[1:], end]):
        if stop <= start + 1:
            raise InputError("two blank lines in a row, or one at the start: an empty document",
                             where=at(column.where, stop + 1),
                             next="put one blank line between documents; give document ids if segments can be empty")
        docs.append(tuple(column.texts[start + 1 : stop]))
    return docs


def _diverging(wanted: Sequence[tuple[str, ...]], found: Sequence[tuple[str, ...]]) -> str:
    """Where two files first differ in the length of a document: most often the place of the missing break."""
    for i, (a, b) in enumerate(zip(wanted, found), 1):
        if len(a) != len(b):
            return f"document {i} is the first with another length: {len(a)} segments, here {len(b)}"
    return "every file needs the same number of documents"


# ---------------------------------------------------------------- texts


def _column(name: str, path: FilePath, notes: list[str]) -> Column:
    with opened(path) as file:
        head = file.head().lstrip()
        if head.startswith((b"<?xml", b"<dataset", b'{"')):
            notes.append(f"{file.name} looks like {'XML' if head[:1] == b'<' else 'JSONL'}, but is read as plain lines")
        return Column(name, list(file.lines()), file.name)


def _lists(texts: object, name: str) -> dict[str, Sequence[str]]:
    if isinstance(texts, Mapping):
        return dict(texts)
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"expected a list of strings, got {type(texts).__name__}", where=f"{name}s")
    if texts and not isinstance(texts[0], str):
        return {f"{name}{i}": item for i, item in enumerate(texts)}
    return {name: texts} if len(texts) else {}


def _texts(name: str, texts: Sequence[str], where: str) -> Column:
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"expected a list of strings, got {type(texts).__name__}", where=where)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"expected a string, got {type(text).__name__}", where=f"{where}[{i}]")
        clean(text, f"{where}[{i}]")
    return Column(name, texts, where)
