"""Every number of mt-metrics-eval on real judgments: statistics to 1e-9, p-values with its own exchanges to 1e-12."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meta.agreement.test_permutation import exchanged
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.correlation import both_known, williams_test
from wholetext.meta.agreement.measures import Measure, estimate, pairwise_p, soft_masks
from wholetext.meta.agreement.permutation import compare
from wholetext.scoring.significance.resample import cluster_ranks

SETS = ["wmt21.news.mqm.en-de", "wmt21.news.mqm.zh-en", "wmt21.tedtalks.en-de", "wmt21.tedtalks.zh-en"]
GIVEN_ONCE = ["wmt21.tedtalks.zh-en"]  # tests by item were recorded for this set alone
pytestmark = pytest.mark.data

SEGMENT = {
    f"{name}_{short}": Measure(name, average)  # type: ignore[arg-type]
    for name in ("pearson", "kendall", "spearman")
    for short, average in (("none", "none"), ("sys", "system"), ("item", "item"))
}
SEGMENT |= {
    "kendall_c_item": Measure("kendall_c", "item"),
    "pearson_pdp_item": Measure("pdp", "item"),
    "pearson_item_nan0": Measure("pearson", "item", nan_as_zero=True),
    "acc23_eps0_item": Measure("acc_eq0", "item"),
    "tau23_eps0_item": Measure("tau23_0", "item"),
    "acc23_eps0_sys": Measure("acc_eq0", "system"),
    "tau23_eps0_sys": Measure("tau23_0", "system"),
    "acc_eq_item": Measure("acc_eq", "item"),
    "tau23_item_calibrated": Measure("tau23", "item"),
    "kendall_like_item_thresh0": Measure("darr", "item", gap=0.0),
}


@dataclass(frozen=True)
class Case:
    golden: dict[str, Any]
    metrics: dict[str, np.ndarray]
    seg: np.ndarray
    sys: np.ndarray


@pytest.fixture(scope="module", params=SETS)
def case(request: pytest.FixtureRequest, data: Path, golden: Path) -> Case:
    result = json.loads((golden / "meta" / f"{request.param}.stats.json").read_text())
    with np.load(golden / "meta" / f"{request.param}.metric_scores.npz") as arrays:
        metrics = {name: arrays[name] for name in arrays if name != "systems"}
    folder = data / result["evalset"]
    values = []
    for level in ("seg", "sys"):
        judged = EvalSet.open(folder, result["lp"]).human("mqm", level)  # type: ignore[arg-type]
        values.append(judged.values[[judged.systems.index(system) for system in result["systems"]]])
    return Case(result, metrics, values[0], values[1][:, 0])


def legacy(shape: tuple[int, ...], draws: int) -> np.ndarray:
    """The reference's exchanges: numpy's legacy generator, seed 0, one binomial vector per draw, 1 = keep."""
    return np.asarray(np.random.RandomState(0).binomial(1, 0.5, (draws, *shape)) == 0)


def test_segment_statistics(case: Case) -> None:
    checked = 0
    for name, expected in case.golden["expected"].items():
        for key, measure in SEGMENT.items():
            result = estimate(case.seg, case.metrics[name], measure)
            assert result.value == pytest.approx(expected["seg"][key], abs=1e-9), (name, key)
            if f"{key}_n" in expected["seg"]:
                assert result.rows == expected["seg"][f"{key}_n"]
            if measure.statistic == "acc_eq":
                accepted = expected["seg"]["acc_eq_item_epsilon_equivalent"]
                assert min(abs(result.epsilon - epsilon) for epsilon in accepted) < 1e-9  # type: ignore[operator]
            if measure.statistic == "darr":
                assert result.pairs == expected["seg"]["kendall_like_item_thresh0_pairs"]
            checked += 1
        judged = np.where(np.isnan(case.seg), np.nan, case.metrics[name])
        first, second = np.triu_indices(len(judged), 1)
        distances = np.abs(judged[first] - judged[second])
        assert len(np.union1d(0.0, distances[~np.isnan(distances)])) == expected["seg"]["acc_eq_item_n_thresholds"]
    assert checked == 6 * len(SEGMENT)


def test_system_statistics(case: Case) -> None:
    gold = case.sys[:, None]
    for name, expected in case.golden["expected"].items():
        means = case.metrics[name].mean(axis=1)[:, None]
        for statistic in ("pearson", "spearman", "kendall"):
            value = estimate(gold, means, Measure(statistic)).value
            assert value == pytest.approx(expected["sys"][statistic], abs=1e-9)
        accuracy = estimate(gold, means, Measure("accuracy"))
        assert accuracy.value == pytest.approx(expected["sys"]["pairwise_accuracy"], abs=1e-12)
        assert accuracy.pairs == expected["sys"]["pairs"]
        spa = estimate(case.seg, case.metrics[name], Measure("spa"))
        assert spa.value == pytest.approx(expected["sys"]["spa_float64_same_masks"], abs=3e-4)
        assert spa.value == pytest.approx(expected["sys"]["spa"], abs=1e-3)


def test_single_precision_soft_accuracy(case: Case) -> None:
    for name, expected in case.golden["expected"].items():
        kept = both_known(case.seg, case.metrics[name]).all(axis=0)
        assert kept.sum() == expected["sys"]["spa_segments_used"]
        masks = soft_masks(int(kept.sum()))
        none = np.zeros(len(case.sys) * (len(case.sys) - 1) // 2, dtype=bool)
        human, machine = (pairwise_p(scores[:, kept].astype(np.float32), masks, none)
                          for scores in (case.seg, case.metrics[name]))
        assert 1 - np.abs(human - machine).mean() == pytest.approx(expected["sys"]["spa"], abs=2e-4)


@pytest.mark.long
def test_perm_both_with_the_same_exchanges(case: Case) -> None:
    known = ~np.isnan(case.seg)
    for pair in case.golden["significance"]["pairs"]:
        one, two = case.metrics[pair["metric1"]], case.metrics[pair["metric2"]]
        systems = np.stack([two.mean(axis=1), one.mean(axis=1)])[:, :, None]
        for draws, expected in ((10000, pair["sys_pearson_perm_both"]["p"]),
                                (1000, pair["sys_pearson_perm_both_k1000_seed0"])):
            swaps = legacy((len(case.sys), 1), draws)
            result = compare(case.sys[:, None], systems, Measure("pearson"), swaps=swaps)
            assert result.p[0, 1] == pytest.approx(expected, abs=1e-12)
            assert result.delta[0, 1] == pytest.approx(pair["sys_pearson_perm_both"]["delta"], abs=1e-9)
        swaps = np.zeros((1000, *case.seg.shape), dtype=bool)
        swaps[:, known] = legacy((int(known.sum()),), 1000)
        result = compare(case.seg, np.stack([two, one]), Measure("pearson"), swaps=swaps)
        expected = pair["seg_none_pearson_perm_both"]
        assert result.p[0, 1] == pytest.approx(expected["p"], abs=1e-12)
        assert result.delta[0, 1] == pytest.approx(expected["delta"], abs=1e-9)


def test_own_draws_are_within_their_error(case: Case) -> None:
    for pair in case.golden["significance"]["pairs"]:
        one, two = case.metrics[pair["metric1"]], case.metrics[pair["metric2"]]
        systems = np.stack([two.mean(axis=1), one.mean(axis=1)])[:, :, None]
        for result, expected in (
            (compare(case.sys[:, None], systems, Measure("pearson")), pair["sys_pearson_perm_both"]),
            (compare(case.seg, np.stack([two, one]), Measure("pearson")), pair["seg_none_pearson_perm_both"]),
        ):
            spread = np.sqrt(max(expected["p"] * (1 - expected["p"]), 1e-3) / 1000)
            assert abs(result.p[0, 1] - expected["p"]) <= 4 * np.hypot(spread, expected["mc_std_error"])
        gold, a, b = case.sys, one.mean(axis=1), two.mean(axis=1)
        assert williams_test(gold, a, b) == pytest.approx(pair["williams_sys"]["p_one_sided"], abs=1e-9)
        two_sided = williams_test(gold, a, b, one_sided=False)
        assert two_sided == pytest.approx(pair["williams_sys"]["p_two_sided"], abs=1e-9)


def test_rank_clusters(case: Case) -> None:
    expected = case.golden["significance"]["ranks_sys_pearson"]
    systems = np.stack([case.metrics[name].mean(axis=1) for name in expected["order"]])[:, :, None]
    result = compare(case.sys[:, None], systems, Measure("pearson"), swaps=legacy((len(case.sys), 1), 1000))
    upper = np.triu_indices(len(systems), 1)
    np.testing.assert_allclose(result.p[upper], np.array(expected["p_upper_triangle"])[upper], atol=1e-12)
    assert cluster_ranks(result.p) == expected["ranks"]


@pytest.mark.parametrize("case", GIVEN_ONCE, indirect=True)
def test_kendall_by_item_with_the_same_exchanges(case: Case) -> None:
    expected = case.golden["significance"]["seg_item_kendall_b_perm_both"]
    by_item = ~np.isnan(case.seg.T)
    swaps = np.zeros((expected["k"], *by_item.shape), dtype=bool)
    swaps[:, by_item] = legacy((int(by_item.sum()),), expected["k"])
    pair = np.stack([case.metrics[expected["metric2"]], case.metrics[expected["metric1"]]])
    result = compare(case.seg, pair, Measure("kendall", "item"), swaps=swaps.transpose(0, 2, 1))
    assert result.p[0, 1] == pytest.approx(expected["p"], abs=1e-12)
    assert result.delta[0, 1] == pytest.approx(expected["delta"], abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("case", GIVEN_ONCE, indirect=True)
def test_the_pairs_test(case: Case) -> None:
    """The reference loses most draws that equal the observed difference to rounding: its p lies between > and ≥."""
    expected = case.golden["significance"]["seg_item_acc_eq_pairs_test"]
    systems, items = case.seg.shape
    upper = np.triu_indices(systems, 1)
    drawn = np.random.RandomState(0).binomial(1, 0.5, (expected["k"], items, systems, systems))
    swaps = drawn[:, :, upper[0], upper[1]] == 0
    pair = np.stack([case.metrics[expected["metric2"]], case.metrics[expected["metric1"]]])
    result = exchanged(case.seg, pair, Measure("acc_eq", "item"), swaps)
    assert result.delta[0, 1] == pytest.approx(expected["delta"], abs=1e-9)
    above = (result.null[:, 0] > result.delta[0, 1] + 1e-12).mean()
    assert above <= expected["p"] <= result.p[0, 1]
    own = compare(case.seg, pair, Measure("acc_eq", "item"), draws=10000)
    assert own.p[0, 1] == pytest.approx(expected["p"], abs=4 * expected["mc_std_error"])


@pytest.mark.parametrize("name", ["wmt21.news.mqm", "wmt21.tedtalks"])
def test_pooled_accuracy(name: str, data: Path, golden: Path) -> None:
    expected = json.loads((golden / "meta" / "global_accuracy.json").read_text())["expected"][name]
    parts: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {metric: [] for metric in expected}
    for lp in ("en-de", "zh-en"):
        result = json.loads((golden / "meta" / f"{name}.{lp}.stats.json").read_text())
        judged = EvalSet.open(data / result["evalset"], lp).human("mqm", "sys")
        gold = judged.values[[judged.systems.index(system) for system in result["systems"]], 0]
        with np.load(golden / "meta" / f"{name}.{lp}.metric_scores.npz") as arrays:
            for metric in expected:
                parts[metric].append((gold, arrays[metric].mean(axis=1)))
    for metric, counts in expected.items():
        padded = np.full((2, len(parts[metric]), max(len(gold) for gold, _ in parts[metric])), np.nan)
        for row, sides in enumerate(parts[metric]):
            padded[:, row, : len(sides[0])] = sides
        pooled = estimate(padded[0], padded[1], Measure("accuracy", "system"))
        assert (pooled.value * pooled.pairs, pooled.pairs) == (pytest.approx(counts["agree"]), counts["pairs"])
