"""A pytest plugin for `make test-mutants`: mutmut 3.8 reads test names from a field that pytest 9.2 dropped."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item._nodeid = item.nodeid  # type: ignore[attr-defined]
