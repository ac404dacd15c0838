"""Fixtures that every test may use: the real data beside the project, frozen oracle files, a cache of one's own."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

# Clocks on shared machines are noisy, so there is no deadline; `make test-all` tries more examples.
EXAMPLES = int(os.environ.get("WHOLETEXT_EXAMPLES", "40"))
hypothesis.settings.register_profile("wholetext", deadline=None, max_examples=EXAMPLES)
hypothesis.settings.load_profile("wholetext")

ROOT = Path(__file__).resolve().parent.parent
MODELS = ("models", "metrics", "training", "text", "demo")  # torch and spaCy, once loaded, serve them all


def beside(variable: str, name: str) -> Path:
    """A folder beside the project, or where an environment variable says; the test is skipped without it."""
    folder = Path(os.environ.get(variable) or ROOT.parent / "shared" / name)
    if not folder.is_dir():
        pytest.skip(f"the folder {name} is not beside the project (set {variable})")
    return folder


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real human judgments."""
    return beside("WHOLETEXT_DATA", "data")


@pytest.fixture(scope="session")
def golden() -> Path:
    """The full golden folder; what default tests need of it is copied into tests/oracle."""
    return beside("WHOLETEXT_GOLDEN", "golden")


@pytest.fixture(scope="session")
def oracle() -> Path:
    return ROOT / "tests" / "oracle"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of models first: of two workers, which start at the ends of a half each, one loads nearly all models."""
    items.sort(key=lambda item: item.path.relative_to(ROOT / "tests").parts[0] not in MODELS)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("WHOLETEXT_CACHE", str(tmp_path_factory.mktemp("cache") / "cache.sqlite"))
