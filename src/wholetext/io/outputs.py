"""Outputs for a corpus that is already read: by position, by document id, or document by document.

A document may be a record of JSONL or of a table, a file of a folder, or a part of a text file:
under a heading with its id, between rules (``---``), or between blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import (
    BARE,
    Column,
    Loaded,
    Segments,
    assemble,
    length,
    without_blank_end,
)
from wholetext.io.columns import Columns
from wholetext.io.formats import read as read_format, recognise, wmt
from wholetext.io.text import FilePath, TextFile, is_folder, opened, read_lines, shown, stem
from wholetext.notes import Note
from wholetext.types import Corpus, Output

Documents = dict[str, Segments]
_HEADING = re.compile(r"#{1,6}\s+(.*?)[\s#]*")  # of Markdown
_RULE = re.compile(r"\s*([-*_=])(?:\s*\1){2,}\s*")
_UNNAMED = ("single-document", "unnamed-documents")  # kinds of notes: the file has no document ids


def with_output(
    loaded: Loaded,
    name: str,
    path: FilePath,
    *,
    segments: str = "auto",
    columns: Columns | None = None,
    resegmented: bool = False,
) -> Loaded:
    """Add the outputs of a file or of a folder with a file per document.

    ``name`` is the system's, unless the file itself names its systems. Plain lines must be as many
    as the corpus has, unless ``resegmented``: then their documents are told apart.
    """
    corpus, notes = loaded.corpus, list(loaded.warnings)
    if is_folder(path):
        outputs = [Output(name, _of_folder(corpus, path, notes))]
    else:
        with opened(path) as file:
            file.head()  # a test set is not an output
            kind = recognise(file)
            if columns and kind in ("wmt", "lines"):
                kind = "jsonl" if kind == "wmt" else "table"
            if kind == "lines":
                column = Column("hyp", name, list(file.lines()), file.name)
                outputs = [of_lines(corpus, column, resegmented, notes)]
            else:
                corpus, outputs = _of_records(loaded, file, kind, name, segments, columns, notes)
    if not outputs:
        raise InputError(
            "there is no output of a system in this file",
            where=shown(path),
            next="outputs are called hypothesis or outputs (JSONL), hyp:SYSTEM (tables), <hyp> "
            "(XML); --columns output=NAME names another column",
        )
    outputs = [*loaded.outputs, *outputs]
    return replace(assemble(corpus, outputs, notes, shown(path)), others=loaded.others)


def of_lines(
    corpus: Corpus,
    column: Column,
    resegmented: bool,
    notes: list[str],
    command: str = "add --align",
    first: str = "the corpus",
) -> Output:
    """Cut plain lines into the documents of the corpus: by position, or where they end.

    ``command`` is what an error offers, ``first`` the file that counts the segments.
    """
    sizes = dict(zip(corpus.ids, corpus.sizes.tolist()))
    total = sum(sizes.values())
    column = without_blank_end(column, total, notes)
    name, lines, where = column.name, column.texts, column.where
    if len(lines) == total:
        texts = iter(lines)
        return Output(name, {doc: tuple(islice(texts, size)) for doc, size in sizes.items()})
    documents, how = _divided(lines, corpus.ids)
    if not resegmented or not documents:
        by = "blank lines between its documents, `---`, or headings with their ids"
        length(
            [Column("src", "", range(total), first), column],
            f"if it has other sentence breaks, align it: {command}"
            if documents
            else f"if it has other sentence breaks, mark its {len(sizes)} documents ({by}; or give "
            f'JSONL, {{"doc": ID, "output": TEXT}}, or a folder with a file per document) and '
            f"align it: {command}",
        )
    notes.append(
        f"{where} has {count(len(lines), 'line')}, not {total}: "
        f"{count(len(documents), 'document', 'are')} taken from {how}"
    )
    return Output(name, documents)


def _divided(lines: Sequence[str], ids: Sequence[str]) -> tuple[Documents, str]:
    """Find the documents of a text, and say how; none if their number is another one."""
    sections: dict[str, list[str]] = {}
    label = ""
    for line in lines:
        match = _HEADING.fullmatch(line)
        label = match[1] if match and match[1] in ids else label
        sections.setdefault(label, []).extend([] if match and match[1] == label else [line])
    if sections.keys() - {""} == set(ids):
        return {doc: _nonblank(sections[doc]) for doc in ids}, "its headings"
    for how, is_break in (("its rules (---)", _RULE.fullmatch), ("its blank lines", _is_blank)):
        parts = [_nonblank(group) for rest, group in groupby(lines, is_break) if not rest]
        parts = [part for part in parts if part]
        if len(parts) == len(ids) > 1:
            return dict(zip(ids, parts)), how
    return ({ids[0]: _nonblank(lines)}, "the whole file") if len(ids) == 1 else ({}, "")


def _is_blank(line: str) -> bool:
    return not line.strip()


def _nonblank(lines: Iterator[str] | Sequence[str]) -> Segments:
    return tuple(line.strip() for line in lines if line.strip())


def _of_folder(corpus: Corpus, folder: FilePath, notes: list[str]) -> Documents:
    """Read one file per document, called after its id, or in the order of the documents."""
    files = [entry for entry in sorted(Path(folder).glob("[!.]*"), key=_natural) if entry.is_file()]
    names = {stem(entry): entry for entry in files} | {entry.name: entry for entry in files}
    by_id = {doc: names.get(doc) or names.get(re.sub(r"[^\w.-]+", "_", doc)) for doc in corpus.ids}
    missing = [doc for doc, entry in by_id.items() if entry is None]
    if len(missing) == len(corpus.ids) == len(files):
        by_id = dict(zip(corpus.ids, files))
        notes.append(f"{folder}: no file is called after a document: taken in order of their names")
    elif missing:
        raise AlignmentError(
            f"there is no file for document {missing[0]!r} (and {len(missing) - 1} more) "
            f"among {count(len(files), 'file')}",
            where=shown(folder),
            next=f"call the files after the documents: {missing[0]}.txt",
        )
    unused = [entry.name for entry in files if entry not in by_id.values()]
    notes += [f"{folder}: files of no document: {', '.join(unused)}"] if unused else []
    return {
        doc: _nonblank(read_lines(entry)) or ("",)
        for doc, entry in by_id.items()
        if entry is not None
    }


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sort ``doc2`` before ``doc10``."""
    parts = re.findall(r"[0-9]+|[^0-9]+", path.name)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def _of_records(
    loaded: Loaded,
    file: TextFile,
    kind: str,
    name: str,
    segments: str,
    columns: Columns | None,
    notes: list[str],
) -> tuple[Corpus, list[Output]]:
    """Read outputs by document id, or in the order of the corpus if there are no ids."""
    corpus, left_out = loaded.corpus, loaded.others - {*loaded.corpus.ids}
    langs = corpus.langs if all(corpus.langs) else None
    options = {"segments": segments, "columns": columns, "corpus": corpus, "system": name}
    more = read_format(kind, file, langs, **options)
    kinds = {note: getattr(note, "kind", "") for note in more.warnings}
    if kind == "wmt":
        metas = {doc.id: wmt.about_output(doc) for doc in more.corpus.docs}
        documents = (replace(d, meta={**d.meta, **metas.get(d.id, {})}) for d in corpus.docs)
        corpus = replace(corpus, docs=tuple(documents))
        notes += [note for note in more.warnings if note != BARE]
    else:
        notes += [note for note, about in kinds.items() if about == "columns"]
    outputs = []
    for output in more.outputs:
        docs = {doc: text for doc, text in output.docs.items() if doc not in left_out}
        if not set(_UNNAMED).isdisjoint(kinds.values()) and docs.keys() != {*corpus.ids}:
            docs = _in_order(corpus, docs, file.name, notes)
        docs = _by_line(corpus, docs, file.name, notes)
        system = name if output.system == stem(file.path) else output.system
        outputs.append(replace(output, system=system, docs=docs))
    return corpus, outputs


