"""Loops: a word, phrase or character sequence repeated over and over, as stuck decoders write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_PERIOD = 60  # longest repeated piece looked for, in words or characters
_WORD_LENGTH = 15  # characters per blank beyond which text is read by character, not by word


@dataclass(frozen=True)
class Loop:
    """The repeated piece and how often it comes in a row."""

    piece: str
    times: int


def loop(text: str) -> Loop | None:
    """The longest run of repetitions, if it is long enough to be a fault: 3 times or more, 9 words or 18 characters.

    By word, or by character where words are not separated. A piece without letters (dots, dashes, zeros) is none.
    """
    words = text.split()
    if len(text) > _WORD_LENGTH * len(words) + _WORD_LENGTH:
        return _longest(text, "", 18) if 2 * len(set(text)) < len(text) else None
    if 3 * len(set(words)) > 2 * len(words):  # most text: nearly all words differ
        return None
    return _longest(words, " ", 9)


def _longest(tokens: Sequence[str], glue: str, least: int) -> Loop | None:
    if len(tokens) < least:
        return None
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(token, len(numbers)) for token in tokens])
    best, found = 0, None
    for period in range(1, min(_PERIOD, len(tokens) // 3) + 1):
        start, run = _run(codes[period:] == codes[:-period])
        covered = run + period
        if covered >= max(least, 3 * period) and covered > best:
            piece = glue.join(tokens[start : start + period])
            if any(map(str.isalpha, piece)):
                best, found = covered, Loop(piece, covered // period)
    return found


def _run(equal: np.ndarray) -> tuple[int, int]:
    """Where the longest run of True begins, and its length."""
    edges = np.flatnonzero(np.diff(equal.astype(np.int8), prepend=0, append=0))
    if not len(edges):
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    at = int(lengths.argmax())
    return int(edges[2 * at]), int(lengths[at])
