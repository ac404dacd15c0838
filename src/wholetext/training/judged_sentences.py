"""Judged sentences without documents' order: ``FOLDER/LP.jsonl``, one object per line, as MLQE-PE is stored.

``hyp``, a reference (``pe``: the post-edited output) or ``src``, a score (``z``) and ``doc`` are read; lines without
that text or a score are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wholetext.errors import InputError
from wholetext.files.parsing import file_bytes, read_json

_CLOSING = re.compile(r" ([,.;:!?%)\]}»”…])")
_OPENING = re.compile(r"([(\[{«“$£€#]) ")
_SHORT = re.compile(r" ?(['’]) ?(s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\S)([\"']) (.+?) \1(?!\w)")
_JOINED = re.compile(r"(?<=\w) ([-–/@]) (?=\w)")


class Sentence(NamedTuple):
    """A judged output, what it is compared with (reference or source), and the document it is from."""

    line: int
    doc: str
    hyp: str
    other: str
    score: float
    raters: int


def read_sentences(path: Path, other: str, human: str, tokenized: bool) -> Iterator[Sentence]:
    """The judged sentences of a file that have a text ``other`` and a score ``human``."""
    for number, line in enumerate(file_bytes(path).decode("utf-8", "strict").splitlines(), 1):
        where = f"{path}, line {number}"
        row = read_json(line.encode(), where=where, error=InputError, next="check the file")
        if not isinstance(row, dict):
            raise InputError("not an object with names and values", where=where)
        if row.get(other) is None or row.get(human) is None:
            continue
        raters, text = row.get("scores"), _text(row, other, where)
        yield Sentence(
            number,
            _text(row, "doc", where),
            _text(row, "hyp", where),
            detokenized(text) if tokenized else text,
            _number(row, human, where),
            len(raters) if isinstance(raters, list) else 1,
        )


def _text(row: dict[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name} is not a text: {json.dumps(value)[:60]}", where=where)
    return value


def _number(row: dict[str, Any], name: str, where: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise InputError(f"{name} is not a number: {json.dumps(value)[:60]}", where=where)
    return float(value)


def detokenized(text: str) -> str:
    """English text whose punctuation stands apart, as it is usually written."""
    for pattern, put in (
        (_SHORT, r"\1\2"),
        (_QUOTED, r"\1\2\1"),
        (_CLOSING, r"\1"),
        (_OPENING, r"\1"),
        (_JOINED, r"\1"),
    ):
        text = pattern.sub(put, text)
    return text.strip()
