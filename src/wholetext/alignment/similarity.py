"""Similarity of sentences for alignment: shared words, or sentence vectors.

Both are rows of features whose sums stand for several sentences together.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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


class _Latin(dict[int, Any]):
    """A table for `str.translate`: Cyrillic and Greek in Latin letters, no combining characters."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.combining(chr(code)) else code
        return cast("int | None", self[code])


_LATIN = _Latin(
    str.maketrans(
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
)


def words(text: str) -> list[str]:
    """Return numbers, signs and word stems of five Latin letters; CJK by character."""
    plain = text.lower()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain).translate(_LATIN)
    return [word[:5] for word in _WORD.findall(plain)]


Index = slice | IntArray
Span = tuple[int, int]
Bag = Mapping[str, float]  # word → occurrences
Tables = dict[tuple[int, int], FloatArray]  # kind of bead (a, b) → (n - a + 1, m - b + 1)


@dataclass(frozen=True)
class Features:
    """A row per sentence of both sides, dense or sparse; similarity is the cosine of two rows."""

    fixed: Any  # (n, dims)
    free: Any  # (m, dims)

    @cached_property
    def norms(self) -> tuple[dict[int, FloatArray], dict[int, FloatArray]]:
        """Norms of sums of ``size`` neighbouring rows, by side and size: (sentences - size + 1,)."""
        return _norms(self.fixed), _norms(self.free)

    def tables(self, fixed: slice, free: slice, kinds: Sequence[Span]) -> Tables:
        """Similarities of ``a`` neighbours of one side with ``b`` of the other, within a box."""
        products = _dense(self.fixed[fixed] @ self.free[free].T)
        sums = np.pad(products, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)  # (n + 1, m + 1)
        tables = {}
        for a, b in kinds:
            blocks = sums[a:, b:] - sums[:-a, b:] - sums[a:, :-b] + sums[:-a, :-b]
            left = self.norms[0][a][fixed.start : fixed.stop - a + 1]
            right = self.norms[1][b][free.start : free.stop - b + 1]
            tables[a, b] = blocks / np.maximum(np.outer(left, right), 1e-9)
        return tables

    def cosines(self, fixed: Index, free: Index) -> FloatArray:
        """Return (rows, columns) similarities of single sentences."""
        norms = np.outer(self.norms[0][1][fixed], self.norms[1][1][free])
        products = _dense(self.fixed[fixed] @ self.free[free].T)
        return np.asarray(products / np.maximum(norms, 1e-9))

    def together(self, fixed: Span, free: Span) -> float:
        """Return the similarity of neighbouring sentences of both sides."""
        left, right = self.fixed[slice(*fixed)].sum(axis=0), self.free[slice(*free)].sum(axis=0)
        return float(left @ right / max(1e-9, np.linalg.norm(left) * np.linalg.norm(right)))


Measures = Sequence[tuple[float, Features]]  # with their weights


class Rivals:
    """How much more similar each sentence is to its best counterpart than to another one.

    The whole of the other side counts, so that a sentence whose counterpart is out of reach (moved,
    or in another part) is not given to the next best one.
    """

    def __init__(self, measures: Measures, n: int, m: int) -> None:
        self.measures = measures
        # similarity to the best of the other side
        self.fixed, self.free = np.zeros(n), np.zeros(m)
        self.only(np.arange(n), np.arange(m))

    def only(self, fixed: IntArray, free: IntArray) -> None:
        """Restrict candidates to these sentences of both sides: all others are linked."""
        self.fixed[fixed] = self.free[free] = -np.inf
        for start in range(0, len(fixed), ROWS):
            rows = fixed[start : start + ROWS]
            table = alike(self.measures, rows, free)
            self.fixed[rows] = table.max(axis=1, initial=-np.inf)
            self.free[free] = np.maximum(self.free[free], table.max(axis=0, initial=-np.inf))

    def tables(self, fixed: slice, free: slice, kinds: Sequence[Span]) -> Tables:
        """Losses of the sentences of beads, within a box.

        Where one sentence has several counterparts, these lose; where several have several, all do,
        each compared with the nearest to it in the bead.
        """
        table = alike(self.measures, fixed, free)  # (n, m)
        tables = {}
        for a, b in kinds:
            lost: FloatArray = np.zeros((table.shape[0] - a + 1, table.shape[1] - b + 1))
            if b == 1 or a > 1:
                near = sliding_window_view(table, b, axis=1).max(axis=-1)  # (n, m - b + 1)
                losses = self.fixed[fixed, None] - near
                lost += sliding_window_view(losses, a, axis=0).sum(axis=-1)
            if a == 1 or b > 1:
                near = sliding_window_view(table, a, axis=0).max(axis=-1)  # (n - a + 1, m)
                lost += sliding_window_view(self.free[free] - near, b, axis=1).sum(axis=-1)
            tables[a, b] = lost
        return tables

    def least(self, fixed: IntArray, free: IntArray) -> FloatArray:
        """Return (rows, columns) the smaller loss of two sentences."""
        table = alike(self.measures, fixed, free)
        return np.asarray(np.minimum(self.fixed[fixed, None] - table, self.free[free] - table))


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


def _dense(table: Any) -> FloatArray:
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)


def _norms(side: Any) -> dict[int, FloatArray]:
    norms = {}
    for size in range(1, WIDEST + 1):
        count = max(0, side.shape[0] - size + 1)
        total = sum(side[at : at + count] for at in range(size))
        norms[size] = np.sqrt(np.asarray((total * total).sum(axis=1), dtype=np.float64))
    return norms
