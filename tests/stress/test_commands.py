"""`wholetext meta stress`: its finding and table, the same figures in every format, its files, mistakes answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.in_process import call

DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"
FOUR = ("chrf", "--change", "swap", "number", "resegment", "connective", "--draws", 20, "--no-cache")
Capture = pytest.CaptureFixture[str]


def stress(capsys: Capture, *words: Any) -> tuple[int, str, str]:
    return call(capsys, "meta", "stress", DEMO, "-m", *words)


def test_every_format_has_the_same_figures_and_says_what_was_refused(tmp_path: Path, capsys: Capture) -> None:
    code, out, err = stress(capsys, *FOUR, "--json", "--out", tmp_path / "run")
    found = json.loads(out)
    stored = json.loads((tmp_path / "run/stress.json").read_text("utf-8"))
    assert code == 0 and found["kind"] == "stress", err
    assert all(found[key] == stored[key] for key in ("figures", "notes"))
    code, table, err = stress(capsys, *FOUR)
    text = " ".join(table.split())
    assert (code, err) == (0, "") and max(map(len, table.splitlines())) <= 80
    assert "connective: made in no document" in text and "harmless" in text and "sentence errors" in text
    code, out, err = stress(capsys, *FOUR, "-f", "tsv")
    head, *lines = [line.split("\t") for line in out.splitlines()]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert [float(row["preferred"]) for row in rows] == [figure["preferred"] for figure in found["figures"]]
    assert "warning: connective: made in no document" in err


@pytest.mark.parametrize(("more", "said"), [
    (("--change", "swop"), "there is no change 'swop'"), (("--dose", "half"), "there is no dose 'half'"),
    (("--text", "nobody"), "there is no text nobody"),
])  # fmt: skip
def test_mistakes_are_answered(more: tuple[str, ...], said: str, capsys: Capture) -> None:
    code, _, err = stress(capsys, *FOUR, *more)
    assert code == 2 and said in err and "→" in err


def test_the_finding_the_table_the_picture_and_a_second_run(tmp_path: Path, capsys: Capture) -> None:
    words = ("chrf", "bleu", "-l", "de-en", "--change", "swap", "number", "typography", "--draws", 100, "--dose", "all",
             "--out", tmp_path / "run")  # fmt: skip
    code, out, err = stress(capsys, *words)
    assert code == 0, err
    lines = out.splitlines()
    assert " ".join(lines[:2]).startswith("Of 2 kinds of errors, told significantly from harmless changes: ")
    row = next(line for line in lines if line.startswith("  swap"))
    assert row.split()[2:] == ["100", "·", "100", "100", "·", "100"]
    assert next(line for line in lines if line.startswith("  typography")).split()[2:] == ["100", "100"]
    assert max(len(line) for line in lines if not line.startswith(("picture", "next"))) <= 80
    assert (tmp_path / "run" / "stress.svg").read_text("utf-8").startswith("<svg")
    code, _, err = stress(capsys, *words)
    assert code == 2 and "there is a run here already" in err
    assert stress(capsys, *words, "--overwrite")[0] == 0  # its own picture is replaced


def test_without_harmless_changes_preferences_are_said(capsys: Capture) -> None:
    code, out, _ = stress(capsys, "chrf", "--change", "swap", "--dose", "1", "--draws", 50)
    assert code == 0
    assert out.startswith("The original is preferred to one with errors: chrf in 100 % of documents.")
