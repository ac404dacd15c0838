"""Lists of candidates, a line per segment: ``{"src": …, "candidates": [ … ], "ref": …, "doc": …}``."""

from __future__ import annotations

from typing import Any

from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.io import Loaded, from_texts
from wholetext.io.text import FilePath, opened

_NEXT = 'write {"src": "…", "candidates": ["…", "…"]}, with "ref" and "doc" where there are some'


def is_candidates(path: FilePath) -> bool:
    """Whether the first line of a file has a list of candidates."""
    with opened(path) as file:
        head = file.head()
    return head.startswith("{") and '"candidates"' in head.partition("\n")[0]


def read_candidates(path: FilePath, langs: str | None = None) -> Loaded:
    """Read candidates as the systems ``1``, ``2`` … of a corpus; all lists have the same length."""
    rows: list[dict[str, Any]] = []
    with opened(path) as file:
        for number, line in enumerate(file.lines(), 1):
            if not line.strip():
                continue
            where = f"{file.name}:{number}"
            row = read_json(line.encode(), where=where)
            if not isinstance(row, dict) or not _texts(row.get("candidates")):
                raise InputError("no list of candidates", where=where, next=_NEXT)
            if rows and len(row["candidates"]) != len(rows[0]["candidates"]):
                raise InputError(
                    f"{len(row['candidates'])} candidates, where the first line has "
                    f"{len(rows[0]['candidates'])}",
                    where=where,
                    next='give every segment equally many; "" stands for a missing one',
                )
            for key in ("src", "ref", "doc"):
                if (key in row) != (key in (rows or [row])[0]):
                    raise InputError(
                        f"only some lines have {key!r}", where=where, next="give all or none"
                    )
                if key in row and not isinstance(row[key], str):
                    raise InputError(f"{key!r} is not text", where=where, next=_NEXT)
            rows.append(row)
    if not rows:
        raise InputError("the file has no candidates", where=str(path), next=_NEXT)

    def column(key: str) -> list[str] | None:
        return [row[key] for row in rows] if key in rows[0] else None

    names = [str(i + 1) for i in range(len(rows[0]["candidates"]))]
    return from_texts(
        {name: [row["candidates"][i] for row in rows] for i, name in enumerate(names)},
        srcs=column("src"),
        refs={"ref": texts} if (texts := column("ref")) else (),
        docs=column("doc"),
        langs=langs,
    )


def _texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)
