"""Lists of candidates, a line per segment: ``{"src": …, "candidates": [ … ], "ref": …, "doc": …}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wholetext.errors import InputError, count
from wholetext.io import Loaded, from_texts
from wholetext.io.formats.jsonl import objects
from wholetext.io.text import FilePath, opened

_NEXT = 'write {"src": "…", "candidates": ["…", "…"]}, with "ref" and "doc" where there are some'


def is_candidates(path: FilePath) -> bool:
    """Whether the first line of a file has a list of candidates."""
    with opened(path) as file:
        head = file.head()
    return head.startswith("{") and '"candidates"' in head.partition("\n")[0]


def read_candidates(path: FilePath, langs: str | None = None) -> Loaded:
    """Read candidates as the systems ``1``, ``2`` … of a corpus; all lists have the same length."""
    with opened(path) as file:
        rows = dict(objects(file))
    if not rows:
        raise InputError("the file has no candidates", where=str(path), next=_NEXT)
    first = next(iter(rows.values()))
    for number, row in rows.items():
        _check(row, first, f"{file.name}:{number}")

    def column(key: str) -> list[str] | None:
        return [row[key] for row in rows.values()] if key in first else None

    columns = zip(*(row["candidates"] for row in rows.values()))
    return from_texts(
        {str(number): list(texts) for number, texts in enumerate(columns, 1)},
        srcs=column("src"),
        refs={"ref": texts} if (texts := column("ref")) else (),
        docs=column("doc"),
        langs=langs,
    )


def _check(row: Mapping[str, Any], first: Mapping[str, Any], where: str) -> None:
    texts = row.get("candidates")
    if not (isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)):
        raise InputError("no list of candidates", where=where, next=_NEXT)
    if len(texts) != len(first["candidates"]):
        raise InputError(
            f"{count(len(texts), 'candidate')}, where the first line has {len(first['candidates'])}",
            where=where,
            next='give every segment equally many; "" stands for a missing one',
        )
    for key in ("src", "ref", "doc"):
        if (key in row) != (key in first):
            raise InputError(f"only some lines have {key!r}", where=where, next="give all or none")
        if not isinstance(row.get(key, ""), str):
            raise InputError(f"{key!r} is not text", where=where, next=_NEXT)
