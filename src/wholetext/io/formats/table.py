"""Tables with one segment per row: CSV, TSV and Excel workbooks, with or without a header.

Columns: doc, src, ref (or ref:NAME) and hyp:SYSTEM (or hyp and system); others are guessed from the
header, or named by ``columns``.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wholetext.errors import AlignmentError, InputError, optional
from wholetext.files.parsing import reading
from wholetext.files.storage import write_file
from wholetext.io.assembly import Langs, Loaded, check_read_back, pair
from wholetext.io.columns import Columns, Key, familiar, key_of, listed, settle
from wholetext.io.records import load
from wholetext.io.text import FilePath, TextFile, at, clean
from wholetext.types import Corpus

Rows = list[tuple[int, list[str]]]  # line, cells
_WORKBOOK = "PK\x03\x04"  # a zip archive
_SUFFIXES = (".tsv", ".csv", ".xlsx")


def recognise(file: TextFile) -> bool:
    """Tell whether this is a workbook, called .csv or .tsv, or begins with a header."""
    head = file.head()
    if head.startswith(_WORKBOOK) or Path(file.path.removesuffix(".gz")).suffix in _SUFFIXES:
        return True
    line = head.split("\n", 1)[0]
    names = [cell.strip() for cell in next(csv.reader([line], delimiter=_delimiter(line)), [])]
    known = sum(map(familiar, names))
    return known > 1 or (known == 1 and "\t" in line)


def read(
    file: TextFile,
    langs: Langs = None,
    *,
    columns: Columns | None = None,
    corpus: Corpus | None = None,
    outputs: bool = True,
) -> Loaded:
    """Read a table; ``columns`` says what its columns hold, by name or by number from 1."""
    notes = list[str]()
    if file.head().startswith(_WORKBOOK):
        rows = _sheet(file.read(), file.name, notes)
    else:
        lines = list(file.lines())
        rows = _cells(lines, _delimiter(lines[0] if lines else ""))
    rows = _trimmed(rows)
    names = _header(rows, file.name, langs, columns)
    records = _records(rows, names, file.name)
    loaded = load(records, file.name, langs, columns=columns, corpus=corpus, outputs=outputs)
    return replace(loaded, warnings=(*notes, *loaded.warnings))


def _header(rows: Rows, where: str, langs: Langs, columns: Columns | None) -> list[str]:
    """Take the names from the first row, or number the columns if it is text already."""
    names = [cell.strip() for cell in rows[0][1]] if rows else []
    if not any(map(familiar, names)):
        numbers = [str(i) for i in range(1, len(names) + 1)]
        requested = [str(value) for values in (columns or {}).values() for value in listed(values)]
        if requested and set(requested) <= set(numbers):
            return numbers
    if (
        not any(map(familiar, names))
        and not settle(names, (), where, columns=columns, langs=pair(langs))[0]
    ):
        cells = ", ".join(repr(cell[:30]) for cell in names)
        raise InputError(
            f"no name of a column is known in the first row: {cells or 'there is none'}",
            where=at(where, 1),
            next="say which is which, by name or, without a header, by number: "
            "--columns source=1,reference=2,output=3",
        )
    if len(set(names)) < len(names):
        raise InputError("two columns have the same name", where=at(where, 1), next="rename one")
    rows.pop(0)
    return names


def _records(rows: Rows, names: Sequence[str], where: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, cells in rows:
        if len(cells) != len(names):
            raise InputError(
                f"this row has {len(cells)} cells, the header has {len(names)}",
                where=at(where, number),
                next="is there a tab or line break inside a text? "
                "replace it by a space, or write JSONL",
            )
        yield number, dict(zip(names, cells))


def _trimmed(rows: Rows) -> Rows:
    """Leave out blank rows at the end."""
    while len(rows) > 1 and len(rows[0][1]) > 1 and not any(rows[-1][1]):
        rows.pop()
    return rows


def _delimiter(line: str) -> str:
    """Choose what separates the cells of a header: tabs, else the more frequent of , and ;."""
    return "\t" if "\t" in line else max(",;", key=line.count)


def _cells(lines: Sequence[str], delimiter: str) -> Rows:
    """Split rows into cells; in a TSV, quotation marks are text unless it is quoted as by csv."""
    plain = [(number, line.split(delimiter)) for number, line in enumerate(lines, 1)]
    quoted = bool(lines) and (lines[0].startswith('"') or _has_doubled_quote(plain))
    if delimiter == "\t" and not quoted:
        return plain
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader]
    except csv.Error:  # quotation marks that are text
        return plain


def _has_doubled_quote(rows: Rows) -> bool:
    """Tell whether a cell is quoted and has a quotation mark inside, which is doubled."""
    return any(
        cell[:1] == '"' and '""' in cell[1:] and cell != '""' for _, cells in rows for cell in cells
    )


def _sheet(data: bytes, where: str, notes: list[str]) -> Rows:
    """Read the first sheet of a workbook; an empty cell is empty text, a number its digits."""
    openpyxl = _openpyxl()
    with reading(where, "save it again as .xlsx or .csv", what="this is no Excel workbook"):
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet, *others = book.worksheets
        rows = [["" if cell is None else str(cell) for cell in row] for row in sheet.values]
    if others:
        titles = ", ".join(repr(other.title) for other in others)
        notes.append(f"{where}: only the sheet {sheet.title!r} is read, not {titles}")
    width = max((i for row in rows for i, cell in enumerate(row, 1) if cell), default=0)
    return [(number, [*row[:width]]) for number, row in enumerate(rows, 1)]


def _openpyxl() -> Any:
    return optional("openpyxl", "xlsx", "openpyxl, which reads and writes .xlsx,")


def write(path: FilePath, loaded: Loaded) -> None:
    """Write one row per segment as TSV, or by its name as CSV or .xlsx.

    Outputs need the segments of the corpus. What would not be read back is an InputError that names
    the segment.
    """
    corpus, outputs, where = loaded.corpus, loaded.outputs, os.fspath(path)
    metas = list(dict.fromkeys(key for doc in corpus.docs for key in doc.meta))
    sourced = all(doc.src is not None for doc in corpus.docs)
    keys: list[Key] = [
        ("doc", ""),
        *([("src", "")] if sourced else []),
        *(("ref", name) for name in corpus.references),
        *(("hyp", output.system) for output in outputs),
        *(("meta", name) for name in metas),
    ]
    rows = [[f"{kind}:{name}" if kind in ("ref", "hyp", "meta") else kind for kind, name in keys]]
    for doc in corpus.docs:
        texts = [
            *([doc.src] if sourced and doc.src is not None else []),
            *(doc.refs[name] for name in corpus.references),
            *(output.docs[doc.id] for output in outputs),
        ]
        if len({len(segments) for segments in texts}) != 1:
            raise AlignmentError(
                f"document {doc.id!r} has other segments in an output than in the corpus",
                where=where,
                next="write JSONL, which can hold that, or align it first",
            )
        facts = [doc.meta.get(key, "") for key in metas]
        for i, cells in enumerate(zip(*texts), 1):
            place = f"{where}, document {doc.id!r}, segment {i}"
            rows.append([clean(cell, place) for cell in (doc.id, *cells, *facts)])
    if list(map(key_of, rows[0])) != keys:
        raise InputError(
            "a name of a system or reference cannot be the name of a column",
            where=where,
            next="leave out blanks around it, or write JSONL",
        )
    name = where.removesuffix(".gz")
    data = _workbook(rows) if name.endswith(".xlsx") else _delimited(rows, name)
    langs = corpus.langs if all(corpus.langs) else None
    check_read_back(loaded, lambda: read(TextFile(where, data), langs), where)
    write_file(path, gzip.compress(data) if name != where else data, InputError)


def _delimited(rows: Sequence[Sequence[str]], name: str) -> bytes:
    """Serialise as CSV or TSV; a TSV is quoted only if it has to be."""
    comma = name.endswith(".csv")
    plain = list(enumerate(map(list, rows), 1))
    special = any(mark in cell for row in rows for cell in row for mark in "\t\n\r")
    if comma or special or _has_doubled_quote(plain) or any('"' in cell for cell in rows[0]):
        out = io.StringIO(newline="")
        csv.writer(
            out,
            delimiter="," if comma else "\t",
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if special or not comma else csv.QUOTE_MINIMAL,
        ).writerows(rows)
        text = out.getvalue()
    else:
        text = "".join("\t".join(row) + "\n" for row in rows)
    return text.encode("utf-8")


def _workbook(rows: Sequence[Sequence[str]]) -> bytes:
    openpyxl, out = _openpyxl(), io.BytesIO()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("corpus")
    for row in rows:
        # a workbook cannot hold control characters: reading it back names the segment
        texts = (openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("", cell) for cell in row)
        cells = [openpyxl.cell.WriteOnlyCell(sheet, text) for text in texts]
        for cell in cells:
            cell.data_type = "s"  # text, also if it begins with "="
        sheet.append(cells)
    book.save(out)
    return out.getvalue()
