"""What `meta` prints: a sentence, at most three columns, baselines beside sums."""

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return evalset_folder.make(tmp_path)


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    code, out, err = call(capsys, "meta", *argv)
    assert code == 0, err
    return out.splitlines()


def columns(lines: list[str]) -> list[str]:
    return next(line for line in lines if line.startswith("metric")).split()[1:]


@pytest.mark.parametrize(("levels", "shown"), [
    ([], ["sys:spa", "seg:acc_eq", "seg:pearson"]),
    (["sys"], ["sys:spa", "sys:pearson", "sys:accuracy"]),
    (["doc"], ["doc:acc_eq", "doc:pearson"]),
    (["sys", "doc", "seg"], ["sys:spa", "doc:acc_eq", "seg:acc_eq"]),
])  # fmt: skip
def test_of_usual_tasks_the_first_three_are_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], levels: list[str], shown: list[str]
) -> None:
    words = [word for level in levels for word in ("--level", level)]
    lines = printed(capsys, str(folder), "-m", "chrf", "bleu", "--draws", "20", *words)
    assert columns(lines) == shown
    assert lines[0].startswith("By ") and max(map(len, lines)) <= 80
    metrics = [line.split()[0] for line in lines if line.startswith(("chrf ", "bleu "))]
    assert sorted(metrics) == ["bleu", "chrf"]  # one row each


def test_tasks_that_were_named_are_all_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = ["seg:kendall", "seg:spearman", "seg:pearson", "sys:pearson", "sys:accuracy"]
    lines = printed(capsys, str(folder), "-m", "chrf", "--draws", "0", *(w for t in tasks for w in ("--task", t)))
    assert all(any(task in line for line in lines) for task in tasks)


def test_of_several_sets_the_table_has_means(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    second = evalset_folder.make(tmp_path / "other").rename(tmp_path / "wmt21.small")
    lines = printed(capsys, str(folder), str(second), "-m", "chrf", "bleu", "--draws", "0")
    head = " ".join(columns(lines))
    assert head == "sys:spa (mean of 2) seg:acc_eq (mean of 2) seg:pearson (mean of 2)"
    assert any(line.startswith("chance") for line in lines) and "which was not tested" in " ".join(lines[:3])


@pytest.mark.parametrize(("spec", "sums"), [("wt-mini", False), ("wt-mini-penalty", True), ("bleu", False)])
def test_sums_are_known_by_their_metric(spec: str, sums: bool) -> None:
    pytest.importorskip("safetensors")
    assert _grows(spec) == sums


def test_the_length_of_the_reference_stands_beside_a_penalty(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("wholetext.meta.metric_scores._grows", lambda spec: spec == "chrf")
    argv = (str(folder), "-m", "chrf", "bleu", "--draws", "20")
    texts = ["word " * (1 + 3 * (at % 4)) + text for at, text in enumerate(evalset_folder.REF)]
    (folder / "references" / "de-en.refA.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    lines = printed(capsys, *argv, "--out", str(tmp_path / "out"))
    record: dict[str, Any] = json.loads((tmp_path / "out" / "meta.json").read_text("utf-8"))
    tasks = {task["task"]: task for task in record["tasks"]}
    words = [-len(text.split()) for text in texts]
    gold = [
        (human, length)
        for system in record["fields"][0]["systems"]
        for human, length in zip(evalset_folder.gold()[system], words)
        if human is not None
    ]
    expected = np.corrcoef(np.array(gold).T)[0, 1]
    assert tasks["seg:pearson"]["baseline"] == {"name": "− reference words", "value": pytest.approx(expected)}
    assert tasks["sys:spa"]["baseline"]["value"] is None
    row = next(line for line in lines if line.startswith("− reference words"))
    assert row.split()[-3:] == ["–", "–", f"{expected:.3f}"]
    assert [m["name"] for m in tasks["seg:pearson"]["metrics"]] != ["− reference words"]  # in no rank
    bars = [panel for panel in study(record).panels if isinstance(panel, Bars) and panel.axis == "pearson"]
    assert "− reference words" in {bar.name for bar in bars[0].bars}
    assert "reference words" not in " ".join(printed(capsys, str(folder), "-m", "bleu", "--draws", "20"))


def test_the_picture_shows_what_the_field_reports_first(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, str(folder), "-m", "chrf", "bleu", "--draws", "20", "--out", str(tmp_path / "out"))
    page = study(json.loads((tmp_path / "out" / "meta.json").read_text("utf-8")))
    drawn = [page.panels[at] for at in page.picture]
    assert [panel.axis for panel in drawn if isinstance(panel, Bars)] == ["spa", "acc_eq", "pearson"]
    assert any(panel.title == "Metrics" for panel in page.panels)  # signatures


def test_contrast_says_whom_the_best_metric_beats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"src": "a", "target": "b", "contrastive": ["c"], "type": "tf"[i % 2]} for i in range(40)]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    for name, right in (("good", 36), ("near", 34), ("poor", 8)):
        lines = "".join("1\n0\n" if i < right else "0\n1\n" for i in range(40))
        (tmp_path / name).write_text(lines, "utf-8")
    files = [f"{name}={tmp_path / name}" for name in ("poor", "good", "near")]
    code, out, _ = call(
        capsys,
        "meta",
        "contrast",
        str(tmp_path / "set.jsonl"),
        "-l",
        "en-fr",
        "--scores",
        *files,
        "--out",
        str(tmp_path / "out"),
    )
    assert code == 0
    assert " ".join(out.split()).startswith(
        "good is right most often, in 90.0 % of 40 items, above chance (50.0 %); significantly more often than poor, "
        "but not than near (McNemar's test)."
    )
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("good ", "near ", "poor "))][1:] == [
        "good",
        "near",
        "poor",
    ]
    assert "picture: " in out and (tmp_path / "out" / "contrast.svg").is_file()


def test_spans_open_with_a_sentence_and_have_three_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def marks(end: int) -> str:
        return "".join(json.dumps({
            "system": "A", "doc": str(doc), "segment": 0, "text": "some words here",
            "spans": [{"start": 0, "end": end, "severity": "major"}] if doc % 2 else [], "score": 90 - doc % 2 * 50,
        }) + "\n" for doc in range(24))  # fmt: skip

    for name, end in (("gold", 4), ("exact", 4), ("long", 14)):
        (tmp_path / f"{name}.jsonl").write_text(marks(end), "utf-8")
    files = [str(tmp_path / f"{name}.jsonl") for name in ("gold", "exact", "long")]
    code, out, err = call(capsys, "meta", "spans", *files, "--draws", "200")
    assert code == 0, err
    said = "By character F1 and matching F1, exact leads; by error-free AUC, 2 metrics do not differ significantly."
    assert " ".join(out.split()).startswith(said)
    head = next(line for line in out.splitlines() if line.startswith("metric"))
    assert head.split() == ["metric", "character", "F1", "matching", "F1", "error-free", "AUC"]
    assert max(map(len, out.splitlines())) <= 80
