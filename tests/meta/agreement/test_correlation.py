"""Correlations and averaging: hand-checked numbers, scipy, the plain loops, and the rules for what was not judged."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks import meta_loops as loops
from wholetext.meta.agreement.correlation import (
    average_rows,
    count_pairs,
    kendall_c_rows,
    pearson_rows,
    rank_rows,
    spearman_rows,
    williams,
    zscore,
)
from wholetext.meta.agreement.measures import Measure, estimate

GOLD = np.array([[1, 2, 3], [4, 5, 6]], dtype=float)
METRIC = np.array([[2, 1, 4], [3, 3, 7]], dtype=float)
GOLD4 = np.array([1, 2, 3, 4, 5, 5, 7, 8], dtype=float).reshape(4, 2)
ONE4 = np.array([1, 2, 3, 3, 7, 3, 5, 5], dtype=float).reshape(4, 2)
TWO4 = np.array([2, 1, 2, 6, 8, 8, 7, 6], dtype=float).reshape(4, 2)


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("pearson", (0.776, 0.760, 1.0)), ("kendall", (0.552, 0.575, 1.0)), ("kendall_c", (0.556, 0.611, 1.0))],
)
def test_two_systems(statistic: str, expected: tuple[float, ...]) -> None:
    got = [estimate(GOLD, METRIC, Measure(statistic, average)).value for average in ("none", "system", "item")]
    assert got == pytest.approx(expected, abs=6e-4)


def test_pairwise_differences() -> None:
    assert estimate(GOLD, METRIC, Measure("pdp")).value == pytest.approx(0.926, abs=6e-4)


@pytest.mark.parametrize(
    ("statistic", "average", "one", "two"),
    [
        ("pearson", "none", 0.751064, 0.748580),
        ("pearson", "item", 0.890077, 0.741544),
        ("pearson", "system", 1.0, -0.333333),
        ("kendall", "none", 0.746390, 0.500370),
        ("spearman", "none", 0.852112, 0.695174),
        ("acc_eq0", "none", 0.75, 0.714286),
        ("acc_eq0", "item", 0.833333, 0.666667),
        ("spa", "none", 0.951167, 0.872667),
    ],
)
def test_four_systems(statistic: str, average: str, one: float, two: float) -> None:
    measure = Measure(statistic, average)  # type: ignore[arg-type]
    assert estimate(GOLD4, ONE4, measure).value == pytest.approx(one, abs=5e-7)
    assert estimate(GOLD4, TWO4, measure).value == pytest.approx(two, abs=5e-7)


scores = st.integers(-4, 4).map(float)
matrices = arrays(np.float64, (4, 6), elements=scores)
gappy = arrays(np.float64, (4, 6), elements=st.one_of(scores, scores, st.just(float("nan"))))


@settings(deadline=None, max_examples=60)
@given(
    gappy,
    matrices,
    st.sampled_from(["none", "item", "system"]),
    st.sampled_from(["pearson", "spearman", "kendall", "kendall_c", "acc_eq0"]),
)
def test_equals_the_loops(gold: np.ndarray, metric: np.ndarray, average: str, statistic: str) -> None:
    plain = {
        "pearson": loops.pearson,
        "spearman": loops.spearman,
        "kendall": loops.kendall,
        "kendall_c": loops.kendall_c,
        "acc_eq0": loops.acc_eq,
    }[statistic]
    expected = loops.correlation(gold, metric, plain, average)
    assert estimate(gold, metric, Measure(statistic, average)).value == pytest.approx(expected, abs=1e-9)


def test_constant_rows_are_undefined_and_left_out() -> None:
    gold = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    metric = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    assert np.isnan(pearson_rows(gold, metric)[0])
    found = estimate(gold, metric, Measure("pearson", "system"))
    assert (found.value, found.rows) == (-1.0, 1)
    zeroed = estimate(gold, metric, Measure("pearson", "system", nan_as_zero=True))
    assert (zeroed.value, zeroed.rows) == (-0.5, 2)
    nothing = estimate(np.ones((2, 3)), metric, Measure("pearson", "system"))
    assert (nothing.value, nothing.rows) == (0.0, 0)


def test_rows_with_fewer_than_two_judgments_do_not_count() -> None:
    gold = np.array([[1.0, np.nan, np.nan], [1.0, 2.0, np.nan], [np.nan] * 3])
    metric = np.arange(9.0).reshape(3, 3)
    found = estimate(gold, metric, Measure("pearson", "system"))
    assert (found.value, found.rows, found.pairs) == (pytest.approx(1.0), 1, 1)


def test_micro_average_weighs_rows_by_length() -> None:
    gold = np.array([[1.0, 2.0, np.nan, np.nan], [1.0, 2.0, 3.0, 4.0]])
    metric = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]])
    assert estimate(gold, metric, Measure("pearson", "system")).value == pytest.approx(0.0)
    assert estimate(gold, metric, Measure("pearson", "system", micro=True)).value == pytest.approx((4 - 2) / 6)


@settings(deadline=None)
@given(arrays(np.float64, (3, 7), elements=st.one_of(st.integers(0, 4).map(float), st.just(float("nan")))))
def test_ranks_within_each_row(values: np.ndarray) -> None:
    for row, ranks in zip(values, rank_rows(values)):
        known = row[~np.isnan(row)]
        expected = [(known < one).sum() + ((known == one).sum() + 1) / 2 for one in known]
        assert ranks[~np.isnan(row)].tolist() == expected and np.isnan(ranks[np.isnan(row)]).all()
    assert rank_rows(values[:, :0]).shape == (3, 0)


def test_long_rows_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 5, 500).astype(float)
    metric = np.round(gold * 0.2 + rng.normal(size=500), 1)
    assert float(count_pairs(gold, metric).tau_b) == pytest.approx(scipy.stats.kendalltau(gold, metric)[0], abs=1e-12)
    got = float(kendall_c_rows(gold, metric))
    assert got == pytest.approx(scipy.stats.kendalltau(gold, metric, variant="c")[0], abs=1e-12)
    assert float(spearman_rows(gold, metric)) == pytest.approx(scipy.stats.spearmanr(gold, metric)[0], abs=1e-12)


def test_averages_of_nothing() -> None:
    assert float(average_rows(np.array([np.nan, np.nan]))) == 0.0
    assert not zscore(np.ones((1, 3)), np.ones((1, 3), dtype=bool)).any()


def test_williams_where_its_statistic_has_no_spread():
    """Two metrics that correlate perfectly with each other: equal ones are a coin flip, and 0 / 0 is never divided."""
    assert williams(0.5, 0.5, 1.0, 10) == 0.5
    assert williams(0.5, 0.5, 1.0, 10, one_sided=False) == 1.0
