"""A sample of damaged inputs of every kind: a result or a WholetextError, nothing else. `make fuzz` runs more."""

from __future__ import annotations

import warnings
from collections import Counter

import pytest

from tests.fuzz.fuzz_kinds import KINDS
from tests.fuzz.fuzz_run import attempt


def outcomes(seeds: range) -> Counter[tuple[str, str]]:
    counted: Counter[tuple[str, str]] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            kind, outcome, _ = attempt(seed)
            assert outcome in ("read", "refused"), outcome
            counted[kind, outcome] += 1
    return counted


def test_damaged_inputs_of_every_kind() -> None:
    counted = outcomes(range(33 * len(KINDS)))
    harmless = {kind for kind in KINDS if not counted[kind, "refused"]}
    assert harmless == {"cache"}  # a damaged cache is set aside, and what it held is computed again
    assert all(counted[kind, "read"] for kind in KINDS)  # and none hopeless


@pytest.mark.slow
def test_ten_thousand_damaged_inputs() -> None:
    assert sum(outcomes(range(1000, 11_000)).values()) == 10_000
