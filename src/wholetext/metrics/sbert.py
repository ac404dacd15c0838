"""Cosine of sentence vectors of sentence-transformers models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wholetext.metrics.model_metric import EncoderMetric, locate, model_for
from wholetext.models.embeddings import Embeddings
from wholetext.models.encoder import open_encoder
from wholetext.models.tokenizer import TokenizedText
from wholetext.types import Excerpt, FloatArray, Request, Runtime, Side, mean_stats

ENGLISH, OTHERS, ACROSS = (
    f"sentence-transformers/{name}"
    for name in ("all-MiniLM-L6-v2", "paraphrase-multilingual-MiniLM-L12-v2", "LaBSE")
)


@dataclass(frozen=True)
class Sbert(EncoderMetric):
    """Cosine of the vectors of hypothesis and reference or source (Reimers & Gurevych 2019, §3).

    Several references: the best.
    """

    name = "sbert"
    summary = "cosine of sentence vectors"
    range = (-1.0, 1.0)

    against: Literal["ref", "src"] = "ref"
    truncation: Literal["context", "reference"] = "context"
    limit: int | None = None  # tokens per sequence; by default those the model was trained for

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]
        return frozenset({"hyp", self.against})

    def resolve(self, langs: tuple[str, str]) -> Sbert:
        across = ACROSS if self.against == "src" else ""
        model = self.model or across or model_for(langs[1], "sbert", ENGLISH, OTHERS)
        return replace(self, model=model, revision=locate(self.name, model, self.revision).revision)

    def inputs(self, request: Request) -> list[tuple[str, Excerpt]]:
        src = [(request.hyp[0], request.src)] if request.src else []
        pairs = src if self.against == "src" else request.pairs()
        return [(side, view) for pair in pairs for side, view in zip(("hyp", self.against), pair)]

    def backend(self, run: Runtime) -> Embeddings:
        encoder = open_encoder(run, self.model, self.revision)
        limit = encoder.tokenizer.limited(self.limit, self.model)
        return run.resource(
            ("embeddings", encoder.id, limit, self.truncation, run.device),
            lambda: Embeddings(encoder, TokenizedText(limit, self.truncation)),
        )

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        rows = self.mapped(requests, run)  # hypothesis and reference (or source), pair by pair
        return mean_stats([max(map(_cosine, row[::2], row[1::2])) for row in rows])


def _cosine(a: FloatArray, b: FloatArray) -> float:
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / size) if size > 0 else float("nan")
