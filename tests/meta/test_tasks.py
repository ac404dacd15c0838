"""Tasks on EvalSets: values, ranks, averages, curves, JSON."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from tests.in_process import call
from tests.meta.evalset_folder import LP, participants
from wholetext.errors import InputError, MetricError
from wholetext.io.formats import evalset
from wholetext.meta import paragraphs as module
from wholetext.meta.agreement.measures import Measure, estimate
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.judgments import find_ratings
from wholetext.meta.metric_scores import Gathered, gather
from wholetext.meta.paragraphs import Windows, curves
from wholetext.meta.tasks import (
    AgreementTask,
    MetricTests,
    average,
    even_weights,
    judge,
    read_task,
    run_task,
    run_tasks,
    tasks_for,
)
from wholetext.scoring.evaluate import score
from wholetext.scoring.significance.paired import paired_t

NONE = MetricTests(draws=0)


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
        assert all(e.pairs > 0 and np.isfinite(e.chance) for e in result.estimates)
    assert run_task(stored, read_task("seg:pearson")).ranks == (1, 2)
    untested = run_task(stored, read_task("seg:pearson"), NONE)
    assert (untested.test, untested.ranks) == ("none", (None, None))  # nothing was tested: ranks are unknown


def test_what_is_left_out_is_noted(folder: Path) -> None:
    (folder / "metric-scores" / LP / "poor-src.seg.score").unlink()
    result = gather(participants(folder), [])
    assert run_task(result, read_task("seg:pearson")).metrics == ("good",)
    assert run_task(result, read_task("seg:darr@25")).estimates[0].pairs == 0
    for text in ("poor has no scores", "could be compared"):
        assert any(text in note for note in result.notes)


@pytest.mark.parametrize("unit", ["documents", "systems", "both"])
def test_intervals(folder: Path, unit: Any) -> None:
    gathered, tests = gather(participants(folder), ["good", "chrf"]), MetricTests(draws=10, interval=unit)
    for text in ("sys:pearson", "seg:pearson", "seg:acc_eq", "doc:pearson"):
        result = run_task(gathered, read_task(text), tests)
        for value, (low, high) in zip(result.values, result.intervals):
            assert low <= high
            if not text.startswith("sys"):  # a stored system score need not be the mean of stored segments
                assert low <= value + 1e-9 and value <= high + 1e-9
    assert np.isnan(run_task(gathered, read_task("sys:spa"), tests).intervals).all()


# ---------------------------------------------------------------- several tasks


def test_average_over_tasks() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=(8, 60))
    stack = np.stack([gold + rng.normal(size=gold.shape) * s for s in (0.2, 0.9, 1.0)])
    names = ["best", "mid", "last"]
    tasks = [AgreementTask("seg", Measure("pearson", "none")), AgreementTask("seg", Measure("acc_eq", "item"))]
    results = [judge(gold, stack, names, task, MetricTests(draws=200)) for task in tasks]
    result = average(results, [3.0, 1.0])
    assert result.weights == (0.75, 0.25)
    values = {n: 0.75 * (results[0].value(n) + 1) / 2 + 0.25 * results[1].value(n) for n in names}
    assert result.metrics == tuple(sorted(names, key=lambda n: -values[n])) and result.metrics[0] == "best"
    assert result.values == pytest.approx([values[n] for n in result.metrics])
    assert result.p[0, 1] < 0.05 and result.ranks[:2] == (1, 2)
    np.testing.assert_allclose(result.p, average(results[::-1], [1.0, 3.0]).p)
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
        result = run_tasks([[stored]], tasks_for((), names), False, NONE, even_by)[1]
        assert result is not None and result.weights == pytest.approx(expected)


def test_nan_rule_counts_undefined_rows_in_value_and_test() -> None:
    gold = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0], [3.0, 3.0, 3.5]])
    metric = np.stack([gold.copy(), gold + 0.1 * np.eye(3)])
    metric[:, :, 0] = 1.0  # tied for all systems: tau is undefined there
    skip, zero = Measure("kendall", "item"), Measure("kendall", "item", nan_as_zero=True)
    assert estimate(gold, metric[0], zero).value == pytest.approx(estimate(gold, metric[0], skip).value * 2 / 3)
    values = [estimate(gold, scores, zero).value for scores in metric]
    assert compare(gold, metric, zero).delta[0, 1] == pytest.approx(values[0] - values[1])


def test_paired_t_by_category(folder: Path) -> None:
    results = score(evalset.read(folder, LP), ["rouge", "chrf"])
    rouge, chrf = results.scores.values()
    one, two = rouge["alpha"], rouge["gamma"]
    tests = paired_t(one, two)
    assert [t.category for t in tests] == list(one.outputs)
    expected = scipy.stats.ttest_rel(one.at("doc"), two.at("doc"))
    assert (tests[0].t, tests[0].p) == pytest.approx((expected.statistic, expected.pvalue))
    assert tests[0].first > tests[0].second and np.isnan(paired_t(one, one)[0].p)
    with pytest.raises(MetricError, match="different metrics"):
        paired_t(one, chrf["alpha"])


def test_williams_at_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "meta", folder, "-l", LP, "-m", "chrf", "bleu", "--level", "seg", "--draws", 0,
                        "--williams", "-f", "json")
    (test,) = json.loads(out)["williams"]
    assert not code and test["metrics"] == ["chrf", "bleu"] and test["p"][0][0] is None
    assert test["p"][0][1] + test["p"][1][0] == pytest.approx(1)
    assert (test["p"][0][1] < 0.5) == (test["pearson"][0] > test["pearson"][1])


def test_systems_and_metrics_of_a_run_by_document(folder: Path, tmp_path: Path,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    results = score(evalset.read(folder, LP), ["rouge", "ter"], out=tmp_path / "run")
    code, out, _ = call(capsys, "compare", tmp_path / "run", "--t-test", "--between", "-f", "json")
    content = json.loads(out)
    assert not code and {(t["from"], t["to"]) for t in content["t_tests"]} == set(
        itertools.pairwise(results.systems))
    rouge, ter = results.scores.values()
    columns = [np.concatenate([own.at("doc") for own in by.values()]) for by in (rouge, ter)]
    assert content["between_metrics"]["pearson"][0][1] == pytest.approx(-np.corrcoef(*columns)[0, 1])
    code, out, _ = call(capsys, "compare", tmp_path / "run", "--t-test", "--baseline", "alpha", "--component", "f1")
    assert not code and "alpha → gamma" in out and "recall" not in out
    code, _, err = call(capsys, "compare", tmp_path / "run", "--t-test", "--baseline", "nobody")
    assert code and "there is no system 'nobody'" in err


# ---------------------------------------------------------------- paragraph curves, files, formats


def test_only_sentences_of_paragraphs_are_scored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "human-scores" / f"{LP}.mqm.raters.tsv"
    lines = path.read_text().splitlines(True)
    path.write_text("".join(line for line in lines if line.split("\t")[1] not in ("3", "4")))
    scored: list[list[str]] = []

    def counted(loaded: Any, specs: Any, options: Any) -> Any:
        scored.append([doc.id for doc in loaded.corpus.docs])
        return score(loaded, specs, options=options)

    monkeypatch.setattr(module, "score_texts", counted)
    field = participants(folder)
    ratings = find_ratings(field.evalset, "mqm").ratings
    curves(field, ratings, ["chrf"], [Windows(2)])
    assert scored[0] == ["doc0:1-1", "doc0:2-2", "doc1:2-2", "doc1:3-3"]  # the first of doc1 is another rater's
    assert scored[1] == ["doc0:1-2", "doc1:2-3"]


def test_ranks_p_values_and_notes_of_every_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("meta", str(folder.rename(folder.with_name("mine"))), "--task", "seg:pearson", "--task", "sys:pearson")
    result = json.loads(call(capsys, *common, "--draws", "0", "--json")[1])
    rows = [row for part in (*result["tasks"], result["average"]) for row in part["metrics"]]
    assert {row["rank"] for row in rows} == {None}
    assert {row["mean_rank"] for row in result["average"]["metrics"]} == {None}
    _, out, err = call(capsys, *common, "--draws", "0", "--latex")
    assert out.startswith(r"\begin{tabular}") and r"\textbf" not in out and "#" not in out
    assert "not the name of a WMT test set" in err and "not the name" not in out  # notes have no place in the table
    _, out, _ = call(capsys, *common, "--draws", "0")
    assert "Nothing was tested" in out and "#" not in out
    p = json.loads(call(capsys, *common, "--draws", "200", "--json")[1])["tasks"][0]["p"][0][1]
    _, out, _ = call(capsys, *common, "--draws", "200", "-f", "tsv")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0][-1] == "p_best" and lines[1][-1] == "" and float(lines[2][-1]) == p
