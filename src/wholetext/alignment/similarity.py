"""Similarity of sentences for alignment: shared words, or sentence vectors.

Both are rows of features whose sums stand for several sentences together.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from wholetext.types import FloatArray, IntArray

WIDEST = 4  # sentences of one side that a bead may have
ROWS = 256  # whose similarities to the whole other side are held at a time

_WORD = re.compile(
    r"\d+|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+|[?!%:;()\"$€]"
)
_LETTERS = str.maketrans(
    {
        **dict(zip("абвгґдезиійклмнопрстуфхцыэ", "abvggdeziiiklmnoprstufhcye")),
        "є": "e",
        "ё": "e",
        "ї": "i",
        "ж": "zh",
        "ч": "ch",
        "ш": "sh",
        "щ": "sh",
        "ю": "yu",
        "я": "ya",
        "ъ": "",
        "ь": "",
        **dict(zip("αβγδεζηικλμνξοπρσςτυφχω", "avgdeziiklmnxoprsstyfho")),
        "θ": "th",
        "ψ": "ps",
    }
)


class _Latin(dict[int, Any]):
    """A table for `str.translate`: Cyrillic and Greek in Latin letters, no combining characters."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.combining(chr(code)) else code
        return cast("int | None", self[code])


_LATIN = _Latin(_LETTERS)


def words(text: str) -> list[str]:
    """Return numbers, signs and word stems of five Latin letters; CJK by character."""
    plain = text.lower()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain).translate(_LATIN)
    return [word[:5] for word in _WORD.findall(plain)]


Index = slice | IntArray
Bag = Mapping[str, float]  # word → occurrences


