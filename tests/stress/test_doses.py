"""Doses."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholetext.errors import InputError
from wholetext.stress.change import Replacement
from wholetext.stress.doses import Dose, ordered


@pytest.mark.parametrize(("name", "numbers"), [("1", [1, 1, 1]), ("3", [1, 3, 3]), ("50%", [1, 3, 5]),
                                               ("100%", [1, 5, 10]), ("all", [1, 5, 10])])
def test_a_dose_is_a_number_of_places(name: str, numbers: list[int]) -> None:
    assert [Dose(name).of(sites) for sites in (1, 5, 10)] == numbers


@pytest.mark.parametrize("name", ["0", "-1", "0%", "101%", "half", "", "1.5", "50 %", None])
def test_anything_else_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="there is no dose") as caught:
        Dose(name)
    assert "50%" in caught.value.next


@given(st.integers(1, 40), st.integers(0, 1000), st.booleans())
def test_every_site_is_taken_once_and_in_a_row_if_asked(size: int, seed: int, in_a_row: bool) -> None:
    sites = [(Replacement(at, 0, 0, "x"),) for at in range(size)]
    order = [site[0].segment for site in ordered(sites, random.Random(seed), in_a_row)]
    assert sorted(order) == list(range(size))
    if in_a_row:  # every dose is one run of neighbours
        assert all(max(order[:n]) - min(order[:n]) == n - 1 for n in range(1, size + 1))
