"""Reading a contrastive set: which format a file has, by what is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wholetext.errors import InputError, SpecError, did_you_mean
from wholetext.files.parsing import read_json
from wholetext.io.text import opened
from wholetext.meta.contrast import contrapro, ctxpro, discevalmt, jsonl, voita
from wholetext.meta.contrast.items import ContrastSet, Wanted

Read = Callable[[Any, Path, Wanted], ContrastSet]
_JSON: dict[str, tuple[Callable[[Any], bool], Read]] = {
    "contrapro": (contrapro.matches, contrapro.read),
    "ctxpro": (ctxpro.matches, ctxpro.read),
    "discevalmt": (discevalmt.matches, discevalmt.read),
    "voita": (voita.matches, voita.read),
}
READERS = ("jsonl", *_JSON)


def read(path: str | Path, wanted: Wanted | None = None, reader: str = "auto") -> ContrastSet:
    """The set in a file; ``reader`` forces a format."""
    path, wanted = Path(path), wanted or Wanted()
    if reader not in ("auto", *READERS):
        raise SpecError(f"there is no reader {reader!r} for contrastive sets",
                        next=did_you_mean(reader, list(READERS)) or f"choose one of {', '.join(READERS)}")
    if reader == "jsonl" or (reader == "auto" and path.suffix == ".jsonl"):
        found = jsonl.read(path, wanted)
    else:
        found = _json(path, wanted, reader)
    if not found.items:
        raise InputError("there are no items in this set", where=str(path))
    return found


def _json(path: Path, wanted: Wanted, reader: str) -> ContrastSet:
    with opened(path) as file:
        data = read_json("\n".join(file.lines()), where=str(path), unique=False,
                         next="a file of JSON lines is read with --reader jsonl")
    for name, (matches, made) in _JSON.items():
        if reader == name or (reader == "auto" and matches(data)):
            try:
                return made(data, path, wanted)
            except InputError as fault:
                raise InputError(fault.what, where=_with_line(fault.where, path), next=fault.next) from None
    raise InputError("unknown format of contrastive set", where=str(path),
                     next=f"name its format with --reader {'|'.join(READERS)}")


# ---------------------------------------------------------------- where an item begins

_PLACE = re.compile(r", (?:item (?P<item>\d+)|block (?P<block>\d+))")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},\n]', re.DOTALL)


def _with_line(where: str, path: Path) -> str:
    """``FILE, item 3 …`` → ``FILE:LINE, item 3 …``: looked up only when something is wrong."""
    found = _PLACE.match(where, len(str(path)))
    if not where.startswith(str(path)) or found is None:
        return where
    with opened(path) as file:
        text = "\n".join(file.lines())
    line = _line_of(text, int(found["item"])) if found["item"] else _line_of(text, 0, f'"{found["block"]}"')
    return f"{path}:{line}{where[len(str(path)):]}"


def _line_of(text: str, item: int, key: str | None = None) -> int:
    """The line (from 1) where the ``item``-th element of the outermost list begins, or a key of the object."""
    depth, line, count, begun = 0, 1, -1, True
    for token in _TOKEN.finditer(text):
        sign = token.group()
        if sign == "\n":
            line += 1
            continue
        if depth == 1 and not begun and sign != "]":
            begun, count = True, count + 1
        if depth == 1 and (sign == key if key else begun and count == item):
            return line
        depth += (sign in "[{") - (sign in "]}") if len(sign) == 1 else 0
        if (depth == 1 and sign in "[{" and count < 0) or (depth == 1 and sign == ","):
            begun = False
    return line
