"""PERM-BOTH for soft pairwise accuracy.

Every hybrid has p-values of its own, one per pair of systems. Inside the test they come from the normal limit of the
paired permutation test, p = Φ(-Σd / √Σd²) over the segments' differences d, for gold and metrics alike: its draws
would only add noise. Σd is linear and Σd² quadratic in the exchanges, so all draws are matrix products here too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from wholetext.meta.agreement.accuracy import judged_everywhere
from wholetext.meta.agreement.correlation import BoolArray, zscore
from wholetext.meta.agreement.permutation import Comparisons, Draws, run_draws
from wholetext.types import FloatArray, IntArray

_CELLS = 4_000_000
Single = NDArray[np.float32]


class PermutedSoftAccuracy:
    """Differences of soft pairwise accuracy for exchanged metrics."""

    def __init__(self, gold: FloatArray, metrics: FloatArray) -> None:
        self.metrics = metrics.astype(np.float32)  # (metrics, systems, segments)
        self.gold = gold

    def differences(self, swaps: BoolArray, pairs: IntArray) -> FloatArray:
        _, systems, segments = self.metrics.shape
        step = max(1, _CELLS // (3 * segments + 8 * systems * len(pairs)))
        out = np.zeros((len(swaps), len(pairs)))
        for at in range(0, len(swaps), step):
            masks = np.moveaxis(swaps[at : at + step], 1, 0).astype(np.float32)  # (systems, draws, segments)
            one, two = (self.metrics[pairs[:, side]] for side in (0, 1))  # (k, systems, segments)
            out[at : at + step] = self._block(one, two, masks)
        return out

    def _block(self, one: Single, two: Single, masks: Single) -> FloatArray:
        """(draws, k) difference of the accuracies of ``one`` and ``two`` with the entries of ``masks`` exchanged."""
        change = two - one
        plain = [_Sums(one, change, masks), _Sums(two, -change, masks)]
        error = np.zeros((2, masks.shape[1], len(one)))
        for s in range(len(masks)):
            for t in range(s + 1, len(masks)):
                both = (masks[s] * masks[t]) @ (change[:, s] * change[:, t]).T  # (draws, k)
                gold_p = self._gold_p(s, t)
                for side, sums in enumerate(plain):
                    error[side] += np.abs(_limit(*sums.gap(s, t, both)) - gold_p)
        return np.asarray((error[1] - error[0]) / (len(masks) * (len(masks) - 1) / 2))

    def _gold_p(self, s: int, t: int) -> float:
        gap = self.gold[s] - self.gold[t]
        return float(_limit(np.array(gap.sum()), np.array((gap**2).sum())))


class _Sums:
    """Σh, Σh² and Σh·h' of the systems of a hybrid, for all draws."""

    def __init__(self, own: Single, change: Single, masks: Single) -> None:
        self.own, self.change, self.masks = own, change, masks
        columns = [(own[:, s], change[:, s], mask) for s, mask in enumerate(masks)]
        self.plain = [x.sum(axis=1) + mask @ d.T for x, d, mask in columns]  # (draws, k) each
        self.squares = [(x * x).sum(axis=1) + mask @ (d * (2 * x + d)).T for x, d, mask in columns]

    def gap(self, s: int, t: int, both: Single) -> tuple[Single, Single]:
        """Σd and Σd² of two systems; ``both`` is the part of Σh·h' where both entries are exchanged."""
        x, d = self.own, self.change
        product = (x[:, s] * x[:, t]).sum(axis=1) + both
        product += self.masks[s] @ (d[:, s] * x[:, t]).T
        product += self.masks[t] @ (x[:, s] * d[:, t]).T
        return self.plain[s] - self.plain[t], self.squares[s] + self.squares[t] - 2 * product


def _limit(total: FloatArray | Single, squares: FloatArray | Single) -> FloatArray:
    """p that the first system is better; 1/2 where no segment differs: a tie."""
    spread = np.sqrt(np.maximum(squares, 0.0), dtype=np.float64)
    flat = spread < 1e-6
    return np.where(flat, 0.5, ndtr(-total / np.where(flat, 1.0, spread)))


def compare_soft(gold: FloatArray, metrics: FloatArray, draws: Draws | None = None) -> Comparisons:
    """(systems, segments) gold, (metrics, systems, segments) scores → p-values for soft pairwise accuracy."""
    kept = judged_everywhere(gold, gold)
    x = gold[:, kept]
    standard = zscore(metrics[..., kept], np.ones(x.shape, dtype=bool))
    plan = draws or Draws()
    if plan.swaps is not None:
        plan = replace(plan, swaps=plan.swaps[..., kept])
    return run_draws(PermutedSoftAccuracy(x, standard), x.shape, len(metrics), plan)
