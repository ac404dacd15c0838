"""Parallel text files, one segment per line; documents by ids, by blank lines, or one in all."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, count
from wholetext.io.assembly import (
    Column,
    DocumentRun,
    Langs,
    Loaded,
    Segments,
    length,
    load,
    of_documents,
    runs_of,
    without_blank_end,
)
from wholetext.io.text import FilePath, TextFile, at, clean, opened, shown, stem
from wholetext.notes import Note

Named = Sequence[FilePath | tuple[str, FilePath]] | Mapping[str, FilePath]
TEXTS = "texts"  # name of a corpus made of strings
_SIDE = re.compile(r"(src|source|input|ref|reference)s?([._-][a-z]{2,3})?", re.IGNORECASE)
Texts = Sequence[str] | Sequence[Sequence[str]]  # segments, or documents of segments


@dataclass(frozen=True)
class LineFiles:
    """Parallel text files with one segment per line, or outputs (``hyps``) for a ``corpus``.

    References and outputs are named after their files, or by (name, file). ``docs`` is a file with
    one document id per line; without it ``breaks`` defines what a blank line is: ``blank`` a break
    between documents, ``none`` an empty segment, ``auto`` a break where all files agree on them.
    ``corpus`` is anything that ``read`` takes as a single source; outputs for it may be plain
    lines, or JSONL, TSV or XML with its document ids.
    """

    src: FilePath | None = None
    hyps: Named = ()
    refs: Named = ()
    docs: FilePath | None = None
    breaks: Literal["auto", "blank", "none"] = "auto"
    corpus: FilePath | None = None


def named(files: Named, numbered: str = "") -> dict[str, FilePath]:
    """Map names to files; equal names are an error, or ``numbered`` (``ref0`` …)."""
    if isinstance(files, Mapping):
        return dict(files)
    pairs = [entry if isinstance(entry, tuple) else (stem(entry), entry) for entry in files]
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names) and numbered:
        return {f"{numbered}{i}": path for i, (_, path) in enumerate(pairs)}
    if len(set(names)) < len(names) or not all(map(str.strip, names)):
        raise InputError(
            f"systems and references need names that differ, not {', '.join(names)}",
            next="rename one: they are named after their files, or by NAME=FILE",
        )
    return dict(pairs)


def recognise(file: TextFile) -> bool:
    """Accept every file, as all have lines."""
    return True


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Refuse a single file: it does not say what it is."""
    file.head()  # raises if there is no such file
    raise InputError(
        "these plain lines may be a source, an output or a reference",
        where=file.name,
        next="give source, outputs and references by -s, -t and -r, or force the format (--reader)",
    )


def read_parallel(files: LineFiles, langs: Langs = None) -> tuple[Loaded, list[Column], str]:
    """Read parallel files; return also outputs with another number of lines, and the first file.

    With blank lines between documents of all files, segments may differ.
    """
    refs, hyps = named(files.refs, numbered="ref"), named(files.hyps)
    paths = [("src", "", files.src)] if files.src is not None else []
    paths += [("ref", name, path) for name, path in refs.items()]
    paths += [("hyp", name, path) for name, path in hyps.items()]
    columns, notes = list[Column](), list[str]()
    for kind, name, path in paths:
        with opened(path) as file:
            if file.head().startswith(("<?xml", "<dataset", '{"')):
                notes.append(f"{file.name} looks like XML or JSONL, but is read as plain lines")
            columns.append(Column(kind, name, list(file.lines()), file.name))
    if not columns:
        raise InputError(
            "no texts were given", next="give outputs (-t) and a source (-s) or references (-r)"
        )
    ids = Column("docs", "", (), "")
    if files.docs is not None:
        with opened(files.docs) as file:
            ids = without_blank_end(Column("docs", "", list(file.lines()), file.name), 0, notes)
    if files.breaks != "none":
        sides = [column for column in columns if column.kind != "hyp"] or columns
        size = len(ids.texts) or max(len(without_blank_end(side, 0, []).texts) for side in sides)
        columns = [without_blank_end(column, size, notes) for column in columns]
    first = columns[0].where
    name, folder = stem(first), stem(Path(first).resolve().parent)
    if _SIDE.fullmatch(name) and folder and not folder.isdigit():
        name = folder  # a file called src does not name the corpus
    if files.docs is None and _documents_by_blank_lines(columns, files.breaks):
        columns = [replace(column, texts=_split(column)) for column in columns]
        runs = _numbered(columns[0])
        notes.append(
            "no document ids were given: blank lines are taken as breaks between "
            f"{count(len(runs), 'document')}"
        )
        return of_documents(columns, runs, name, langs, notes, first), [], first
    size = len(ids.texts) or len(columns[0].texts)
    parallel = [c for c in columns if c.kind != "hyp" or len(c.texts) == size] or columns
    free = [column for column in columns if column not in parallel]
    if files.docs is None:
        return _one_document(parallel, name, langs, notes), free, first
    runs, more = runs_of(ids.texts, ids.where, domains=True)
    return load(parallel, runs, name, langs, [*notes, *more], ids.where), free, first


def align_command(files: LineFiles) -> str:
    """Return the command that scores these files, outputs aligned."""
    refs, hyps = named(files.refs, numbered="ref"), named(files.hyps)
    outputs = [
        path if name == stem(path) else f"{name}={shown(path)}" for name, path in hyps.items()
    ]
    options = {"-s": [files.src], "-r": refs.values(), "-d": [files.docs], "-t": outputs}
    words = ["wholetext score"]
    for option, paths in options.items():
        quoted = [shlex.quote(shown(path)) for path in paths if path is not None]
        words += [option, *quoted] if quoted else []
    return " ".join([*words, "--align"])


