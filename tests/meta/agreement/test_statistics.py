"""Agreement statistics: published numbers, scipy, the plain loops, what was not judged, chance levels, ties."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks import meta_loops as loops
from wholetext.meta.agreement.correlation import (
    as_rows,
    average_rows,
    count_pairs,
    kendall_c_rows,
    pearson_rows,
    rank_rows,
    spearman_rows,
    williams,
    zscore,
)
from wholetext.meta.agreement.measures import (
    Measure,
    calibrate,
    darr_rows,
    estimate,
    pairwise_p,
    soft_accuracy,
    soft_masks,
    system_means,
)

nan = float("nan")
GOLD = np.array([[1, 2, 3], [4, 5, 6]], dtype=float)
METRIC = np.array([[2, 1, 4], [3, 3, 7]], dtype=float)
GOLD4 = np.array([1, 2, 3, 4, 5, 5, 7, 8], dtype=float).reshape(4, 2)
ONE4 = np.array([1, 2, 3, 3, 7, 3, 5, 5], dtype=float).reshape(4, 2)
TWO4 = np.array([2, 1, 2, 6, 8, 8, 7, 6], dtype=float).reshape(4, 2)
ACCURACY = Measure("accuracy")
PLAIN = {"pearson": loops.pearson, "spearman": loops.spearman, "kendall": loops.kendall, "kendall_c": loops.kendall_c,
         "acc_eq0": loops.acc_eq}


# ---------------------------------------------------------------- correlations


@pytest.mark.parametrize(("statistic", "expected"), [
    ("pearson", (0.776, 0.760, 1.0)), ("kendall", (0.552, 0.575, 1.0)), ("kendall_c", (0.556, 0.611, 1.0))])
def test_two_systems(statistic: str, expected: tuple[float, ...]) -> None:
    got = [estimate(GOLD, METRIC, Measure(statistic, average)).value for average in ("none", "system", "item")]
    assert got == pytest.approx(expected, abs=6e-4)
    assert estimate(GOLD, METRIC, Measure("pdp")).value == pytest.approx(0.926, abs=6e-4)


@pytest.mark.parametrize(("statistic", "average", "one", "two"), [
    ("pearson", "none", 0.751064, 0.748580), ("pearson", "item", 0.890077, 0.741544),
    ("pearson", "system", 1.0, -0.333333), ("kendall", "none", 0.746390, 0.500370),
    ("spearman", "none", 0.852112, 0.695174), ("acc_eq0", "none", 0.75, 0.714286),
    ("acc_eq0", "item", 0.833333, 0.666667), ("spa", "none", 0.951167, 0.872667)])
def test_four_systems(statistic: str, average: str, one: float, two: float) -> None:
    measure = Measure(statistic, average)  # type: ignore[arg-type]
    assert estimate(GOLD4, ONE4, measure).value == pytest.approx(one, abs=5e-7)
    assert estimate(GOLD4, TWO4, measure).value == pytest.approx(two, abs=5e-7)


scores = st.integers(-4, 4).map(float)
matrices = arrays(np.float64, (4, 6), elements=scores)
gappy = arrays(np.float64, (4, 6), elements=st.one_of(scores, scores, st.just(nan)))
averages = st.sampled_from(["none", "item", "system"])


@settings(deadline=None, max_examples=60)
@given(gappy, matrices, averages, st.sampled_from(list(PLAIN)))
def test_equals_the_loops(gold: np.ndarray, metric: np.ndarray, average: str, statistic: str) -> None:
    expected = loops.correlation(gold, metric, PLAIN[statistic], average)
    assert estimate(gold, metric, Measure(statistic, average)).value == pytest.approx(expected, abs=1e-9)


def test_undefined_rows_are_left_out_or_count_as_zero() -> None:
    gold = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    metric = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    assert np.isnan(pearson_rows(gold, metric)[0])
    for nan_as_zero, expected in ((False, (-1.0, 1)), (True, (-0.5, 2))):
        result = estimate(gold, metric, Measure("pearson", "system", nan_as_zero=nan_as_zero))
        assert (result.value, result.rows) == expected
    nothing = estimate(np.ones((2, 3)), metric, Measure("pearson", "system"))
    assert (nothing.value, nothing.rows) == (0.0, 0)
    assert float(average_rows(np.array([nan, nan]))) == 0.0
    assert not zscore(np.ones((1, 3)), np.ones((1, 3), dtype=bool)).any()


def test_micro_average_weighs_rows_by_length() -> None:
    gold = np.array([[1.0, 2.0, nan, nan], [1.0, 2.0, 3.0, 4.0]])
    metric = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]])
    assert estimate(gold, metric, Measure("pearson", "system")).value == pytest.approx(0.0)
    assert estimate(gold, metric, Measure("pearson", "system", micro=True)).value == pytest.approx((4 - 2) / 6)


@settings(deadline=None)
@given(arrays(np.float64, (3, 7), elements=st.one_of(st.integers(0, 4).map(float), st.just(nan))))
def test_ranks_within_each_row(values: np.ndarray) -> None:
    for row, ranks in zip(values, rank_rows(values)):
        known = row[~np.isnan(row)]
        expected = [(known < value).sum() + ((known == value).sum() + 1) / 2 for value in known]
        assert ranks[~np.isnan(row)].tolist() == expected and np.isnan(ranks[np.isnan(row)]).all()


def test_long_rows_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 5, 500).astype(float)
    metric = np.round(gold * 0.2 + rng.normal(size=500), 1)
    for got, expected in ((count_pairs(gold, metric).tau_b, scipy.stats.kendalltau(gold, metric)),
                          (kendall_c_rows(gold, metric), scipy.stats.kendalltau(gold, metric, variant="c")),
                          (spearman_rows(gold, metric), scipy.stats.spearmanr(gold, metric))):
        assert float(got) == pytest.approx(expected[0], abs=1e-12)


def test_williams_where_its_statistic_has_no_spread() -> None:
    """Two metrics that correlate perfectly with each other: equal ones are a coin flip, and 0 / 0 is never divided."""
    assert williams(0.5, 0.5, 1.0, 10) == 0.5
    assert williams(0.5, 0.5, 1.0, 10, one_sided=False) == 1.0


# ---------------------------------------------------------------- pairs


def test_agreement_counts_signs_and_pools_counts() -> None:
    result = estimate(np.array([[1, 2, 3, 3, 4.0]]), np.array([[1, 1, 2, 1, 2.0]]), ACCURACY)
    assert (result.value, result.pairs) == (0.5, 10)
    assert result.chance == pytest.approx(0.45)  # one pair is tied in gold
    gold, metric = np.array([[1.0, 2, 3], [1, 2, nan]]), np.array([[1.0, 2, 3], [2, 1, 0]])
    result = estimate(gold, metric, Measure("accuracy", "system"))  # rows are language pairs
    assert (result.value, result.pairs, result.chance) == (3 / 4, 4, 0.5)
    assert estimate(gold * nan, metric, Measure("accuracy", "system")).pairs == 0


@pytest.mark.parametrize(("gap", "value", "pairs"), [(25, 0.6, 5), (1, 1 / 3, 6)])
def test_darr(gap: float, value: float, pairs: int) -> None:
    gold, metric = np.array([10, 11, 100, 150.0])[:, None], np.array([2, 1, 4, 3.0])[:, None]
    result = estimate(gold, metric, Measure("darr", "item", gap=gap))
    assert (result.value, result.pairs) == (pytest.approx(value), pairs)


vector = arrays(np.float64, 6, elements=st.integers(0, 5).map(float))


@settings(deadline=None)
@given(vector, vector, st.sampled_from([0.0, 1.0, 3.0]))
def test_counts_equal_the_loops(gold: np.ndarray, metric: np.ndarray, gap: float) -> None:
    concordant, compared = darr_rows(gold, metric, gap)
    assert (int(concordant), int(compared)) == loops.darr(gold, metric, gap)
    result = estimate(gold[None], metric[None], ACCURACY)
    agree, pairs = loops.agreement(gold, metric)
    assert (result.value, result.pairs) == (pytest.approx(agree / pairs, abs=1e-15), pairs)


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "acc_eq0", "acc_eq", "tau23", "darr"])
def test_rows_and_pairs_that_count(statistic: str) -> None:
    """Of four items one has no score, one has one score, one is judged by three systems and one by all four."""
    gold = np.array([[nan, 1, 1, 1], [nan, nan, 2, 2], [nan, nan, 3, 3], [nan, nan, nan, 4.0]])
    result = estimate(gold, np.arange(16.0).reshape(4, 4) % 7, Measure(statistic, "item", gap=1.0))
    assert (result.rows, result.pairs) == (2, 3 + 6)
    assert system_means(gold)[1] == 2.0 and np.isnan(system_means(gold.T)[0])


# ---------------------------------------------------------------- soft pairwise accuracy, chance


def test_soft_pairwise_accuracy() -> None:
    gold, metric = np.array([[1, 2, 3.0], [2, 3, 4]]), np.array([[2, 2, 4.0], [1, 3, 5]])
    assert soft_accuracy(gold, metric)[0] == pytest.approx(0.872, abs=1e-12)
    scores = np.array([[0.8, 0.9, 0.7, 1, 0.6], [0.2, 0.3, 0.1, 0.4, 0], [0.5, 0.2, 0.6, 0.3, 0.4]])
    assert pairwise_p(scores, soft_masks(5), np.zeros(3, dtype=bool)) == pytest.approx([0.036, 0.036, 0.890], abs=1e-12)
    gold, metric = np.random.default_rng(0).normal(size=(2, 4, 30))
    whole = soft_accuracy(gold[:, 5:], metric[:, 5:])
    gold[1, :5] = nan  # segments count that are judged for all systems
    assert soft_accuracy(gold, metric) == whole
    assert np.isnan(soft_accuracy(np.full((2, 3), nan), np.ones((2, 3)))[0])


def test_spa_of_tied_systems_does_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    gold = -rng.integers(0, 6, (7, 200)).astype(float) - 0.3 * np.arange(7)[:, None]
    same = np.tile(rng.normal(size=200), (7, 1))
    some = same + np.where(np.arange(7)[:, None] < 5, 0.0, rng.normal(size=(7, 200)))
    for metric, tied in ((same, 7), (some, 5)):
        orders = [rng.permutation(tied).tolist() + list(range(tied, 7)) for _ in range(4)]
        values = [soft_accuracy(gold[o], metric[o])[0] for o in orders]
        assert values == pytest.approx([values[0]] * 4, abs=1e-12 if tied == 7 else 2e-3)
    assert soft_accuracy(gold, same)[0] == pytest.approx(soft_accuracy(gold[::-1], same[::-1])[0], abs=1e-12)


TIED = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])


@pytest.mark.parametrize(("measure", "gold", "draws"), [
    (Measure("spa"), np.random.default_rng(1).normal(size=(6, 80)) + np.arange(6)[:, None] * 0.1, 150),
    (ACCURACY, np.repeat([1.0, 2.0, 3.0, 4.0], 2)[None], 400),
    (Measure("acc_eq0", "item"), TIED, 600), (Measure("tau23_0", "item"), TIED, 600)])
def test_chance_is_what_random_metrics_get(measure: Measure, gold: np.ndarray, draws: int) -> None:
    rng = np.random.default_rng(3)
    got = [estimate(gold, rng.normal(size=gold.shape), measure).value for _ in range(draws)]
    assert estimate(gold, gold, measure).chance == pytest.approx(np.mean(got), abs=0.03)


# ---------------------------------------------------------------- ties


def curve(gold: np.ndarray, metric: np.ndarray, average: str, thresholds: list[float]) -> list[float]:
    """acc_eq at each threshold, from the pair counts."""
    x, y = (as_rows(values, average) for values in (gold, metric))  # type: ignore[arg-type]
    return [float(np.nanmean(count_pairs(x, y, threshold).acc_eq)) for threshold in thresholds]


def test_the_kendall_family() -> None:
    gold, metric = np.array([1, 2, 2, 3, 4.0]), np.array([2, 1, 1.5, 5, 3])
    counts = count_pairs(gold, metric)
    result = (counts.tau_b, kendall_c_rows(gold, metric), counts.tau23, counts.acc_eq,
             count_pairs(gold, metric, 2.0).acc_eq, calibrate(gold[None], metric[None], "none").value)
    assert list(map(float, result)) == pytest.approx([0.316227766, 0.32, 0.2, 0.6, 0.4, 0.7], abs=1e-9)


@pytest.mark.parametrize(("human", "values", "best"), [
    ([1, 2, 3, 4], [1, 4 / 6, 3 / 6, 1 / 6, 0], 0.0), ([1, 1, 1, 4], [3 / 6, 3 / 6, 4 / 6, 4 / 6, 3 / 6], 4.0)])
def test_curves(human: list[float], values: list[float], best: float) -> None:
    gold, metric = np.array([human], dtype=float), np.array([[0, 2, 6, 8.0]])
    assert curve(gold, metric, "none", [0, 2, 4, 6, 8]) == pytest.approx(values, abs=1e-12)
    assert calibrate(gold, metric, "none").epsilon == best


def test_matrices_with_gaps() -> None:
    metric = np.array([[0, 5, 2, 3, 2], [nan, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [nan] * 5])
    human = np.array([[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, nan, 3, 2], [nan] * 5])
    expected = [0.466667, 0.491667, 0.383333, 0.291667, 0.266667, 0.2, 0.158333, 0.158333, 0.116667]
    assert curve(human, metric, "system", list(range(9))) == pytest.approx(expected, abs=5e-7)
    result = calibrate(human, metric, "system")
    assert (result.epsilon, result.rows, result.pairs) == (1.0, 4, 32)
    nothing = calibrate(np.full((3, 2), nan), np.ones((3, 2)), "item")
    assert np.isnan(nothing.value) and nothing.pairs == 0


few = arrays(np.float64, (5, 7), elements=st.one_of(st.integers(0, 3).map(float), st.just(nan)))
many = arrays(np.float64, (5, 7), elements=st.integers(0, 9).map(lambda i: i / 7))


@settings(deadline=None, max_examples=50)
@given(few, many, averages)
def test_calibration_equals_the_loops(gold: np.ndarray, metric: np.ndarray, average: str) -> None:
    if not any(len(g) for g, _ in loops.known_rows(gold, metric, average=average)):
        return
    thresholds, values = loops.calibrate(gold, metric, average)
    assert curve(gold, metric, average, thresholds) == pytest.approx(values, abs=1e-12)
    result = calibrate(gold, metric, average)  # type: ignore[arg-type]
    assert result.value == pytest.approx(max(values), abs=1e-12)
    assert result.epsilon == next(t for t, v in zip(thresholds, values) if v >= max(values) - 1e-11)


def test_chance_of_a_calibrated_metric() -> None:
    gold = np.zeros((4, 50))
    gold[0, :10] = 1.0
    metric = np.random.default_rng(0).normal(size=gold.shape)
    result = estimate(gold, metric, Measure("acc_eq", "item"))
    assert result.chance == pytest.approx((40 * 1.0 + 10 * 0.5) / 50)  # a constant metric gets every gold tie
    assert result.value >= result.chance
    assert estimate(gold, metric, Measure("tau23", "item")).value == pytest.approx(2 * result.value - 1)
