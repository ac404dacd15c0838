"""BlonDe's numbers: units of aligned texts → additive counts and spans → precision, recall, F1, for whole arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.metrics.blonde.categories import Profile
from wholetext.metrics.blonde.occurrences import Occurrence
from wholetext.metrics.surface import SMOOTH_VALUES, Smoothing
from wholetext.types import FloatArray

DISCOURSE = ("tense", "pronoun", "entity", "marker")
NGRAMS = ("ngram1", "ngram2", "ngram3", "ngram4")
HUMAN = ("ambiguity", "ellipsis")
CATEGORIES = (*DISCOURSE, *NGRAMS, *HUMAN)  # the first columns of the statistics, whatever the language
_ORDERS = slice(len(DISCOURSE), len(DISCOURSE) + len(NGRAMS))
Key = tuple[str, str, str]  # category, feature, what must be equal
Ngrams = tuple[Counter[tuple[str, ...]], ...]  # one counter per order


@dataclass(frozen=True, eq=False)
class Unit:
    """What is clipped together: one segment (or one whole document) of one text."""

    found: tuple[tuple[int, Occurrence], ...]  # (segment, occurrence)
    ngrams: Ngrams  # none for d-blonde
    counts: Counter[Key] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", Counter(one[:3] for _, one in self.found))


def ngrams_of(words: Sequence[str]) -> Ngrams:
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

    def count(self, pairs: Sequence[tuple[Unit, Sequence[Unit]]]) -> FloatArray:
        """(k,) match, reference and system counts: weighted by category, then plain by feature.

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
    return reduce(Counter.__or__, counters, Counter())


# ---------------------------------------------------------------- from counts to scores


