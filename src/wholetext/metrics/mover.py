"""Optimal transport between the token vectors of hypothesis and reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.metrics.bertscore import TokenMetric, TokenWeights
from wholetext.models.embeddings import Tokens
from wholetext.types import FloatArray, Request, Runtime, mean_stats


@dataclass(frozen=True)
class Mover(TokenMetric):
    """1 − earth mover's distance of unit token vectors (after Zhao et al. 2019, eq. 1, n = 1).

    The distance of two tokens is Euclidean; tokens weigh alike, or by idf as in the paper. One
    layer is read, where the paper joins the last five of a fine-tuned BERT: the numbers are not
    MoverScore's. Several references: the best.
    """

    name = "mover"
    summary = "optimal transport between token vectors, similar to MoverScore"
    range = (-1.0, 1.0)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        weigh = TokenWeights(run.survey if self.idf else None)
        return mean_stats(
            [
                max(_pair(hyp, ref, weigh) for hyp, ref in pairs)
                for pairs in self.compared(requests, run)
            ]
        )


def _pair(hyp: Tokens, ref: Tokens, weigh: TokenWeights) -> float:
    from scipy.spatial.distance import cdist

    if not hyp.scored.any() or not ref.scored.any():
        return 0.0
    # from differences: from products, rounding would be magnified where tokens are alike
    cost: FloatArray = cdist(hyp.vectors, ref.vectors)  # (hyp tokens, ref tokens)
    here, there = weigh(hyp.ids), weigh(ref.ids)
    if here.sum() <= 0 or there.sum() <= 0:
        return float("nan")
    return 1.0 - earth_movers_distance(cost, here, there)


def earth_movers_distance(
    cost: FloatArray, here: FloatArray | None = None, there: FloatArray | None = None
) -> float:
    """Least cost of moving mass ``here`` (n,) to ``there`` (m,); uniform mass by default.

    By POT (Flamary et al. 2021).
    """
    from ot import emd2

    n, m = cost.shape
    here = np.full(n, 1 / n) if here is None else here / here.sum()
    there = np.full(m, 1 / m) if there is None else there / there.sum()
    return float(
        emd2(here, there, np.ascontiguousarray(cost, dtype=np.float64), numItermax=10_000_000)
    )
