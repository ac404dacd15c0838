"""The study of contrastive sets: its page is what its stored margins give, and parts are scored once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies import contrast as study


@pytest.mark.slow  # 14,000 items are read
def test_the_page_is_what_the_margins_give(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "DATA", data)
    result, old = json.loads(study.FOUND.read_text("utf-8")), study.PAGE.read_text("utf-8")
    parts = len(result["ContraPro"]["sentence"])
    assert study.page(result, {name: study.load(name) for name in study.SETS}, parts, old) == old
