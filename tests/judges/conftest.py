"""A real chat server and one that goes wrong; both on loopback, both count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import small_model
from counting import CountingProxy


def address(slots: int) -> Iterator[str]:
    if small_model.weights() is None:
        pytest.skip(f"the small chat model is not installed: {small_model.INSTALL}")
    with small_model.running(slots) as found:
        yield found


@pytest.fixture(scope="session")
def small_model_address() -> Iterator[str]:
    """A real model that takes one request at a time, and so reads what prompts have in common once."""
    yield from address(1)


@pytest.fixture
def real(small_model_address: str) -> Iterator[CountingProxy]:
    """The real model behind a proxy that counts."""
    with CountingProxy(small_model_address) as proxy:
        yield proxy


@pytest.fixture
def real_in_parallel() -> Iterator[CountingProxy]:
    """The same with four requests in one batch of the model."""
    for found in address(4):
        with CountingProxy(found) as proxy:
            yield proxy
