"""TSV with a header, one segment per row.

Columns: doc, src, ref (or ref:NAME) and hyp:SYSTEM (or hyp and system).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence

from wholetext.errors import AlignmentError, InputError
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.records import Key, key_of, load
from wholetext.io.text import FilePath, TextFile, at, write_lines

Rows = list[tuple[int, list[str]]]  # line, cells


def recognise(file: TextFile) -> bool:
    """Tell whether the first line could be the header of such a file."""
    line = file.head().split("\n", 1)[0]
    return "\t" in line and any(key_of(cell.strip().strip('"')) for cell in line.split("\t"))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read a TSV. Quotes are removed only if the file is quoted as spreadsheets do it."""
    return load(_records(list(file.lines()), file.name), file.name, langs)


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
    if not lines or not (lines[0].startswith('"') or _has_doubled_quote(plain)):
        return plain
    reader = csv.reader((f"{line}\n" for line in lines), delimiter="\t", strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader]
    except csv.Error:  # quotation marks that are text
        return plain


def _has_doubled_quote(rows: Rows) -> bool:
    """Tell whether a cell is quoted and has a quotation mark inside, which is doubled."""
    return any(
        cell[:1] == '"' and '""' in cell[1:] and cell != '""' for _, cells in rows for cell in cells
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
    lines = ["\t".join(row) for row in rows]
    plain = list(enumerate(rows, 1))
    if _has_doubled_quote(plain) or any('"' in name for name in rows[0]):
        rows = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in rows]
        lines = ["\t".join(row) for row in rows]
    if list(map(key_of, plain[0][1])) != keys or _rows(lines) != plain:
        raise InputError(
            "a name, an id, or a tab or line break inside a text cannot be written to a TSV",
            where=where,
            next="write JSONL, which can hold that",
        )
    write_lines(path, lines)
