"""Agreement on which of two systems (or outputs) is better: pairwise accuracy, DArr, soft pairwise accuracy, PDP.

Pairwise system accuracy: Kocmi et al. 2021, "To Ship or Not to Ship". DArr Kendall: the document- and segment-level
statistic of WMT20 (Mathur et al. 2020). Soft pairwise accuracy: Thompson et al. 2024, "Improving Statistical
Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy". Pairwise-difference Pearson:
DiIanni et al. 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.meta.agreement.correlation import BoolArray, both_known
from wholetext.meta.agreement.pairs import count_pairs, pair_positions
from wholetext.types import FloatArray, IntArray

_SEED = 4  # of the reference implementation of soft pairwise accuracy


@dataclass(frozen=True)
class Accuracy:
    """Pairs on which metric and gold agree, pairs compared, and pairs tied in gold (a random metric misses those)."""

    agree: int
    pairs: int
    gold_ties: int = 0

    @property
    def value(self) -> float:
        return self.agree / self.pairs if self.pairs else float("nan")

    @property
    def chance(self) -> float:
        """What a metric with random, untied scores is expected to reach."""
        return (self.pairs - self.gold_ties) / (2 * self.pairs) if self.pairs else float("nan")

    def __add__(self, other: Accuracy) -> Accuracy:
        return Accuracy(self.agree + other.agree, self.pairs + other.pairs, self.gold_ties + other.gold_ties)


def system_accuracy(gold: FloatArray, metric: FloatArray) -> Accuracy:
    """(systems,) twice: the same sign of the difference, equal counting as a sign of its own."""
    counts = count_pairs(gold, metric)
    ties = int(counts.ties_gold + counts.ties_both)
    return Accuracy(int(counts.concordant + counts.ties_both), int(counts.total), ties)


def pooled_accuracy(parts: Sequence[tuple[FloatArray, FloatArray]]) -> Accuracy:
    """Pairs formed within each part (a language pair), counts pooled over the parts."""
    return sum((system_accuracy(gold, metric) for gold, metric in parts), Accuracy(0, 0))


def darr_rows(gold: FloatArray, metric: FloatArray, gap: float = 25.0) -> tuple[IntArray, IntArray]:
    """(..., n) twice → (...,) concordant and compared pairs, of those whose gold scores are at least ``gap`` apart.

    Strictly the same direction is concordant; a metric tie, or a gold tie where ``gap`` is 0, is not.
    """
    first, second = pair_positions(gold.shape[-1])
    known = both_known(gold, metric)
    gold_gap = gold[..., first] - gold[..., second]  # (..., pairs)
    metric_gap = metric[..., first] - metric[..., second]
    compared = known[..., first] & known[..., second] & (np.abs(gold_gap) >= gap)
    concordant = compared & (np.sign(gold_gap) * np.sign(metric_gap) > 0)
    return concordant.sum(axis=-1), compared.sum(axis=-1)


def darr(gold: FloatArray, metric: FloatArray, gap: float = 25.0) -> tuple[float, int]:
    """(systems, items) twice → the Kendall-like (C - D) / (C + D) over all items' pairs, and their number."""
    concordant, compared = darr_rows(gold.T, metric.T, gap)
    total = int(compared.sum())
    return (float(2 * concordant.sum() / total - 1) if total else 0.0), total


def pairwise_p(scores: FloatArray, masks: FloatArray, dtype: type[np.floating] = np.float64) -> FloatArray:
    """(systems, segments) → (pairs,) one-sided paired permutation p that the first of each pair of systems is better.

    ``masks`` is (draws, segments) of +1 and -1: which segments keep their order in a draw.
    """
    return _Drawn(scores, masks, dtype).p


