"""NIST's mteval-v13a tokenizer as in sacrebleu, for many texts at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARKS = "".join(
    map(
        chr,
        [
            *range(0x21, 0x27),
            *range(0x28, 0x2C),
            0x2F,
            *range(0x3A, 0x41),
            *range(0x5B, 0x61),
            *range(0x7B, 0x7F),
        ],
    )
)
_STOPS = re.compile(r"[.,]{2}[0-9]")
_STOP_AFTER, _STOP_BEFORE = re.compile(r"([^0-9])([.,])"), re.compile(r"([.,])([^0-9])")
# what begins with a literal is searched for much faster than what begins with a condition
_STOP, _COMMA = (re.compile(rf"{mark}(?:(?<![0-9]{mark})|(?![0-9]))") for mark in (r"\.", ","))
_DASH = re.compile(r"-(?<=[0-9]-)")
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))  # in this order


def tokenize_13a(texts: Sequence[str]) -> list[str]:
    """Separate marks, stops and commas (except between digits), and dashes after digits.

    Lines are joined, so that each step is a single call; no step crosses a line end.
    """
    lines = []
    for line in texts:
        line = line.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
        for entity, mark in _ENTITIES if "&" in line else ():
            line = line.replace(entity, mark)
        lines.append(f" {line} ")
    text = "\n".join(lines)
    for mark in _MARKS:  # all but ' , - .
        text = text.replace(mark, f" {mark} ")
    lines = text.split("\n") if _STOPS.search(text) else [text]
    for i, line in enumerate(lines):
        twice = _STOPS.search(line)
        lines[i] = _two_steps(line) if twice else _COMMA.sub(" , ", _STOP.sub(" . ", line))
    text = _DASH.sub(" - ", "\n".join(lines))
    tokenized = [" ".join(line.split()) for line in text.split("\n")]
    return tokenized[: len(texts)]  # of no text: none


def _two_steps(line: str) -> str:
    """Consecutive stops and commas before a digit: which are separated depends on their number."""
    return _STOP_BEFORE.sub(r" \1 \2", _STOP_AFTER.sub(r"\1 \2 ", line))
