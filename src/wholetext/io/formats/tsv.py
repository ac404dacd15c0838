"""TSV with a header, one segment per row.

Columns: doc, src, ref (or ref:NAME) and hyp:SYSTEM (or hyp and system).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from wholetext.errors import AlignmentError, InputError, did_you_mean
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.segments import FIELDS, Key, load_records
from wholetext.io.text import FilePath, TextFile, at, write_lines

Rows = list[tuple[int, list[str]]]  # line, cells
_PREFIX = {"ref": "ref", "hyp": "hyp", "mt": "hyp", "sys": "hyp", "meta": "meta"}
_CELL = re.compile(r'"[^"]*(?:""[^"]*)*"|[^\t\n"]*')  # quoted, or without a quotation mark


def recognise(file: TextFile) -> bool:
    """Tell whether the first line could be the header of such a file."""
    line = file.head().split("\n", 1)[0]
    return "\t" in line and any(_key(cell.strip().strip('"')) for cell in line.split("\t"))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read a TSV. Quotes are removed only if the whole file is quoted as spreadsheets do it."""
    rows, more = _rows(list(file.lines()), file.name)
    names = [cell.strip() for cell in rows[0][1]] if rows else [""]
    header, notes = column_keys(names, at(file.name, 1))
    if len(rows) > 1 and len(names) > 1 and rows[-1][1] == [""]:
        rows.pop()  # a blank line at the end
    for number, cells in rows[1:]:
        if len(cells) != len(names):
            raise InputError(
                f"this row has {len(cells)} cells, the header has {len(names)}",
                where=at(file.name, number),
                next="is there a tab or line break inside a text? "
                "replace it by a space, or write JSONL",
            )
    if len(rows) < 2:
        raise InputError(
            "there is a header but no row below it", where=file.name, next="add one row per segment"
        )
    columns = {key: [cells[i] for _, cells in rows[1:]] for key, i in header.items()}
    return load_records(
        columns, [line for line, _ in rows[1:]], "", langs, [*notes, *more], file.name
    )


def write(path: FilePath, loaded: Loaded) -> None:
    """Write one row per segment; outputs need the segments of the corpus."""
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
                next="write JSONL, which can hold that",
            )
        facts = [doc.meta.get(key, "") for key in metas]
        rows += [[doc.id, *cells, *facts] for cells in zip(*texts)]
    if fault := _unwritable(rows, keys):
        raise InputError(
            f"{fault} cannot be written to a TSV",
            where=where,
            next="write JSONL, which can hold that",
        )
    if any('"' in cell for row in rows for cell in row):
        plain = list(enumerate(rows, 1))
        # quotes that are text, but do not look so
        if _quoted(["\t".join(row) for row in rows], plain) is not None:
            rows = [
                ['"' + cell.replace('"', '""') + '"' if '"' in cell else cell for cell in row]
                for row in rows
            ]
    write_lines(path, ("\t".join(row) for row in rows))


def _unwritable(rows: Sequence[Sequence[str]], keys: Sequence[Key]) -> str:
    """Name what would not read back as it is, or ""."""
    for name, key in zip(rows[0], keys):
        if _key(name) != key:
            return f"the name {key[1]!r}"
    if len(keys) < 2:
        return "a corpus without texts"
    for row in rows:
        if any("\t" in cell or "\r" in cell or "\n" in cell for cell in row):
            return "a tab or line break inside a text"
        if not row[0].strip():
            return f"the document id {row[0]!r}"
    return ""


def _key(name: str) -> Key | None:
    """Return what a column of this name holds; None if unknown."""
    kind, colon, label = name.partition(":")
    kind, label = kind.strip().lower(), label.strip()
    if colon:
        return (_PREFIX[kind], label) if kind in _PREFIX and label else None
    if kind[:3] == "ref" and len(kind) == 4:  # refA, ref0
        return "ref", name
    return next(
        (
            (field, {"ref": "ref", "meta": kind}.get(field, ""))
            for field, names in FIELDS.items()
            if kind in names
        ),
        None,
    )


