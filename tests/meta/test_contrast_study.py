"""The study of contrastive sets: its page is what its stored margins give, and parts are scored once."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from studies import contrast as study
from wholetext.meta.contrastive.formats import Candidate, ContrastSet, Item


@pytest.mark.slow  # 14,000 items are read
def test_the_page_is_what_the_margins_give(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "DATA", data)
    found, old = json.loads(study.FOUND.read_text("utf-8")), study.PAGE.read_text("utf-8")
    parts = len(found["ContraPro"]["sentence"])
    assert study.page(found, {name: study.load(name) for name in study.SETS}, parts, old) == old


def test_differences_are_of_the_same_items() -> None:
    one, two = np.array([1.0, 1.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 1.0])
    assert study.gain(one, two).startswith("+25.0 [+0.0, ")
    assert study.gain(one, one) == "+0.0 [+0.0, +0.0]"
    assert study.share(one).startswith("75.0 [")


def test_finished_parts_are_not_scored_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def decide(items: ContrastSet, spec: str, options: Any) -> SimpleNamespace:
        asked.append((spec.partition(":")[0], len(items)))
        return SimpleNamespace(margin=np.ones(len(items)))

    monkeypatch.setattr(study, "decide", decide)
    monkeypatch.setattr(study, "FOUND", tmp_path / "found.json")
    both = (Candidate("a", ()), Candidate("b", ()))
    items = ContrastSet("set", ("en", "fr"), tuple(Item(str(i), "s", (), both) for i in range(150)))
    found: study.Margins = {}
    study.measure("m", "ContraPro", items, 1, found)
    assert asked == [(view, 100) for view in study.views("ContraPro")]
    asked.clear()
    study.measure("m", "ContraPro", items, 9, json.loads(study.FOUND.read_text("utf-8")))
    assert asked == [(view, 50) for view in study.views("ContraPro")]
