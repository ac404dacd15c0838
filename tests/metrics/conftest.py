"""Tiny models, for the tests of several metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.metrics.neural_texts import with_tokenizers


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_tokenizers(tmp_path_factory.mktemp("models"))
