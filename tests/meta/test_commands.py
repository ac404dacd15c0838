"""Commands of `wholetext meta` as a user runs them: a sentence, at most three columns, baselines beside sums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.in_process import call
from tests.meta import evalset_folder
from wholetext.meta.metric_scores import _grows
from wholetext.meta.panels import meta as study
from wholetext.reporting.panels import Bars

Capture = pytest.CaptureFixture[str]


def test_table_of_all_levels(folder: Path, capsys: Capture, tmp_path: Path) -> None:
    levels = ("--level", "sys", "--level", "doc", "--level", "seg")
    code, out, _ = call(capsys, "meta", folder, "-l", "de-en", "-m", "chrf", "--stored", *levels, "--draws", "50",
                        "--interval", "documents", "--between", "--k", "1..2", "--out", tmp_path / "out")
    assert code == 0
    for text in ("chrf", "good", "poor", "sys:spa", "seg:acc_eq", "chance", "pairs", "reference refA", "refB: human",
                 "between metrics", "sys accuracy", "picture: ", "next: wholetext report "):
        assert text in out
    files = ("picture: ", "next: ")  # names of files are not wrapped
    assert max(len(line) for line in out.splitlines() if not line.startswith(files)) <= 80
    assert (tmp_path / "out" / "meta.svg").read_text("utf-8").startswith("<svg")
    assert json.loads((tmp_path / "out" / "meta.json").read_text())["kind"] == "meta"


@pytest.mark.parametrize(("argv", "text"), [
    (["-l", "fr-de"], "no language pair fr-de"), (["--task", "seg:nothing"], "no statistic"),
    (["--k", "x"], "invalid paragraph lengths"), (["-m", "nothing"], "no metric 'nothing'"),
    (["--k", "2"], "computed here"), (["--tasks", "wmt19"], "no task list"), (["--gold", "esa"], "no human scores"),
    (["--level", "word"], "no level 'word'"), (["-m", "chrf", "--k", "9"], "no paragraph of 9 segments")])
def test_errors_are_messages(folder: Path, capsys: Capture, argv: list[str], text: str) -> None:
    code, _, err = call(capsys, "meta", folder, "--draws", "0", *argv)
    assert code == 2 and err.startswith("error: ") and text in err and "Traceback" not in err


def test_every_gold_is_used(folder: Path, capsys: Capture, tmp_path: Path) -> None:
    """Human scores of two aspects, of which the second is the first turned round."""
    gold = {system: row for system, row in evalset_folder.gold().items() if system != "refB"}
    for name, sign in (("coherence", 1), ("fluency", -1)):
        rows = {system: [None if value is None else 50 + sign * value for value in row] for system, row in gold.items()}
        (folder / "human-scores" / f"de-en.{name}.seg.score").write_text(evalset_folder.score_lines(rows))
    golds = ("--gold", "coherence", "--gold", "fluency")
    _, out, _ = call(capsys, "meta", folder, "-m", "chrf", *golds, "--task", "seg:pearson", "--k", "1,2", "--draws", 0)
    assert "seg:pearson coherence" in out and "seg:pearson fluency" in out
    assert out.count("by paragraph length, wmt22.small de-en, gold ") == 2
    code, out, _ = call(capsys, "meta", "paragraphs", folder, "--k", "2", *golds, "--out", tmp_path / "p")
    assert code == 0 and out.count("k\tparagraphs") == 2
    for name in ("coherence", "fluency"):
        made = tmp_path / "p" / name / "wmt22.small.k2"
        assert f"{name} ratings of" in out and (made / "human-scores" / f"de-en.{name}.seg.score").is_file()
    assert "4 × 3" in call(capsys, "meta", made, "-m", "chrf", "--level", "seg", "--draws", "10")[1]


def printed(capsys: Capture, *argv: object) -> list[str]:
    code, out, err = call(capsys, "meta", *argv)
    assert code == 0, err
    return out.splitlines()


def columns(lines: list[str]) -> list[str]:
    return next(line for line in lines if line.startswith("metric")).split()[1:]


@pytest.mark.parametrize(("levels", "shown"), [
    ([], ["sys:spa", "seg:acc_eq", "seg:pearson"]), (["sys"], ["sys:spa", "sys:pearson", "sys:accuracy"]),
    (["doc"], ["doc:acc_eq", "doc:pearson"]), (["sys", "doc", "seg"], ["sys:spa", "doc:acc_eq", "seg:acc_eq"])])
def test_of_usual_tasks_the_first_three_are_shown(folder: Path, capsys: Capture, levels: list[str],
                                                  shown: list[str]) -> None:
    words = [word for level in levels for word in ("--level", level)]
    lines = printed(capsys, folder, "-m", "chrf", "bleu", "--draws", "20", *words)
    assert columns(lines) == shown
    assert lines[0].startswith("By ") and max(map(len, lines)) <= 80
    metrics = [line.split()[0] for line in lines if line.startswith(("chrf ", "bleu "))]
    assert sorted(metrics) == ["bleu", "chrf"]  # one row each


def test_tasks_that_were_named_are_all_shown(folder: Path, capsys: Capture) -> None:
    tasks = ["seg:kendall", "seg:spearman", "seg:pearson", "sys:pearson", "sys:accuracy"]
    lines = printed(capsys, folder, "-m", "chrf", "--draws", "0", *(w for t in tasks for w in ("--task", t)))
    assert all(any(task in line for line in lines) for task in tasks)


def test_of_several_sets_the_table_has_means(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "other").mkdir()
    second = evalset_folder.make(tmp_path / "other").rename(tmp_path / "wmt21.small")
    lines = printed(capsys, folder, second, "-m", "chrf", "bleu", "--draws", "0")
    head = " ".join(columns(lines))
    assert head == "sys:spa (mean of 2) seg:acc_eq (mean of 2) seg:pearson (mean of 2)"
    assert any(line.startswith("chance") for line in lines) and "which was not tested" in " ".join(lines[:3])


@pytest.mark.parametrize(("spec", "sums"), [("wt-mini", False), ("wt-mini-penalty", True), ("bleu", False)])
def test_sums_are_known_by_their_metric(spec: str, sums: bool) -> None:
    pytest.importorskip("safetensors")
    assert _grows(spec) == sums


def test_the_length_of_the_reference_stands_beside_a_penalty(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("wholetext.meta.metric_scores._grows", lambda spec: spec == "chrf")
    argv = (folder, "-m", "chrf", "bleu", "--draws", "20")
    texts = ["word " * (1 + 3 * (at % 4)) + text for at, text in enumerate(evalset_folder.REF)]
    evalset_folder.write(folder / "references" / "de-en.refA.txt", texts)
    lines = printed(capsys, *argv, "--out", tmp_path / "out")
    record: dict[str, Any] = json.loads((tmp_path / "out" / "meta.json").read_text("utf-8"))
    tasks = {task["task"]: task for task in record["tasks"]}
    gold = [(human, -len(text.split())) for system in record["fields"][0]["systems"]
            for human, text in zip(evalset_folder.gold()[system], texts) if human is not None]
    expected = np.corrcoef(np.array(gold).T)[0, 1]
    assert tasks["seg:pearson"]["baseline"] == {"name": "− reference words", "value": pytest.approx(expected)}
    assert tasks["sys:spa"]["baseline"]["value"] is None
    row = next(line for line in lines if line.startswith("− reference words"))
    assert row.split()[-3:] == ["–", "–", f"{expected:.3f}"]
    assert "− reference words" not in [m["name"] for m in tasks["seg:pearson"]["metrics"]]  # in no rank
    page = study(record)
    drawn = [page.panels[at] for at in page.picture]  # what the field reports first
    assert [panel.axis for panel in drawn if isinstance(panel, Bars)] == ["spa", "acc_eq", "pearson"]
    assert "− reference words" in {bar.name for bar in drawn[2].bars}  # type: ignore[union-attr]
    assert any(panel.title == "Metrics" for panel in page.panels)  # signatures
    assert "reference words" not in " ".join(printed(capsys, folder, "-m", "bleu", "--draws", "20"))


def test_contrast_says_whom_the_best_metric_beats(tmp_path: Path, capsys: Capture) -> None:
    rows = [{"src": "a", "target": "b", "contrastive": ["c"], "type": "tf"[i % 2]} for i in range(40)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    for name, right in (("good", 36), ("near", 34), ("poor", 8)):
        (tmp_path / name).write_text("".join("1\n0\n" if i < right else "0\n1\n" for i in range(40)), "utf-8")
    files = [f"{name}={tmp_path / name}" for name in ("poor", "good", "near")]
    lines = printed(capsys, "contrast", tmp_path / "set.jsonl", "-l", "en-fr", "--scores", *files, "--out",
                    tmp_path / "out")
    assert " ".join(lines).startswith(
        "good is right most often, in 90.0 % of 40 items, above chance (50.0 %); significantly more often than poor, "
        "but not than near (McNemar's test).")
    names = [line.split()[0] for line in lines if line.startswith(("good ", "near ", "poor "))]
    assert names[1:] == ["good", "near", "poor"]
    assert (tmp_path / "out" / "contrast.svg").is_file()


def test_spans_open_with_a_sentence_and_have_three_columns(tmp_path: Path, capsys: Capture) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in ("gold", "exact", "long")]
    for path, end in zip(files, (4, 4, 14)):
        rows = [{"system": "A", "doc": str(doc), "segment": 0, "text": "some words here", "score": 90 - doc % 2 * 50,
                 "spans": [{"start": 0, "end": end, "severity": "major"}] * (doc % 2)} for doc in range(24)]
        evalset_folder.write(path, list(map(json.dumps, rows)))
    lines = printed(capsys, "spans", *files, "--draws", "200")
    assert " ".join(lines).startswith(
        "By character F1 and matching F1, exact leads; by error-free AUC, 2 metrics do not differ significantly.")
    assert columns(lines) == ["character", "F1", "matching", "F1", "error-free", "AUC"]
    assert max(map(len, lines)) <= 80
