"""BlonDe's arithmetic: totals of match, reference and system counts → precision, recall, F1, for whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.metrics.blonde.categories import Profile
from wholetext.metrics.blonde.counts import CATEGORIES, DISCOURSE, NGRAMS
from wholetext.types import FloatArray

Smoothing = Literal["exp", "floor", "add-k", "none"]
_SMOOTH_VALUES = {"exp": 0.0, "floor": 0.1, "add-k": 1.0, "none": 0.0}
_ORDERS = slice(len(DISCOURSE), len(DISCOURSE) + len(NGRAMS))


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
        total = table[..., chosen, 2:0:-1]  # (..., chosen, sys|ref): denominators of precision and recall
        overall = self._combine(known[..., chosen, :], total, self.importance)  # (..., precision|recall)
        if self.with_d:
            overall = self._with_d(known, table, chosen)
        features = ratio[..., len(CATEGORIES) :, :]
        parts = np.concatenate([overall[..., None, :], known[..., chosen, :], features], axis=-2)
        f1 = self._f1(parts[..., 0], parts[..., 1])
        return np.stack([f1, parts[..., 0], parts[..., 1]], axis=-1).reshape(*totals.shape[:-1], -1)

    def _ratios(self, table: FloatArray) -> FloatArray:
        """(..., categories + features, match|ref|sys) → (…, precision|recall), those of n-grams smoothed."""
        ratio = _ratios(table)
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
        table = totals.reshape(*totals.shape[:-1], -1, 3)
        three = _single(table)  # (..., categories + features, F1|precision|recall)
        chosen = [CATEGORIES.index(name) for name in self.categories]
        values, importance = three[..., chosen, :], self.importance
        if self.with_d:
            inner = _mean(three[..., : len(DISCOURSE), :], (1.0,) * len(DISCOURSE))
            overall = _mean(np.concatenate([values, inner[..., None, :]], axis=-2), (*importance, 1.0))
        else:
            overall = _mean(values, importance)
        parts = np.concatenate([overall[..., None, :], values, three[..., len(CATEGORIES) :, :]], axis=-2)
        return parts.reshape(*totals.shape[:-1], -1)

    def _smoothed(self, match: FloatArray, count: FloatArray, both: NDArray[np.bool_]) -> FloatArray:
        """(..., 4) matches and counts of n-grams → ratios.

        The released code divides by 0.25·count where nothing matched, and gives 0 to orders longer than every segment;
        the other profiles divide by the count and leave those orders undefined. An empty text is never smoothed.
        """
        reference = self.profile == "reference"
        value = _SMOOTH_VALUES[self.smooth] if self.smooth_value is None else self.smooth_value
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
        weight = np.where(np.isnan(values), 0.0, np.asarray(importance, dtype=np.float64)[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.mean == "arithmetic":
                return np.asarray(np.nansum(weight * values, axis=-2) / weight.sum(axis=-2))
            if self.zero == "delta":
                values = np.where(values == 0, self.zero_value / totals, values)
            else:
                values = np.where(values < self.zero_value, self.zero_value, values)  # NaN stays NaN
            return np.asarray(np.exp(np.nansum(weight * np.log(values), axis=-2) / weight.sum(axis=-2)))

    def _with_d(self, known: FloatArray, table: FloatArray, chosen: Sequence[int]) -> FloatArray:
        """The "sBlonDe" of the released experiments: d-blonde counts as one more factor beside its own categories."""
        first = slice(0, len(DISCOURSE))
        inner = self._combine(known[..., first, :], table[..., first, 2:0:-1], (1.0,) * len(DISCOURSE))
        values = np.concatenate([known[..., chosen, :], inner[..., None, :]], axis=-2)
        totals = np.concatenate([table[..., chosen, 2:0:-1], np.ones_like(inner)[..., None, :]], axis=-2)
        return self._combine(values, totals, (*self.importance, 1.0))

    def _f1(self, precision: FloatArray, recall: FloatArray) -> FloatArray:
        """Harmonic mean; where one side has nothing, the recall in the released code, NaN in the paper, 0 in fixed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            harmonic = 2 * precision * recall / (precision + recall)
        one = np.isnan(precision) != np.isnan(recall)
        if self.profile == "reference":
            return np.where(one, recall, harmonic)
        none = (precision == 0) & (recall == 0)
        return np.where(none | one if self.profile == "fixed" else none, 0.0, harmonic)


def _ratios(table: FloatArray) -> FloatArray:
    """(..., n, match|ref|sys) → (..., n, precision|recall); 0/0 is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return table[..., :1] / table[..., 2:0:-1]


def _single(table: FloatArray) -> FloatArray:
    """(..., n, match|ref|sys) → (..., n, F1|precision|recall); 0 where one side has nothing, NaN where both have."""
    match, ref, sys = table[..., 0], table[..., 1], table[..., 2]
    counts = np.stack([(ref + sys) / 2, sys, ref], axis=-1)
    either = ((ref > 0) | (sys > 0))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(either, np.where(counts > 0, match[..., None] / counts, 0.0), np.nan)


def _mean(values: FloatArray, importance: Sequence[float]) -> FloatArray:
    """(..., factors, 3) → (..., 3): the weighted mean over defined factors; NaN where none is defined."""
    weight = np.where(np.isnan(values), 0.0, np.asarray(importance, dtype=np.float64)[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nansum(weight * values, axis=-2) / weight.sum(axis=-2))
