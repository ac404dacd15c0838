"""Which examples an epoch sees: SENT-BASE, PARA-UNIF or PARA-STRAT (Deutsch et al. 2023, §4)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from wholetext.types import IntArray

Sampling = Literal["sentence", "uniform", "stratified"]
Fill = Literal["least", "most"]


def draw(
    k: IntArray, sampling: Sampling, fill: Fill, rng: np.random.Generator, item: IntArray | None = None
) -> IntArray:
    """Indices of an epoch's examples in the order they are seen; with ``item``, those of an item stay together.

    ``sentence``: those of length 1. ``uniform``: all. ``stratified``: equally many of each length, as many as the
    rarest has, without replacement; with ``fill="most"`` as many as the most frequent has, the rarer ones repeated.
    """
    if sampling == "sentence":
        return _ordered(np.flatnonzero(k == 1), item, rng)
    if sampling == "uniform":
        return _ordered(np.arange(len(k)), item, rng)
    strata = [np.flatnonzero(k == length) for length in np.unique(k)]
    size = min(map(len, strata)) if fill == "least" else max(map(len, strata))
    return _ordered(np.concatenate([_some(stratum, item, size, rng) for stratum in strata]), item, rng)


def _some(stratum: IntArray, item: IntArray | None, size: int, rng: np.random.Generator) -> IntArray:
    """``size`` of the indices (whole items as far as they go), none more than once oftener than another."""
    rounds = -(-size // len(stratum))
    return np.concatenate([_ordered(stratum, item, rng) for _ in range(rounds)])[:size]


def _ordered(chosen: IntArray, item: IntArray | None, rng: np.random.Generator) -> IntArray:
    """In a random order; with ``item``, a random order of items and within each."""
    shuffled = np.asarray(rng.permutation(chosen))
    if item is None or not len(chosen):
        return shuffled
    _, which = np.unique(item[shuffled], return_inverse=True)
    place = rng.permutation(int(which.max()) + 1)
    return np.asarray(shuffled[np.argsort(place[which], kind="stable")])
