"""Linear heads, solved exactly: ridge regression with the sign of every weight fixed by the form.

Ratings of single sentences are noisy, and a network over many features fits the noise. With fixed
signs, a text that matches better in any respect never scores lower, whatever the data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wholetext.types import FloatArray, IntArray


def signed_ridge(
    inputs: NDArray[np.floating],
    targets: FloatArray,
    item: IntArray,
    signs: FloatArray,
    penalties: tuple[float, float],
) -> FloatArray:
    """(width,) weights of (n, width) standardised inputs, 0 where ``signs`` is 0.

    ``penalties``: of squared weights, and the weight of errors within an item relative to those of
    its mean (0: equal).
    """
    from scipy.optimize import nnls

    ridge, within = penalties
    used = np.flatnonzero(signs)
    table = np.column_stack(
        [np.asarray(inputs, dtype=np.float64)[:, used], targets - targets.mean()]
    )  # (n, used + 1)
    means = item_means(table, item)
    products = (means.T @ means + (within or 1.0) * (table - means).T @ (table - means)) / len(
        table
    )
    # w minimises ½ wᵀ·S·w − b·w with w·signs ≥ 0: non-negative least squares over S = L·Lᵀ
    flips = np.outer(signs[used], signs[used])
    factor = np.linalg.cholesky(flips * (products[:-1, :-1] + ridge * np.eye(len(used))))
    positive, _ = nnls(factor.T, np.linalg.solve(factor, signs[used] * products[:-1, -1]))
    weights = np.zeros(len(signs))
    weights[used] = signs[used] * positive
    return weights


def item_means(table: FloatArray, item: IntArray) -> FloatArray:
    """(n, columns) for each row the mean over the rows of its item."""
    _, which, counts = np.unique(item, return_inverse=True, return_counts=True)
    totals = np.stack(
        [np.bincount(which, column) for column in table.T], axis=1
    )  # (items, columns)
    return np.asarray((totals / counts[:, None])[which])
