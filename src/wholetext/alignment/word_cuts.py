"""Text without usable sentence breaks, cut into segments by edit distance over words.

This is what mwerSegmenter does (Matusov et al. 2005, "Evaluating Machine Translation Output with
Automatic Sentence Segmentation"); unspaced scripts by character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from wholetext.alignment.similarity import words
from wholetext.types import FloatArray, IntArray

MOST_CELLS = (
    1_000_000_000  # of the table of edits (seconds); beyond, cuts are where lengths put them
)
# what a token away from the proportional place costs, within a language and across two
FAR, FAR_ACROSS = (0.02, 0.05)
_UNSPACED = r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD_OR_CHARACTER = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


def segments_by_words(fixed: Sequence[str], text: str, *, across: bool = False) -> tuple[str, ...]:
    """Cut a text into as many pieces as there are fixed segments, with the fewest edits.

    Cuts are made by halving at segment ends (Hirschberg 1975): memory grows with the length of the
    texts, not with its square. ``across``: the two sides are of different languages.
    """
    ends = [0, *cuts_by_words(fixed, text, across=across), len(text)]
    return tuple(text[start:stop].strip() for start, stop in pairwise(ends))


def cuts_by_words(fixed: Sequence[str], text: str, *, across: bool = False) -> list[int]:
    """Return where to cut the text: one place fewer than there are fixed segments."""
    spans = _tokens(text)
    numbers: dict[str, int] = {}
    sides = [_numbered([segment[a:b] for a, b in _tokens(segment)], numbers) for segment in fixed]
    free = _numbered([text[a:b] for a, b in spans], numbers)
    cuts = _cuts(sides, free, FAR_ACROSS if across else FAR)
    return [spans[at][0] if at < len(spans) else len(text) for at in cuts]


def _tokens(text: str) -> list[tuple[int, int]]:
    """Return (start, stop) of words; of characters with vowel signs in unspaced scripts."""
    spans: list[tuple[int, int]] = []
    for match in _WORD_OR_CHARACTER.finditer(text):
        start, stop = match.span()
        if spans and spans[-1][1] == start and unicodedata.category(text[start])[0] == "M":
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return spans


def _numbered(tokens: Sequence[str], numbers: dict[str, int]) -> IntArray:
    """Number tokens; case, accents and punctuation do not count."""
    plain = (" ".join(words(token)) or token for token in tokens)
    return np.fromiter(
        (numbers.setdefault(token, len(numbers)) for token in plain),
        dtype=np.int64,
        count=len(tokens),
    )


def _cuts(sides: Sequence[IntArray], free: IntArray, far: float) -> list[int]:
    if len(sides) < 2:
        return []
    sizes = np.cumsum([len(side) for side in sides])
    total = int(sizes[-1])
    middle = int(np.abs(sizes[:-1] - total / 2).argmin()) + 1
    before, after = np.concatenate(sides[:middle]), np.concatenate(sides[middle:])
    expected = len(free) * len(before) / max(1, total)
    cost = far * np.abs(np.arange(len(free) + 1) - expected)
    if total * len(free) <= MOST_CELLS:
        cost = cost + _edits(before, free) + _edits(after[::-1], free[::-1])[::-1]
    at = int(cost.argmin())
    return [
        *_cuts(sides[:middle], free[:at], far),
        at,
        *(at + cut for cut in _cuts(sides[middle:], free[at:], far)),
    ]


def _edits(side: IntArray, free: IntArray) -> FloatArray:
    """Return (len(free) + 1,) edit distances from ``side`` to each beginning of ``free``."""
    steps = np.arange(len(free) + 1, dtype=np.float64)
    row: FloatArray = steps.copy()
    for token in side:
        best = row + 1  # the token is left out
        np.minimum(best[1:], row[:-1] + (free != token), out=best[1:])
        row = np.minimum.accumulate(best - steps) + steps  # tokens of free are added
    return row
