"""Bootstrap of agreement: unit weights give the statistic itself, and copies of a system are not compared."""

from __future__ import annotations

import numpy as np
import pytest

from wholetext.meta.agreement.bootstrap import (
    bootstrap_agreement,
    drawn_means,
    interval,
    resample,
    system_agreement,
)
from wholetext.meta.agreement.measures import Measure, estimate, system_means

Weights = tuple[np.ndarray, np.ndarray]


def once(gold: np.ndarray) -> Weights:
    """Draws that take everything exactly once."""
    return np.ones((2, len(gold))), np.ones((2, gold.shape[1]))


def at_system_level(gold: np.ndarray, metric: np.ndarray, measure: Measure, weights: Weights) -> np.ndarray:
    """(draws,) agreement of systems' scores, which are means over the items drawn."""
    by_system, by_item = weights
    judged = np.where(np.isnan(gold), np.nan, metric)
    return system_agreement(drawn_means(gold, by_item), drawn_means(judged, by_item), by_system, measure)


def scores(systems: int = 7, items: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(systems, 1))
    gold = np.round(quality + rng.normal(size=(systems, items)))
    gold[rng.random(gold.shape) < 0.1] = np.nan
    metrics = np.stack([np.nan_to_num(gold) * s + rng.normal(size=gold.shape) for s in (0.1, 1.0)])
    return gold, metrics


@pytest.mark.parametrize(("statistic", "average"), [("pearson", "none"), *((name, "item") for name in (
    "pearson", "kendall", "acc_eq", "acc_eq0", "tau23", "darr", "accuracy"))])
def test_everything_once_is_the_statistic(statistic: str, average: str) -> None:
    gold, metrics = scores()
    measure = Measure(statistic, average, gap=2.0)  # type: ignore[arg-type]
    got = [bootstrap_agreement(gold, m, measure, *once(gold))[0] for m in metrics]
    assert got == pytest.approx([estimate(gold, m, measure).value for m in metrics], abs=1e-12)


@pytest.mark.parametrize("statistic", ["kendall", "acc_eq", "accuracy"])
def test_one_item_is_the_same_pooled_or_averaged(statistic: str) -> None:
    gold, metrics = scores(items=1)
    gold[:, 0] = np.arange(len(gold)) % 4
    weights = resample("systems", len(gold), np.arange(1), 30, 1)
    pooled, by_item = (bootstrap_agreement(gold, metrics[1], Measure(statistic, average), *weights)
                       for average in ("none", "item"))  # type: ignore[arg-type]
    np.testing.assert_array_equal(pooled, by_item)
    assert np.isfinite(pooled).any() and len(set(pooled.tolist())) > 2


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "accuracy"])
def test_everything_once_at_system_level(statistic: str) -> None:
    gold, metrics = scores()
    got = [at_system_level(gold, m, Measure(statistic), once(gold))[0] for m in metrics]
    means = [system_means(np.where(np.isnan(gold), np.nan, m))[:, None] for m in metrics]
    expected = [estimate(system_means(gold)[:, None], m, Measure(statistic)).value for m in means]
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("unit", ["documents", "systems", "both"])
def test_intervals_hold_the_value_and_tell_metrics_apart(unit: str) -> None:
    gold, metrics = scores()
    weights = resample(unit, len(gold), np.arange(gold.shape[1]) // 4)  # type: ignore[arg-type]
    for measure in (Measure("pearson", "item"), Measure("acc_eq", "item")):
        drawn = [bootstrap_agreement(gold, m, measure, *weights) for m in metrics]
        for metric, values in zip(metrics, drawn):
            low, high = interval(values)
            assert low < estimate(gold, metric, measure).value < high
        assert (drawn[1] <= drawn[0]).mean() < 0.05 < (drawn[0] <= drawn[1]).mean()
    assert at_system_level(gold, metrics[0], Measure("pearson"), weights).shape == (1000,)


@pytest.mark.parametrize(("unit", "systems", "items"), [
    ("documents", False, True), ("systems", True, False), ("both", True, True)])
def test_each_unit_is_drawn_where_it_should_be(unit: str, systems: bool, items: bool) -> None:
    by_system, by_item = resample(unit, 5, np.array([0, 0, 1, 1, 2, 2]), 40)  # type: ignore[arg-type]
    assert by_system.shape == (40, 5) and by_item.shape == (40, 6)
    assert bool((by_system != 1).any()) is systems and bool((by_item != 1).any()) is items
    assert (by_system.sum(axis=1) == 5).all() and (by_item.sum(axis=1) == 6).all()
    assert (by_item[:, ::2] == by_item[:, 1::2]).all()  # documents are drawn whole


def test_a_system_is_not_compared_with_its_copy() -> None:
    """A metric that is always wrong stays at 0 however often a system is drawn twice."""
    gold = np.arange(6.0)[:, None] * np.ones((1, 5))
    result = at_system_level(gold, -gold, Measure("accuracy"), resample("systems", 6, np.arange(5), 200))
    assert np.nanmax(result) == 0.0 and interval(result)[1] == 0.0


def test_what_cannot_be_resampled_says_so() -> None:
    gold, metrics = scores()
    with pytest.raises(ValueError, match="no bootstrap"):
        bootstrap_agreement(gold, metrics[0], Measure("spearman", "item"), *once(gold))
    with pytest.raises(ValueError, match="no bootstrap"):
        at_system_level(gold, metrics[0], Measure("spearman"), once(gold))


def test_bounds_leave_half_of_the_rest_on_each_side() -> None:
    assert interval(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))
    assert interval(np.arange(1001.0)) == pytest.approx((25.0, 975.0))
