"""Optimal transport between token vectors: the least work that turns the hypothesis's tokens into the reference's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.backends import hub
from wholetext.backends.token_vectors import Tokens
from wholetext.metrics.token_metric import TokenMetric, Weights
from wholetext.types import FloatArray, Request, Run, mean_stats


@dataclass(frozen=True)
class Mover(TokenMetric):
    """1 − the earth mover's distance between unit token vectors, after MoverScore (Zhao et al. 2019, eq. 1, n = 1).

    The distance of two tokens is Euclidean; tokens weigh alike, or by idf as in the paper. One layer is read, where
    the paper joins the last five of a fine-tuned BERT: the numbers are not MoverScore's. Several references: the best.
    """

    name = "mover"
    summary = "optimal transport between token vectors, in the manner of MoverScore"
    range = (-1.0, 1.0)

    def facts(self) -> Mapping[str, str]:
        return {**hub.identity(self.model, self.revision), "several_refs": "max"}

    def measure(self, requests: Sequence[Request], run: Run) -> FloatArray:
        weigh = Weights(run.survey if self.idf else None)
        return mean_stats([
            max(_pair(hyp, ref, weigh) for hyp, ref in pairs)
            for pairs in self.compared(requests, run, self.backend(run))
        ])


def _pair(hyp: Tokens, ref: Tokens, weigh: Weights) -> float:
    from scipy.spatial.distance import cdist

    if not hyp.scored.any() or not ref.scored.any():
        return 0.0
    # from differences: from products, rounding would be magnified where tokens are alike
    cost: FloatArray = cdist(hyp.vectors, ref.vectors)  # (hyp tokens, ref tokens)
    here, there = weigh(hyp.ids), weigh(ref.ids)
    if here.sum() <= 0 or there.sum() <= 0:
        return float("nan")
    return 1.0 - transport(cost, here / here.sum(), there / there.sum())


def transport(cost: FloatArray, here: FloatArray, there: FloatArray) -> float:
    """The least cost of moving the mass ``here`` (n,) to ``there`` (m,) at (n, m) costs: a linear programme, exact."""
    from scipy.optimize import linear_sum_assignment, linprog
    from scipy.sparse import eye, kron, vstack

    n, m = cost.shape
    if n == m and np.ptp(here) == 0.0 and np.ptp(there) == 0.0:  # equal parts: an assignment, solved faster
        return float(cost[linear_sum_assignment(cost)].mean())
    leaves = kron(eye(n), np.ones((1, m)))  # (n, n·m) what each token of the hypothesis gives away
    arrives = kron(np.ones((1, n)), eye(m)).tocsr()[:-1]  # (m − 1, n·m) the last follows from the others
    total = np.concatenate([here, there[:-1]])
    found = linprog(cost.ravel(), A_eq=vstack([leaves, arrives]).tocsr(), b_eq=total, method="highs")
    return float(found.fun) if found.fun is not None else float("nan")
