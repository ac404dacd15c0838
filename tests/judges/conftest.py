"""A real chat server and one that goes wrong; both on loopback, both count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import small_model
from counting import CountingProxy


@pytest.fixture(scope="session")
def small_model_address() -> Iterator[str]:
    """A real model, which takes up to four requests at a time."""
    if small_model.weights() is None:
        pytest.skip(f"the small chat model is not installed: {small_model.INSTALL}")
    with small_model.running(slots=4) as address:
        yield address


@pytest.fixture
def real(small_model_address: str) -> Iterator[CountingProxy]:
    """The real model behind a proxy that counts."""
    with CountingProxy(small_model_address) as proxy:
        yield proxy
