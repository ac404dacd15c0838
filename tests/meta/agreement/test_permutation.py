"""Significance between metrics: injected exchanges against plain loops to 1e-12, published p-values, early stopping."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import ndtr

from benchmarks import meta_loops as loops
from wholetext.meta.agreement import permutation
from wholetext.meta.agreement.correlation import as_rows, williams, williams_test, zscore
from wholetext.meta.agreement.measures import Measure, calibrate, estimate
from wholetext.meta.agreement.permutation import (
    Comparisons,
    PermutedPairs,
    PermutedPearson,
    PermutedScores,
    compare,
    random_swaps,
)

GOLD = np.array([1, 2, 3, 4, 5, 5, 7, 8], dtype=float).reshape(4, 2)
ONE = np.array([1, 2, 3, 3, 7, 3, 5, 5], dtype=float).reshape(4, 2)
TWO = np.array([2, 1, 2, 6, 8, 8, 7, 6], dtype=float).reshape(4, 2)


def legacy_swaps(shape: tuple[int, ...], draws: int) -> np.ndarray:
    """Exchanges as the reference implementation draws them with numpy's legacy generator, seed 0."""
    return np.asarray(np.random.RandomState(0).binomial(1, 0.5, (draws, *shape)) == 0)


def data(seed: int, systems: int = 5, items: int = 8, gaps: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Gold with ties and gaps, three metrics with ties and a constant item."""
    rng = np.random.default_rng(seed)
    gold = -np.abs(np.round(rng.normal(size=(systems, items)) * 2))
    metrics = np.round(gold * rng.uniform(0, 1, (3, 1, 1)) + rng.normal(size=(3, systems, items)), 1)
    metrics[0, :, 0] = 1.0
    metrics[1, :, 0] = 2.0
    gold[rng.random(gold.shape) < gaps] = np.nan
    return gold, metrics


def used(result: Comparisons) -> list[int]:
    """Draws of each pair of metrics."""
    return np.asarray((~np.isnan(result.null)).sum(axis=0)).tolist()


def exchanged(gold: np.ndarray, metrics: np.ndarray, measure: Measure, swaps: np.ndarray) -> Comparisons:
    """The pairs test with its exchanges given, (draws, rows, pairs of a row): verdict by verdict."""
    epsilons = np.array([calibrate(gold, metric, measure.average).epsilon for metric in metrics])
    x, y = as_rows(gold, measure.average), as_rows(metrics, measure.average)
    count = (~np.isnan(x)).sum(axis=1)
    used = count >= 2
    weights = np.where(used, 2 / np.maximum(count * (count - 1), 1) / used.sum(), 0.0)
    right = np.concatenate(list(permutation._verdicts(x, y, epsilons)), axis=1).astype(float)
    first, second = np.triu_indices(len(metrics), 1)
    difference = np.repeat(weights, x.shape[1] * (x.shape[1] - 1) // 2) * (right[first] - right[second])
    null = np.where(swaps, -1.0, 1.0).reshape(len(swaps), -1) @ difference.T
    return permutation._summarise(null, difference.sum(axis=1), len(metrics))


def test_published_p_values() -> None:
    swaps = legacy_swaps((4, 2), 1000)
    result = compare(GOLD, np.stack([TWO, ONE]), Measure("pearson"), swaps=swaps)
    assert result.p[0, 1] == pytest.approx(0.522, abs=1e-12)
    assert result.delta[0, 1] == pytest.approx(-0.002484, abs=5e-7)
    stopped = compare(GOLD, np.stack([TWO, ONE]), Measure("pearson"), swaps=swaps, block=100)
    assert (used(stopped), stopped.p[0, 1]) == ([200], pytest.approx(0.53, abs=1e-12))


@pytest.mark.long
@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10_000), st.sampled_from(["none", "item", "system"]),
       st.sampled_from(["pearson", "kendall", "spearman", "acc_eq0"]))
def test_same_exchanges_same_p(seed: int, average: str, statistic: str) -> None:
    gold, metrics = data(seed, items=6)
    swaps = random_swaps(np.random.default_rng(seed), (15, *gold.shape))
    result = compare(gold, metrics, Measure(statistic, average), swaps=swaps)  # type: ignore[arg-type]
    plain = {"pearson": loops.pearson, "kendall": loops.kendall, "spearman": loops.spearman, "acc_eq0": loops.acc_eq}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        masks = [np.concatenate([m for _, m in loops.known_rows(gold, s.astype(float), average=average)])
                 for s in swaps]
        p = loops.perm_both(gold, metrics[i], metrics[j], plain[statistic], average, masks)
        assert result.p[i, j] == pytest.approx(p, abs=1e-12)
        back = loops.perm_both(gold, metrics[j], metrics[i], plain[statistic], average, masks)
        assert result.p[j, i] == pytest.approx(back, abs=1e-12)
        assert result.delta[j, i] == -result.delta[i, j]
    values = [estimate(gold, metric, Measure(statistic, average)).value for metric in metrics]  # type: ignore[arg-type]
    expected = np.subtract.outer(values, values)[~np.eye(3, dtype=bool)]
    np.testing.assert_allclose(result.delta[~np.eye(3, dtype=bool)], expected, atol=1e-6)
    assert np.isnan(result.p.diagonal()).all()


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "accuracy", "acc_eq0", "tau23_0"])
@pytest.mark.parametrize("average", ["item", "none"])
def test_products_equal_hybrids_that_are_formed(statistic: str, average: str) -> None:
    gold, metrics = data(3, items=6)
    measure = Measure(statistic, average)  # type: ignore[arg-type]
    swaps = random_swaps(np.random.default_rng(1), (30, *gold.shape))
    result = compare(gold, metrics, measure, swaps=swaps)
    rows = as_rows(gold, measure.average)
    known = ~np.isnan(as_rows(gold, measure.average))
    formed = PermutedScores(rows, zscore(as_rows(metrics, measure.average), known), measure)
    masks = as_rows(swaps.astype(float), measure.average) > 0
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    np.testing.assert_allclose(result.null, formed.differences(masks, pairs), atol=1e-12)


def test_darr_and_pairwise_differences_under_exchange() -> None:
    gold, metrics = data(5, gaps=0.2)
    swaps = random_swaps(np.random.default_rng(1), (20, *gold.shape))
    spread = [(m - m[~np.isnan(gold)].mean()) / m[~np.isnan(gold)].std() for m in metrics]
    for measure in (Measure("darr", "item", gap=2.0), Measure("pdp", "item")):
        result = compare(gold, metrics, measure, swaps=swaps)
        for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
            for draw in range(20):
                one, two = np.where(swaps[draw], spread[j], spread[i]), np.where(swaps[draw], spread[i], spread[j])
                expected = estimate(gold, one, measure).value - estimate(gold, two, measure).value
                assert result.null[draw, k] == pytest.approx(expected, abs=1e-12)


def test_nearly_constant_rows_lose_no_digits() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(5, 40))
    flat = 1e3 + np.round(rng.normal(size=(5, 40)) * 1e-7, 9) + np.arange(40)  # differs by item, hardly within one
    metrics = np.stack([flat, flat[:, ::-1]])
    swaps = np.zeros((1, 5, 40), dtype=bool)
    result = compare(gold, metrics, Measure("pearson", "item"), swaps=swaps)
    expected = [estimate(gold, m, Measure("pearson", "item")).value for m in metrics]
    assert result.delta[0, 1] == pytest.approx(expected[0] - expected[1], abs=1e-6)


def test_own_draws_are_seeded_and_p_is_uniform_under_the_null() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(6, 30))
    metrics = gold + rng.normal(size=(60, 6, 30))  # equally good metrics
    result = compare(gold, metrics, Measure("pearson"), draws=200)
    again = compare(gold, metrics, Measure("pearson"), draws=200)
    np.testing.assert_array_equal(result.p, again.p)
    p = result.p[np.triu_indices(60, 1)]
    assert 0.45 < p.mean() < 0.55
    assert 0.01 < (p <= 0.05).mean() < 0.10


def test_early_stopping_settles_pairs_one_by_one() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(6, 60))
    metrics = np.stack([gold + rng.normal(size=gold.shape) * s for s in (0.1, 1.0, 1.02)])
    result = compare(gold, metrics, Measure("pearson"), draws=1000, block=100)
    assert used(result)[:2] == [100, 100] and used(result)[2] >= 100
    assert np.isnan(result.null[100:, 0]).all()
    full = compare(gold, metrics, Measure("pearson"), draws=1000)
    assert used(full) == [1000] * 3


def test_the_pairs_test_with_injected_exchanges() -> None:
    gold, metrics = data(9, systems=5, items=12)
    n = 10
    swaps = random_swaps(np.random.default_rng(0), (50, 12, n))
    result = exchanged(gold, metrics, Measure("acc_eq", "item"), swaps)
    epsilons = [estimate(gold, m, Measure("acc_eq", "item")).epsilon or 0.0 for m in metrics]
    first, second = np.triu_indices(5, 1)
    for i, j in ((0, 1), (1, 2)):
        masks = []
        for draw in swaps:
            per_item = []
            for item in range(12):
                keep = ~np.isnan(gold[:, item])
                if keep.sum() >= 2:
                    full = np.zeros((5, 5), dtype=bool)
                    full[first, second] = draw[item]
                    per_item.append(full[np.ix_(keep, keep)])
            masks.append(per_item)
        p = loops.pairs_test(gold, metrics[i], metrics[j], (epsilons[i], epsilons[j]), masks)
        assert result.p[i, j] == pytest.approx(p, abs=1e-12)


def test_binomials_equal_drawn_verdicts() -> None:
    gold, metrics = data(11, systems=6, items=60)
    swaps = random_swaps(np.random.default_rng(0), (4000, 60, 15))
    measure = Measure("acc_eq", "item")
    injected = exchanged(gold, metrics, measure, swaps)
    drawn = compare(gold, metrics, measure, draws=4000)
    np.testing.assert_allclose(drawn.delta, injected.delta, atol=1e-12)
    error = np.sqrt(0.25 / 4000) * np.sqrt(2)
    assert np.nanmax(np.abs(drawn.p - injected.p)) < 4 * error
    long = compare(gold, metrics, Measure("tau23", "none"), draws=500)
    expected = [estimate(gold, m, Measure("tau23", "none")).value for m in metrics]
    assert long.delta[0, 2] == pytest.approx(expected[0] - expected[2], abs=1e-12)


def test_williams() -> None:
    assert williams(0.9, 0.8, 0.7, 20) == pytest.approx(0.0938983, abs=5e-8)
    gold, one, two = np.arange(1, 6.0), np.array([1.1, 2, 3.1, 4, 5.1]), np.array([1.5, 2, 3.1, 4, 5.5])
    assert williams_test(gold, one, two) == pytest.approx(0.019, abs=5e-4)
    assert williams_test(GOLD.ravel(), ONE.ravel(), TWO.ravel()) == pytest.approx(0.495256, abs=5e-7)
    assert np.isnan(williams(0.5, 0.4, 0.3, 3))
    assert williams(0.9, 0.8, 0.7, 20, one_sided=False) == pytest.approx(2 * 0.0938983, abs=1e-7)
    gap = np.append(gold, np.nan)
    assert williams_test(gap, np.append(one, 9.0), np.append(two, 1.0)) == williams_test(gold, one, two)


def test_soft_pairwise_accuracy_under_exchange() -> None:
    """Against the formula itself: p = Φ(-Σd / √Σd²) of every pair of systems, for gold and hybrid."""
    rng = np.random.default_rng(4)
    gold = np.round(rng.normal(size=(5, 40)) + np.arange(5)[:, None] * 0.2, 1)
    gold[2, 3] = np.nan  # the segment is left out for all
    metrics = np.stack([np.nan_to_num(gold) * s + rng.normal(size=gold.shape) for s in (0.2, 0.6)])
    swaps = random_swaps(rng, (20, *gold.shape))
    result = compare(gold, metrics, Measure("spa"), swaps=swaps)
    kept = ~np.isnan(gold).any(axis=0)
    spread = [(m[:, kept] - m[:, kept].mean()) / m[:, kept].std() for m in metrics]

    def p_values(scores: np.ndarray) -> np.ndarray:
        first, second = np.triu_indices(5, 1)
        gap = scores[first] - scores[second]
        return np.asarray(ndtr(-gap.sum(axis=1) / np.sqrt((gap**2).sum(axis=1))))

    for draw in range(20):
        mask = swaps[draw][:, kept]
        hybrids = np.where(mask, spread[1], spread[0]), np.where(mask, spread[0], spread[1])
        one, two = (1 - np.abs(p_values(h) - p_values(gold[:, kept])).mean() for h in hybrids)
        assert result.null[draw, 0] == pytest.approx(one - two, abs=1e-5)  # single precision inside
    same = compare(gold, np.stack([metrics[0], metrics[0]]), Measure("spa"), draws=50)
    assert same.p[0, 1] == 1.0  # equal metrics: every draw equals the observed 0
    assert compare(gold, metrics, Measure("spa")).delta[1, 0] == pytest.approx(
        estimate(gold, metrics[1], Measure("spa")).value - estimate(gold, metrics[0], Measure("spa")).value, abs=0.03)


def test_statistics_without_a_test_say_so() -> None:
    with pytest.raises(ValueError, match="no permutation test"):
        compare(np.ones((2, 70)), np.ones((2, 2, 70)), Measure("accuracy", "system"))


def test_rows_of_two_scores_count():
    """Two judged scores are the fewest that can agree: r and tau are then 1 or -1, and undefined under a tie."""
    gold = np.array([[1.0, 2.0, np.nan]])
    metrics = np.array([[[1.0, 2.0, 9.0]], [[2.0, 1.0, 0.0]]])
    none = np.zeros((1, 1, 3), dtype=bool)
    assert PermutedPearson(gold, metrics).differences(none, np.array([[0, 1]]))[0, 0] == pytest.approx(2.0)
    balance_and_ties = np.array([[[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]], dtype=np.float32)
    sums = np.zeros((2, 1, 3))
    PermutedPairs(gold, metrics, Measure("kendall", "system"))._add(sums, balance_and_ties, slice(0, 1), 1)
    assert sums.tolist() == [[[1.0, -1.0, 0.0]], [[1.0, 1.0, 0.0]]]
