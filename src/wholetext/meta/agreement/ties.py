"""Tie calibration: the threshold below which metric scores count as equal that maximises acc_eq.

Exact over all pairs of every row (Deutsch, Foster and Freitag 2023, "Ties Matter", section 5):
tying one pair changes the mean over rows by a fixed amount, so sorting pairs by distance and one
cumulative sum give the whole curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholetext.meta.agreement.correlation import (
    SHORT,
    Average,
    as_rows,
    both_known,
    count_pairs,
    first_beyond,
)
from wholetext.types import FloatArray, IntArray

_HELD = 2_000_000  # pairs of long rows held in memory at a time
_BLOCK = 128  # rows whose pairs are compared at a time
_EQUAL = 1e-11  # values this close are one maximum: the smallest threshold is reported


@dataclass(frozen=True)
class Calibration:
    """The best value, the smallest threshold that reaches it, rows averaged, pairs compared."""

    value: float
    epsilon: float
    rows: int
    pairs: int
    gold_ties: float  # share of pairs tied in gold, averaged over rows


def calibrate(gold: FloatArray, metric: FloatArray, average: Average) -> Calibration:
    """(systems, items) twice; one threshold for all rows. NaN throughout where there is no pair."""
    x, y = as_rows(gold, average), as_rows(metric, average)
    count = both_known(x, y).sum(axis=-1)
    pairs, rows = int((count * (count - 1) // 2).sum()), int((count >= 2).sum())
    if pairs == 0:
        return Calibration(np.nan, np.nan, 0, 0, np.nan)
    found = _Pairs(x, y) if x.shape[1] <= SHORT else _Search(x, y, rows)
    epsilon = found.best_epsilon()
    return Calibration(found.acc_eq(epsilon), epsilon, rows, pairs, found.acc_eq(np.inf))


def _smallest_best(thresholds: FloatArray, values: FloatArray) -> tuple[float, float]:
    best = float(values.max())
    return float(thresholds[int(np.argmax(values >= best - _EQUAL))]), best


class _Pairs:
    """Exact calibration of short rows: every pair is held."""

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        first, second = np.triu_indices(x.shape[1], 1)
        shape = (len(first), len(x))  # (pairs, rows)
        self.usable, self.gold_tied, self.correct = np.empty((3, *shape), dtype=bool)
        self.distance = np.empty(shape)
        for at in range(
            0, len(x), _BLOCK
        ):  # in small blocks: memory that is touched for the first time is slow
            here = np.s_[:, at : at + _BLOCK]
            gold, metric = (np.ascontiguousarray(one[at : at + _BLOCK].T) for one in (x, y))
            gold_gap, metric_gap = gold[first] - gold[second], metric[first] - metric[second]
            known = both_known(gold_gap, metric_gap)
            same = ((gold_gap > 0) == (metric_gap > 0)) & ((gold_gap < 0) == (metric_gap < 0))
            self.usable[here], self.gold_tied[here], self.correct[here] = (
                known,
                gold_gap == 0,
                same & known,
            )
            np.abs(metric_gap, out=self.distance[here])
        self.per_row = self.usable.sum(axis=0)
        self.rows = int((self.per_row > 0).sum())

    def best_epsilon(self) -> float:
        """The smallest threshold that reaches the maximum.

        Tying gains the pairs that gold ties and loses those that were right; other pairs change
        nothing.
        """
        gains = self.usable & self.gold_tied & ~self.correct
        losses = self.correct & ~self.gold_tied
        sizes = np.unique(self.per_row[self.per_row > 0])
        if len(sizes) == 1:
            # distances are not negative, so their bits sort as they do and leave room for one more:
            # gain or loss
            keys = (self.distance.view(np.uint64) << 1 | losses)[gains | losses]
            keys.sort()
            balance = np.cumsum(1 - 2 * (keys & 1).astype(np.int8), dtype=np.int32)
            closes = np.append((keys[1:] ^ keys[:-1]) > 1, True)[
                : len(keys)
            ]  # last of each distinct distance
            candidates = (keys[closes] >> 1).view(np.float64)
            value = balance[closes].astype(np.float64) / (sizes[0] * self.rows)
        else:
            candidates = np.sort(self.distance[gains])
            value = np.zeros(len(candidates))
            for size in sizes:
                rows = np.flatnonzero(self.per_row == size)
                kinds = [self.distance[:, rows][kind[:, rows]] for kind in (gains, losses)]
                gained, lost = (
                    np.searchsorted(np.sort(kind), candidates, side="right") for kind in kinds
                )
                value += (gained - lost) / (size * self.rows)
        if not len(value) or value.max() <= _EQUAL:
            return 0.0
        return _smallest_best(candidates, value)[0]

    def acc_eq(self, epsilon: float) -> float:
        right = self.correct
        if epsilon > 0:
            right = np.where(self.distance <= epsilon, self.gold_tied & self.usable, self.correct)
        some = self.per_row > 0
        return float((right.sum(axis=0)[some] / self.per_row[some]).mean())


@dataclass(frozen=True, eq=False)
class _End:
    """A threshold that some pair attains, or 0."""

    epsilon: float
    value: float  # there
    gold_tied: float  # the share of gold ties it predicts
    reach: list[IntArray]  # per row and entry: the first entry not tied with it


class _Search:
    """Exact calibration of long rows without holding all pairs.

    Between two thresholds the value can rise only by the gold ties that lie between, so most
    stretches are ruled out by counting pairs at their ends; the others are split, and enumerated
    once they are small.
    """

    def __init__(self, x: FloatArray, y: FloatArray, rows: int) -> None:
        self.parts: list[
            tuple[FloatArray, FloatArray, float]
        ] = []  # per row: gold and metric in metric order, weight
        for gold, metric in zip(x, y):
            known = both_known(gold, metric)
            order = np.argsort(metric[known], kind="stable")
            n = len(order)
            if n >= 2:
                self.parts.append(
                    (gold[known][order], metric[known][order], 2.0 / (n * (n - 1) * rows))
                )
        self.rng = np.random.default_rng(
            0
        )  # only chooses where to split: the result does not depend on it
        self.best, self.epsilon = -np.inf, 0.0

    def acc_eq(self, epsilon: float) -> float:
        rows = [count_pairs(gold, metric, epsilon).acc_eq for gold, metric, _ in self.parts]
        return float(np.mean(rows))

    def best_epsilon(self) -> float:
        zero, top = (
            self._at(0.0),
            self._at(max(float(metric[-1] - metric[0]) for _, metric, _ in self.parts)),
        )
        stretches = [(zero, top)]
        while stretches:
            stretches.sort(key=lambda ends: ends[0].value + ends[1].gold_tied - ends[0].gold_tied)
            low, high = stretches.pop()  # the most promising first
            if low.value + high.gold_tied - low.gold_tied < self.best - _EQUAL:
                break
            stretches += self._explore(low, high)
        return self.epsilon

    def _explore(self, low: _End, high: _End) -> list[tuple[_End, _End]]:
        """Settle the thresholds strictly between two ends, or split them in two."""
        inside = int(sum((b - a).sum() for a, b in zip(low.reach, high.reach)))
        following = np.inf  # the smallest distance above the lower threshold
        for (_, metric, _), stop in zip(self.parts, low.reach):
            more = stop < len(stop)
            following = min(
                following, float((metric[stop[more]] - metric[more]).min(initial=np.inf))
            )
        if inside == 0 or following >= high.epsilon:
            return []
        if inside <= _HELD:
            distance, change = self._enumerate(low, high)
            order = np.argsort(distance)
            ordered = distance[order]
            closes = np.append(
                ordered[1:] != ordered[:-1], True
            )  # last pair of each distinct distance
            self._offer(ordered[closes], low.value + np.cumsum(change[order])[closes])
            return []
        drawn = [
            metric[self.rng.integers(0, len(metric), (2, 20_000))] for _, metric, _ in self.parts
        ]
        sample = np.concatenate([np.abs(two - one) for one, two in drawn])
        sample = sample[(sample > low.epsilon) & (sample < high.epsilon)]
        middle = self._at(max(following, float(np.median(sample)) if len(sample) else low.epsilon))
        return [(low, middle), (middle, high)]

    def _at(self, epsilon: float) -> _End:
        """The state at the largest distance not above ``epsilon``."""
        reach = [first_beyond(metric, epsilon) for _, metric, _ in self.parts]
        spans = [metric[stop - 1] - metric for (_, metric, _), stop in zip(self.parts, reach)]
        value = tied = 0.0
        for gold, metric, weight in self.parts:
            counts = count_pairs(gold, metric, epsilon)
            value += weight * float(counts.concordant + counts.ties_both)
            tied += weight * float(counts.ties_both)
        end = _End(max(float(span.max()) for span in spans), value, tied, reach)
        self._offer(np.array([end.epsilon]), np.array([value]))
        return end

    def _enumerate(self, low: _End, high: _End) -> tuple[FloatArray, FloatArray]:
        """Distance and change of every pair whose distance is within an interval."""
        distances, changes = [], []
        for (gold, metric, weight), begin, stop in zip(self.parts, low.reach, high.reach):
            counts = stop - begin
            first = np.repeat(np.arange(len(gold)), counts)
            second = np.arange(len(first)) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
            distances.append(metric[second] - metric[first])
            gap = gold[second] - gold[first]
            changes.append(
                weight * ((gap == 0).astype(np.float64) - (gap > 0))
            )  # metric ascends: agreement is gap > 0
        return np.concatenate(distances), np.concatenate(changes)

    def _offer(self, thresholds: FloatArray, values: FloatArray) -> None:
        epsilon, best = _smallest_best(thresholds, values)
        if best > self.best + _EQUAL or (best >= self.best - _EQUAL and epsilon < self.epsilon):
            self.epsilon = epsilon
        self.best = max(self.best, best)
