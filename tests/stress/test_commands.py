"""`wholetext stress` in all its formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call
from wholetext.demo import load


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHOLETEXT_CACHE", str(tmp_path / "cache.sqlite"))
    found, outputs = load("de-en")
    wt.write(tmp_path / "demo.jsonl", wt.Loaded(found, tuple(outputs), ()))
    return tmp_path / "demo.jsonl"


COMMAND = ("-m", "chrf", "whole:chrf", "--change", "swap", "--change", "number", "--change", "resegment", "--change",
           "connective", "--draws", "50")


def test_the_table_fits_a_terminal_and_says_what_was_refused(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "stress", corpus, *COMMAND)
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= 80
    rows = [line.split() for line in out.splitlines() if line.strip().startswith("swap")]
    assert rows[0][:3] == ["swap", "12", "100"]
    text = " ".join(out.split())
    assert "connective: made in no document: no connective of the table" in text
    assert "text under test: patchwork" in text and "harmless" in text and "sentence errors" in text


def test_all_formats_say_the_same(corpus: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "stress", corpus, *COMMAND, "--json", "--out", tmp_path / "run")
    found = json.loads(out)
    assert code == 0 and found["kind"] == "stress"
    stored = json.loads((tmp_path / "run/stress.json").read_text("utf-8"))
    assert all(found[key] == stored[key] for key in ("figures", "notes"))
    code, out, err = call(capsys, "stress", corpus, *COMMAND, "-f", "tsv")
    head, *lines = [line.split("\t") for line in out.splitlines()]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert [float(row["preferred"]) for row in rows] == [one["preferred"] for one in found["figures"]]
    assert "warning: connective: made in no document" in err


def test_errors_beside_harmless_changes_are_in_every_format(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("stress", corpus, "-m", "chrf", "--change", "number", "--change", "typography", "--draws", "50")
    code, out, _ = call(capsys, *command, "--json")
    number, mark = (one for one in json.loads(out)["figures"] if one["dose"] == "all")
    assert code == 0 and 0 <= number["auc_low"] <= number["auc"] <= number["auc_high"] <= 1 and mark["auc"] is None
    shown = "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * number[key] for key in ("auc", "auc_low", "auc_high")))
    code, out, _ = call(capsys, *command)
    below = out.partition("against harmless")[2]
    assert below.split("number", 1)[1].lstrip().startswith(shown) and max(map(len, out.splitlines())) <= 80
    code, out, _ = call(capsys, *command, "-f", "tsv")
    head, *lines = [line.split("\t") for line in out.splitlines()]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert [row["auc"] for row in rows if row["dose"] == "all"] == [str(number["auc"]), ""]
