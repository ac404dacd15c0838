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
MODELS = ("backends", "metrics", "training", "taggers", "demo")  # torch and spaCy, once loaded, serve them all


def data_folder() -> Path | None:
    """The folder of real human judgments, or None where it is not there."""
    given = os.environ.get("WHOLETEXT_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    folder = data_folder()
    if folder is None:
        pytest.skip("the real evaluation data is not beside the project (set WHOLETEXT_DATA)")
    return folder


@pytest.fixture(scope="session")
def golden() -> Path:
    """The full golden folder; what default tests need of it is copied into tests/oracle."""
    given = os.environ.get("WHOLETEXT_GOLDEN")
    folder = Path(given) if given else ROOT.parent / "shared" / "golden"
    if not folder.is_dir():
        pytest.skip("the golden outputs are not beside the project (set WHOLETEXT_GOLDEN)")
    return folder


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