def from_texts(
    hyps: Texts | Mapping[str, Texts],
    *,
    srcs: Texts | None = None,
    refs: Texts | Sequence[Texts] | Mapping[str, Texts] = (),
    references: Sequence[Texts] = (),
    docs: Sequence[str] | None = None,
    langs: Langs = None,
) -> Loaded:
    """Make a corpus and outputs from lists of strings: of one system (``hyp``), or by name.

    Segments in one list (``["…", "…"]``) are one document, or those that ``docs`` names, one id per
    segment. Lists in a list (``[["…", "…"], ["…"]]``) are documents; then ``docs`` has one id per
    document, and outputs may have other segments than the reference. ``refs`` is one reference in
    the form of ``hyps``, or a mapping of name to reference; ``references`` is a list of several.
    (Where ``hyps`` is one list, ``refs`` may be a list of several, too.)
    """
    if len(references):
        refs = {f"ref{i}": texts for i, texts in enumerate(references)}
    documents = nested(next(iter(hyps.values()), ()) if isinstance(hyps, Mapping) else hyps)
    texts: dict[tuple[str, str], Any] = {("src", ""): srcs} if srcs is not None else {}
    for kind, side in (("ref", refs), ("hyp", hyps)):
        texts |= {(kind, name): part for name, part in _by_name(side, kind, documents).items()}
    where = {(kind, name): f"{kind}s[{name!r}]" if name else "srcs" for kind, name in texts}
    if documents:
        columns = [
            Column(
                *key,
                [_checked(doc, f"{where[key]}[{i}]") for i, doc in enumerate(part)],
                where[key],
            )
            for key, part in texts.items()
        ]
        runs = _numbered(columns[0]) if docs is None else [DocumentRun(str(d), 0, 0) for d in docs]
        return of_documents(columns, runs, TEXTS, langs, (), TEXTS)
    columns = [Column(*key, _checked(part, where[key]), where[key]) for key, part in texts.items()]
    if not columns:
        raise InputError("no texts were given", next="give hyps, and refs or srcs")
    if docs is None:
        return _one_document(columns, TEXTS, langs, [])
    runs, notes = runs_of((str(doc) for doc in docs), "docs")
    return load(columns, runs, TEXTS, langs, notes, "docs")


def nested(texts: object) -> bool:
    """Tell whether these are documents, each a list of segments."""
    if isinstance(texts, str) or not isinstance(texts, Sequence) or not len(texts):
        return False
    return isinstance(texts[0], Sequence) and not isinstance(texts[0], str)


def _by_name(texts: Any, kind: str, documents: bool) -> dict[str, Any]:
    """Return texts by name; several unnamed ones are numbered."""
    if isinstance(texts, Mapping):
        return dict(texts)
    if nested(texts) and not documents:
        return {f"{kind}{i}": part for i, part in enumerate(texts)}
    return {} if isinstance(texts, Sequence) and not len(texts) else {kind: texts}


def _numbered(column: Column) -> list[DocumentRun]:
    """Name the documents of a column by their number."""
    return [DocumentRun(f"doc{i}", 0, 0) for i in range(1, len(column.texts) + 1)]


def _one_document(
    columns: Sequence[Column], corpus: str, langs: Langs, notes: Sequence[str]
) -> Loaded:
    """Load all segments as one document, with a note."""
    lines = length(columns)
    runs = [DocumentRun("doc1", 0, lines)] if lines else []
    note = Note(
        "single-document",
        f"no document ids were given: all {count(lines, 'segment', 'are')} "
        "taken as one document (-d FILE names the documents)",
    )
    return load(columns, runs, corpus, langs, [*notes, note], columns[0].where)


def _blank_lines(texts: Sequence[str]) -> tuple[list[int], int]:
    """Return the blank lines that a document follows, and where the last document ends."""
    blank, end = [i for i, text in enumerate(texts) if not text.strip()], len(texts)
    while blank and blank[-1] == end - 1:
        end = blank.pop()
    return blank, end


def _documents_by_blank_lines(columns: Sequence[Column], breaks: str) -> bool:
    """Tell whether blank lines are document breaks: at the same lines of files of one length.

    Files that differ in length cannot be parallel, so any blank line in the first is taken for a
    break; what does not fit is an error later on.
    """
    if breaks != "auto":
        return breaks == "blank"
    places, _ = _blank_lines(columns[0].texts)
    if not places or len({len(column.texts) for column in columns}) > 1:
        return bool(places)
    return all(_blank_lines(column.texts)[0] == places for column in columns[1:])


def _split(column: Column) -> list[Segments]:
    blank, end = _blank_lines(column.texts)
    docs = []
    for start, stop in zip([-1, *blank], [*blank, end]):
        if stop <= start + 1:
            raise InputError(
                "two blank lines in a row, or one at the start: an empty document",
                where=at(column.where, stop + 1),
                next="put one blank line between documents; "
                "give document ids if segments can be empty",
            )
        docs.append(tuple(column.texts[start + 1 : stop]))
    return docs


def _checked(texts: Any, where: str) -> Segments:
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"expected a list of strings, got {type(texts).__name__}", where=where)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"expected a string, got {type(text).__name__}", where=f"{where}[{i}]")
        clean(text, f"{where}[{i}]")
    return tuple(texts)
