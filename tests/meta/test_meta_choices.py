"""What a meta-evaluation is made of: labels of a metric, files from elsewhere, judged text, samples, gold by level."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.meta import evalset_folder
from tests.meta.evalset_folder import LP, participants
from wholetext.cli.main import main
from wholetext.errors import WholetextError
from wholetext.io import Loaded
from wholetext.io.formats import evalset
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure, estimate, soft_accuracy
from wholetext.meta.agreement.permutation import compare
from wholetext.meta.metric_scores import MetricSelection, gather
from wholetext.meta.tasks import MetricTests, read_task, run_task, run_tasks, tasks_for
from wholetext.scoring.evaluate import Options, score

NONE = MetricTests(draws=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return evalset_folder.make(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([*argv])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def gold_rewritten(folder: Path, change: dict[str, list[float | None]]) -> None:
    path = folder / "human-scores" / f"{LP}.mqm.seg.score"
    path.write_text(evalset_folder.score_lines(change))


# ---------------------------------------------------------------- soft pairwise accuracy


def test_spa_of_tied_systems_does_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    gold = -rng.integers(0, 6, (7, 200)).astype(float) - 0.3 * np.arange(7)[:, None]
    same = np.tile(rng.normal(size=200), (7, 1))
    some = same + np.where(np.arange(7)[:, None] < 5, 0.0, rng.normal(size=(7, 200)))
    for metric, tied in ((same, 7), (some, 5)):
        orders = [rng.permutation(tied).tolist() + list(range(tied, 7)) for _ in range(4)]
        values = [soft_accuracy(gold[o], metric[o])[0] for o in orders]
        assert values == pytest.approx([values[0]] * 4, abs=1e-12 if tied == 7 else 2e-3)
    value = soft_accuracy(gold, same)[0]
    assert value == pytest.approx(soft_accuracy(gold[::-1], same[::-1])[0], abs=1e-12)
    assert 0.5 <= value <= 1.0  # each |p - 1/2| is at most 1/2


# ---------------------------------------------------------------- stored metrics


def test_all_labels_of_a_metric_are_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = folder / "metric-scores" / LP
    for level in ("seg", "sys"):
        shutil.copy(scores / f"poor-src.{level}.score", scores / f"good-refB.{level}.score")
        shutil.copy(scores / f"poor-src.{level}.score", scores / f"good-src.{level}.score")
        shutil.copy(scores / f"poor-src.{level}.score", scores / f"both-refA.refB.{level}.score")
        shutil.copy(scores / f"poor-src.{level}.score", scores / f"every-all.{level}.score")
    two = gather(participants(folder, refs=("A", "B")), [])
    assert [m.name for m in two.metrics] == ["both", "every", "good-refA", "good-refB", "good[noref]", "other", "poor"]
    one = gather(participants(folder), [])
    assert [m.name for m in one.metrics] == ["good", "good[noref]", "poor"]  # "all" would be refA and refB
    assert [m.name for m in gather(two.participants, ["good"]).metrics] == ["good-refA", "good-refB", "good[noref]"]
    assert [m.name for m in gather(two.participants, ["good-refB", "poor-src"]).metrics] == ["good-refB", "poor"]
    _, out, _ = run(capsys, "meta", str(folder), "--ref", "A", "--ref", "B", "--draws", "0", "--level", "sys", "--json")
    assert len(json.loads(out)["tasks"][0]["metrics"]) == 7


def test_score_files_from_elsewhere(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    away = tmp_path / "away" / LP
    away.mkdir(parents=True)
    for level in ("seg", "sys"):
        shutil.move(folder / "metric-scores" / LP / f"good-refA.{level}.score", away / f"mine-refA.{level}.score")
    bare = tmp_path / "my-own"
    shutil.copy(away / "mine-refA.seg.score", bare)
    field = participants(folder)
    found = gather(field, MetricSelection(files=(tmp_path / "away",)))
    assert [(m.name, sorted(m.levels)) for m in found.metrics] == [("mine", ["seg", "sys"])]
    named = gather(field, MetricSelection(names=("poor",), files=(bare,)))
    assert [(m.name, sorted(m.levels)) for m in named.metrics] == [("poor", ["seg", "sys"]), ("my-own", ["seg"])]
    assert [m.name for m in gather(field, MetricSelection(stored=True, files=(bare,))).metrics] == ["my-own", "poor"]
    code, out, _ = run(capsys, "meta", str(folder), "--scores", str(away / "mine-refA.seg.score"), "--draws", "0",
                       "--task", "seg:pearson")
    assert code == 0 and "mine" in out
    for path, text in ((tmp_path / "nowhere", "no such score file"), (tmp_path, "no score files"),
                       (folder / "metric-scores" / LP / "other-refB.seg.score", "use refB")):
        with pytest.raises(WholetextError, match=text):
            gather(field, MetricSelection(files=(path,)))
    (tmp_path / "odd.score").write_text("alpha\t1\nalpha\t2\nalpha\t3\n")
    with pytest.raises(WholetextError, match="3 scores per system are neither"):
        gather(field, MetricSelection(files=(tmp_path / "odd.score",)))


def test_primary_submissions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = folder / "metric-scores" / LP
    for level in ("seg", "sys"):
        (scores / f"good-refA.{level}.score").rename(scores / f"COMET-22-refA.{level}.score")
    field = participants(folder)
    found = gather(field, MetricSelection(primary=True))
    assert [m.name for m in found.metrics] == ["COMET-22"]
    assert any("1 stored metrics that are not primary" in note for note in found.notes)
    assert [m.name for m in gather(field, MetricSelection(primary=True, names=("poor",))).metrics] == ["poor"]
    for level in ("seg", "sys"):
        (scores / f"COMET-22-refA.{level}.score").unlink()
    unknown = gather(participants(folder), MetricSelection(primary=True))
    assert [m.name for m in unknown.metrics] == ["poor"] and any("is not known" in note for note in unknown.notes)
    assert run(capsys, "meta", str(folder), "--primary", "--draws", "0")[0] == 0


# ---------------------------------------------------------------- judged text


def partly(folder: Path) -> dict[str, list[float | None]]:
    """Gold with the second half of the first document unjudged, and one more segment of one system."""
    gold = evalset_folder.gold()
    for row in gold.values():
        row[2:5] = [None] * 3
    gold["alpha"][6] = None
    gold_rewritten(folder, gold)
    return gold


def test_documents_are_scored_on_judged_segments(folder: Path) -> None:
    gold = partly(folder)
    field = participants(folder)
    known = {s: [i for i, v in enumerate(gold[s]) if v is not None] for s in field.systems}
    found = gather(field, ["good", "chrf"])
    for metric in found.metrics:
        seg = metric.levels["seg"]
        if metric.name == "good":
            wanted = [[np.mean([seg[k, i] for i in known[s] if i in part]) for part in (range(5), range(5, 8))]
                      for k, s in enumerate(field.systems)]
            np.testing.assert_allclose(metric.at("doc", field), wanted)
            np.testing.assert_allclose(metric.at("domain", field), wanted)
        assert metric.at("doc", field).shape == (4, 2)
    result = run_task(found, read_task("doc:pearson"), NONE)
    everything = gather(participants(folder, all_segments=True), ["good", "chrf"])
    assert result.value("good") != pytest.approx(run_task(everything, read_task("doc:pearson"), NONE).value("good"))
    chrf = next(m for m in found.metrics if m.name == "chrf")
    whole = next(m for m in everything.metrics if m.name == "chrf")
    np.testing.assert_allclose(chrf.at("doc", field)[1, 1], whole.at("doc", field)[1, 1])  # wholly judged there
    assert chrf.at("doc", field)[2, 0] != pytest.approx(whole.at("doc", field)[2, 0])


def test_a_document_file_is_used_where_documents_were_judged_whole(folder: Path) -> None:
    rows = {s: [1.0 * k, 2.0 * k] for k, s in enumerate((*evalset_folder.SYSTEMS, "refB"))}
    (folder / "metric-scores" / LP / "good-refA.doc.score").write_text(evalset_folder.score_lines(rows))
    gold = evalset_folder.gold()
    gold["beta"][3] = -1.0
    gold_rewritten(folder, gold)
    field = participants(folder)
    assert gather(field, ["good"]).metrics[0].at("doc", field)[3].tolist() == [3.0, 6.0]
    partly(folder)
    field = participants(folder)
    assert gather(field, ["good"]).metrics[0].at("doc", field)[3].tolist() != [3.0, 6.0]


def test_unjudged_segments_are_not_scored(folder: Path) -> None:
    partly(folder)
    field = participants(folder)
    loaded = evalset.read(folder, LP)
    outputs = [o for o in loaded.outputs if o.system in field.systems]
    judged = {run.doc: field.judged[run.start : run.stop] for run in field.runs}
    some = score(
        Loaded(loaded.corpus, outputs), ["chrf", "context(prev=1):chrf", "whole:bleu"], options=Options(only=judged)
    )
    full = score(Loaded(loaded.corpus, outputs), ["chrf", "context(prev=1):chrf", "whole:bleu"])
    for spec, by_system in some.scores.items():
        for system, scores in by_system.items():
            assert len(scores.rows) == (2 if spec == "whole:bleu" else 5)
            known = ~np.isnan(scores.at("segment"))
            np.testing.assert_array_equal(scores.at("segment")[known], full.scores[spec][system].at("segment")[known])
            assert scores.signature["dropped"] == "0/8"
    gathered = gather(field, ["chrf"])
    assert np.isnan(gathered.metrics[0].levels["seg"]).sum() == 4 * 3
    assert not any("not scored" in note for note in gathered.notes)


def test_scores_written_by_out_are_read_back(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    partly(folder)
    task = ("--task", "seg:pearson", "--task", "doc:pearson", "--draws", "0", "--json")
    _, first, _ = run(capsys, "meta", str(folder), "-m", "chrf", "--out", str(tmp_path / "o"), *task)
    code, again, err = run(capsys, "meta", str(folder), "--scores", str(tmp_path / "o"), *task)
    assert code == 0, err
    values = [[row["value"] for row in one["metrics"]] for text in (first, again) for one in json.loads(text)["tasks"]]
    assert values[0] == pytest.approx(values[2])
    path = folder / "metric-scores" / LP / "poor-src.seg.score"
    path.write_text(path.read_text().replace(path.read_text().splitlines()[0].split("\t")[1], "None"))
    code, _, err = run(capsys, "meta", str(folder), "--draws", "0")
    assert code == 2 and "poor-src.seg.score" in err and "1 gaps in what people judged" in err


def test_standardised_gold_of_systems(folder: Path) -> None:
    """WMT19-21 take z-scores for systems, raw ones for segments; WMT22 and later do not."""
    human = folder / "human-scores"
    (human / f"{LP}.mqm.seg.score").rename(human / f"{LP}.wmt-raw.seg.score")
    means = {s: [float(k)] for k, s in enumerate(evalset_folder.gold())}
    (human / f"{LP}.wmt-raw.sys.score").write_text(evalset_folder.score_lines(means))
    turned = {s: [-values[0]] for s, values in means.items()}
    (human / f"{LP}.wmt-z.sys.score").write_text(evalset_folder.score_lines(turned))
    for test_set, name, sign in (("wmt20", "wmt-z", -1), ("wmt21.news", "wmt-z", -1), ("wmt22", "wmt-raw", 1)):
        field = participants(folder, test_set=test_set)
        assert (field.gold_name, field.gold_at("sys"), field.gold_at("seg")) == ("wmt-raw", name, "wmt-raw")
        assert field.gold("sys")[3, 0] == sign * means[field.systems[3]][0]
        assert run_task(gather(field, ["good"]), read_task("sys:pearson"), NONE).gold == name
    asked = participants(folder, test_set="wmt20", gold="wmt-raw")
    assert asked.gold_at("sys") == "wmt-raw"


# ---------------------------------------------------------------- ranks, p-values, averages


def test_nan_rule_counts_undefined_rows_in_value_and_test() -> None:
    gold = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0], [3.0, 3.0, 3.5]])
    metric = np.stack([gold.copy(), gold + 0.1 * np.eye(3)])
    metric[:, :, 0] = 1.0  # tied for all systems: tau is undefined there
    skip, zero = Measure("kendall", "item"), Measure("kendall", "item", nan_as_zero=True)
    assert estimate(gold, metric[0], zero).value == pytest.approx(estimate(gold, metric[0], skip).value * 2 / 3)
    found: Any = compare(gold, metric, zero)
    values = [estimate(gold, one, zero).value for one in metric]
    assert found.delta[0, 1] == pytest.approx(values[0] - values[1])


def test_only_sentences_of_paragraphs_are_scored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.meta import paragraphs as module
    from wholetext.meta.judgments import find_ratings
    from wholetext.meta.paragraphs import Windows

    path = folder / "human-scores" / f"{LP}.mqm.raters.tsv"
    lines = path.read_text().splitlines(True)
    path.write_text("".join(line for line in lines if line.split("\t")[1] not in ("3", "4")))
    scored: list[list[str]] = []

    def counted(loaded: Any, specs: Any, options: Any) -> Any:
        scored.append([doc.id for doc in loaded.corpus.docs])
        return score(loaded, specs, options=options)

    monkeypatch.setattr(module, "score_texts", counted)
    field = participants(folder)
    points = module.curves(field, find_ratings(EvalSet.open(folder, LP), "mqm").ratings, ["chrf"], [Windows(2)])
    assert scored[0] == ["doc0:1-1", "doc0:2-2", "doc1:2-2", "doc1:3-3"]  # the first of doc1 is another rater's
    assert scored[1] == ["doc0:1-2", "doc1:2-3"]
    monkeypatch.undo()
    whole = participants(folder)
    ratings = find_ratings(whole.evalset, "mqm").ratings
    again = module.curves_of(whole, ratings, [Windows(2)], lambda loaded: {
        "chrf": np.stack([score(Loaded(loaded.corpus, [o]), ["chrf"]).scores["chrf"][o.system].at("segment")
                          for o in loaded.outputs])})
    assert [(p.pearson, p.acc_eq) for p in points] == [(p.pearson, p.acc_eq) for p in again]


def test_standardised_gold_of_a_part(folder: Path) -> None:
    """In a sample or a domain, systems have the means of standardised scores of segments, where there are such."""
    human = folder / "human-scores"
    (human / f"{LP}.mqm.seg.score").rename(human / f"{LP}.wmt-raw.seg.score")
    turned = {s: [None if v is None else -v / 10 for v in row] for s, row in evalset_folder.gold().items()}
    (human / f"{LP}.wmt-z.seg.score").write_text(evalset_folder.score_lines(turned))
    (human / f"{LP}.wmt-z.sys.score").write_text(evalset_folder.score_lines({s: [7.0] for s in turned}))
    field = participants(folder, test_set="wmt20", domains=("talks",))
    assert field.gold_at("sys") == "wmt-z"
    np.testing.assert_allclose(field.gold("sys")[:, 0], -np.nanmean(field.gold("seg"), axis=1) / 10)
    whole = participants(folder, test_set="wmt20")
    assert whole.gold("sys").tolist() == [[7.0]] * 4
    raw = participants(folder, test_set="wmt20", gold="wmt-raw")
    found, other = (run_task(gather(one, ["good"]), read_task("sys:spa"), NONE) for one in (whole, raw))
    assert (found.gold, other.gold) == ("wmt-z", "wmt-raw")  # soft pairwise accuracy is of systems
    assert found.value("good") < 0.5 < other.value("good")  # here the one is the other turned round


def test_weights_are_split_evenly(folder: Path) -> None:
    parts, names = [gather(participants(folder), [])], ["sys:pearson", "seg:pearson", "seg:kendall/item"]
    for even_by, expected in (((), (1 / 3, 1 / 3, 1 / 3)), (("level",), (0.5, 0.25, 0.25)),
                              (("statistic", "level"), (0.25, 0.25, 0.5))):
        found = run_tasks([parts], tasks_for((), names), False, NONE, even_by)[1]
        assert found is not None and found.weights == pytest.approx(expected)


def test_ranks_p_values_and_notes_of_every_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("meta", str(folder.rename(folder.with_name("mine"))), "--task", "seg:pearson", "--task", "sys:pearson")
    _, out, _ = run(capsys, *common, "--draws", "0", "--json")
    found = json.loads(out)
    rows = [row for part in (*found["tasks"], found["average"]) for row in part["metrics"]]
    assert {row["rank"] for row in rows} == {None}
    assert {row["mean_rank"] for row in found["average"]["metrics"]} == {None}
    _, out, err = run(capsys, *common, "--draws", "0", "--latex")
    assert r"\textbf" not in out and "#" not in out
    assert "not the name of a WMT test set" in err and "not the name" not in out  # notes have no place in the table
    _, out, _ = run(capsys, *common, "--draws", "0")
    assert "Nothing was tested" in out and "#" not in out
    p = json.loads(run(capsys, *common, "--draws", "200", "--json")[1])["tasks"][0]["p"][0][1]
    _, out, _ = run(capsys, *common, "--draws", "200", "-f", "tsv")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0][-1] == "p_best" and lines[1][-1] == "" and float(lines[2][-1]) == p
    code, _, err = run(capsys, *common, "--weigh-by", "colour")
    assert code == 2 and "'colour'" in err
