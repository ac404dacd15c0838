"""Costs of beads (sentences of an output with those of a document), and the cheapest path.

Dynamic programming over beads of 1–1, 1–0, 0–1, 1–n and n–m sentences with the length model of Gale
and Church (1993, "A Program for Aligning Sentences in Bilingual Corpora", Computational Linguistics
19, section 3), plus the similarity of the two sides of a bead: by sentence vectors (as in Thompson
and Koehn 2019, "Vecalign") and by shared words: numbers, names and cognates across languages,
nearly all words within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.alignment.similarity import ROWS, Bag, Features, Rivals, Span, Tables, shared_words
from wholetext.types import FloatArray, IntArray

# Kinds of bead with the cost of each, after Gale and Church's table 5 but milder on merging: systems that translate
# whole documents merge and split more than translators did.
BEADS: dict[Span, float] = {
    (1, 1): 0.0,
    (1, 2): 2.0,
    (2, 1): 2.0,
    (1, 3): 3.0,
    (3, 1): 3.0,
    (1, 4): 4.0,
    (4, 1): 4.0,
    (2, 2): 4.4,
    (2, 3): 6.0,
    (3, 2): 6.0,
}
CELLS = 160_000  # of two stretches of sentences that are aligned at once
LIKELY = 8  # counterparts of a sentence out of order that are looked at: more are repetitions
FARTHEST = 12.0  # the maximum cost of a difference in length


@dataclass(frozen=True)
class Costs:
    """Costs, chosen on outputs with sentences merged, split, dropped, added and moved.

    benchmarks/alignment.py lists these and those held out.
    """

    words: float  # sharing no word, per sentence
    vectors: float  # vectors at a right angle, per sentence
    variance: float  # of lengths, per character of the longer language; Gale and Church found 6.8
    move: float  # a block out of order
    worst: float  # the most that a sentence costs whose only counterpart is not like it
    # times how much more a sentence is like one elsewhere than like its counterpart
    rival: float
    skip: float = 6.2  # a sentence without counterpart
    kinds: float = 1.28  # times the costs of BEADS
    inside: float = 3.0  # added to skip for a sentence of the output next to one of its line
    beside: float = 2.9  # added to skip for a sentence of the document next to an aligned one
    # times what similarity gains if the text of both is cut in two (`gains_of_halves`)
    halves: float = 20.0


BY_WORDS = Costs(words=9.0, vectors=0.0, variance=4.0, move=3.0, worst=6.0, rival=30.0)
BY_VECTORS = Costs(words=3.0, vectors=13.4, variance=4.2, move=2.0, worst=5.6, rival=12.0)


@dataclass(frozen=True, slots=True)
class Bead:
    """Segments ``fixed`` of the document with sentences ``free`` of the output, or none."""

    fixed: Span
    free: Span

    @property
    def linked(self) -> bool:
        """Tell whether neither side is empty."""
        return self.fixed[0] < self.fixed[1] and self.free[0] < self.free[1]

    def side(self, free: bool) -> Span:
        return self.free if free else self.fixed


class BeadTask:
    """Two texts and the costs of their beads."""

    def __init__(
        self,
        fixed: Sequence[str],
        free: Sequence[str],
        ratio: float | None,
        vectors: Features | None,
        translations: Sequence[Bag] | None = None,
    ) -> None:
        sizes = [np.array([len(text) + 1.0 for text in side]) for side in (fixed, free)]
        if ratio is None:
            ratio = float(sizes[1].sum() / sizes[0].sum()) if len(fixed) and len(free) else 1.0
        self.ratio = ratio
        self.costs = BY_WORDS if vectors is None else BY_VECTORS
        self.fixed, self.free = (np.concatenate([[0.0], np.cumsum(size)]) for size in sizes)
        self.measures = [(self.costs.words, shared_words(fixed, free, translations))]
        if vectors is not None:
            self.measures.append((self.costs.vectors, vectors))
        self.rivals = Rivals(self.measures, len(fixed), len(free))

    def path(self, fixed: slice, free: slice) -> tuple[list[Bead], float]:
        """Return the cheapest beads in order for a part of both texts, and their cost."""
        n, m = fixed.stop - fixed.start, free.stop - free.start
        tables = self.tables(fixed, free)
        best = self._cheapest(n, m, tables)

        def before(a: int, b: int) -> float:
            """Return the cost of reaching the present cell by a bead of this kind."""
            if a > n or b > m:
                return np.inf
            own = tables[a, b][n - a, m - b] if a and b else self.costs.skip
            return float(best[n - a, m - b] + own)

        beads, total = [], float(best[n, m])
        while n or m:  # back from the last cell, by the first kind that is as cheap as any
            a, b = next(
                kind for kind in (*BEADS, (1, 0), (0, 1)) if before(*kind) <= best[n, m] + 1e-9
            )
            i, j = fixed.start + n, free.start + m
            beads.append(Bead((i - a, i), (j - b, j)))
            n, m = n - a, m - b
        return beads[::-1], total

    def _cheapest(self, n: int, m: int, tables: Tables) -> FloatArray:
        """Return the least costs (n + 1, m + 1) of aligning the first sentences of both sides."""
        best = np.full((n + 1, m + 1), np.inf)
        best[0, 0] = 0.0
        skips = np.arange(m + 1) * self.costs.skip
        for i, row in enumerate(best):
            for (a, b), table in tables.items():
                if a <= i:
                    np.minimum(row[b:], best[i - a, : m - b + 1] + table[i - a], out=row[b:])
            if i:
                np.minimum(row, best[i - 1] + self.costs.skip, out=row)
            np.add(np.minimum.accumulate(row - skips), skips, out=row)
        return best

    def tables(self, fixed: slice, free: slice) -> Tables:
        """Return by kind (n - a + 1, m - b + 1) costs of all beads in a part of both texts."""
        ends = self.fixed[fixed.start : fixed.stop + 1], self.free[free.start : free.stop + 1]
        kinds = [(a, b) for a, b in BEADS if a < len(ends[0]) and b < len(ends[1])]
        similar = [
            (weight, measure.tables(fixed, free, kinds)) for weight, measure in self.measures
        ]
        rivals = self.rivals.tables(fixed, free, kinds)
        tables = {}
        for a, b in kinds:
            lengths = ends[0][a:] - ends[0][:-a], ends[1][b:] - ends[1][:-b]
            cost = self.costs.kinds * BEADS[a, b] + self._lengths(*lengths)
            for weight, similarity in similar:
                cost += weight * (a + b) / 2 * (1 - similarity[a, b])
            if a == b == 1:
                cost = np.minimum(cost, 2 * self.costs.worst)
            tables[a, b] = cost + self.costs.rival * rivals[a, b]
        return tables

    def bead(self, bead: Bead) -> float:
        """Return the cost of a bead of any size, without rivals."""
        (i, k), (j, m) = bead.fixed, bead.free
        a, b = k - i, m - j
        kind = BEADS.get((a, b), a + b - 1.0)
        lengths = self._lengths(self.fixed[[k]] - self.fixed[i], self.free[[m]] - self.free[j])
        unlike = sum(
            weight * (1 - measure.together(bead.fixed, bead.free))
            for weight, measure in self.measures
        )
        return float(self.costs.kinds * kind + lengths[0, 0] + (a + b) / 2 * unlike)

    def fullness(self, bead: Bead) -> float:
        """Return the length of a bead's text relative to the expected length."""
        (i, k), (j, m) = bead.fixed, bead.free
        return float((self.free[m] - self.free[j]) / (self.ratio * (self.fixed[k] - self.fixed[i])))

    def likely(self, fixed: IntArray, free: IntArray) -> tuple[IntArray, IntArray]:
        """Return pairs of sentences similar enough to cost less than leaving both out."""
        pairs: list[tuple[IntArray, IntArray]] = []
        for start in range(0, len(fixed), ROWS):
            rows = fixed[start : start + ROWS]
            unlike = [
                weight * (1 - measure.cosines(rows, free)) for weight, measure in self.measures
            ]
            cost: FloatArray = np.sum(unlike, axis=0)
            cost += self.costs.rival * self.rivals.least(rows, free)
            best = np.argsort(cost, axis=1, kind="stable")[:, :LIKELY]
            i, at = np.nonzero(np.take_along_axis(cost, best, axis=1) < 2 * self.costs.skip)
            pairs.append((rows[i], free[best[i, at]]))
        return np.concatenate([i for i, _ in pairs]), np.concatenate([j for _, j in pairs])

    def _lengths(self, fixed: FloatArray, free: FloatArray) -> FloatArray:
        """Return (n, m) costs of lengths: half the squared deviation from the expected length."""
        expected = fixed[:, None] * self.ratio
        variance = self.costs.variance * max(1.0, self.ratio) * (expected + free) / 2
        return np.asarray(np.minimum((free - expected) ** 2 / variance / 2, FARTHEST))
