"""Scores of metrics: labels, files from elsewhere and as WMT25 published them, faulty files, judged text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.in_process import call
from tests.meta import evalset_folder
from tests.meta.evalset_folder import LP, participants
from wholetext.errors import InputError, WholetextError
from wholetext.io import Loaded
from wholetext.io.formats import evalset
from wholetext.meta.metric_scores import Gathered, MetricSelection, gather
from wholetext.meta.tasks import MetricTests, read_task, run_task
from wholetext.scoring.evaluate import Options, score

NONE = MetricTests(draws=0)
Capture = pytest.CaptureFixture[str]


def names(gathered: Gathered) -> list[str]:
    return [metric.name for metric in gathered.metrics]


# ---------------------------------------------------------------- stored metrics


def test_all_labels_of_a_metric_are_used(folder: Path) -> None:
    scores = folder / "metric-scores" / LP
    assert names(gather(participants(folder), [])) == ["good", "poor"]  # other-refB uses another reference
    for level in ("seg", "sys"):
        for label in ("good-refB", "good-src", "both-refA.refB", "every-all"):
            shutil.copy(scores / f"poor-src.{level}.score", scores / f"{label}.{level}.score")
    two = participants(folder, refs=("A", "B"))
    assert names(gather(two, [])) == ["both", "every", "good-refA", "good-refB", "good[noref]", "other", "poor"]
    assert names(gather(participants(folder), [])) == ["good", "good[noref]", "poor"]  # "all" would be refA and refB
    assert names(gather(two, ["good"])) == ["good-refA", "good-refB", "good[noref]"]
    assert names(gather(two, ["good-refB", "poor-src"])) == ["good-refB", "poor"]


def test_score_files_from_elsewhere(folder: Path, tmp_path: Path) -> None:
    away = tmp_path / "away" / LP
    away.mkdir(parents=True)
    for level in ("seg", "sys"):
        shutil.move(folder / "metric-scores" / LP / f"good-refA.{level}.score", away / f"mine-refA.{level}.score")
    bare = tmp_path / "my-own"
    shutil.copy(away / "mine-refA.seg.score", bare)
    field = participants(folder)
    result = gather(field, MetricSelection(files=(tmp_path / "away",)))
    assert [(m.name, sorted(m.levels)) for m in result.metrics] == [("mine", ["seg", "sys"])]
    named = gather(field, MetricSelection(names=("poor",), files=(bare,)))
    assert [(m.name, sorted(m.levels)) for m in named.metrics] == [("poor", ["seg", "sys"]), ("my-own", ["seg"])]
    assert names(gather(field, MetricSelection(stored=True, files=(bare,)))) == ["my-own", "poor"]
    (tmp_path / "odd.score").write_text("alpha\t1\nalpha\t2\nalpha\t3\n")
    for path, text in ((tmp_path / "nowhere", "no such score file"), (folder, "no score files"),
                       (tmp_path / "odd.score", "3 scores per system are neither"),
                       (folder / "metric-scores" / LP / "other-refB.seg.score", "use refB")):
        if path == folder:
            path = tmp_path / "empty"
            path.mkdir()
        with pytest.raises(WholetextError, match=text):
            gather(field, MetricSelection(files=(path,)))


def test_primary_submissions(folder: Path) -> None:
    scores = folder / "metric-scores" / LP
    for level in ("seg", "sys"):
        shutil.copy(scores / f"good-refA.{level}.score", scores / f"COMET-22-refA.{level}.score")
    result = gather(participants(folder), MetricSelection(primary=True))
    assert names(result) == ["COMET-22"] and any("2 stored metrics that are not" in note for note in result.notes)
    assert names(gather(participants(folder), MetricSelection(primary=True, names=("poor",)))) == ["poor"]
    unknown = gather(participants(folder, test_set="wmt19", refs=("refA",)), MetricSelection(primary=True))
    assert len(names(unknown)) == 3 and any("is not known" in note for note in unknown.notes)


def broken(folder: Path, change: str) -> None:
    """Spoil good-refA.seg.score in one of the ways that score files are spoilt."""
    path = folder / "metric-scores" / LP / "good-refA.seg.score"
    lines = path.read_text().splitlines()
    if change == "missing":
        lines = [line for line in lines if not line.startswith("delta")]
    elif change == "extra":
        lines += [line.replace("delta", "omega") for line in lines if line.startswith("delta")]
    elif change == "long":
        lines.insert(3, "alpha\t1.0")
    else:
        lines[9] = f"beta\t{change}"
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(("change", "error", "note", "systems"), [
    ("missing", "no scores of 'delta'", "no scores of delta", 3), ("extra", "'omega'", "omega", 4),
    ("nan", "good-refA.seg.score:10.*'nan' is not a score", "left out: 'nan' is not a score", 4),
    ("None", "1 gaps in what people judged .first: system beta, item 2", "1 scores are missing", 4),
    ("long", "'alpha' has 9 scores, expected 8", "left out: system 'alpha' has 9 scores", 4)])
def test_faulty_score_files(folder: Path, change: str, error: str, note: str, systems: int) -> None:
    broken(folder, change)
    with pytest.raises(InputError, match=error) as fault:
        gather(participants(folder), [])
    assert "good-refA.seg.score" in str(fault.value)
    actual = gather(participants(folder), MetricSelection(missing="drop"))
    assert any(note in text for text in actual.notes), actual.notes
    assert len(actual.participants.systems) == systems
    run_task(actual, read_task("sys:pearson"))
    if change == "missing":
        assert actual.participants.left_out["delta"] == "not scored by every metric"
        assert all(values.shape[0] == 3 for m in actual.metrics for values in m.levels.values())
    if change == "None":
        result = run_task(actual, read_task("seg:pearson"))
        assert result.estimates[0].pairs == 30 * 29 // 2  # 32 scores, one not judged, one not scored
        assert any("not used" in text for text in actual.notes)


# ---------------------------------------------------------------- computed metrics, judged text


def test_computed_beside_stored(folder: Path) -> None:
    chrf, ter = gather(participants(folder), ["good", "chrf", "ter"]).metrics[1:]
    assert chrf.levels["seg"].shape == (4, 8) and "metric:chrf" in chrf.source
    for metric in (chrf, ter):  # of ter lower is better, so its sign is turned
        assert metric.levels["sys"][0, 0] > metric.levels["sys"][3, 0]
    with pytest.raises(WholetextError, match="no metric 'chrg'"):
        gather(participants(folder), ["chrg"])


def partly(folder: Path) -> dict[str, list[float | None]]:
    """Gold with the second half of the first document unjudged, and one more segment of one system."""
    gold = evalset_folder.gold()
    for row in gold.values():
        row[2:5] = [None] * 3
    gold["alpha"][6] = None
    (folder / "human-scores" / f"{LP}.mqm.seg.score").write_text(evalset_folder.score_lines(gold))
    return gold


def test_documents_are_scored_on_judged_segments(folder: Path) -> None:
    gold = partly(folder)
    field = participants(folder)
    known = {s: [i for i, v in enumerate(gold[s]) if v is not None] for s in field.systems}
    result = gather(field, ["good", "chrf"])
    good, chrf = result.metrics
    seg = good.levels["seg"]
    expected = [[np.mean([seg[k, i] for i in known[s] if i in part]) for part in (range(5), range(5, 8))]
              for k, s in enumerate(field.systems)]
    np.testing.assert_allclose(good.at("doc", field), expected)
    np.testing.assert_allclose(good.at("domain", field), expected)
    everything = gather(participants(folder, all_segments=True), ["good", "chrf"])
    whole = everything.metrics[1]
    task = read_task("doc:pearson")
    assert run_task(result, task, NONE).value("good") != pytest.approx(run_task(everything, task, NONE).value("good"))
    np.testing.assert_allclose(chrf.at("doc", field)[1, 1], whole.at("doc", field)[1, 1])  # wholly judged there
    assert chrf.at("doc", field)[2, 0] != pytest.approx(whole.at("doc", field)[2, 0])
    assert not np.allclose(chrf.levels["sys"], whole.levels["sys"])


def test_a_document_file_is_used_where_documents_were_judged_whole(folder: Path) -> None:
    rows = {s: [1.0 * k, 2.0 * k] for k, s in enumerate((*evalset_folder.SYSTEMS, "refB"))}
    (folder / "metric-scores" / LP / "good-refA.doc.score").write_text(evalset_folder.score_lines(rows))
    gold = evalset_folder.gold()
    gold["beta"][3] = -1.0
    (folder / "human-scores" / f"{LP}.mqm.seg.score").write_text(evalset_folder.score_lines(gold))
    field = participants(folder)
    assert gather(field, ["good"]).metrics[0].at("doc", field)[3].tolist() == [3.0, 6.0]
    partly(folder)
    field = participants(folder)
    assert gather(field, ["good"]).metrics[0].at("doc", field)[3].tolist() != [3.0, 6.0]


def test_unjudged_segments_are_not_scored(folder: Path) -> None:
    partly(folder)
    field, loaded = participants(folder), evalset.read(folder, LP)
    texts = Loaded(loaded.corpus, [o for o in loaded.outputs if o.system in field.systems])
    judged = {run.doc: field.judged[run.start : run.stop] for run in field.runs}
    specs = ["chrf", "context(prev=1):chrf", "whole:bleu"]
    some, full = score(texts, specs, options=Options(only=judged)), score(texts, specs)
    for spec, by_system in some.scores.items():
        for system, scores in by_system.items():
            assert len(scores.rows) == (2 if spec == "whole:bleu" else 5)
            known = ~np.isnan(scores.at("segment"))
            np.testing.assert_array_equal(scores.at("segment")[known], full.scores[spec][system].at("segment")[known])
            assert scores.signature["dropped"] == "0/8"
    gathered = gather(field, ["chrf"])
    assert np.isnan(gathered.metrics[0].levels["seg"]).sum() == 4 * 3
    assert not any("not scored" in note for note in gathered.notes)


def test_scores_written_by_out_are_read_back(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    partly(folder)
    task = ("--task", "seg:pearson", "--task", "doc:pearson", "--draws", "0", "--json")
    _, first, _ = call(capsys, "meta", str(folder), "-m", "chrf", "--out", str(tmp_path / "o"), *task)
    code, again, err = call(capsys, "meta", str(folder), "--scores", str(tmp_path / "o"), *task)
    assert code == 0, err
    values = [[r["value"] for r in task["metrics"]] for text in (first, again) for task in json.loads(text)["tasks"]]
    assert values[0] == pytest.approx(values[2])


# ---------------------------------------------------------------- published scores of WMT25

Change = Callable[[dict[str, Any]], None]


def publish(folder: Path, change: Change | None = None) -> dict[str, np.ndarray]:
    """Eight scores of a judge per system, written document by document, in another order than the EvalSet's."""
    rng = np.random.default_rng(7)
    scores = {system: 60 + 20 * rng.random(8) - 5 * k for k, system in enumerate(evalset_folder.SYSTEMS)}
    folder.mkdir()
    for system, row in scores.items():
        lines = []
        for doc, domain, part in (("doc1", "talks", row[5:]), ("doc0", "news", row[:5])):
            line: dict[str, Any] = {"language_pair": "deu_Latn-en_GB", "domain": domain, "document_id": doc,
                                    "metric_scores": {"GEMBA-ESA": part.tolist(), "chrF++": (-part).tolist()}}
            if change and system == "beta":
                change(line)
            lines.append(json.dumps(line) + "\n")
        (folder / f"{system}.jsonl").write_text("".join(lines))
    return scores


