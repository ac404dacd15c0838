"""Fixtures that every test may use: the real data beside the project, frozen oracle files, a cache of one's own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from wholetext.errors import ModelError

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


def pytest_configure(config: pytest.Config) -> None:
    """A processor with AMX may announce it and not have it: settle that before a test uses torch."""
    cpuinfo = Path("/proc/cpuinfo")
    if not hasattr(config, "workerinput") and cpuinfo.exists() and " amx_" in cpuinfo.read_text(encoding="utf-8"):
        from wholetext.backends import low_precision

        with contextlib.suppress(ModelError):  # the tests that need it say so
            low_precision.check("bf16", "cpu")  # sets ONEDNN_MAX_CPU_ISA where needed, which workers inherit


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of models first: of two workers, which start at the ends of a half each, one loads nearly all models."""
    items.sort(key=lambda item: item.path.relative_to(ROOT / "tests").parts[0] not in MODELS)


@pytest.fixture(autouse=True, scope="session")
def one_trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Low precision is tried once in a session, not for the empty cache of every test."""
    from wholetext.backends import low_precision

    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(low_precision, "store", lambda: folder / "processor.json")
        yield


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("WHOLETEXT_CACHE", str(tmp_path_factory.mktemp("cache") / "cache.sqlite"))