class _Drawn:
    """Drawn and observed differences between the totals of every two systems."""

    def __init__(self, scores: FloatArray, masks: FloatArray, dtype: type[np.floating] = np.float64) -> None:
        values = scores.astype(dtype)
        self.null = masks.astype(dtype) @ values.T  # (draws, systems)
        observed = values.sum(axis=1)
        self.first, self.second = pair_positions(len(values))
        self.gap = observed[self.first] - observed[self.second]  # (pairs,)
        self._values = values
        # rounding must not decide between a null difference and an equal observed one
        self.slack = 1e-12 * np.abs(values).sum(axis=1).max(initial=0.0) if dtype is np.float64 else 0.0

    @property
    def p(self) -> FloatArray:
        """(pairs,) share of draws that reach the observed difference."""
        return np.asarray((self.null[:, self.first] - self.null[:, self.second] >= self.gap - self.slack).mean(axis=0))

    @property
    def tied(self) -> BoolArray:
        """(pairs,) whether two systems have the same score on every segment."""
        same = [np.array_equal(self._values[i], self._values[j]) for i, j in zip(self.first, self.second)]
        return np.array(same, dtype=bool)

    def halved(self, pairs: BoolArray) -> FloatArray:
        """p of these pairs with draws equal to the observed difference counting half: p of the reverse is 1 - p."""
        drawn = self.null[:, self.first[pairs]] - self.null[:, self.second[pairs]] - self.gap[pairs]
        return np.asarray(((drawn > self.slack) + 0.5 * (np.abs(drawn) <= self.slack)).mean(axis=0))


def soft_masks(segments: int, draws: int = 1000, seed: int = _SEED) -> FloatArray:
    """(draws, segments) of +1 and -1, the draws of the reference implementation."""
    drawn = np.random.default_rng(seed).random(size=(draws, segments), dtype=np.float32)
    return np.rint(drawn).astype(np.float64) * 2 - 1


def judged_everywhere(gold: FloatArray, metric: FloatArray) -> np.ndarray:
    """(segments,) which segments are known for all systems: the only ones a paired test can use."""
    return np.asarray(both_known(gold, metric).all(axis=0))


def soft_accuracy(
    gold: FloatArray, metric: FloatArray, draws: int = 1000, seed: int = _SEED
) -> tuple[float, int, float]:
    """(systems, segments) twice → soft pairwise accuracy, pairs of systems, and the chance level.

    1 - mean |p_gold - p_metric| over pairs of systems. A metric that knows nothing has uniform p: E|p - U| = p² - p +
    1/2. Where gold or the metric gives two systems the same score on every segment, draws equal to the observed
    difference count half, so that the tie is p = 1/2 whichever system comes first; the reference implementation gives
    1 to the one that happens to be first.
    """
    kept = judged_everywhere(gold, metric)
    masks = soft_masks(int(kept.sum()), draws, seed)
    drawn = [_Drawn(scores[:, kept], masks) for scores in (gold, metric)]
    tied = drawn[0].tied | drawn[1].tied
    human, machine = (one.p for one in drawn)
    human[tied], machine[tied] = (one.halved(tied) for one in drawn)
    if not len(human) or not kept.any():
        return float("nan"), 0, float("nan")
    chance = 1 - float((human**2 - human + 0.5).mean())
    return 1 - float(np.abs(human - machine).mean()), len(human), chance


def pairwise_difference_pearson(gold: FloatArray, metric: FloatArray) -> tuple[float, int]:
    """(systems, items) twice → Pearson's r of all within-item differences of scores, and the number of pairs.

    Both orders of each pair count, so both means are 0 and r is a ratio of sums of products.
    """
    first, second = pair_positions(len(gold))
    known = both_known(gold, metric)
    usable = known[first] & known[second]  # (pairs, items)
    x = np.where(usable, gold[first] - gold[second], 0.0)
    y = np.where(usable, metric[first] - metric[second], 0.0)
    scale = np.sqrt((x * x).sum() * (y * y).sum())
    return (float((x * y).sum() / scale) if scale > 0 else float("nan")), int(usable.sum())


def system_means(values: FloatArray) -> FloatArray:
    """(..., systems, items) → (..., systems) mean of what is known; NaN where nothing is."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, np.where(known, values, 0.0).sum(axis=-1) / count, np.nan)


