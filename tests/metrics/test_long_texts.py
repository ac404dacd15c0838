"""Texts of very many words, as a loop of a model makes them: memory does not grow with their product."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from wholetext.metrics import word_vectors
from wholetext.metrics.word_vectors import GreedyMatching


def test_greedy_matching_holds_no_table_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    hyp, ref = rng.normal(size=(3000, 4)), rng.normal(size=(2500, 4))
    tracemalloc.start()
    try:
        parts = GreedyMatching().compare(hyp, ref)
        assert tracemalloc.get_traced_memory()[1] < 45_000_000  # all pairs: 60 MB
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(word_vectors, "_WORDS", 10_000)
    assert GreedyMatching().compare(hyp, ref) == pytest.approx(parts, abs=1e-12)
