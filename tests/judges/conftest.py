"""Chat servers on loopback, and no settings of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges import small_model
from tests.judges.counting import CountingProxy
from tests.judges.scripted import ScriptedServer
from tests.judges.scripted_judge import right
from wholetext.judges import chat as endpoint


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Retries wait for a thousandth of the time; cache and key are not the user's."""
    monkeypatch.setattr(endpoint, "_FIRST_WAIT", 0.0005)
    monkeypatch.setenv("WHOLETEXT_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server that answers every prompt well unless a test changes its ``reply``."""
    with ScriptedServer(right) as scripted:
        monkeypatch.setenv("OPENAI_BASE_URL", scripted.url)
        yield scripted


@pytest.fixture(scope="session")
def small_model_address() -> Iterator[str]:
    """A real model that takes one request at a time, and so reads what prompts have in common once."""
    if small_model.SMOLLM.path() is None:
        pytest.skip(f"the small chat model is not installed: {small_model.INSTALL}")
    with small_model.running() as address:
        yield address


@pytest.fixture(scope="session")
def larger_model_address() -> Iterator[str]:
    """A model that can judge a little: 1.1 GB, and 30 tokens a second on one core."""
    if small_model.QWEN.path() is None:
        pytest.skip(f"the larger chat model is not installed: {small_model.QWEN.install}")
    with small_model.running(model=small_model.QWEN) as address:
        yield address


@pytest.fixture
def real(small_model_address: str) -> Iterator[CountingProxy]:
    """The real model behind a proxy that counts."""
    with CountingProxy(small_model_address) as proxy:
        yield proxy
