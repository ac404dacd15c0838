"""Pairwise accuracies: published examples, pooling, and the chance levels printed beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks import meta_loops as loops
from wholetext.meta.agreement.measures import (
    Measure,
    darr_rows,
    estimate,
    pairwise_p,
    soft_accuracy,
    soft_masks,
    system_means,
)

ACCURACY = Measure("accuracy")


def test_agreement_counts_signs() -> None:
    found = estimate(np.array([[1, 2, 3, 3, 4.0]]), np.array([[1, 1, 2, 1, 2.0]]), ACCURACY)
    assert (found.value, found.pairs) == (0.5, 10)
    assert found.chance == pytest.approx(0.45)  # one pair is tied in gold


def test_pooling_adds_counts() -> None:
    gold, metric = np.array([[1.0, 2, 3], [1, 2, np.nan]]), np.array([[1.0, 2, 3], [2, 1, 0]])
    found = estimate(gold, metric, Measure("accuracy", "system"))  # rows are language pairs
    assert (found.value, found.pairs, found.chance) == (3 / 4, 4, 0.5)
    assert estimate(gold * np.nan, metric, Measure("accuracy", "system")).pairs == 0


@pytest.mark.parametrize(("gap", "value", "pairs"), [(25, 0.6, 5), (1, 1 / 3, 6)])
def test_darr(gap: float, value: float, pairs: int) -> None:
    gold, metric = np.array([10, 11, 100, 150.0])[:, None], np.array([2, 1, 4, 3.0])[:, None]
    found = estimate(gold, metric, Measure("darr", "item", gap=gap))
    assert (found.value, found.pairs) == (pytest.approx(value), pairs)


vector = arrays(np.float64, 6, elements=st.integers(0, 5).map(float))


@settings(deadline=None)
@given(vector, vector, st.sampled_from([0.0, 1.0, 3.0]))
def test_counts_equal_the_loops(gold: np.ndarray, metric: np.ndarray, gap: float) -> None:
    concordant, compared = darr_rows(gold, metric, gap)
    assert (int(concordant), int(compared)) == loops.darr(gold, metric, gap)
    found = estimate(gold[None], metric[None], ACCURACY)
    agree, pairs = loops.agreement(gold, metric)
    assert (found.value, found.pairs) == (pytest.approx(agree / pairs, abs=1e-15), pairs)


def test_soft_pairwise_accuracy() -> None:
    gold, metric = np.array([[1, 2, 3.0], [2, 3, 4]]), np.array([[2, 2, 4.0], [1, 3, 5]])
    assert soft_accuracy(gold, metric)[0] == pytest.approx(0.872, abs=1e-12)
    scores = np.array([[0.8, 0.9, 0.7, 1, 0.6], [0.2, 0.3, 0.1, 0.4, 0], [0.5, 0.2, 0.6, 0.3, 0.4]])
    assert pairwise_p(scores, soft_masks(5), np.zeros(3, dtype=bool)) == pytest.approx([0.036, 0.036, 0.890], abs=1e-12)


def test_soft_accuracy_uses_segments_judged_for_all_systems() -> None:
    rng = np.random.default_rng(0)
    gold, metric = rng.normal(size=(2, 4, 30))
    whole = soft_accuracy(gold[:, 5:], metric[:, 5:])
    gold[1, :5] = np.nan
    assert soft_accuracy(gold, metric) == whole
    assert np.isnan(soft_accuracy(np.full((2, 3), np.nan), np.ones((2, 3)))[0])


def test_chance_of_soft_accuracy_is_what_random_metrics_get() -> None:
    rng = np.random.default_rng(1)
    gold = rng.normal(size=(6, 80)) + np.arange(6)[:, None] * 0.1
    got = [soft_accuracy(gold, rng.normal(size=gold.shape))[0] for _ in range(150)]
    assert soft_accuracy(gold, gold)[2] == pytest.approx(np.mean(got), abs=0.02)


def test_chance_of_accuracy_is_what_random_metrics_get() -> None:
    rng = np.random.default_rng(2)
    gold = np.repeat([1.0, 2.0, 3.0, 4.0], 2)
    got = [estimate(gold[None], rng.normal(size=(1, 8)), ACCURACY).value for _ in range(400)]
    assert estimate(gold[None], gold[None], ACCURACY).chance == pytest.approx(np.mean(got), abs=0.02)


@pytest.mark.parametrize("statistic", ["acc_eq0", "tau23_0"])
def test_chance_of_rows_with_ties_is_what_random_metrics_get(statistic: str) -> None:
    """Averaged over items: one has every pair tied in gold, one half of them, one none."""
    rng = np.random.default_rng(3)
    gold = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])  # (systems, items)
    measure = Measure(statistic, "item")
    got = [estimate(gold, rng.normal(size=gold.shape), measure).value for _ in range(600)]
    assert estimate(gold, gold, measure).chance == pytest.approx(np.mean(got), abs=0.03)
    ties = np.array([6, 2, 0]) / 6
    accuracy = ((1 - ties) / 2).mean()
    expected = accuracy if statistic == "acc_eq0" else 2 * accuracy - 1
    assert estimate(gold, gold, measure).chance == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "acc_eq0", "acc_eq", "tau23", "darr"])
def test_rows_and_pairs_that_count(statistic: str) -> None:
    """Of four items one has no score, one has one score, one is judged by three systems and one by all four."""
    gold = np.array([[np.nan, 1, 1, 1], [np.nan, np.nan, 2, 2], [np.nan, np.nan, 3, 3], [np.nan, np.nan, np.nan, 4.0]])
    metric = np.arange(16.0).reshape(4, 4) % 7
    found = estimate(gold, metric, Measure(statistic, "item", gap=1.0))
    assert (found.rows, found.pairs) == (2, 3 + 6)


def test_undefined_rows_are_left_out_or_count_as_zero() -> None:
    gold = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    metric = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])  # constant on the second item
    left_out, zero = (estimate(gold, metric, Measure("pearson", "item", nan_as_zero=as_zero))
                      for as_zero in (False, True))
    assert (left_out.rows, zero.rows) == (1, 2)
    assert (left_out.value, zero.value) == (pytest.approx(1.0), pytest.approx(0.5))


def test_means_leave_out_what_is_unknown() -> None:
    assert system_means(np.array([[1.0, np.nan, 3.0], [np.nan] * 3]))[0] == 2.0
    assert np.isnan(system_means(np.array([[np.nan]]))[0])
