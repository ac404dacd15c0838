"""`wholetext stress` in all its formats."""

from __future__ import annotations

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
