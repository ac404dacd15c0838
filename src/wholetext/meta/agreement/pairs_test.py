"""The pairs test: is one metric's tie-calibrated accuracy better than another's?

Each metric keeps its own tie threshold; what is exchanged at random are the two metrics' verdicts on a pair of
outputs (right or wrong), not their scores (mt-metrics-eval, ``perm_test=pairs``). A pair on which both are right, or
both wrong, changes nothing, and one on which they differ moves the difference of the means by plus or minus its
weight. So the null difference is a sum of binomials, one per distinct weight, and no verdict has to be drawn one by
one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wholetext.meta.agreement.correlation import BoolArray, as_rows
from wholetext.meta.agreement.measures import Measure
from wholetext.meta.agreement.pairs import pair_positions
from wholetext.meta.agreement.permutation import Comparisons, Draws, summarise
from wholetext.meta.agreement.ties import calibrate
from wholetext.types import FloatArray, IntArray

_CELLS = 4_000_000  # verdicts held at a time
_LONG = 1024  # rows longer than this are not expanded into all their pairs at once


def compare_calibrated(
    gold: FloatArray, metrics: FloatArray, measure: Measure, draws: Draws | None = None
) -> Comparisons:
    """(systems, items) gold, (metrics, systems, items) scores → p-values for ``acc_eq`` or ``tau23``.

    Exchanges given in ``draws.swaps`` are (draws, rows, pairs of a row); all draws are used, there is no early stop.
    """
    draws = draws or Draws()
    epsilons = [calibrate(gold, metric, measure.average).epsilon for metric in metrics]
    x, y = as_rows(gold, measure.average), as_rows(metrics, measure.average)
    known = ~np.isnan(x)
    count = known.sum(axis=1)
    weights = np.where(count >= 2, 2.0 / np.maximum(count * (count - 1), 1) / max(1, int((count >= 2).sum())), 0.0)
    scale = 2.0 if measure.statistic == "tau23" else 1.0
    if draws.swaps is not None:
        null, observed = _injected(x, y, np.array(epsilons), weights, draws.swaps)
    else:
        null, observed = _drawn(x, y, np.array(epsilons), weights, draws)
    return summarise(scale * null, scale * observed, len(metrics))


def _blocks(gold: FloatArray, metrics: FloatArray, epsilons: FloatArray) -> Iterator[BoolArray]:
    """(rows, n) gold, (metrics, rows, n) scores → (metrics, pairs) blocks: is the pair ordered as in gold? Rows in
    order.
    """
    n = gold.shape[1]
    rows = max(1, _CELLS // max(1, len(metrics) * n * (n - 1) // 2))
    for at in range(0, len(gold), rows):
        first, second = pair_positions(n) if n <= _LONG else (None, None)
        part, scores = gold[at : at + rows], metrics[:, at : at + rows]
        if first is not None:
            yield _verdicts(part[:, first] - part[:, second], scores[..., first] - scores[..., second], epsilons)
            continue
        for i in range(n - 1):  # a row too long for all its pairs at once: one entry against all later ones
            yield _verdicts(part[:, i, None] - part[:, i + 1 :], scores[..., i, None] - scores[..., i + 1 :], epsilons)


def _verdicts(gold_gap: FloatArray, metric_gap: FloatArray, epsilons: FloatArray) -> BoolArray:
    order = np.where(np.abs(metric_gap) <= epsilons[:, None, None], 0.0, np.sign(metric_gap))
    return np.asarray(order == np.sign(gold_gap)).reshape(len(epsilons), -1)  # NaN is never right


def _injected(
    x: FloatArray, y: FloatArray, epsilons: FloatArray, weights: FloatArray, swaps: BoolArray
) -> tuple[FloatArray, FloatArray]:
    first, second = pair_positions(len(y))
    null, observed = np.zeros((len(swaps), len(first))), np.zeros(len(first))
    per_pair = np.repeat(weights, x.shape[1] * (x.shape[1] - 1) // 2)
    signs, at = np.where(swaps, -1.0, 1.0).reshape(len(swaps), -1), 0
    for right in _blocks(x, y, epsilons):
        here = slice(at, at + right.shape[1])
        difference = per_pair[here] * (right[first].astype(np.float64) - right[second])  # (pairs of metrics, verdicts)
        null += signs[:, here] @ difference.T
        observed += difference.sum(axis=1)
        at = here.stop
    return null, observed


def _drawn(
    x: FloatArray, y: FloatArray, epsilons: FloatArray, weights: FloatArray, draws: Draws
) -> tuple[FloatArray, FloatArray]:
    first, second = pair_positions(len(y))
    rng = np.random.default_rng(draws.seed)
    null, observed = np.zeros((draws.count, len(first))), np.zeros(len(first))
    for weight in np.unique(weights[weights > 0]):
        rows = weights == weight
        wins = _wins(x[rows], y[:, rows], epsilons)  # (metrics, metrics) pairs that only the first has right
        differing = (wins + wins.T)[first, second]
        observed += weight * (wins - wins.T)[first, second]
        null += weight * (2.0 * rng.binomial(differing, 0.5, (draws.count, len(first))) - differing)
    return null, observed


def _wins(gold: FloatArray, metrics: FloatArray, epsilons: FloatArray) -> IntArray:
    """(metrics, metrics) number of pairs of outputs on which metric i is right and metric j is wrong."""
    total = np.zeros((len(metrics), len(metrics)))
    for right in _blocks(gold, metrics, epsilons):
        flat = right.reshape(len(metrics), -1).astype(np.float32)
        both = (flat @ flat.T).astype(np.float64)  # whole numbers below 2**24: exact
        total += both.diagonal()[:, None] - both
    return np.rint(total).astype(np.int64)
