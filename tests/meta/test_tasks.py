"""Tasks on EvalSets: values, ranks, averages, curves, JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from tests.meta import evalset_folder
from tests.meta.evalset_folder import LP, participants
from wholetext.errors import InputError, MetricError
from wholetext.io.formats import evalset
from wholetext.meta.agreement.measures import Measure, estimate
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.features import paired_t
from wholetext.meta.metric_scores import Gathered, gather
from wholetext.meta.tasks import (
    AgreementTask,
    MetricTests,
    average,
    even_weights,
    judge,
    pooled_accuracy_task,
    preset,
    read_task,
    run_task,
    run_tasks,
    tasks_for,
)
from wholetext.scoring.evaluate import score

NONE = MetricTests(draws=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return evalset_folder.make(tmp_path)


@pytest.fixture
def stored(folder: Path) -> Gathered:
    return gather(participants(folder), [])


@pytest.mark.parametrize(("text", "back"), [
    ("seg:acc_eq", "seg:acc_eq"), ("sys:pearson", "sys:pearson"), ("doc:darr", "doc:darr@25"),
    ("doc:darr/item@12.5", "doc:darr@12.5"), ("seg:kendall/item", "seg:kendall/item")])
def test_tasks_read_back(text: str, back: str) -> None:
    assert str(read_task(text)) == back
    assert read_task(back) == read_task(text)


@pytest.mark.parametrize(("text", "match"), [
    ("pearson", "not a task"), ("word:pearson", "no level 'word'"), ("seg:pearsen", "did you mean pearson"),
    ("seg:pearson/rows", "no average"), ("sys:pearson/item", "nothing to average"), ("seg:spa", "for systems only"),
    ("seg:darr/none", "same item")])
def test_faulty_tasks(text: str, match: str) -> None:
    with pytest.raises(InputError, match=match):
        read_task(text)


def test_results_are_ranked_with_pairs_and_chance(stored: Gathered) -> None:
    for text in ("sys:accuracy", "sys:pearson", "sys:spa", "doc:pearson", "domain:pearson", "seg:acc_eq", "seg:pearson",
                 "seg:kendall/item", "seg:darr@1", "seg:spearman/system", "seg:pdp", "seg:tau23", "seg:kendall_c/item"):
        result = run_task(stored, read_task(text), MetricTests(draws=100))
        assert result.metrics == ("good", "poor") or text in ("sys:accuracy", "domain:pearson", "doc:pearson"), text
        assert result.ranks[0] == 1 and result.p.shape == (2, 2) and 0 <= result.p[0, 1] <= 1
        assert all(one.pairs > 0 and np.isfinite(one.chance) for one in result.estimates)
    assert run_task(stored, read_task("seg:pearson")).ranks == (1, 2)
    untested = run_task(stored, read_task("seg:pearson"), NONE)
    assert (untested.test, untested.ranks) == ("none", (None, None))  # nothing was tested: ranks are unknown


def test_what_is_left_out_is_noted(folder: Path) -> None:
    (folder / "metric-scores" / LP / "poor-src.seg.score").unlink()
    found = gather(participants(folder), [])
    assert run_task(found, read_task("seg:pearson")).metrics == ("good",)
    assert run_task(found, read_task("seg:darr@25")).estimates[0].pairs == 0
    for text in ("poor has no scores", "could be compared"):
        assert any(text in note for note in found.notes)


@pytest.mark.parametrize("unit", ["documents", "systems", "both"])
def test_intervals(folder: Path, unit: Any) -> None:
    found, tests = gather(participants(folder), ["good", "chrf"]), MetricTests(draws=10, interval=unit)
    for text in ("sys:pearson", "seg:pearson", "seg:acc_eq", "doc:pearson"):
        result = run_task(found, read_task(text), tests)
        for one, low, high in zip(result.estimates, result.low, result.high):
            assert low <= high
            if not text.startswith("sys"):  # a stored system score need not be the mean of stored segments
                assert low <= one.value + 1e-9 and one.value <= high + 1e-9
    assert np.isnan(run_task(found, read_task("sys:spa"), tests).low).all()


def test_pooled_accuracy_over_language_pairs(folder: Path, stored: Gathered) -> None:
    two = gather(participants(folder, systems=("alpha", "beta", "delta")), [])
    pooled = pooled_accuracy_task([stored, two], MetricTests(draws=50))
    single = [run_task(part, read_task("sys:accuracy"), NONE) for part in (stored, two)]
    for name, got in zip(pooled.metrics, pooled.estimates):
        right = sum(round(r.value(name) * r.estimates[0].pairs) for r in single)
        assert (got.pairs, got.value) == (6 + 3, pytest.approx(right / 9))
    assert pooled.systems == 7


# ---------------------------------------------------------------- several tasks


def test_average_over_tasks() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(8, 60))
    stack = np.stack([gold + rng.normal(size=gold.shape) * s for s in (0.2, 0.9, 1.0)])
    names = ["best", "mid", "last"]
    tasks = [AgreementTask("seg", Measure("pearson", "none")), AgreementTask("seg", Measure("acc_eq", "item"))]
    results = [judge(gold, stack, names, task, MetricTests(draws=200)) for task in tasks]
    found = average(results, [3.0, 1.0])
    assert found.weights == (0.75, 0.25)
    values = {n: 0.75 * (results[0].value(n) + 1) / 2 + 0.25 * results[1].value(n) for n in names}
    assert found.metrics == tuple(sorted(names, key=lambda n: -values[n])) and found.metrics[0] == "best"
    assert found.values == pytest.approx([values[n] for n in found.metrics])
    assert found.p[0, 1] < 0.05 and found.ranks[:2] == (1, 2)
    np.testing.assert_allclose(found.p, average(results[::-1], [1.0, 3.0]).p)
    short = judge(gold, stack, names, tasks[0], MetricTests(draws=200, block=50))  # settled early: draws are repeated
    assert average([short, results[1]]).p[0, 1] < 0.05
    alone = average(results[:1])
    upper = np.triu_indices(3, 1)
    np.testing.assert_allclose(alone.p[upper], results[0].p[upper])
    assert alone.ranks == results[0].ranks


def test_weights_are_split_attribute_by_attribute(stored: Gathered) -> None:
    keys = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")]
    assert even_weights(keys) == pytest.approx([0.125, 0.25, 0.5, 0.125])
    names = ["sys:pearson", "seg:pearson", "seg:kendall/item"]
    for even_by, expected in (((), (1 / 3, 1 / 3, 1 / 3)), (("level",), (0.5, 0.25, 0.25)),
                              (("statistic", "level"), (0.25, 0.25, 0.5))):
        found = run_tasks([[stored]], tasks_for((), names), False, NONE, even_by)[1]
        assert found is not None and found.weights == pytest.approx(expected)


def test_presets(folder: Path) -> None:
    parts = [gather(participants(folder, domains=domains), []) for domains in ((), ("news",))]
    results, found = run_tasks([parts], tasks_for((), preset("wmt23").tasks), True, MetricTests(draws=20))
    assert len(results) == 7 and found is not None
    assert found.weights == pytest.approx([2 / 8] + [1 / 8] * 6)
    assert [str(t) for t in tasks_for(("sys",), ())] == ["sys:accuracy", "sys:pearson", "sys:spa"]
    for make in (lambda: preset("wmt99"), lambda: tasks_for(("word",), ())):
        with pytest.raises(InputError):
            make()


def test_nan_rule_counts_undefined_rows_in_value_and_test() -> None:
    gold = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0], [3.0, 3.0, 3.5]])
    metric = np.stack([gold.copy(), gold + 0.1 * np.eye(3)])
    metric[:, :, 0] = 1.0  # tied for all systems: tau is undefined there
    skip, zero = Measure("kendall", "item"), Measure("kendall", "item", nan_as_zero=True)
    assert estimate(gold, metric[0], zero).value == pytest.approx(estimate(gold, metric[0], skip).value * 2 / 3)
    values = [estimate(gold, one, zero).value for one in metric]
    assert compare(gold, metric, zero).delta[0, 1] == pytest.approx(values[0] - values[1])


def test_paired_t_by_category(folder: Path) -> None:
    results = score(evalset.read(folder, LP), ["rouge", "chrf"])
    spec = next(spec for spec in results.scores if "rouge" in spec)
    one, two = results.scores[spec]["alpha"], results.scores[spec]["gamma"]
    tests = paired_t(one, two)
    assert [t.category for t in tests] == list(one.outputs)
    expected = scipy.stats.ttest_rel(one.at("doc"), two.at("doc"))
    assert (tests[0].t, tests[0].p) == pytest.approx((expected.statistic, expected.pvalue))
    assert tests[0].first > tests[0].second and np.isnan(paired_t(one, one)[0].p)
    with pytest.raises(MetricError, match="different metrics"):
        paired_t(one, next(iter(results.scores["chrf"].values())))
