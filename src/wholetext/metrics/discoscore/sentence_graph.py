"""The arithmetic of DS-Sent: sentence vectors that borrow from later sentences with shared foci, and their comparison.

Zhao, Strube and Eger 2023, section 3.2. ``stats`` is the paper's comparison; ``greedy`` and ``optimal`` are the two
that its Table 4 names (BERTScore- and MoverScore-like), with definitions of ours.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from wholetext.metrics.cohesion.grids import Grid, Weighting, adjacency_blocks
from wholetext.metrics.transport import earth_movers_distance
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
    return 1.0 - earth_movers_distance(_distances(hyp, ref)), ""


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


def _distances(hyp: FloatArray, ref: FloatArray) -> FloatArray:
    """(n, m) Euclidean distances of unit rows: |a − b|² = 2 − 2·a·b, exactly 0 where two rows are equal."""
    square = np.maximum(2.0 - 2.0 * (hyp @ ref.T), 0.0)
    return np.sqrt(np.where(square < 1e-12, 0.0, square))
