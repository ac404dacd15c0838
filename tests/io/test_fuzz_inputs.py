"""Broken input files through the readers and `wholetext score`: always a result or a WholetextError, never a crash."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.io.fuzzing import run


def outcomes(seeds: range, score_every: int) -> Counter[str]:
    counted: Counter[str] = Counter()
    for name, outcome in run(seeds, score_every):
        assert outcome in ("read", "refused"), f"{name}\n{outcome}"
        counted[outcome] += 1
    return counted


def test_broken_files() -> None:
    counted = outcomes(range(500), score_every=30)
    assert counted["read"] > 60 and counted["refused"] > 250  # the cases are neither all hopeless nor all harmless


@pytest.mark.slow
def test_twenty_thousand_broken_files() -> None:
    assert sum(outcomes(range(500, 20_500), score_every=4).values()) == 20_000
