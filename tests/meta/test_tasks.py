"""Tasks on EvalSets: what a faulty score file leads to, values, ranks, averages, curves, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.meta import evalset_folder
from tests.meta.evalset_folder import LP, participants
from wholetext.errors import InputError, WholetextError
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure
from wholetext.meta.judgments import find_ratings
from wholetext.meta.metric_scores import MetricSelection, gather
from wholetext.meta.paragraphs import Windows, curves
from wholetext.meta.store import Meta, as_json, write_meta
from wholetext.meta.tasks import (
    AgreementTask,
    MetricTests,
    average,
    even_weights,
    inter_correlation,
    judge,
    pooled_accuracy_task,
    preset,
    read_task,
    run_task,
    run_tasks,
    tasks_for,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return evalset_folder.make(tmp_path)


# ---------------------------------------------------------------- metric scores


def test_stored_metrics_need_references_of_the_field(folder: Path) -> None:
    found = gather(participants(folder), [])
    assert sorted(m.name for m in found.metrics) == ["good", "poor"]  # other-refB uses another reference
    assert not found.notes


def test_computed_beside_stored(folder: Path) -> None:
    found = gather(participants(folder), ["good", "chrf", "ter"])
    chrf, ter = found.metrics[1:]
    assert chrf.levels["seg"].shape == (4, 8)
    assert chrf.levels["sys"][0, 0] > chrf.levels["sys"][3, 0]
    assert ter.levels["sys"][0, 0] > ter.levels["sys"][3, 0]  # lower is better, so its sign is turned
    assert "metric:chrf" in chrf.source
    with pytest.raises(WholetextError, match="no metric 'chrg'"):
        gather(participants(folder), ["chrg"])


def test_system_scores_cover_judged_text_only(folder: Path) -> None:
    path = folder / "human-scores" / f"{LP}.mqm.seg.score"
    scores = {s: [v if i < 5 else None for i, v in enumerate(row)] for s, row in evalset_folder.gold().items()}
    path.write_text(evalset_folder.score_lines(scores))
    judged = gather(participants(folder), ["chrf"]).metrics[0].levels["sys"]
    every = gather(participants(folder, all_segments=True), ["chrf"]).metrics[0].levels["sys"]
    news = gather(participants(folder, domains=("news",)), ["chrf"]).metrics[0].levels["sys"]
    assert not np.allclose(judged, every)
    np.testing.assert_allclose(judged, news)


def broken(folder: Path, change: str) -> None:
    """Spoil good-refA.seg.score in one of the ways that score files are spoilt."""
    path = folder / "metric-scores" / LP / "good-refA.seg.score"
    lines = path.read_text().splitlines()
    if change == "missing":
        lines = [line for line in lines if not line.startswith("delta")]
    elif change == "extra":
        lines += [line.replace("delta", "omega") for line in lines if line.startswith("delta")]
    elif change == "nan":
        lines[9] = "beta\tnan"
    elif change == "none":
        lines[9] = "beta\tNone"
    elif change == "long":
        lines.insert(3, "alpha\t1.0")
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(("change", "match"), [
    ("missing", "no scores of 'delta'"), ("extra", "'omega'"), ("nan", "good-refA.seg.score:10.*'nan' is not a score"),
    ("none", "1 gaps in what people judged .first: system beta, item 2"), ("long", "'alpha' has 9 scores, expected 8")])
def test_a_faulty_score_file_is_an_error_that_names_it(folder: Path, change: str, match: str) -> None:
    broken(folder, change)
    with pytest.raises(InputError, match=match) as fault:
        gather(participants(folder), [])
    assert "good-refA.seg.score" in str(fault.value)


@pytest.mark.parametrize(("change", "note", "systems"), [
    ("missing", "no scores of delta", 3), ("extra", "omega", 4), ("none", "1 scores are missing", 4),
    ("nan", "left out: 'nan' is not a score", 4), ("long", "left out: system 'alpha' has 9 scores", 4)])
def test_allow_missing_says_what_was_left_out(folder: Path, change: str, note: str, systems: int) -> None:
    broken(folder, change)
    found = gather(participants(folder), MetricSelection(missing="drop"))
    assert any(note in one for one in found.notes), found.notes
    assert len(found.participants.systems) == systems
    run_task(found, read_task("sys:pearson"))
    if change == "missing":
        assert found.participants.left_out["delta"] == "not scored by every metric"
        assert all(values.shape[0] == 3 for m in found.metrics for values in m.levels.values())
    if change == "none":
        result = run_task(found, read_task("seg:pearson"))
        assert result.estimates[0].pairs == 30 * 29 // 2  # 32 scores, one not judged, one not scored
        assert any("not used" in one for one in found.notes)


# ---------------------------------------------------------------- tasks


@pytest.mark.parametrize(("text", "back"), [
    ("seg:acc_eq", "seg:acc_eq"), ("sys:pearson", "sys:pearson"),
    ("doc:darr", "doc:darr@25"), ("doc:darr/item@12.5", "doc:darr@12.5"), ("seg:kendall/item", "seg:kendall/item")])
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


def test_results_are_ranked_with_pairs_and_chance(folder: Path) -> None:
    found = gather(participants(folder), [])
    for text in ("sys:accuracy", "sys:pearson", "sys:spa", "doc:pearson", "domain:pearson", "seg:acc_eq", "seg:pearson",
                 "seg:kendall/item", "seg:darr@1", "seg:spearman/system", "seg:pdp", "seg:tau23", "seg:kendall_c/item"):
        result = run_task(found, read_task(text), MetricTests(draws=100))
        assert result.metrics == ("good", "poor") or text in ("sys:accuracy", "domain:pearson", "doc:pearson"), text
        assert result.ranks[0] == 1
        assert all(one.pairs > 0 and np.isfinite(one.chance) for one in result.estimates)
        assert result.p.shape == (2, 2)
        assert 0 <= result.p[0, 1] <= 1
    assert run_task(found, read_task("seg:pearson")).ranks == (1, 2)
    untested = run_task(found, read_task("seg:pearson"), MetricTests(draws=0))
    assert (untested.test, untested.ranks) == ("none", (None, None))  # nothing was tested: ranks are unknown


def test_no_pairs_is_said(folder: Path) -> None:
    found = gather(participants(folder), [])
    result = run_task(found, read_task("seg:darr@25"))
    assert result.estimates[0].pairs == 0
    assert any("could be compared" in note for note in found.notes)


def test_metrics_without_the_level_are_left_out(folder: Path) -> None:
    (folder / "metric-scores" / LP / "poor-src.seg.score").unlink()
    found = gather(participants(folder), [])
    result = run_task(found, read_task("seg:pearson"))
    assert result.metrics == ("good",)
    assert any("poor has no scores" in note for note in found.notes)


@pytest.mark.parametrize("unit", ["documents", "systems", "both"])
def test_intervals(folder: Path, unit: str) -> None:
    found = gather(participants(folder), ["good", "chrf"])
    for text in ("sys:pearson", "seg:pearson", "seg:acc_eq", "doc:pearson"):
        result = run_task(found, read_task(text), MetricTests(draws=10, interval=unit))  # type: ignore[arg-type]
        for one, low, high in zip(result.estimates, result.low, result.high):
            assert low <= high
            if not text.startswith("sys"):  # a stored system score need not be the mean of stored segments
                assert low <= one.value + 1e-9
                assert one.value <= high + 1e-9
    result = run_task(found, read_task("sys:spa"), MetricTests(draws=10, interval=unit))  # type: ignore[arg-type]
    assert np.isnan(result.low).all()


def test_pooled_accuracy_over_language_pairs(folder: Path) -> None:
    one = gather(participants(folder), [])
    two = gather(participants(folder, systems=("alpha", "beta", "delta")), [])
    pooled = pooled_accuracy_task([one, two], MetricTests(draws=50))
    single = [run_task(part, read_task("sys:accuracy"), MetricTests(draws=0)) for part in (one, two)]
    for name, got in zip(pooled.metrics, pooled.estimates):
        right = sum(round(r.value(name) * r.estimates[0].pairs) for r in single)
        assert got.pairs == 6 + 3
        assert got.value == pytest.approx(right / 9)
    assert pooled.systems == 7


# ---------------------------------------------------------------- several tasks


def test_weights_are_split_attribute_by_attribute() -> None:
    keys = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")]
    assert even_weights(keys) == pytest.approx([0.125, 0.25, 0.5, 0.125])
    assert even_weights([]) == []


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
    assert found.metrics == tuple(sorted(names, key=lambda n: -values[n]))
    assert found.values == pytest.approx([values[n] for n in found.metrics])
    assert found.metrics[0] == "best"
    assert found.p[0, 1] < 0.05
    assert found.ranks[:2] == (1, 2)
    reversed_order = average(results[::-1], [1.0, 3.0])
    np.testing.assert_allclose(found.p, reversed_order.p)
    short = judge(gold, stack, names, tasks[0], MetricTests(draws=200, block=50))  # settled early: draws are repeated
    assert average([short, results[1]]).p[0, 1] < 0.05


def test_average_of_one_task_is_the_task() -> None:
    rng = np.random.default_rng(1)
    gold = rng.normal(size=(6, 40))
    stack = np.stack([gold + rng.normal(size=gold.shape) * s for s in (1.0, 1.1, 1.2, 1.3)])
    result = judge(gold, stack, list("abcd"), AgreementTask("seg", Measure("pearson")), MetricTests(draws=300))
    found = average([result])
    upper = np.triu_indices(4, 1)
    np.testing.assert_allclose(found.p[upper], result.p[upper])
    assert found.ranks == result.ranks


def test_presets(folder: Path) -> None:
    parts = [gather(participants(folder, domains=domains), []) for domains in ((), ("news",))]
    results, found = run_tasks([parts], tasks_for((), preset("wmt23").tasks), True, MetricTests(draws=20))
    assert len(results) == 7 and found is not None
    assert found.weights == pytest.approx([2 / 8] + [1 / 8] * 6)
    assert [str(t) for t in tasks_for(("sys",), ())] == ["sys:accuracy", "sys:pearson", "sys:spa"]
    for call in (lambda: preset("wmt99"), lambda: tasks_for(("word",), ())):
        with pytest.raises(InputError):
            call()


def test_correlation_between_metrics(folder: Path) -> None:
    found = gather(participants(folder), [])
    names, table = inter_correlation(found)
    assert names == ["good", "poor"]
    np.testing.assert_allclose(table, table.T)
    assert table[0, 0] == 1.0 and -1 < table[0, 1] < 1


def test_paired_t_by_category(folder: Path) -> None:
    import scipy.stats

    from wholetext.errors import MetricError
    from wholetext.io.formats import evalset
    from wholetext.meta.features import paired_t
    from wholetext.scoring.evaluate import score

    loaded = evalset.read(folder, LP)
    results = score(loaded, ["rouge", "chrf"])
    spec = next(spec for spec in results.scores if "rouge" in spec)
    one, two = results.scores[spec]["alpha"], results.scores[spec]["gamma"]
    tests = paired_t(one, two)
    assert [t.category for t in tests] == list(one.outputs)
    expected = scipy.stats.ttest_rel(one.at("doc"), two.at("doc"))
    assert (tests[0].t, tests[0].p) == pytest.approx((expected.statistic, expected.pvalue))
    assert tests[0].first > tests[0].second
    assert np.isnan(paired_t(one, one)[0].p)
    with pytest.raises(MetricError, match="different metrics"):
        paired_t(one, next(iter(results.scores["chrf"].values())))


# ---------------------------------------------------------------- paragraph curves and files


def test_curves(folder: Path) -> None:
    field = participants(folder)
    source = find_ratings(EvalSet.open(folder, LP), "mqm")
    points = curves(field, source.ratings, ["chrf", "bleu"], [Windows(1), Windows(2)])
    assert len(points) == 8
    one = [p for p in points if p.k == 1 and p.metric == "chrf"]
    assert one[0].acc_eq == one[1].acc_eq  # one sentence is its own paragraph
    assert one[0].direct_average == pytest.approx(1.0)
    assert 0 < next(p for p in points if p.k == 2).direct_average <= 1
    assert all(p.pairs["accuracy"] == 6 and 0 <= p.chance["acc_eq"] <= 1 for p in points)
    with pytest.raises(InputError, match="no paragraph of 9"):
        curves(field, source.ratings, ["chrf"], [Windows(9)])


def test_results_are_kept_as_json(folder: Path, tmp_path: Path) -> None:
    part = gather(participants(folder), ["good", "chrf"])
    table = run_tasks([[part]], tasks_for(("sys", "seg"), ()), False, MetricTests(draws=20, interval="documents"))
    names, between = inter_correlation(part)
    points = curves(part.participants, find_ratings(EvalSet.open(folder, LP), "mqm").ratings, ["chrf"], [Windows(2)])
    pairs = ((part.participants.name, "seg", names, between),)
    meta = Meta((part,), *table, 0.05, pairs, {"x": points}, tuple(part.notes))
    write_meta(tmp_path / "out", meta)
    found = json.loads((tmp_path / "out" / "meta.json").read_text())
    assert found == json.loads(json.dumps(as_json(meta)))
    assert found["fields"][0]["left_out"] == {"refB": "human"}
    task = next(t for t in found["tasks"] if t["task"] == "seg:acc_eq")
    assert {"name", "value", "rank", "pairs", "chance", "epsilon", "interval", "rows"} == set(task["metrics"][0])
    assert task["p"][0][0] is None and found["curves"][0]["k"] == 2
    lines = (tmp_path / "out" / "metric-scores" / LP / "chrf-refA.seg.score").read_text().splitlines()
    assert len(lines) == 32
