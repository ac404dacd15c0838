"""Which sentences of an output go with which segments of a document: alignment by length and shared words.

Dynamic programming over beads of 1–1, 1–0, 0–1, 1–n and n–m sentences with the length model of Gale and Church (1993,
"A Program for Aligning Sentences in Bilingual Corpora", Computational Linguistics 19, section 3), to which is added how
far the two sides of a bead share words: numbers, names and cognates across languages, nearly all words within one.

Text without usable sentence breaks is cut by edit distance over words (or characters), as mwerSegmenter does (Matusov
et al. 2005, "Evaluating Machine Translation Output with Automatic Sentence Segmentation").
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.types import FloatArray, IntArray

Similarity = Callable[[Sequence[str], Sequence[str]], FloatArray]  # two texts of n and m sentences → (n, m) in [0, 1]

# Kinds of bead with the cost of each, after Gale and Church's table 5 but milder on merging: systems that translate
# whole documents merge and split more than translators did. These and the constants below are chosen on de-en, ru-en
# and zh-en outputs with sentences merged, split, dropped and added (benchmarks/alignment.py).
BEADS: dict[tuple[int, int], float] = {
    (1, 1): 0.0, (1, 2): 2.0, (2, 1): 2.0, (1, 3): 3.0, (3, 1): 3.0, (1, 4): 4.0, (4, 1): 4.0, (2, 2): 4.4,
    (2, 3): 6.0, (3, 2): 6.0}
SKIP = 6.2  # a sentence without counterpart
VARIANCE = 4.0  # of lengths, per character of the longer language; Gale and Church found 6.8
FARTHEST = 12.0  # the most that lengths can cost: beyond that they say no more
SHARED = 8.0  # the cost of sharing no word, per sentence
MOST_CELLS = 1_000_000_000  # of the table of edits; beyond, cuts are where lengths put them (some seconds, no memory)
FAR, FAR_ACROSS = 0.02, 0.05  # what a token away from the proportional place costs, within a language and across two
_UNSPACED = r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD_OR_CHARACTER = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Bead:
    """Segments ``fixed`` of the document go with sentences ``free`` of the output; either stretch may be empty."""

    fixed: tuple[int, int]
    free: tuple[int, int]


def align(fixed: Sequence[str], free: Sequence[str], *, ratio: float | None = None,
          similarity: Similarity | None = None) -> tuple[Bead, ...]:
    """The cheapest beads, in order; together they cover both texts.

    ``ratio`` is the expected length of ``free`` per character of ``fixed`` (estimated from the two unless given).
    ``similarity`` stands in for shared words, e.g. a cosine of sentence embeddings.
    """
    lengths = _Lengths(fixed, free, ratio)
    shared = _Shared.given(similarity(fixed, free)) if similarity else _Shared.words(fixed, free)
    n, m = len(fixed), len(free)
    best = np.full((n + 1, m + 1), np.inf)
    best[0, 0] = 0.0
    chosen = np.zeros((n + 1, m + 1), dtype=np.int8)  # 1 + index into BEADS; -1: 1–0, -2: 0–1
    skips = np.arange(m + 1) * SKIP
    for i in range(n + 1):
        for index, ((a, b), kind) in enumerate(BEADS.items(), 1):
            if a <= i and b <= m:
                words = SHARED * (a + b) / 2 * (1 - shared.row(i - a, i, b))  # (m - b + 1,)
                cost = kind + lengths.row(i - a, i, b) + words
                _improve(best[i, b:], chosen[i, b:], best[i - a, : m - b + 1] + cost, index)
        if i:
            _improve(best[i], chosen[i], best[i - 1] + SKIP, -1)
        _improve(best[i], chosen[i], np.minimum.accumulate(best[i] - skips) + skips, -2)
    kinds = dict(enumerate(BEADS, 1)) | {-1: (1, 0), -2: (0, 1)}
    beads = []
    while n or m:  # back from the last cell
        a, b = kinds[int(chosen[n, m])]
        beads.append(Bead((n - a, n), (m - b, m)))
        n, m = n - a, m - b
    return tuple(reversed(beads))


def _improve(best: FloatArray, chosen: NDArray[np.int8], cost: FloatArray, kind: int) -> None:
    better = cost < best - 1e-9
    best[better] = cost[better]
    chosen[better] = kind


class _Lengths:
    """What lengths say: squared difference from the expected length, in standard deviations, halved."""

    def __init__(self, fixed: Sequence[str], free: Sequence[str], ratio: float | None) -> None:
        sizes = [np.array([len(text) + 1.0 for text in side]) for side in (fixed, free)]
        if ratio is None:
            ratio = float(sizes[1].sum() / sizes[0].sum()) if len(fixed) and len(free) else 1.0
        self.ratio = ratio
        self.fixed, self.free = (np.concatenate([[0.0], np.cumsum(size)]) for size in sizes)

    def row(self, start: int, stop: int, count: int) -> FloatArray:
        """(m - count + 1,) segments ``start:stop`` with every ``count`` sentences."""
        expected = (self.fixed[stop] - self.fixed[start]) * self.ratio
        found = self.free[count:] - self.free[:-count]
        variance = VARIANCE * max(1.0, self.ratio) * (expected + found) / 2
        return np.asarray(np.minimum((found - expected) ** 2 / variance / 2, FARTHEST))


class _Shared:
    """Similarity of the sides of a bead: a sum over pairs of sentences by the norms of both sides."""

    def __init__(self, table: FloatArray, fixed: dict[int, FloatArray], free: dict[int, FloatArray]) -> None:
        self.sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)  # (n, m + 1)
        self.fixed, self.free = fixed, free  # size → (sentences - size + 1,)

    @classmethod
    def given(cls, table: FloatArray) -> _Shared:
        """A similarity from outside: its mean over the pairs of a bead."""
        norms = [{size: np.full(max(0, many - size + 1), float(size)) for size in range(1, 5)}
                 for many in table.shape]  # fmt: skip
        return cls(table, *norms)

    @classmethod
    def words(cls, fixed: Sequence[str], free: Sequence[str]) -> _Shared:
        """Cosine of bags of words, weighted by how rare they are in these two texts."""
        from scipy.sparse import csr_array

        bags = [[Counter(words(text)) for text in side] for side in (fixed, free)]
        rows = Counter(word for side in bags for bag in side for word in bag)  # word → sentences that have it
        column = {word: i for i, word in enumerate(rows)}
        total = len(fixed) + len(free)
        rarity = {word: float(np.log(total / count)) for word, count in rows.items()}
        sides = []
        for side in bags:
            at = [(i, column[word], min(times, 3) * rarity[word]) for i, bag in enumerate(side)
                  for word, times in bag.items()]
            i, j, value = zip(*at) if at else ((), (), ())
            sides.append(csr_array((value, (i, j)), shape=(len(side), max(1, len(column))), dtype=np.float64))
        return cls((sides[0] @ sides[1].T).toarray(), *map(_norms, sides))

    def row(self, start: int, stop: int, count: int) -> FloatArray:
        block = self.sums[start:stop].sum(axis=0)
        norms = self.fixed[stop - start][start] * self.free[count]
        return np.asarray((block[count:] - block[:-count]) / np.maximum(norms, 1e-9))


def _norms(side: Any) -> dict[int, FloatArray]:
    """size → (sentences - size + 1,) lengths of the sums of ``size`` neighbouring rows."""
    count = side.shape[0]
    near = {k: np.asarray((side[: count - k] * side[k:]).sum(axis=1)).ravel() for k in range(min(4, count))}
    norms = {}
    for size in range(1, min(4, count) + 1):
        total = np.zeros(count - size + 1)
        for k in range(size):
            for i in range(size - k):
                total += (1 if k == 0 else 2) * near[k][i : i + len(total)]
        norms[size] = np.sqrt(total)
    return norms


# ---------------------------------------------------------------- words that two languages may share

_WORD = re.compile(r"\d+|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|[?!%:;()\"$€]")
_LATIN = str.maketrans({
    **dict(zip("абвгґдезиійклмнопрстуфхцыэ", "abvggdeziiiklmnoprstufhcye")), "є": "e", "ё": "e", "ї": "i", "ж": "zh",
    "ч": "ch", "ш": "sh", "щ": "sh", "ю": "yu", "я": "ya", "ъ": "", "ь": "",
    **dict(zip("αβγδεζηικλμνξοπρσςτυφχω", "avgdeziiklmnxoprsstyfho")), "θ": "th", "ψ": "ps"})


def words(text: str) -> list[str]:
    """Numbers, signs and the first five letters of words, in Latin letters without accents; CJK by character."""
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(char for char in plain if not unicodedata.combining(char)).translate(_LATIN)
    return [word[:5] for word in _WORD.findall(plain)]


def segments_by_words(fixed: Sequence[str], text: str, *, across: bool = False) -> tuple[str, ...]:
    """The text in as many pieces as there are fixed segments, by the alignment with the fewest edits.

    Cuts are found by halving at segment ends (Hirschberg 1975): memory grows with the length of the texts, not with
    its square. ``across``: the two sides are of different languages.
    """
    spans = _tokens(text)
    numbers: dict[str, int] = {}
    sides = [_numbered([segment[a:b] for a, b in _tokens(segment)], numbers) for segment in fixed]
    free = _numbered([text[a:b] for a, b in spans], numbers)
    cuts = [0, *_cuts(sides, free, FAR_ACROSS if across else FAR), len(spans)]
    ends = [spans[at][0] if at < len(spans) else len(text) for at in cuts]
    ends[0] = 0
    return tuple(text[start:stop].strip() for start, stop in pairwise(ends))


def _tokens(text: str) -> list[tuple[int, int]]:
    """(start, stop) of words; of characters with vowel signs where words have no blanks between them."""
    spans: list[tuple[int, int]] = []
    for found in _WORD_OR_CHARACTER.finditer(text):
        start, stop = found.span()
        if spans and spans[-1][1] == start and unicodedata.category(text[start])[0] == "M":
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return spans


def _numbered(tokens: Sequence[str], numbers: dict[str, int]) -> IntArray:
    """Tokens as numbers; equal without case, accents and punctuation is equal."""
    plain = (" ".join(words(token)) or token for token in tokens)
    return np.fromiter((numbers.setdefault(one, len(numbers)) for one in plain), dtype=np.int64, count=len(tokens))


def _cuts(sides: Sequence[IntArray], free: IntArray, far: float) -> list[int]:
    if len(sides) < 2:
        return []
    sizes = np.cumsum([len(side) for side in sides])
    total = int(sizes[-1])
    middle = int(np.abs(sizes[:-1] - total / 2).argmin()) + 1
    before, after = np.concatenate(sides[:middle]), np.concatenate(sides[middle:])
    wanted = len(free) * len(before) / max(1, total)
    cost = far * np.abs(np.arange(len(free) + 1) - wanted)
    if total * len(free) <= MOST_CELLS:
        cost = cost + _edits(before, free) + _edits(after[::-1], free[::-1])[::-1]
    at = int(cost.argmin())
    return [*_cuts(sides[:middle], free[:at], far), at, *(at + cut for cut in _cuts(sides[middle:], free[at:], far))]


def _edits(side: IntArray, free: IntArray) -> FloatArray:
    """(len(free) + 1,) edit distance from ``side`` to each beginning of ``free``."""
    steps = np.arange(len(free) + 1, dtype=np.float64)
    row: FloatArray = steps.copy()
    for token in side:
        best = row + 1  # the token is left out
        np.minimum(best[1:], row[:-1] + (free != token), out=best[1:])
        row = np.minimum.accumulate(best - steps) + steps  # tokens of free are added
    return row