@dataclass(frozen=True)
class Formula:
    """How counts become a score; Jiang et al. 2022, Eqs. 5–10."""

    profile: Profile
    mean: Literal["geometric", "arithmetic"]
    smooth: Smoothing
    smooth_value: float | None
    zero: Literal["floor", "delta"]
    zero_value: float
    categories: tuple[str, ...]  # the factors of the mean
    importance: tuple[float, ...]  # of each factor
    with_d: bool

    def reduce(self, totals: FloatArray) -> FloatArray:
        """(..., k) totals → (..., 3 + 3·(categories + features)): F1, precision and recall, over all and of each."""
        table = totals.reshape(*totals.shape[:-1], -1, 3)  # (..., categories + features, match|ref|sys)
        ratio = self._ratios(table)
        known = ratio[..., : len(CATEGORIES), :]
        chosen = [CATEGORIES.index(name) for name in self.categories]
        values, total = known[..., chosen, :], table[..., chosen, 2:0:-1]  # its denominators: (..., chosen, sys|ref)
        importance = self.importance
        if self.with_d:  # the "sBlonDe" of the released experiments: d-blonde is one more factor beside its categories
            first = slice(0, len(DISCOURSE))
            inner = self._combine(known[..., first, :], table[..., first, 2:0:-1], (1.0,) * len(DISCOURSE))
            values = np.concatenate([values, inner[..., None, :]], axis=-2)
            total = np.concatenate([total, np.ones_like(inner)[..., None, :]], axis=-2)
            importance = (*importance, 1.0)
        overall = self._combine(values, total, importance)  # (..., precision|recall)
        features = ratio[..., len(CATEGORIES) :, :]
        parts = np.concatenate([overall[..., None, :], known[..., chosen, :], features], axis=-2)
        f1 = self._f1(parts[..., 0], parts[..., 1])
        return np.stack([f1, parts[..., 0], parts[..., 1]], axis=-1).reshape(*totals.shape[:-1], -1)

    def _ratios(self, table: FloatArray) -> FloatArray:
        """(..., categories + features, match|ref|sys) → (…, precision|recall), those of n-grams smoothed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = table[..., :1] / table[..., 2:0:-1]  # 0/0 is undefined
        grams = table[..., _ORDERS, :]
        both = (grams[..., :1, 1] > 0) & (grams[..., :1, 2] > 0)  # (..., 1): neither side is empty
        for side, column in ((0, 2), (1, 1)):
            ratio[..., _ORDERS, side] = self._smoothed(grams[..., 0], grams[..., column], both)
        return ratio

    def floored(self, totals: FloatArray) -> tuple[str, ...]:
        """Factors whose 0 the geometric mean of ``reduce`` replaces, for one text: ``pronoun precision``."""
        if self.mean != "geometric":
            return ()
        ratio = self._ratios(np.asarray(totals, dtype=np.float64).reshape(-1, 3))
        least = self.zero_value if self.zero == "floor" else np.nextafter(0, 1)
        return tuple(f"{name} {side}" for name in self.categories for i, side in enumerate(("precision", "recall"))
                     if ratio[CATEGORIES.index(name), i] < least)

    def documents(self, totals: FloatArray) -> FloatArray:
        """The same for single documents: the arithmetic mean over the factors that either side has, of each factor's
        F1, precision and recall, which are 0 where only one side has it.

        A document has few items of a category, so that 0 matches are common and mean little: in a geometric mean they
        would decide the score alone. No smoothing, and no floor.
        """
        match, ref, sys = (totals[..., i::3] for i in range(3))  # each (..., categories + features)
        counts = np.stack([(ref + sys) / 2, sys, ref], axis=-1)
        either = ((ref > 0) | (sys > 0))[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):  # (..., categories + features, F1|precision|recall)
            three = np.where(either, np.where(counts > 0, match[..., None] / counts, 0.0), np.nan)
        chosen = [CATEGORIES.index(name) for name in self.categories]
        known = factors = three[..., chosen, :]
        importance = self.importance
        if self.with_d:
            inner = _mean(three[..., : len(DISCOURSE), :], (1.0,) * len(DISCOURSE))
            factors, importance = np.concatenate([known, inner[..., None, :]], axis=-2), (*importance, 1.0)
        overall = _mean(factors, importance)
        parts = np.concatenate([overall[..., None, :], known, three[..., len(CATEGORIES) :, :]], axis=-2)
        return parts.reshape(*totals.shape[:-1], -1)

    def _smoothed(self, match: FloatArray, count: FloatArray, both: NDArray[np.bool_]) -> FloatArray:
        """(..., 4) matches and counts of n-grams → ratios.

        The released code divides by 0.25·count where nothing matched, and gives 0 to orders longer than every segment;
        the other profiles divide by the count and leave those orders undefined. An empty text is never smoothed.
        """
        reference = self.profile == "reference"
        value = SMOOTH_VALUES[self.smooth] if self.smooth_value is None else self.smooth_value
        seen = np.logical_and.accumulate(count > 0, axis=-1)
        missed = seen & both & (match == 0)
        weighted = count * (0.25 if reference else 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            result = match / count
            if self.smooth == "exp":
                result = np.where(missed, 1 / (2.0 ** np.cumsum(missed, axis=-1) * weighted), result)
            elif self.smooth == "floor":
                result = np.where(missed, value / weighted, result)
            elif self.smooth == "add-k":
                longer = np.arange(match.shape[-1]) > 0
                result = np.where(longer & seen & both, (match + value) / (count + value), result)
        unseen = np.where(seen[..., :1] & both, 0.0, np.nan) if reference else np.nan
        return np.where(seen, result, unseen)

    def _combine(self, values: FloatArray, totals: FloatArray, importance: Sequence[float]) -> FloatArray:
        """(..., factors, 2) → (..., 2): the mean over defined factors; NaN where none is defined."""
        if self.mean == "arithmetic":
            return _mean(values, importance)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.zero == "delta":
                values = np.where(values == 0, self.zero_value / totals, values)
            else:
                values = np.where(values < self.zero_value, self.zero_value, values)  # NaN stays NaN
            return np.asarray(np.exp(_mean(np.log(values), importance)))

    def _f1(self, precision: FloatArray, recall: FloatArray) -> FloatArray:
        """Harmonic mean; where one side has nothing, the recall in the released code, NaN in the paper, 0 in fixed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            harmonic = 2 * precision * recall / (precision + recall)
        one = np.isnan(precision) != np.isnan(recall)
        if self.profile == "reference":
            return np.where(one, recall, harmonic)
        none = (precision == 0) & (recall == 0)
        return np.where(none | one if self.profile == "fixed" else none, 0.0, harmonic)


def _mean(values: FloatArray, importance: Sequence[float]) -> FloatArray:
    """(..., factors, n) → (..., n): the weighted mean over defined factors; NaN where none is defined."""
    weight = np.where(np.isnan(values), 0.0, np.asarray(importance, dtype=np.float64)[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nansum(weight * values, axis=-2) / weight.sum(axis=-2))