def _in_order(corpus: Corpus, docs: Documents, where: str, notes: list[str]) -> Documents:
    """Give records without ids to the documents, or to the segments, of the corpus in order."""
    ids, sizes = corpus.ids, corpus.sizes.tolist()
    records = [segment for segments in docs.values() for segment in segments]
    if len(docs) == len(ids):
        parts, what = list(docs.values()), "documents"
    elif len(records) == len(ids):
        parts, what = [(record,) for record in records], "documents"
    elif len(records) == sum(sizes):
        texts = iter(records)
        parts, what = [tuple(islice(texts, size)) for size in sizes], "segments"
    else:
        raise AlignmentError(
            f"{count(len(records), 'record')} without document ids, but the corpus has "
            f"{count(len(ids), 'document')} and {count(sum(sizes), 'segment')}",
            where=where,
            next='give each record its document: {"doc": ID, "output": TEXT}, or name its column: '
            "--columns document=NAME",
        )
    notes.append(f"{where} has no document ids: its records are taken as {what}, in order")
    return dict(zip(ids, parts))


def _by_line(corpus: Corpus, docs: Documents, where: str, notes: list[str]) -> Documents:
    """Divide whole documents at their line breaks, where the corpus has several segments."""
    sizes = dict(zip(corpus.ids, corpus.sizes.tolist()))
    lines = {
        doc: _nonblank(text[0].splitlines())
        for doc, text in docs.items()
        if len(text) == 1 and sizes.get(doc, 1) != 1 and "\n" in text[0].strip()
    }
    if lines:
        text = f"{where}: {count(len(lines), 'document', 'are')} divided at line breaks"
        notes.append(Note("divided", text))
    return docs | lines
