"""The small EvalSet that tests of meta-evaluation share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.meta import evalset_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return evalset_folder.make(tmp_path)
