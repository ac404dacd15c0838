"""Embedding average, vector extrema and greedy matching: texts compared by static word vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.metrics.cohesion.metric import static_vectors
from wholetext.metrics.cohesion.vectors import EMBEDDED, identity
from wholetext.models.embeddings import unit
from wholetext.text.mteval import tokenize_13a
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats

_WORDS = 1024  # of a hypothesis that are compared at a time


@dataclass(frozen=True)
class WordVectorMetric(Metric):
    """A metric over the static vectors of the known words of two texts (Liu et al. 2016, §3.2).

    Words without a vector are left out; a text without any known word has no score. Several
    references: the best.
    """

    range = (-1.0, 1.0)

    vectors: str = EMBEDDED  # or a file: a word and its numbers per line

    @abstractmethod
    def compare(self, hyp: FloatArray, ref: FloatArray) -> float:
        """Compare two texts by their word vectors, (words, dims) each."""

    def facts(self) -> Mapping[str, str]:
        return {"vectors": identity(self.vectors), "several_refs": "max"}

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        space = static_vectors(self.vectors, run)

        def embed(text: str, at: int) -> FloatArray:
            words = tokenize_13a([text.lower()])[0].split()
            known = [space.index[word] for word in words if word in space.index]
            if len(known) < len(words):
                run.warn("words without a vector are left out", at)
            return np.asarray(space.matrix[known], dtype=np.float64)

        rows = []
        for at, request in enumerate(requests):
            texts = [embed(view.text, at) for view in (request.hyp[0], *request.refs)]
            scores = [
                self.compare(texts[0], ref) for ref in texts[1:] if len(texts[0]) and len(ref)
            ]
            rows.append(max(scores, default=np.nan))
        return mean_stats(rows)


@dataclass(frozen=True)
class EmbeddingAverage(WordVectorMetric):
    """Cosine of the mean word vectors (Liu et al. 2016, §3.2.2)."""

    name = "embedding-average"
    summary = "cosine of mean word vectors (static)"

    def compare(self, hyp: FloatArray, ref: FloatArray) -> float:
        return _cosine(hyp.mean(axis=0), ref.mean(axis=0))


@dataclass(frozen=True)
class VectorExtrema(WordVectorMetric):
    """Cosine of the most extreme value in each dimension (Forgues et al. 2014)."""

    name = "vector-extrema"
    summary = "cosine of the most extreme values of word vectors (static)"

    def compare(self, hyp: FloatArray, ref: FloatArray) -> float:
        return _cosine(_extrema(hyp), _extrema(ref))


@dataclass(frozen=True)
class GreedyMatching(WordVectorMetric):
    """Mean of each word's best cosine with the other text, both ways (Rus & Lintean 2012)."""

    name = "greedy-matching"
    summary = "best cosine of each word with the other text, both ways (static)"

    def compare(self, hyp: FloatArray, ref: FloatArray) -> float:
        hyp, ref = unit(hyp), unit(ref)
        rows, columns = [], np.full(len(ref), -np.inf)
        for begin in range(0, len(hyp), _WORDS):
            cosines = hyp[begin : begin + _WORDS] @ ref.T  # (some hyp words, ref words)
            rows.append(cosines.max(axis=1))
            np.maximum(columns, cosines.max(axis=0), out=columns)
        return float((columns.mean() + np.concatenate(rows).mean()) / 2)


def _extrema(vectors: FloatArray) -> FloatArray:
    """Return the value of largest magnitude in each dimension, the positive one of two equal."""
    high, low = vectors.max(axis=0), vectors.min(axis=0)
    return np.asarray(np.where(high >= np.abs(low), high, low))


def _cosine(hyp: FloatArray, ref: FloatArray) -> float:
    return float(unit(hyp) @ unit(ref))
