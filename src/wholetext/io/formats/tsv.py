"""TSV with a header line, one segment per row: doc, src, ref (or ref:NAME) and hyp:SYSTEM (or hyp and system)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from wholetext.errors import AlignmentError, InputError, did_you_mean
from wholetext.io import records
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.records import RecordTable
from wholetext.io.text import FilePath, TextFile, at, stem, write_lines

_PLAIN = {"doc": records.DOC, "src": records.SRC, "ref": records.REF, "hyp": records.HYP, "system": records.SYSTEM,
          "meta": records.META}
_PREFIX = {"ref": "ref", "hyp": "hyp", "mt": "hyp", "sys": "hyp", "meta": "meta"}
_CELL = re.compile(r'"[^"]*(?:""[^"]*)*"|[^\t\n"]*')  # quoted, or without a quotation mark
_Header = dict[tuple[str, str], int]  # (what the column is, name of the reference, system or fact) → its index


def looks_like(line: str) -> bool:
    """Whether a first line could be the header of such a file."""
    return "\t" in line and any(_role(cell.strip().strip("\"")) for cell in line.split("\t"))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read a TSV. Cells are taken as they are, or without their quotes where the file is quoted as spreadsheets do."""
    rows, more = _rows(list(file.lines()), file.name)
    names = [cell.strip() for cell in rows[0][1]] if rows else [""]
    header, notes = _header(names, at(file.name, 1))
    columns: list[list[str]] = [[] for _ in names]
    adders = [column.append for column in columns]
    for number, cells in rows[1:]:
        if len(cells) != len(names):
            if cells == [""] and number == rows[-1][0]:
                rows.pop()
                break
            raise InputError(f"this row has {len(cells)} cells, the header has {len(names)}",
                             where=at(file.name, number),
                             next="is there a tab or line break inside a text? replace it by a space, or write JSONL")
        for add, cell in zip(adders, cells):
            add(cell)
    if not columns[0]:
        raise InputError("there is a header but no row below it", where=file.name, next="add one row per segment")
    table = _table(header, columns, file.name, [number for number, _ in rows[1:]])
    return table.loaded("", langs, [*notes, *more])


_Rows = list[tuple[int, list[str]]]  # line, cells


