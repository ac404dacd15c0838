"""How alike sentences are, for alignment: shared words, or sentence vectors; both as rows of features whose sums stand
for several sentences together.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wholetext.types import FloatArray, IntArray

WIDEST = 4  # sentences of one side that a bead may have
ROWS = 256  # whose similarities to the whole other side are held at a time

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


Index = slice | IntArray


@dataclass(frozen=True)
class Features:
    """A row of numbers per sentence of both sides, dense or sparse; a pair's similarity is the cosine of two rows."""

    fixed: Any  # (n, dims)
    free: Any  # (m, dims)

    def box(self, fixed: slice, free: slice) -> Shared:
        a, b = self.fixed[fixed], self.free[free]
        return Shared(_dense(a @ b.T), _norms(a), _norms(b))

    def cosines(self, fixed: Index, free: Index) -> FloatArray:
        """(rows, columns) similarities of single sentences."""
        a, b = self.fixed[fixed], self.free[free]
        norms = np.outer(_norms(a, 1)[1], _norms(b, 1)[1])
        return np.asarray(_dense(a @ b.T) / np.maximum(norms, 1e-9))


@dataclass(frozen=True)
class Table:
    """Similarities from outside, (n, m); several sentences together have the mean of their pairs."""

    table: FloatArray

    def box(self, fixed: slice, free: slice) -> Shared:
        table = self.table[fixed, free]
        sizes = [{size: np.full(max(0, many - size + 1), float(size)) for size in range(1, WIDEST + 1)}
                 for many in table.shape]  # fmt: skip
        return Shared(table, *sizes)

    def cosines(self, fixed: Index, free: Index) -> FloatArray:
        return self.table[fixed][:, free]


Measures = Sequence[tuple[float, "Features | Table"]]  # with their weights


class Shared:
    """Similarity of neighbouring sentences of one side to those of the other: a sum over pairs by both norms."""

    def __init__(self, table: FloatArray, fixed: dict[int, FloatArray], free: dict[int, FloatArray]) -> None:
        self.sums = _sums(table)  # (n + 1, m + 1)
        self.fixed, self.free = fixed, free  # size → (sentences - size + 1,)

    def table(self, a: int, b: int) -> FloatArray:
        """(n - a + 1, m - b + 1) every ``a`` neighbours of one side with every ``b`` of the other."""
        return np.asarray(_blocks(self.sums, a, b) / np.maximum(np.outer(self.fixed[a], self.free[b]), 1e-9))


class Rivals:
    """How much more alike each sentence is to some sentence of the other side than to a given one.

    The whole of the other side counts, so that a sentence whose counterpart is out of reach (moved, or in another part)
    is not given to the next best one.
    """

    def __init__(self, measures: Measures, n: int, m: int) -> None:
        self.measures = measures
        self.fixed, self.free = np.full(n, -np.inf), np.full(m, -np.inf)  # similarity to the best of the other side
        for start in range(0, n, ROWS):
            part = slice(start, min(n, start + ROWS))
            table = alike(measures, part, slice(0, m))
            self.fixed[part] = table.max(axis=1, initial=-np.inf)
            self.free = np.maximum(self.free, table.max(axis=0, initial=-np.inf))

    def box(self, fixed: slice, free: slice) -> RivalsOfBox:
        table = alike(self.measures, fixed, free)
        return RivalsOfBox(_sums(self.fixed[fixed, None] - table), _sums(self.free[free] - table))


    def least(self, fixed: IntArray, free: IntArray) -> FloatArray:
        """(rows, columns) what the one of two sentences loses that loses less."""
        table = alike(self.measures, fixed, free)
        return np.asarray(np.minimum(self.fixed[fixed, None] - table, self.free[free] - table))


@dataclass(frozen=True)
class RivalsOfBox:
    fixed: FloatArray  # (n + 1, m + 1) sums of what sentences of one side lose
    free: FloatArray  # (n + 1, m + 1) of those of the other

    def table(self, a: int, b: int) -> FloatArray:
        """(n - a + 1, m - b + 1) what the parts of beads lose in which one sentence has one or several counterparts."""
        return (b == 1) * _blocks(self.fixed, a, b) + (a == 1) * _blocks(self.free, a, b)


def alike(measures: Measures, fixed: Index, free: Index) -> FloatArray:
    """(rows, columns) the mean of all measures of single sentences, by their weights."""
    total = sum(weight for weight, _ in measures)
    return np.asarray(sum(weight / total * measure.cosines(fixed, free) for weight, measure in measures))


def shared_words(fixed: Sequence[str], free: Sequence[str]) -> Features:
    """Bags of words, weighted by how rare they are in these two texts."""
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
    return Features(*sides)


def _sums(table: FloatArray) -> FloatArray:
    """(n + 1, m + 1) sums over all that is above and left of a place."""
    sums = np.zeros((table.shape[0] + 1, table.shape[1] + 1))
    sums[1:, 1:] = np.cumsum(np.cumsum(table, axis=0, dtype=np.float64), axis=1)
    return sums


def _blocks(sums: FloatArray, a: int, b: int) -> FloatArray:
    """(n - a + 1, m - b + 1) sums over all blocks of ``a`` rows and ``b`` columns."""
    return np.asarray(sums[a:, b:] - sums[:-a, b:] - sums[a:, :-b] + sums[:-a, :-b])


def _dense(table: Any) -> FloatArray:
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)


def _norms(side: Any, widest: int = WIDEST) -> dict[int, FloatArray]:
    """size → (sentences - size + 1,) lengths of the sums of ``size`` neighbouring rows."""
    count = side.shape[0]
    near = {k: np.asarray((side[: max(0, count - k)] * side[k:]).sum(axis=1), dtype=np.float64).ravel()
            for k in range(widest)}  # fmt: skip
    norms = {}
    for size in range(1, widest + 1):
        total = np.zeros(max(0, count - size + 1))
        for k in range(size):
            for i in range(size - k):
                total += (1 if k == 0 else 2) * near[k][i : i + len(total)]
        norms[size] = np.sqrt(np.maximum(total, 0))
    return norms
