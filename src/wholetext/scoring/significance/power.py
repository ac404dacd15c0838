"""How many documents it takes: power from the observed variation between documents."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from wholetext.scoring.significance.resample import ROUNDING, Score
from wholetext.types import FloatArray


@dataclass(frozen=True)
class Power:
    """The detectable difference between two systems, and the documents needed to detect theirs."""

    documents: int  # in the corpus
    needed: float  # to separate them, were the difference as observed; inf: none would do
    detectable: float  # the smallest true difference that these documents would probably show
    alpha: float
    power: float


def influence(totals: FloatArray, score: Score) -> FloatArray:
    """(units,) jackknife influence (n - 1)(θ - θ without i) (Efron & Tibshirani 1993, ch. 11)."""
    whole = totals.sum(axis=0)
    with np.errstate(all="ignore"):
        return np.asarray(
            (len(totals) - 1) * (score(whole) - score(whole - totals)), dtype=np.float64
        )


def standard_error(totals: FloatArray, score: Score) -> float:
    """Of the corpus score if the units were drawn independently (infinitesimal jackknife)."""
    values = influence(totals, score)
    values = values[np.isfinite(values)]
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def power(
    a: FloatArray, b: FloatArray, score: Score, alpha: float = 0.05, power: float = 0.8
) -> Power:
    """Documents needed to separate two systems by a two-sided paired test.

    ``n = ((z₁₋α/₂ + z_power)·s / Δ)² + z²₁₋α/₂ / 2``, s the spread of the difference of the
    influence values (Guenther 1981). It takes the observed Δ as the true one: where Δ is mostly
    noise, trust ``detectable``.
    """
    count = len(a)
    with np.errstate(all="ignore"):
        first, second = float(score(a.sum(axis=0))), float(score(b.sum(axis=0)))
    delta, tiny = abs(first - second), ROUNDING * max(abs(first), abs(second))
    spread = influence(a, score) - influence(b, score)
    spread = spread[np.isfinite(spread)]
    if len(spread) < 2 or not np.isfinite(delta) or not 0 < alpha < 1:
        return Power(count, np.nan, np.nan, alpha, power)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    reach, margin = z + NormalDist().inv_cdf(power), z * z / 2
    s = float(spread.std(ddof=1))
    with np.errstate(
        over="ignore"
    ):  # a difference next to nothing needs more documents than a float can count
        needed = (
            np.inf
            if delta <= tiny
            else float(np.ceil(np.square(np.float64(reach * s / delta)) + margin))
        )
    detectable = reach * s / np.sqrt(count - margin) if count > margin else np.nan
    return Power(count, needed, float(detectable), alpha, power)