@pytest.mark.parametrize("ids", ["doc", "de-en_GB_#_{}_#_doc", "page"])
def test_published_scores_find_their_segments(folder: Path, tmp_path: Path, ids: str) -> None:
    page = folder / "documents" / f"{LP}.docs"
    lines = [line.split("\t") for line in page.read_text().splitlines()]
    page.write_text("".join(f"{domain}\t{doc.replace('doc', ids.format(domain))}\n" for domain, doc in lines))
    scores, files = publish(tmp_path / "auto"), (tmp_path / "auto",)
    where = participants(folder)
    if ids == "page":
        with pytest.raises(WholetextError, match="none of the 2 published documents is in the EvalSet"):
            gather(where, MetricSelection(files=files))
        return
    result = gather(where, MetricSelection(files=files))
    assert names(result) == ["GEMBA-ESA", "chrF++"]
    assert np.array_equal(result.metrics[0].levels["seg"], np.stack([scores[system] for system in where.systems]))
    assert names(gather(where, MetricSelection(names=("chrF++",), files=files))) == ["chrF++"]


def drop_last(line: dict[str, Any]) -> None:
    line["metric_scores"]["GEMBA-ESA"].pop()


def empty_first(line: dict[str, Any]) -> None:
    line["metric_scores"]["GEMBA-ESA"][0] = None


@pytest.mark.parametrize(("change", "says"), [
    (drop_last, "4 scores of document 'doc0', which has 5 segments|2 scores of document 'doc1', which has 3"),
    (empty_first, "2 gaps in what people judged .first: system beta, item 1"),
    (lambda line: line.update(document_id="other"), "7 gaps in what people judged")])
def test_what_does_not_fit_is_an_error(folder: Path, tmp_path: Path, change: Change, says: str) -> None:
    publish(tmp_path / "auto", change)
    files = (tmp_path / "auto",)
    with pytest.raises(WholetextError, match=says):
        gather(participants(folder), MetricSelection(files=files))
    if change is empty_first:
        assert len(gather(participants(folder), MetricSelection(files=files, missing="drop")).metrics) == 2
