"""What `stress` says first, and where its picture is."""

from __future__ import annotations

from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call

DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"


def test_the_finding_the_heat_map_and_the_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = [word for name in ("swap", "number", "typography") for word in ("--change", name)]
    code, out, err = call(
        capsys,
        "meta",
        "stress",
        str(DEMO),
        "-l",
        "de-en",
        "-m",
        "chrf",
        "bleu",
        *changes,
        "--draws",
        "100",
        "--dose",
        "all",
        "--out",
        str(tmp_path / "run"),
    )
    assert code == 0, err
    lines = out.splitlines()
    assert " ".join(lines[:2]).startswith("Of 2 kinds of errors, told significantly from harmless changes: ")
    row = next(line for line in lines if line.startswith("  swap"))
    assert row.split()[2:] == ["100", "·", "100", "100", "·", "100"]
    assert next(line for line in lines if line.startswith("  typography")).split()[2:] == ["100", "100"]
    assert max(len(line) for line in lines if not line.startswith(("picture", "next"))) <= 80
    assert (tmp_path / "run" / "stress.svg").read_text("utf-8").startswith("<svg")
    code, _, err = call(
        capsys,
        "meta",
        "stress",
        str(DEMO),
        "-l",
        "de-en",
        "-m",
        "chrf",
        *changes,
        "--draws",
        "100",
        "--out",
        str(tmp_path / "run"),
        "--overwrite",
    )
    assert code == 0, err  # its own picture is replaced


def test_without_harmless_changes_preferences_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(
        capsys, "meta", "stress", str(DEMO), "-m", "chrf", "--change", "swap", "--dose", "1", "--draws", "50"
    )
    assert code == 0
    assert out.startswith("The original is preferred to one with errors: chrf in 100 % of documents.")
