"""Which sentences of an output go with which segments of a document: alignment by length and shared words.

Dynamic programming over beads of 1–1, 1–0, 0–1, 1–n and n–m sentences with the length model of Gale and Church (1993,
"A Program for Aligning Sentences in Bilingual Corpora", Computational Linguistics 19, section 3), to which is added how
far the two sides of a bead share words: numbers, names and cognates across languages, nearly all words within one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.types import FloatArray

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
    shared = _Given(similarity(fixed, free)) if similarity else _Shared(fixed, free)
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
    return _path(chosen)


def _improve(best: FloatArray, chosen: NDArray[np.int8], cost: FloatArray, kind: int) -> None:
    better = cost < best - 1e-9
    best[better] = cost[better]
    chosen[better] = kind


def _path(chosen: NDArray[np.int8]) -> tuple[Bead, ...]:
    """The beads that led to the last cell."""
    kinds = dict(enumerate(BEADS, 1)) | {-1: (1, 0), -2: (0, 1)}
    i, j = chosen.shape[0] - 1, chosen.shape[1] - 1
    beads = []
    while i or j:
        a, b = kinds[int(chosen[i, j])]
        beads.append(Bead((i - a, i), (j - b, j)))
        i, j = i - a, j - b
    return tuple(reversed(beads))


class _Lengths:
    """What lengths say: squared difference from the expected length, in standard deviations, halved."""

    def __init__(self, fixed: Sequence[str], free: Sequence[str], ratio: float | None) -> None:
        sizes = [np.array([len(text) + 1.0 for text in side]) for side in (fixed, free)]
        if ratio is None:
            ratio = float(sizes[1].sum() / sizes[0].sum()) if len(fixed) and len(free) else 1.0
        self.ratio = ratio
        self.fixed, self.free = (np.concatenate([[0.0], np.cumsum(size)]) for size in sizes)

    def row(self, start: int, stop: int, count: int) -> FloatArray:
        """(m - count + 1,) cost of segments ``start:stop`` with every ``count`` sentences."""
        expected = (self.fixed[stop] - self.fixed[start]) * self.ratio
        found = self.free[count:] - self.free[:-count]
        variance = VARIANCE * max(1.0, self.ratio) * (expected + found) / 2
        return np.asarray(np.minimum((found - expected) ** 2 / variance / 2, FARTHEST))


class _Given:
    """A similarity from outside: its mean over the pairs of a bead."""

    def __init__(self, table: FloatArray) -> None:
        self.sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)  # (n, m + 1)

    def row(self, start: int, stop: int, count: int) -> FloatArray:
        block = self.sums[start:stop].sum(axis=0)
        return np.asarray((block[count:] - block[:-count]) / (count * (stop - start)))


class _Shared:
    """Cosine of the two sides of a bead, as bags of words weighted by how rare they are in these two texts."""

    def __init__(self, fixed: Sequence[str], free: Sequence[str]) -> None:
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
        dots = (sides[0] @ sides[1].T).toarray()  # (n, m)
        self.sums = np.concatenate([np.zeros((len(fixed), 1)), np.cumsum(dots, axis=1)], axis=1)  # (n, m + 1)
        self.fixed, self.free = (_norms(side) for side in sides)

    def row(self, start: int, stop: int, count: int) -> FloatArray:
        """(m - count + 1,) cosine of segments ``start:stop`` with every ``count`` sentences."""
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
