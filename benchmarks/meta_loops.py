"""Meta-evaluation the straightforward way, one draw, one row and one pair at a time: what the fast code is checked
against.

It does what mt-metrics-eval describes, with the same scipy functions inside the same loops: gold without a judgment
is None, rows are filtered, a correlation is computed per row and averaged, and a permutation test repeats that for
every draw.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.stats

Vector = Sequence[float]
Statistic = Callable[[Any, Any], float]


def pearson(gold: Vector, metric: Vector) -> float:
    """NaN where one side is constant, as scipy has it."""
    return float(scipy.stats.pearsonr(gold, metric)[0])


def spearman(gold: Vector, metric: Vector) -> float:
    return float(scipy.stats.spearmanr(gold, metric)[0])


def kendall(gold: Vector, metric: Vector) -> float:
    return float(scipy.stats.kendalltau(gold, metric)[0])


def kendall_c(gold: Vector, metric: Vector) -> float:
    return float(scipy.stats.kendalltau(gold, metric, variant="c")[0])


def count(gold: Vector, metric: Vector, epsilon: float = 0.0) -> tuple[int, int, int, int, int]:
    """Concordant, discordant, tied in gold only, in the metric only, in both."""
    found = [0] * 5
    for (g1, m1), (g2, m2) in itertools.combinations(zip(gold, metric), 2):
        tied = abs(m1 - m2) <= epsilon
        if g1 == g2:
            found[4 if tied else 2] += 1
        elif tied:
            found[3] += 1
        else:
            found[0 if (g1 > g2) == (m1 > m2) else 1] += 1
    return tuple(found)  # type: ignore[return-value]


def acc_eq(gold: Vector, metric: Vector) -> float:
    concordant, discordant, gold_only, metric_only, both = count(gold, metric)
    return (concordant + both) / (concordant + discordant + gold_only + metric_only + both)


def rows(matrix: np.ndarray, average: str) -> np.ndarray:
    """(systems, items) → rows to correlate."""
    return {"none": matrix.reshape(1, -1), "system": matrix, "item": matrix.T}[average]


def known_rows(gold: np.ndarray, *metrics: np.ndarray, average: str) -> Iterator[tuple[np.ndarray, ...]]:
    """Rows of gold and metrics without what was not judged."""
    for row in zip(*(rows(matrix, average) for matrix in (gold, *metrics))):
        keep = ~np.isnan(row[0])
        if keep.sum() >= 2:
            yield tuple(one[keep] for one in row)


def averaged(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else 0.0


def correlation(gold: np.ndarray, metric: np.ndarray, statistic: Statistic, average: str) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return averaged([statistic(g, m) for g, m in known_rows(gold, metric, average=average)])


def perm_both(
    gold: np.ndarray, better: np.ndarray, worse: np.ndarray, statistic: Statistic, average: str, masks: Any
) -> float:
    """p of "``better`` correlates better"; ``masks`` yields one 0/1 vector per draw (1 = swap), row by row, gaps left
    out.
    """
    parts = list(known_rows(gold, better, worse, average=average))
    flat_gold = np.concatenate([part[0] for part in parts])
    one = scipy.stats.zscore(np.concatenate([part[1] for part in parts]))
    two = scipy.stats.zscore(np.concatenate([part[2] for part in parts]))
    edges = np.cumsum([0, *(len(part[0]) for part in parts)])
    spans = [slice(a, b) for a, b in itertools.pairwise(edges)]

    def mean(scores: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return averaged([statistic(flat_gold[span], scores[span]) for span in spans])

    delta = mean(one) - mean(two)
    hits = draws = 0
    for mask in masks:
        keep = 1 - mask
        hits += mean(keep * one + mask * two) - mean(mask * one + keep * two) >= delta - 1e-12
        draws += 1
    return hits / draws


def calibrate(gold: np.ndarray, metric: np.ndarray, average: str) -> tuple[list[float], list[float]]:
    """Thresholds and mean acc_eq of tie calibration, moving one pair at a time."""
    pairs: list[tuple[float, int, bool, bool]] = []
    right, total = [], []
    for row, (gold_row, metric_row) in enumerate(known_rows(gold, metric, average=average)):
        right.append(0)
        total.append(0)
        for (g1, m1), (g2, m2) in itertools.combinations(zip(gold_row.tolist(), metric_row.tolist()), 2):
            correct = (g1 > g2) - (g1 < g2) == (m1 > m2) - (m1 < m2)
            pairs.append((abs(m1 - m2), row, correct, g1 == g2))
            right[row] += correct
            total[row] += 1
    value = sum(r / t for r, t in zip(right, total))
    thresholds, values = [0.0], [value / len(total)]
    for distance, row, correct, tied in sorted(pairs):
        value -= right[row] / total[row]
        right[row] += tied - correct
        value += right[row] / total[row]
        if thresholds[-1] == distance:
            values[-1] = value / len(total)
        else:
            thresholds.append(distance)
            values.append(value / len(total))
    return thresholds, values


def pairs_test(
    gold: np.ndarray, better: np.ndarray, worse: np.ndarray, epsilons: tuple[float, float], masks: Any
) -> float:
    """p of the pairs test by item; ``masks`` yields per draw one (systems, systems) 0/1 matrix per item (1 = swap)."""
    parts = list(known_rows(gold, better, worse, average="item"))

    def verdicts(gold_row: np.ndarray, metric_row: np.ndarray, epsilon: float) -> np.ndarray:
        gap = np.subtract.outer(metric_row, metric_row)
        order = np.where(np.abs(gap) <= epsilon, 0, np.sign(gap))
        return np.triu(order == np.sign(np.subtract.outer(gold_row, gold_row)), 1)

    one = [verdicts(g, a, epsilons[0]) for g, a, _ in parts]
    two = [verdicts(g, b, epsilons[1]) for g, _, b in parts]

    def mean(rights: list[np.ndarray]) -> float:
        return averaged([right.sum() / (len(right) * (len(right) - 1) / 2) for right in rights])

    delta = mean(one) - mean(two)
    hits = draws = 0
    for mask in masks:
        first = [np.where(m, b, a) for m, a, b in zip(mask, one, two)]
        second = [np.where(m, a, b) for m, a, b in zip(mask, one, two)]
        hits += mean(first) - mean(second) >= delta - 1e-12
        draws += 1
    return hits / draws


def agreement(gold: Vector, metric: Vector) -> tuple[int, int]:
    """Pairs on which the signs of the differences agree, and pairs."""
    agree = pairs = 0
    for (g1, m1), (g2, m2) in itertools.combinations(zip(gold, metric), 2):
        agree += np.sign(g1 - g2) == np.sign(m1 - m2)
        pairs += 1
    return int(agree), pairs


def darr(gold: Vector, metric: Vector, gap: float) -> tuple[int, int]:
    """Concordant and compared pairs of the WMT Kendall-like statistic."""
    concordant = compared = 0
    for (g1, m1), (g2, m2) in itertools.combinations(zip(gold, metric), 2):
        if abs(g1 - g2) >= gap:
            compared += 1
            concordant += (g1 > g2 and m1 > m2) or (g1 < g2 and m1 < m2)
    return concordant, compared