@dataclass(frozen=True)
class Features:
    """A row per sentence of both sides, dense or sparse; similarity is the cosine of two rows."""

    fixed: Any  # (n, dims)
    free: Any  # (m, dims)

    @cached_property
    def near(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """By side and distance: (sentences - distance,) products of rows at that distance."""
        return _near(self.fixed), _near(self.free)

    def box(self, fixed: slice, free: slice) -> Shared:
        table = _dense(self.fixed[fixed] @ self.free[free].T)
        return Shared(table, *(_norms(near, part) for near, part in zip(self.near, (fixed, free))))

    def cosines(self, fixed: Index, free: Index) -> FloatArray:
        """Return (rows, columns) similarities of single sentences."""
        squares = np.outer(self.near[0][0][fixed], self.near[1][0][free])
        return np.asarray(
            _dense(self.fixed[fixed] @ self.free[free].T) / np.sqrt(np.maximum(squares, 1e-18))
        )

    def together(self, fixed: tuple[int, int], free: tuple[int, int]) -> float:
        """Return the similarity of neighbouring sentences of both sides."""
        (a, first), (b, second) = self._sum((0, *fixed)), self._sum((1, *free))
        return float(a @ b / max(1e-9, first * second))

    @cached_property
    def _sum(self) -> Callable[[tuple[int, int, int]], tuple[FloatArray, float]]:
        """The sum of neighbouring rows of a side, and its length, cached."""

        @lru_cache(maxsize=256)
        def sum_of(span: tuple[int, int, int]) -> tuple[FloatArray, float]:
            total = _sum_of_rows((self.fixed, self.free)[span[0]], span[1], span[2])
            return total, float(np.linalg.norm(total))

        return sum_of


@dataclass(frozen=True)
class SimilarityTable:
    """A table (n, m) of similarities; several sentences have the mean of their pairs."""

    table: FloatArray

    def box(self, fixed: slice, free: slice) -> Shared:
        table = self.table[fixed, free]
        sizes = [
            {size: np.full(max(0, number - size + 1), float(size)) for size in range(1, WIDEST + 1)}
            for number in table.shape
        ]
        return Shared(table, *sizes)

    def cosines(self, fixed: Index, free: Index) -> FloatArray:
        return self.table[fixed][:, free]

    def together(self, fixed: tuple[int, int], free: tuple[int, int]) -> float:
        return float(self.table[slice(*fixed), slice(*free)].mean())


Measures = Sequence[tuple[float, "Features | SimilarityTable"]]  # with their weights


class Shared:
    """Similarity of neighbouring sentences of both sides: a sum over pairs by both norms."""

    def __init__(
        self, table: FloatArray, fixed: dict[int, FloatArray], free: dict[int, FloatArray]
    ) -> None:
        self.sums = _sums(table)  # (n + 1, m + 1)
        self.fixed, self.free = fixed, free  # size → (sentences - size + 1,)

    def table(self, a: int, b: int) -> FloatArray:
        """Return (n - a + 1, m - b + 1): ``a`` neighbours of one side with ``b`` of the other."""
        return np.asarray(
            _blocks(self.sums, a, b) / np.maximum(np.outer(self.fixed[a], self.free[b]), 1e-9)
        )


class Rivals:
    """How much more similar each sentence is to its best counterpart than to another one.

    The whole of the other side counts, so that a sentence whose counterpart is out of reach (moved,
    or in another part) is not given to the next best one.
    """

    def __init__(self, measures: Measures, n: int, m: int) -> None:
        self.measures = measures
        # similarity to the best of the other side
        self.fixed, self.free = (np.full(n, -np.inf), np.full(m, -np.inf))
        self.only(np.arange(n), np.arange(m))

    def only(self, fixed: IntArray, free: IntArray) -> None:
        """Restrict candidates to these sentences of both sides: all others are linked."""
        self.fixed[fixed] = self.free[free] = -np.inf
        for start in range(0, len(fixed), ROWS):
            rows = fixed[start : start + ROWS]
            table = alike(self.measures, rows, free)
            self.fixed[rows] = table.max(axis=1, initial=-np.inf)
            self.free[free] = np.maximum(self.free[free], table.max(axis=0, initial=-np.inf))

    def box(self, fixed: slice, free: slice) -> RivalsOfBox:
        return RivalsOfBox(alike(self.measures, fixed, free), self.fixed[fixed], self.free[free])

    def least(self, fixed: IntArray, free: IntArray) -> FloatArray:
        """Return (rows, columns) the smaller loss of two sentences."""
        table = alike(self.measures, fixed, free)
        return np.asarray(np.minimum(self.fixed[fixed, None] - table, self.free[free] - table))


@dataclass(frozen=True)
class RivalsOfBox:
    alike: FloatArray  # (n, m) similarities
    fixed: FloatArray  # (n,) to the best of the other side
    free: FloatArray  # (m,)

    def table(self, a: int, b: int) -> FloatArray:
        """Return (n - a + 1, m - b + 1) losses of the sentences of beads.

        Where one sentence has several counterparts, these lose; where several have several, all do,
        each compared with the nearest to it in the bead.
        """
        lost: FloatArray = np.zeros((len(self.fixed) - a + 1, len(self.free) - b + 1))
        if b == 1 or a > 1:
            near = sliding_window_view(self.alike, b, axis=1).max(axis=-1)  # (n, m - b + 1)
            lost += sliding_window_view(self.fixed[:, None] - near, a, axis=0).sum(axis=-1)
        if a == 1 or b > 1:
            near = sliding_window_view(self.alike, a, axis=0).max(axis=-1)  # (n - a + 1, m)
            lost += sliding_window_view(self.free - near, b, axis=1).sum(axis=-1)
        return lost


def alike(measures: Measures, fixed: Index, free: Index) -> FloatArray:
    """Return (rows, columns) the weighted mean of all measures of single sentences."""
    total = sum(weight for weight, _ in measures)
    return np.asarray(
        sum(weight / total * measure.cosines(fixed, free) for weight, measure in measures)
    )


def shared_words(
    fixed: Sequence[str], free: Sequence[str], translations: Sequence[Bag] | None = None
) -> Features:
    """Return bags of words, weighted by how rare they are in these two texts.

    ``translations`` are the words of ``fixed`` in the language of ``free``.
    """
    from scipy.sparse import csr_array

    bags: list[Sequence[Bag]] = [[Counter(words(text)) for text in side] for side in (fixed, free)]
    bags[0] = bags[0] if translations is None else translations
    rows: dict[str, float] = {}  # word → sentences that have it
    for word, occurrences in chain.from_iterable(bag.items() for bag in chain(*bags)):
        rows[word] = rows.get(word, 0) + min(occurrences, 1)
    column = {word: i for i, word in enumerate(rows)}
    rarity = np.log((len(fixed) + len(free)) / np.fromiter(rows.values(), dtype=np.float64))
    sides = []
    for side in bags:
        at = np.fromiter((column[word] for bag in side for word in bag), dtype=np.int32)
        counts = np.fromiter((n for bag in side for n in bag.values()), dtype=np.float64)
        ends = np.cumsum([0, *map(len, side)])
        sides.append(
            csr_array(
                (np.minimum(counts, 3) * rarity[at], at, ends),
                shape=(len(side), max(1, len(column))),
            )
        )
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


def _sum_of_rows(side: Any, start: int, stop: int) -> FloatArray:
    """(dims,) of neighbouring rows."""
    if isinstance(side, np.ndarray):
        return np.asarray(side[start:stop].sum(axis=0), dtype=np.float64)
    part = slice(side.indptr[start], side.indptr[stop])
    return np.asarray(
        np.bincount(side.indices[part], side.data[part], minlength=side.shape[1]), dtype=np.float64
    )


def _near(side: Any) -> list[FloatArray]:
    count = side.shape[0]
    return [
        np.asarray((side[: max(0, count - k)] * side[k:]).sum(axis=1), dtype=np.float64).ravel()
        for k in range(WIDEST)
    ]


def _norms(near: Sequence[FloatArray], part: slice) -> dict[int, FloatArray]:
    """Map size to (sentences - size + 1,) norms of sums of ``size`` neighbouring rows."""
    norms = {}
    for size in range(1, WIDEST + 1):
        total = np.zeros(max(0, part.stop - part.start - size + 1))
        for k in range(size):
            for i in range(part.start, part.start + size - k):
                total += (1 if k == 0 else 2) * near[k][i : i + len(total)]
        norms[size] = np.sqrt(np.maximum(total, 0))
    return norms
