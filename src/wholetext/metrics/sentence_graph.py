"""The arithmetic of DS-Sent: sentence vectors that borrow from later sentences with shared foci, and their comparison.

Zhao, Strube and Eger 2023, section 3.2. ``stats`` is the paper's comparison; ``greedy`` and ``optimal`` are the two
that its Table 4 names (BERTScore- and MoverScore-like), with definitions of ours.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from wholetext.text.grids import Grid, Weighting, adjacency_blocks
from wholetext.types import FloatArray

Match = Literal["stats", "greedy", "optimal"]
_TINY = 1e-30
_LARGEST_PLAN = 250_000  # cells of a transport plan that is still solved exactly


def refine(sentences: FloatArray, foci: Grid, weighting: Weighting = "u") -> FloatArray:
    """(n, hidden) rows of (A + I)·S at unit length (equation 3); without foci A is 0."""
    out = np.array(sentences, dtype=np.float64)
    if foci:
        for rows, block in adjacency_blocks(foci, len(out), weighting):
            out[rows] += block @ np.asarray(sentences, dtype=np.float64)
    return np.asarray(out / (np.linalg.norm(out, axis=1, keepdims=True) + _TINY))


def similarity(hyp: FloatArray, ref: FloatArray, match: Match = "stats") -> tuple[float, str]:
    """Similarity of two texts' refined rows, and a reason where it is undefined or a matter of convention."""
    if not len(hyp) or not len(ref):
        if len(hyp) == len(ref):
            return float("nan"), "neither text has a word"
        return 0.0, "one of the two texts has no word"
    if match == "stats":
        return _stats(hyp, ref), ""
    if match == "greedy":
        return _greedy(hyp, ref), ""
    if len(hyp) * len(ref) > _LARGEST_PLAN:
        return float("nan"), f"{len(hyp)} × {len(ref)} sentences are too many for match=optimal"
    return 1.0 - earth_movers_distance(hyp, ref), ""


def graph_vector(rows: FloatArray) -> FloatArray:
    """(4·hidden,) minimum, mean, maximum and sum over the sentences."""
    return np.concatenate([rows.min(axis=0), rows.mean(axis=0), rows.max(axis=0), rows.sum(axis=0)])


def _stats(hyp: FloatArray, ref: FloatArray) -> float:
    if len(ref) == 1:  # as in the published code: nothing to summarise, so the mean cosine with each sentence
        return float((hyp @ ref[0]).mean())
    one, other = graph_vector(hyp), graph_vector(ref)
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), _TINY))


def _greedy(hyp: FloatArray, ref: FloatArray) -> float:
    best_ref = np.full(len(ref), -np.inf)
    total = 0.0
    step = max(1, 4_000_000 // len(ref))
    for start in range(0, len(hyp), step):  # in blocks, so that long documents need no n × m memory
        cosine = hyp[start : start + step] @ ref.T  # (step, ref)
        total += float(cosine.max(axis=1).sum())
        best_ref = np.maximum(best_ref, cosine.max(axis=0))
    precision, recall = total / len(hyp), float(best_ref.mean())
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def earth_movers_distance(hyp: FloatArray, ref: FloatArray) -> float:
    """The least mean distance over which uniform mass on the one's rows moves to the other's."""
    from scipy.optimize import linear_sum_assignment, linprog
    from scipy.sparse import eye_array, kron, vstack

    square = np.maximum(2.0 - 2.0 * (hyp @ ref.T), 0.0)  # unit rows: |a − b|² = 2 − 2·a·b
    cost = np.sqrt(np.where(square < 1e-12, 0.0, square))  # (n, m)
    n, m = cost.shape
    if n == m:
        return float(cost[linear_sum_assignment(cost)].mean())
    if 1 in (n, m):
        return float(cost.mean())
    leaves = kron(eye_array(n), np.ones((1, m)), format="csr")  # (n, n·m) what leaves each row
    arrives = kron(np.ones((1, n)), eye_array(m), format="csr")  # (m, n·m) what arrives at each column
    found = linprog(cost.ravel(), A_eq=vstack([leaves, arrives], format="csr"),
                    b_eq=np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)]), method="highs")
    return float(found.fun) if found.status == 0 else float("nan")
