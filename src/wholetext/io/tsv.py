"""TSV with a header line, one segment per row: doc, src, ref (or ref:NAME) and hyp:SYSTEM (or hyp and system)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from wholetext.errors import AlignmentError, InputError, did_you_mean
from wholetext.io import records
from wholetext.io.assembly import Langs, Loaded
from wholetext.io.records import Table
from wholetext.io.text import FilePath, TextFile, at, stem, write_lines

_PLAIN = {"doc": records.DOC, "src": records.SRC, "ref": records.REF, "hyp": records.HYP, "system": records.SYSTEM,
          "meta": records.META}
_PREFIX = {"ref": "ref", "hyp": "hyp", "mt": "hyp", "sys": "hyp", "meta": "meta"}
_Header = dict[tuple[str, str], int]  # (what the column is, name of the reference, system or fact) → its index


def looks_like(line: str) -> bool:
    """Whether a first line could be the header of such a file."""
    return "\t" in line and any(_role(cell.strip()) for cell in line.split("\t"))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read a TSV. Cells are taken as they are: no quoting, so a cell holds neither tab nor line break."""
    lines = file.lines()
    names = [cell.strip() for cell in next(lines, "").split("\t")]
    header, notes = _header(names, at(file.name, 1))
    columns: list[list[str]] = [[] for _ in names]
    adders = [column.append for column in columns]
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != len(names):
            if not line and next(lines, None) is None:
                break
            raise InputError(f"this row has {len(cells)} cells, the header has {len(names)}",
                             where=at(file.name, number),
                             next="is there a tab or line break inside a text? replace it by a space, or write JSONL")
        for add, cell in zip(adders, cells):
            add(cell)
    if not columns[0]:
        raise InputError("there is a header but no row below it", where=file.name, next="add one row per segment")
    return _table(header, columns, file.name).loaded("", langs, notes)


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
    for row in rows:
        for cell in row:
            if "\t" in cell or "\r" in cell:
                raise InputError("a tab or line break inside a text cannot be written to a TSV", where=os.fspath(path),
                                 next="write JSONL, which can hold that")
    write_lines(path, ("\t".join(row) for row in rows))


def _table(header: _Header, columns: Sequence[list[str]], where: str) -> Table:
    def one(role: str) -> list[str]:
        return columns[header[role, ""]] if (role, "") in header else []

    def named(role: str) -> dict[str, list[str]]:
        return {name: columns[i] for (kind, name), i in header.items() if kind == role}

    hyps = {name or stem(where): texts for name, texts in named("hyp").items()}
    lines = range(2, len(columns[0]) + 2)
    return Table(where, lines, one("doc"), one("src"), named("ref"), hyps, one("system"), named("meta"))


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
            raise InputError(f"columns {names[header[role]]!r} and {name!r} hold the same", where=where,
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
