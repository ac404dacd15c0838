"""How studies end: a picture beside their JSON, and its name in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.in_process import Capture
from wholetext.cli.studies import finish
from wholetext.errors import MissingExtra

SWEEP = {
    "metric": "chrf", "corpus": "c", "langs": ["de", "en"], "systems": ["s"], "axes": ["size", "step"],
    "higher_is_better": True,
    "cells": [{"size": 1, "step": 1, "scores": {"s": 3.0}}, {"size": 2, "step": 1, "scores": {"s": 4.0}}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "grid.json").write_text(json.dumps(SWEEP), "utf-8")
    return tmp_path


def test_the_picture_is_drawn_and_named(folder: Path, capsys: Capture) -> None:
    pytest.importorskip("altair")
    finish(folder, "grid.json")
    out = capsys.readouterr().out
    assert f"picture: {folder / 'grid.svg'}" in out and f"wholetext report {folder}" in out
    picture = (folder / "grid.svg").read_text("utf-8")
    assert picture.startswith("<svg") and "chrf by window and stride" in picture
    finish(folder, "grid.json", "json")  # again, over its own file, and silent beside JSON
    assert capsys.readouterr().out == ""


def test_a_picture_of_somebody_else_is_not_replaced(folder: Path) -> None:
    pytest.importorskip("altair")
    (folder / "grid.svg").write_text("mine", "utf-8")
    with pytest.raises(Exception, match="did not write it"):
        finish(folder, "grid.json")
    assert (folder / "grid.svg").read_text("utf-8") == "mine"


def test_without_altair_the_terminal_says_so(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtra("altair", "report")

    monkeypatch.setattr("wholetext.reporting.figures.altair_module", missing)
    finish(folder, "grid.json")
    assert "no picture: it needs the extra `report`" in capsys.readouterr().out
    assert not (folder / "grid.svg").exists()


def test_without_a_folder_the_next_step_is_named(capsys: Capture) -> None:
    finish(None, "meta.json")
    assert "--out FOLDER for a picture" in capsys.readouterr().out