def column_keys(names: Sequence[str], where: str) -> tuple[dict[Key, int], list[str]]:
    """Map columns to their indexes; note those that are not used."""
    header: dict[Key, int] = {}
    unused = []
    for i, name in enumerate(names):
        key = _key(name)
        if key is None:
            unused.append(name or "(no name)")
        elif key in header:
            raise InputError(
                f"columns {names[header[key]]!r} and {name!r} map to one field",
                where=where,
                next="rename or remove one of them",
            )
        else:
            header[key] = i
    if not any(kind in ("src", "ref", "hyp") for kind, _ in header):
        known = [name for group in FIELDS.values() for name in group]
        guess = next((hint for name in names if (hint := did_you_mean(name, known))), "")
        raise InputError(
            "no column of this header is known to hold text",
            where=where,
            next=guess or "name the columns: doc, src, ref (or ref:NAME), hyp:SYSTEM",
        )
    hyps = [name for kind, name in header if kind == "hyp"]
    if (("system", "") in header or "" in hyps) and hyps != [""]:
        raise InputError(
            "'system' goes with one 'hyp' column, and neither goes with hyp:SYSTEM columns",
            where=where,
            next="write either system and hyp, or one hyp:SYSTEM column per system",
        )
    notes = (
        [f"columns not used: {', '.join(unused)} (an output's column is called hyp:SYSTEM)"]
        if unused
        else []
    )
    return header, notes


def _rows(lines: list[str], where: str) -> tuple[Rows, list[str]]:
    """Split rows into cells; note quotation marks around cells that are kept as text."""
    plain = [(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    if not any('"' in line for line in lines):
        return plain, []
    quoted = _quoted(lines, plain)
    if quoted is not None:
        return quoted, []
    if lines[0].startswith('"'):
        raise InputError(
            "the header is quoted, but not every cell of this file is quoted in the usual way",
            where=at(where, 1),
            next='double the quotes inside a cell ("") and quote each such cell',
        )
    number = sum(
        len(cell) > 1 and cell[0] == cell[-1] == '"' for _, cells in plain for cell in cells
    )
    note = f"{number} cells begin and end with a quotation mark, which is kept as part of the text"
    return plain, [note] if number else []


def _quoted(lines: Sequence[str], plain: Rows) -> Rows | None:
    """Parse a file that is quoted as by spreadsheets, pandas and csv; None if it is not.

    In such a file every cell with a quotation mark in it is quoted as a whole and has its inner
    marks doubled. Text that merely has quotation marks in it does not look like this. The marks are
    not part of the text if the header is quoted, if one is doubled, or if only without them all
    rows have as many cells as the header.
    """
    text = "\n".join(lines)
    rows: Rows = [(1, [])]
    start, line, doubled, within = 0, 1, False, False
    while True:
        match = _CELL.match(text, start)
        end = text[match.end() : match.end() + 1] if match else ""
        if match is None or end not in ("", "\t", "\n"):
            return None
        cell = match.group()
        if cell.startswith('"'):
            line += cell.count("\n")
            doubled, within = doubled or '"' in cell[1:-1], within or "\t" in cell or "\n" in cell
            cell = cell[1:-1].replace('""', '"')
        rows[-1][1].append(cell)
        if not end:
            break
        start = match.end() + 1
        if end == "\n":
            line += 1
            rows.append((line, []))
    sure = not within and (doubled or text.startswith('"')) if _even(plain) else True
    return rows if sure and _even(rows) else None


def _even(rows: Rows) -> bool:
    """Tell whether every row has the cells of the header; the last may be blank."""
    size = len(rows[0][1])
    return all(len(cells) == size for _, cells in rows[:-1]) and (
        len(rows[-1][1]) == size or rows[-1][1] == [""]
    )
