"""Lists of candidates, a line per segment: ``{"src": …, "candidates": [ … ], "ref": …, "doc": …}``."""

from __future__ import annotations

from wholetext.errors import InputError
from wholetext.io import Loaded, from_texts
from wholetext.io.formats.jsonl import objects
from wholetext.io.text import FilePath, at, opened

_NEXT = (
    'write {"src": "…", "candidates": ["…", "…"]} in every line, with "ref" and "doc" in all or '
    'none; "" stands for a missing candidate'
)


def is_candidates(path: FilePath) -> bool:
    """Tell whether the first line of a file has a list of candidates."""
    with opened(path) as file:
        head = file.head()
    return head.startswith("{") and '"candidates"' in head.partition("\n")[0]


def read_candidates(path: FilePath, langs: str | None = None) -> Loaded:
    """Read candidates as the systems ``1``, ``2`` … of a corpus; all lists have the same length."""
    with opened(path) as file:
        rows = [(at(file.name, number), row) for number, row in objects(file)]
    if not rows:
        raise InputError("the file has no candidates", where=str(path), next=_NEXT)
    columns: dict[str, list[str]] = {key: [] for key in ("src", "ref", "doc") if key in rows[0][1]}
    lists: list[list[str]] = []
    for where, row in rows:
        candidates, what = row.get("candidates", []), ""
        if not isinstance(candidates, list) or not candidates:
            what = "no list of candidates"
        elif lists and len(candidates) != len(lists[0]):
            what = f"{len(candidates)} candidates, where the first line has {len(lists[0])}"
        elif (
            not columns.keys() <= row.keys() or {"src", "ref", "doc"} & row.keys() - columns.keys()
        ):
            what = "other fields than in the first line"
        elif not all(isinstance(x, str) for x in (*candidates, *map(row.get, columns))):
            what = "a candidate or another field that is not text"
        if what:
            raise InputError(what, where=where, next=_NEXT)
        lists.append(candidates)
        for key, texts in columns.items():
            texts.append(row[key])
    return from_texts(
        {str(i): list(texts) for i, texts in enumerate(zip(*lists), 1)},
        srcs=columns.get("src"),
        refs={"ref": columns["ref"]} if "ref" in columns else (),
        docs=columns.get("doc"),
        langs=langs,
    )
