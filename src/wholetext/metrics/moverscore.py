"""MoverScore: optimal transport between the words of hypothesis and reference, as published."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MetricError
from wholetext.metrics.bertscore import Idf, TokenMetric, token_weights, transported
from wholetext.metrics.model_metric import refuse_unread
from wholetext.models.embeddings import Tokens, TokenVectors, unit
from wholetext.types import FloatArray, Request, Runtime, mean_stats

DISTILBERT = "distilbert/distilbert-base-uncased"
_JOINED = 5  # layers that version 1 joins
_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True)
class MoverScore(TokenMetric):
    """MoverScore (Zhao et al. 2019, eq. 1) as moverscore 1.0.3 computes it.

    ``version=2`` is that package's ``moverscore_v2``, which its authors recommend: the last layer
    of DistilBERT (``distilbert-base-uncased``, English), 1 − the least Euclidean distance of unit
    vectors. ``version=1`` is the paper's: minimum, mean and maximum over the last five layers of
    BERT fine-tuned on MNLI, squared distances; name its folder. Both leave out punctuation and
    continued word pieces (``##ing``), and move the markers around a text as well.

    Words weigh alike, or with ``idf`` by their frequency in the references, on both sides: the
    original can weigh hypotheses by the frequency in all hypotheses, so that a score depends on its
    company. An empty text scores 0. Several references: the best.
    """

    name = "moverscore"
    summary = "optimal transport between word vectors, as published (MoverScore)"
    worst = 0.0  # what an empty hypothesis scores
    lowest = 1

    version: Literal["2", "1"] = "2"
    ngram: int = 1  # words that are moved together; version 1

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        """Distances of unit vectors reach 2, squared ones 4."""
        return (-3.0, 1.0) if self.version == "1" else (-1.0, 1.0)

    def resolve(self, langs: tuple[str, str]) -> TokenMetric:
        if self.version == "1" and not self.model:
            raise MetricError(
                "version=1 has no model on the hub: the authors publish BERT fine-tuned on MNLI as "
                "MNLI_BERT.zip, release 0.6 of emnlp19-moverscore",
                next="name a folder of it in the format of transformers: "
                "moverscore(version=1)@FOLDER",
            )
        refuse_unread(self, f"version={self.version}", ("ngram",) if self.version == "2" else ())
        if self.ngram < 1:
            raise MetricError(f"ngram={self.ngram} moves nothing", next="leave ngram out, or 2")
        return TokenMetric.resolve(replace(self, model=self.model or DISTILBERT), langs)

    def default_layer(self, model: str, depth: int) -> int:
        return depth

    def backend(
        self, run: Runtime, everything: bool = True, kind: type[TokenVectors] = TokenVectors
    ) -> TokenVectors:
        return super().backend(run, everything, JoinedLayers if self.version == "1" else kind)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        idf: Idf | None = run.survey if self.idf else None
        distance: Any = "sqeuclidean" if self.version == "1" else "euclidean"
        pieces = self.backend(run).encoder.tokenizer.tokens

        def pair(hyp: Tokens, ref: Tokens) -> float:
            if not hyp.scored.any() or not ref.scored.any():
                return 0.0
            vectors, weights = self._grams(hyp, idf, pieces)
            others, masses = self._grams(ref, idf, pieces)
            return transported(vectors, others, (weights, masses), distance)

        compared = self.compared(requests, run)
        return mean_stats([max(pair(hyp, ref) for hyp, ref in pairs) for pairs in compared])

    def _grams(self, tokens: Tokens, idf: Idf | None, pieces: Any) -> tuple[FloatArray, FloatArray]:
        """(n, width) unit vectors of the n-grams of a text, and (n,) their weights."""
        kept = np.array(
            [
                (scored or own) and piece not in _PUNCTUATION and "##" not in piece
                for scored, own, piece in zip(
                    tokens.scored, tokens.own, pieces(tuple(tokens.ids.tolist()))
                )
            ]
        )
        vectors, weights = (
            tokens.vectors[kept].astype(np.float64),
            token_weights(idf, tokens.ids[kept]),
        )
        size = min(self.ngram, len(weights))
        windows = np.lib.stride_tricks.sliding_window_view(weights, size)  # (n, size)
        sums = windows.sum(axis=1)
        shares = windows / np.where(sums > 0, sums, 1.0)[:, None]
        # (n, width)
        grams = sum(shares[:, at, None] * vectors[at : at + len(windows)] for at in range(size))
        return unit(grams), sums


class JoinedLayers(TokenVectors):
    """Backend: view → Tokens whose vectors are power means over five layers (Zhao et al., eq. 4).

    Those are minimum, mean and maximum of the unit vectors of a token, one after the other.
    """

    @property
    def layers(self) -> list[int]:
        first = max(1, self.layer + 1 - _JOINED)  # layer 0, the embeddings, is not among them
        return list(range(first, self.layer + 1))

    def vectors(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        units = unit(states)  # (layers, tokens, width)
        return np.concatenate([units.min(axis=0), units.mean(axis=0), units.max(axis=0)], axis=-1)
