"""A chat server in the same process, and nothing of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.scripted import ScriptedServer
from tests.judges.scripted_judge import right
from wholetext.judges.chat import endpoint


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_WAIT", 0.001)
    monkeypatch.setenv("WHOLETEXT_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(right) as made:
        monkeypatch.setenv("OPENAI_BASE_URL", made.url)
        yield made
