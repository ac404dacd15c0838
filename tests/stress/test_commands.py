"""`wholetext stress`: a table within 80 columns, the same figures in every format, mistakes answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call

DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"
COMMAND = ("meta", "stress", DEMO, "-m", "chrf", "--change", "swap", "--change", "number", "--change", "resegment",
           "--change", "connective", "--draws", "20", "--no-cache")  # fmt: skip
Capture = pytest.CaptureFixture[str]


def test_every_format_has_the_same_figures_and_says_what_was_refused(tmp_path: Path, capsys: Capture) -> None:
    code, out, err = call(capsys, *COMMAND, "--json", "--out", tmp_path / "run")
    found = json.loads(out)
    stored = json.loads((tmp_path / "run/stress.json").read_text("utf-8"))
    assert code == 0 and found["kind"] == "stress", err
    assert all(found[key] == stored[key] for key in ("figures", "notes"))
    code, table, err = call(capsys, *COMMAND)
    text = " ".join(table.split())
    assert (code, err) == (0, "") and max(map(len, table.splitlines())) <= 80
    assert "connective: made in no document" in text and "harmless" in text and "sentence errors" in text
    code, out, err = call(capsys, *COMMAND, "-f", "tsv")
    head, *lines = [line.split("\t") for line in out.splitlines()]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert [float(row["preferred"]) for row in rows] == [one["preferred"] for one in found["figures"]]
    assert "warning: connective: made in no document" in err


@pytest.mark.parametrize(("more", "said"), [
    (("--change", "swop"), "there is no change 'swop'"), (("--dose", "half"), "there is no dose 'half'"),
    (("--text", "nobody"), "there is no text nobody"),
])  # fmt: skip
def test_mistakes_are_answered(more: tuple[str, ...], said: str, capsys: Capture) -> None:
    code, _, err = call(capsys, *COMMAND, *more)
    assert code == 2 and said in err and "→" in err


def test_a_run_is_not_replaced_unasked(tmp_path: Path, capsys: Capture) -> None:
    command = ("meta", "stress", DEMO, "-m", "chrf", "--change", "swap", "--draws", "10", "--out", tmp_path / "run")
    assert call(capsys, *command)[0] == 0
    code, _, err = call(capsys, *command)
    assert code == 2 and "there is a run here already" in err
    assert call(capsys, *command, "--overwrite")[0] == 0
