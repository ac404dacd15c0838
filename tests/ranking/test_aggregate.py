"""Methods of ranking against their definitions, written out as loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from wholetext.ranking.procedure import autorank, borda, mean_rank
from wholetext.types import FloatArray

SCORES = st.tuples(st.integers(1, 4), st.integers(2, 7)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.integers(-5, 5).map(float))
)


def quartile(values: list[float]) -> float:
    """The 25th percentile with linear interpolation."""
    ordered, at = sorted(values), (len(values) - 1) / 4
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def autorank_by_loops(scores: FloatArray) -> list[float]:
    count = scores.shape[1]
    means = [0.0] * count
    for row in scores.tolist():
        ordered = sorted(row)
        median = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
        spread = max(1e-9, max(row) - quartile(row))
        for system, value in enumerate(row):
            means[system] += (value - median) / spread / len(scores)
    best, worst = max(means), min(means)
    return [1 + (count - 1) * ((best - mean) / (best - worst) if best > worst else 0) for mean in means]


@given(SCORES)
def test_autorank_is_the_formula_of_the_shared_task(scores: FloatArray) -> None:
    assert autorank(scores) == pytest.approx(autorank_by_loops(scores), rel=1e-9)


@given(SCORES)
def test_mean_rank_and_borda_count_wins_and_ties(scores: FloatArray) -> None:
    for system in range(scores.shape[1]):
        won = sum(float(row[system] > other) for row in scores for other in row)
        tied = sum(float(row[system] == other) for row in scores for other in row) - len(scores)
        assert borda(scores)[system] == won + tied / 2
        lost = sum(float(row[system] < other) for row in scores for other in row)
        assert mean_rank(scores)[system] == pytest.approx(1 + (lost + tied / 2) / len(scores))


def test_a_metric_without_a_score_of_a_system_is_left_out_of_its_mean() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [np.nan, 2.0, 1.0]])
    assert mean_rank(scores) == pytest.approx([1, 1.5, 2.5])
    assert borda(scores) == pytest.approx([2, 2, 0])
    assert np.isfinite(autorank(scores)).all()
