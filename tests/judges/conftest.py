"""A real chat server and one that goes wrong; both on loopback, both count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.judges import small_model
from tests.judges.counting import CountingProxy


@pytest.fixture(scope="session")
def small_model_address() -> Iterator[str]:
    """A real model that takes one request at a time, and so reads what prompts have in common once."""
    if small_model.weights() is None:
        pytest.skip(f"the small chat model is not installed: {small_model.INSTALL}")
    with small_model.running() as found:
        yield found


@pytest.fixture
def real(small_model_address: str) -> Iterator[CountingProxy]:
    """The real model behind a proxy that counts."""
    with CountingProxy(small_model_address) as proxy:
        yield proxy
