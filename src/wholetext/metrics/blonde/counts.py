"""BlonDe's counting: occurrences and n-grams of aligned segments → additive statistics and the spans behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wholetext.metrics.blonde.occurrences import Occurrence
from wholetext.types import FloatArray

DISCOURSE = ("tense", "pronoun", "entity", "marker")
NGRAMS = ("ngram1", "ngram2", "ngram3", "ngram4")
HUMAN = ("ambiguity", "ellipsis")
CATEGORIES = (*DISCOURSE, *NGRAMS, *HUMAN)  # the first columns of the statistics, whatever the language

Key = tuple[str, str, str]  # category, feature, what must be equal


@dataclass(frozen=True, eq=False)
class Unit:
    """What is clipped together: one segment (or one whole document) of one text."""

    found: tuple[tuple[int, Occurrence], ...]  # (segment, occurrence)
    ngrams: tuple[Counter[tuple[str, ...]], ...]  # one counter per order; none for d-blonde
    counts: Counter[Key] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", Counter(one[:3] for _, one in self.found))


def ngrams_of(words: Sequence[str]) -> tuple[Counter[tuple[str, ...]], ...]:
    """Counters of n-grams for n = 1 to 4."""
    return tuple(Counter(zip(*(words[i:] for i in range(n)))) for n in (1, 2, 3, 4))


def pooled(units: Sequence[Unit]) -> Unit:
    """A document as one unit, for ``clip_scope=document``."""
    orders = len(units[0].ngrams) if units else 0
    sums: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(orders)]
    for unit in units:
        for total, counter in zip(sums, unit.ngrams):
            total.update(counter)
    return Unit(tuple(item for unit in units for item in unit.found), tuple(sums))


@dataclass(frozen=True, eq=False)
class CountColumns:
    """Where each category and feature stands among the statistics, and what it weighs."""

    features: Mapping[tuple[str, str], int]  # (category, feature) → index
    weights: Mapping[str, float]  # feature → weight where it is not 1

    @property
    def size(self) -> int:
        return 3 * (len(CATEGORIES) + len(self.features))

    def count(self, pairs: Sequence[tuple[Unit, Sequence[Unit]]]) -> FloatArray:
        """(size,) match, reference and system counts: weighted by category, then plain by feature.

        Clipping is per unit (Eq. 2 over aligned segments); several references count as their maximum.
        """
        stats = np.zeros((len(CATEGORIES) + len(self.features), 3))
        for hyp, refs in pairs:
            wanted = _maximum([ref.counts for ref in refs])
            for key in hyp.counts.keys() | wanted.keys():
                has, needs = hyp.counts[key], wanted[key]
                three = np.array((min(has, needs), needs, has), dtype=np.float64)
                stats[CATEGORIES.index(key[0])] += self.weights.get(key[1], 1.0) * three
                column = self.features.get(key[:2])
                if column is not None:
                    stats[len(CATEGORIES) + column] += three
            for order, has_grams in enumerate(hyp.ngrams):
                needs_grams = _maximum([ref.ngrams[order] for ref in refs])
                match = sum(min(n, needs_grams[gram]) for gram, n in has_grams.items() if gram in needs_grams)
                stats[len(DISCOURSE) + order] += (match, needs_grams.total(), has_grams.total())
        return stats.reshape(-1)

    def comparable(self, stats: FloatArray, categories: Sequence[str]) -> bool:
        """Whether either side has anything in these categories; the score is undefined where not."""
        return any(stats[3 * CATEGORIES.index(name) :][:3].any() for name in categories)

    def spans(self, pairs: Sequence[tuple[Unit, Sequence[Unit]]]) -> dict[str, Any]:
        """``[segment, start, end, category, feature, matched]`` of the output (hyp) and of each reference (refs)."""
        refs = max((len(refs) for _, refs in pairs), default=0)
        shown: dict[str, Any] = {"hyp": [], "refs": [[] for _ in range(refs)]}
        for hyp, units in pairs:
            shown["hyp"] += self._marked(hyp, units)
            for rows, unit in zip(shown["refs"], units):
                rows += self._marked(unit, [hyp])
        return shown

    def _marked(self, unit: Unit, others: Sequence[Unit]) -> Iterator[list[Any]]:
        """As many of a kind are matched as the other side has: those with the same words first, then from the left."""
        left = Counter(_maximum([other.counts for other in others]))
        same = Counter(_maximum([Counter((*one[:3], one.word) for _, one in other.found) for other in others]))
        matched = set()
        for by_word in (True, False):
            for place, (_, one) in enumerate(unit.found):
                kind, named = one[:3], (*one[:3], one.word)
                if place not in matched and left[kind] > 0 and (not by_word or same[named] > 0):
                    matched.add(place)
                    left[kind] -= 1
                    same[named] -= 1
        for place, (segment, one) in enumerate(unit.found):
            if self.weights.get(one.feature, 1.0) > 0:
                yield [segment, one.start, one.end, one.category, one.feature, int(place in matched)]


def _maximum(counters: Sequence[Counter[Any]]) -> Counter[Any]:
    if len(counters) == 1:
        return counters[0]
    merged: Counter[Any] = Counter()
    for counter in counters:
        merged |= counter
    return merged
