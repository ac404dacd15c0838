"""TSV with a header, one segment per row.

Columns: doc, src, ref (or ref:NAME) and hyp:SYSTEM (or hyp and system).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from wholetext.errors import InputError
from wholetext.io import records
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.records import key_of
from wholetext.io.text import TextFile, at

Rows = list[tuple[int, list[str]]]  # line, cells


def recognise(file: TextFile) -> bool:
    """Tell whether the first line could be the header of such a file."""
    line = file.head().split("\n", 1)[0]
    return "\t" in line and any(key_of(cell.strip().strip('"')) for cell in line.split("\t"))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read a TSV. Quotes are removed only if the file is quoted as spreadsheets do it."""
    return records.load(_records(list(file.lines()), file.name), file.name, langs)


def _records(lines: Sequence[str], where: str) -> Iterator[tuple[int, dict[str, str]]]:
    rows = _rows(lines)
    names = [cell.strip() for cell in rows[0][1]] if rows else []
    if len(set(names)) < len(names):
        raise InputError("two columns have the same name", where=at(where, 1), next="rename one")
    if len(names) > 1 and rows[-1][1] in ([], [""]):
        rows.pop()  # a blank line at the end
    for number, cells in rows[1:]:
        if len(cells) != len(names):
            raise InputError(
                f"this row has {len(cells)} cells, the header has {len(names)}",
                where=at(where, number),
                next="is there a tab or line break inside a text? "
                "replace it by a space, or write JSONL",
            )
        yield number, dict(zip(names, cells))


def _rows(lines: Sequence[str]) -> Rows:
    """Split rows into cells, quoted as by csv if the header or an inner quotation mark is."""
    plain = [(number, line.split("\t")) for number, line in enumerate(lines, 1)]
    cells = (cell for _, row in plain for cell in row)
    doubled = any(cell[:1] == '"' and '""' in cell[1:] and cell != '""' for cell in cells)
    if not lines or not (lines[0].startswith('"') or doubled):
        return plain
    reader = csv.reader((f"{line}\n" for line in lines), delimiter="\t", strict=True)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error:  # quotation marks that are text
        return plain
