"""Pair counts and tie calibration: published examples, the plain loops, ."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks import meta_loops as loops
from wholetext.meta.agreement import correlation
from wholetext.meta.agreement.correlation import as_rows, count_pairs
from wholetext.meta.agreement.measures import Measure, calibrate, estimate

nan = float("nan")
GOLD = np.array([1, 2, 2, 3, 4.0])
METRIC = np.array([2, 1, 1.5, 5, 3])


def curve(gold: np.ndarray, metric: np.ndarray, average: str, thresholds: list[float]) -> list[float]:
    """acc_eq at each threshold, from the pair counts."""
    x, y = (as_rows(values, average) for values in (gold, metric))  # type: ignore[arg-type]
    return [float(np.nanmean(count_pairs(x, y, threshold).acc_eq)) for threshold in thresholds]


def test_the_kendall_family() -> None:
    counts = count_pairs(GOLD, METRIC)
    assert float(counts.tau_b) == pytest.approx(0.316227766, abs=1e-9)
    assert float(correlation.kendall_c_rows(GOLD, METRIC)) == pytest.approx(0.32, abs=1e-12)
    assert float(counts.tau23) == pytest.approx(0.2, abs=1e-12)
    assert float(counts.acc_eq) == pytest.approx(0.6, abs=1e-12)
    assert float(count_pairs(GOLD, METRIC, 2.0).acc_eq) == pytest.approx(0.4, abs=1e-12)
    assert calibrate(GOLD[None], METRIC[None], "none").value == pytest.approx(0.7, abs=1e-12)


@pytest.mark.parametrize(
    ("human", "values", "best"),
    [([1, 2, 3, 4], [1, 4 / 6, 3 / 6, 1 / 6, 0], 0.0), ([1, 1, 1, 4], [3 / 6, 3 / 6, 4 / 6, 4 / 6, 3 / 6], 4.0)],
)
def test_curves(human: list[float], values: list[float], best: float) -> None:
    gold, metric = np.array([human], dtype=float), np.array([[0, 2, 6, 8.0]])
    assert curve(gold, metric, "none", [0, 2, 4, 6, 8]) == pytest.approx(values, abs=1e-12)
    assert calibrate(gold, metric, "none").epsilon == best


def test_matrices_with_gaps() -> None:
    metric = np.array([[0, 5, 2, 3, 2], [nan, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [nan] * 5])
    human = np.array([[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, nan, 3, 2], [nan] * 5])
    expected = [0.466667, 0.491667, 0.383333, 0.291667, 0.266667, 0.2, 0.158333, 0.158333, 0.116667]
    assert curve(human, metric, "system", list(range(9))) == pytest.approx(expected, abs=5e-7)
    found = calibrate(human, metric, "system")
    assert (found.epsilon, found.rows, found.pairs) == (1.0, 4, 32)


def test_no_pairs_is_undefined() -> None:
    found = calibrate(np.full((3, 2), nan), np.ones((3, 2)), "item")
    assert np.isnan(found.value)
    assert found.pairs == 0


few = arrays(np.float64, (5, 7), elements=st.one_of(st.integers(0, 3).map(float), st.just(nan)))
many = arrays(np.float64, (5, 7), elements=st.integers(0, 9).map(lambda i: i / 7))


@settings(deadline=None, max_examples=50)
@given(few, many, st.sampled_from(["none", "item", "system"]))
def test_calibration_equals_the_loops(gold: np.ndarray, metric: np.ndarray, average: str) -> None:
    if not any(len(g) for g, _ in loops.known_rows(gold, metric, average=average)):
        return
    thresholds, values = loops.calibrate(gold, metric, average)
    assert curve(gold, metric, average, thresholds) == pytest.approx(values, abs=1e-12)
    found = calibrate(gold, metric, average)  # type: ignore[arg-type]
    assert found.value == pytest.approx(max(values), abs=1e-12)
    assert found.epsilon == next(t for t, v in zip(thresholds, values) if v >= max(values) - 1e-11)


def test_chance_of_a_calibrated_metric() -> None:
    gold = np.zeros((4, 50))
    gold[0, :10] = 1.0
    metric = np.random.default_rng(0).normal(size=gold.shape)
    found = estimate(gold, metric, Measure("acc_eq", "item"))
    assert found.chance == pytest.approx((40 * 1.0 + 10 * 0.5) / 50)  # a constant metric gets every gold tie
    assert found.value >= found.chance
    assert estimate(gold, metric, Measure("tau23", "item")).value == pytest.approx(2 * found.value - 1)
