"""`wholetext list` and `show`: what there is, and every parameter explained."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.in_process import Capture, call
from wholetext.registry import BUILTIN, explanations, metric_class
from wholetext.types import Metric
from wholetext.views import VIEWS


@pytest.mark.parametrize("name", [*BUILTIN, *VIEWS])
def test_every_parameter_is_explained_with_its_origin(name: str) -> None:
    kind = VIEWS[name] if name in VIEWS else metric_class(name)
    found = explanations(kind)
    assert not [key for key, text in found.items() if not text]
    own = {"model", "revision", "limit", "base", "lang", "tagger"}  # of the software, not of a paper
    unsaid = [key for key, text in found.items()
              if key not in own and not any(sign in text for sign in ("(wholetext", "19", "20", "published"))]
    assert not unsaid, "name the paper, or (wholetext) where it is of our own"


def test_a_plug_in_explains_its_parameters_in_the_field() -> None:
    @dataclass(frozen=True)
    class Mine(Metric):
        name = "mine"
        width: int = field(default=2, metadata={"help": "how wide it looks (Me 2026)"})
        other: int = 1

    assert explanations(Mine) == {"width": "how wide it looks (Me 2026)", "other": ""}


@pytest.mark.parametrize("name", ["doc-comet", "blonde", "slide", "ter"])
def test_show_fits_80_columns(name: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = call(capsys, "list", name)
    assert code == 0 and "parameters\n" in out and "``" not in out
    assert not [line for line in out.splitlines() if len(line) > 80]
    assert "\n      " in out.split("parameters\n")[1]


def test_list_show_cache_and_demo(tmp_path: Path, capsys: Capture) -> None:
    assert "chrf++" in call(capsys, "list")[1]
    assert "chrf" in json.loads(call(capsys, "list", "--json")[1])["metrics"]
    assert "Popović" in call(capsys, "list", "chrf")[1]
    assert "partial" in call(capsys, "list", "slide")[1]
    code, out, err = call(capsys, "demo", "--out", str(tmp_path / "run"), "-m", "bleu")
    assert code == 0, err
    assert "patchwork" in out
    assert out.splitlines()[-1].startswith(f"report: {tmp_path / 'run' / 'report.html'} (")
    assert "rows:bleu" in call(capsys, "cache", "info")[1]
    assert "dropped" in call(capsys, "cache", "clear")[1]
