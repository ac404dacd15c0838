"""Linear heads: the exact solution, by another method; signs; items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from wholetext.training.linear import item_means, signed_ridge


def table(seed: int = 3, n: int = 300, width: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n, width)) + rng.normal(size=(n, 1))  # correlated, as features are
    wanted = inputs @ rng.normal(size=width) + rng.normal(size=n) + 5.0
    return inputs - inputs.mean(axis=0), wanted, rng.integers(0, 40, n)


@pytest.mark.parametrize(("ridge", "within"), [(0.1, 0.0), (1.0, 0.0), (0.3, 4.0)])
def test_equals_non_negative_least_squares(ridge: float, within: float) -> None:
    inputs, wanted, item = table()
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    every = np.column_stack([inputs * signs, wanted - wanted.mean()])
    means = np.array([every[item == one].mean(axis=0) for one in item])
    rows = np.concatenate([means, np.sqrt(within or 1.0) * (every - means),
                           np.column_stack([np.sqrt(ridge * len(every)) * np.eye(6), np.zeros(6)])])  # fmt: skip
    expected = signs * nnls(rows[:, :-1], rows[:, -1])[0]
    found = signed_ridge(inputs, wanted, item, signs, (ridge, within))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (found == 0).any() and (found != 0).any()  # some signs are wrong for these data


def test_a_feature_without_a_sign_has_no_weight() -> None:
    inputs, wanted, item = table()
    found = signed_ridge(inputs, wanted, item, np.array([0.0, 1.0, 0.0, 1.0, 1.0, -1.0]), (0.1, 1.0))
    assert found[0] == found[2] == 0.0 and found.any()


def test_item_means() -> None:
    found = item_means(np.array([[1.0, 0.0], [3.0, 8.0], [5.0, 2.0]]), np.array([7, 2, 7]))
    np.testing.assert_array_equal(found, [[3.0, 1.0], [3.0, 8.0], [3.0, 1.0]])


def test_errors_within_items_can_weigh_more() -> None:
    """One feature says which item is harder, one which output is better: the second gains weight."""
    rng = np.random.default_rng(5)
    item = np.repeat(np.arange(50), 6)
    hard, better = rng.normal(size=50)[item], rng.normal(size=300)
    wanted = hard + better + rng.normal(size=300)
    inputs = np.column_stack([hard, better])
    plain, weighted = (signed_ridge(inputs, wanted, item, np.ones(2), (2.0, within)) for within in (1.0, 8.0))
    assert weighted[1] / weighted[0] > 1.5 * plain[1] / plain[0]
