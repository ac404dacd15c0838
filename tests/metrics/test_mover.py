"""Optimal transport: by hand, and against a linear programme."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from wholetext.metrics.bertscore import earth_movers_distance
from wholetext.metrics.discoscore.metric import similarity


def test_by_hand() -> None:
    cost = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    assert earth_movers_distance(cost) == pytest.approx(1 / 6)
    assert earth_movers_distance(cost[:2]) == 0.0
    assert earth_movers_distance(cost[:2], np.array([3.0, 1.0]), np.array([1.0, 1.0])) == pytest.approx(0.25)


def test_of_unit_rows() -> None:
    axes = np.eye(3)
    assert 1 - similarity(axes[:1], axes[:2], "optimal")[0] == pytest.approx(math.sqrt(2) / 2)
    # 3 rows onto 2: a third of the mass stays on each shared row, the rest moves √2
    assert 1 - similarity(axes, axes[:2], "optimal")[0] == pytest.approx(math.sqrt(2) / 3)
    assert 1 - similarity(axes, axes[::-1], "optimal")[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 4), (7, 3), (12, 17)])
def test_equals_the_linear_programme(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    cost, here, there = rng.random(shape), rng.random(shape[0]) + 0.1, rng.random(shape[1]) + 0.1
    leaves = np.kron(np.eye(shape[0]), np.ones((1, shape[1])))
    arrives = np.kron(np.ones((1, shape[0])), np.eye(shape[1]))
    exact = linprog(cost.ravel(), A_eq=np.vstack([leaves, arrives]),
                    b_eq=np.concatenate([here / here.sum(), there / there.sum()]), method="highs").fun
    assert earth_movers_distance(cost, here, there) == pytest.approx(exact, rel=1e-9)