def _rows(lines: list[str], where: str) -> tuple[_Rows, list[str]]:
    """The cells of each row, and a note if quotation marks around cells were kept as part of the text."""
    plain = [(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    if not any('"' in line for line in lines):
        return plain, []
    quoted = _quoted(lines, plain)
    if quoted is not None:
        return quoted, []
    if lines[0].startswith('"'):
        raise InputError("the header is quoted, but not every cell of this file is quoted in the usual way",
                         where=at(where, 1), next='double the quotes inside a cell ("") and quote each such cell')
    kept = sum(len(cell) > 1 and cell[0] == cell[-1] == '"' for _, cells in plain for cell in cells)
    notes = [f"{kept} cells begin and end with a quotation mark, which is kept as part of the text"] if kept else []
    return plain, notes


def _quoted(lines: Sequence[str], plain: _Rows) -> _Rows | None:
    """Rows of a file that is quoted as by spreadsheets, pandas and csv; None if it is not.

    In such a file every cell with a quotation mark in it is quoted as a whole and has its inner marks doubled. Text
    that merely has quotation marks in it does not look like this. The marks are not part of the text if the header is
    quoted, if one is doubled, or if only without them all rows have as many cells as the header.
    """
    text = "\n".join(lines)
    rows: _Rows = [(1, [])]
    start, line, doubled, within = 0, 1, False, False
    while True:
        found = _CELL.match(text, start)
        end = text[found.end() : found.end() + 1] if found else ""
        if found is None or end not in ("", "\t", "\n"):
            return None
        cell = found.group()
        if cell.startswith('"'):
            line += cell.count("\n")
            doubled, within = doubled or '"' in cell[1:-1], within or "\t" in cell or "\n" in cell
            cell = cell[1:-1].replace('""', '"')
        rows[-1][1].append(cell)
        if not end:
            break
        start = found.end() + 1
        if end == "\n":
            line += 1
            rows.append((line, []))
    sure = not within and (doubled or text.startswith('"')) if _even(plain) else True
    return rows if sure and _even(rows) else None


def _even(rows: _Rows) -> bool:
    """Whether every row has the cells of the header; the last may be blank."""
    size = len(rows[0][1])
    return all(len(cells) == size for _, cells in rows[:-1]) and (len(rows[-1][1]) == size or rows[-1][1] == [""])


def write(path: FilePath, loaded: Loaded) -> None:
    """One row per segment; outputs need the segments of the corpus, and texts may hold neither tab nor line break."""
    corpus, outputs = loaded.corpus, loaded.outputs
    metas = list(dict.fromkeys(key for doc in corpus.docs for key in doc.meta))
    names = ["doc", *(["src"] if corpus.has_source else []), *(f"ref:{name}" for name in corpus.references),
             *(f"hyp:{output.system}" for output in outputs), *(f"meta:{key}" for key in metas)]
    rows = [names]
    for doc in corpus.docs:
        texts = [*([doc.src] if corpus.has_source and doc.src is not None else []),
                 *(doc.refs[name] for name in corpus.references), *(output.docs[doc.id] for output in outputs)]
        if len({len(segments) for segments in texts}) != 1:
            raise AlignmentError(f"document {doc.id!r} has other segments in an output than in the corpus",
                                 where=os.fspath(path), next="write JSONL, which can hold that")
        facts = [doc.meta.get(key, "") for key in metas]
        rows += [[doc.id, *cells, *facts] for cells in zip(*texts)]
    _check_written(rows, [("doc", "")] + [("src", "")] * corpus.has_source
                   + [("ref", name) for name in corpus.references] + [("hyp", output.system) for output in outputs]
                   + [("meta", key) for key in metas], os.fspath(path))
    if any('"' in cell for row in rows for cell in row):
        plain = list(enumerate(rows, 1))
        if _quoted(["\t".join(row) for row in rows], plain) is not None:  # quotes that are text, but do not look so
            rows = [['"' + cell.replace('"', '""') + '"' if '"' in cell else cell for cell in row] for row in rows]
    write_lines(path, ("\t".join(row) for row in rows))


def _check_written(rows: Sequence[Sequence[str]], roles: Sequence[tuple[str, str]], where: str) -> None:
    """Refuse what would not read back as it is."""

    def refuse(what: str) -> InputError:
        return InputError(f"{what} cannot be written to a TSV", where=where, next="write JSONL, which can hold that")

    for name, role in zip(rows[0], roles):
        if _role(name) != role:
            raise refuse(f"the name {role[1]!r}")
    if len(rows[0]) < 2:
        raise refuse("a corpus without texts")
    for row in rows:
        if any("\t" in cell or "\r" in cell or "\n" in cell for cell in row):
            raise refuse("a tab or line break inside a text")
        if not row[0].strip():
            raise refuse(f"the document id {row[0]!r}")


def _table(header: _Header, columns: Sequence[list[str]], where: str, lines: Sequence[int]) -> RecordTable:
    def one(role: str) -> list[str]:
        return columns[header[role, ""]] if (role, "") in header else []

    def named(role: str) -> dict[str, list[str]]:
        return {name: columns[i] for (kind, name), i in header.items() if kind == role}

    hyps = {name or stem(where): texts for name, texts in named("hyp").items()}
    return RecordTable(where, lines, one("doc"), one("src"), named("ref"), hyps, one("system"), named("meta"))


def _role(name: str) -> tuple[str, str] | None:
    """What a column of this name holds, and the name of its reference, system or fact; None where it is not known."""
    kind, colon, label = name.partition(":")
    kind, label = kind.strip().lower(), label.strip()
    if colon:
        return (_PREFIX[kind], label) if kind in _PREFIX and label else None
    if kind[:3] == "ref" and len(kind) == 4:  # refA, ref0
        return "ref", name
    for role, names in _PLAIN.items():
        if kind in names:
            return role, {"ref": "ref", "meta": kind}.get(role, "")
    return None


def _header(names: Sequence[str], where: str) -> tuple[_Header, list[str]]:
    header: _Header = {}
    unused = []
    for i, name in enumerate(names):
        role = _role(name)
        if role is None:
            unused.append(name or "(no name)")
        elif role in header:
            raise InputError(f"columns {names[header[role]]!r} and {name!r} map to one field", where=where,
                             next="rename or remove one of them")
        else:
            header[role] = i
    if not any(kind in ("src", "ref", "hyp") for kind, _ in header):
        known = [name for group in _PLAIN.values() for name in group]
        guess = next((hint for name in names if (hint := did_you_mean(name, known))), "")
        raise InputError("no column of this header is known to hold text", where=where,
                         next=guess or "name the columns: doc, src, ref (or ref:NAME), hyp:SYSTEM")
    hyps = [name for kind, name in header if kind == "hyp"]
    if (("system", "") in header or "" in hyps) and hyps != [""]:
        raise InputError("'system' goes with one 'hyp' column, and neither goes with hyp:SYSTEM columns", where=where,
                         next="write either system and hyp, or one hyp:SYSTEM column per system")
    notes = [f"columns not used: {', '.join(unused)} (an output's column is called hyp:SYSTEM)"] if unused else []
    return header, notes
