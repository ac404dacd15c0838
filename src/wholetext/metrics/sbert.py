"""Cosine of sentence vectors: sentence-transformers models, of a segment in its context or of a whole document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wholetext.backends.encoder import open_encoder
from wholetext.backends.hub import locate as hub
from wholetext.backends.layout import together
from wholetext.backends.tokenizer import FILES, TokenizedText
from wholetext.backends.vectors.embeddings import Embeddings
from wholetext.errors import MetricError
from wholetext.languages import code_of
from wholetext.metrics.token_metric import english_only
from wholetext.types import Excerpt, Fit, FloatArray, Metric, Request, Runtime, Side, mean_stats

ENGLISH, OTHERS, ACROSS = (f"sentence-transformers/{name}" for name in (
    "all-MiniLM-L6-v2", "paraphrase-multilingual-MiniLM-L12-v2", "LaBSE"))  # fmt: skip


@dataclass(frozen=True)
class Sbert(Metric):
    """Cosine of the hypothesis's vector with the reference's, or the source's (Reimers & Gurevych 2019, §3).

    Several references: the best.
    """

    name = "sbert"
    summary = "cosine of sentence vectors"
    range = (-1.0, 1.0)

    model: str = ""  # by target language unless given
    revision: str = ""
    against: Literal["ref", "src"] = "ref"
    truncation: Literal["context", "reference"] = "context"
    limit: int | None = None  # tokens per sequence; what the model was made for unless given

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]
        return frozenset({"hyp", self.against})

    def resolve(self, langs: tuple[str, str]) -> Sbert:
        model = self.model or default_model(langs[1], self.against)
        return replace(self, model=model, revision=hub.locate(model, self.revision, patterns=FILES).revision)

    def facts(self) -> Mapping[str, str]:
        return {**hub.identity(self.model, self.revision), "several_refs": "max"}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        return english_only(self.model, langs[1])

    def seen(self, request: Request, run: Runtime) -> int | None:
        backend = self._backend(run)
        return backend.encoder.tokenizer.seen(request.hyp[0], backend.reading)

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        backend = self._backend(run) if requests else None
        if backend is None:
            return []
        return [together(map(backend.fit, dict.fromkeys(v for pair in self._pairs(r) for v in pair))) for r in requests]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        backend = self._backend(run)
        return [(side, backend.encoder.tokenizer.marked(backend.layout(view)))
                for pair in self._pairs(request) for side, view in zip(("hyp", self.against), pair)]  # fmt: skip

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        pairs = [self._pairs(request) for request in requests]
        vectors = iter(run.map(self._backend(run), [view for row in pairs for pair in row for view in pair]))
        return mean_stats([max(_cosine(next(vectors), next(vectors)) for _ in row) for row in pairs])

    def _pairs(self, request: Request) -> list[tuple[Excerpt, Excerpt]]:
        if self.against == "src":
            return [(request.hyp[0], request.src)] if request.src else []
        return list(request.pairs())

    def _backend(self, run: Runtime) -> Embeddings:
        encoder = open_encoder(run, self.model, self.revision)
        limit = encoder.tokenizer.limited(self.limit, self.model)
        return run.resource(("embeddings", encoder.id, limit, self.truncation, run.device),
                            lambda: Embeddings(encoder, TokenizedText(limit, self.truncation)))  # fmt: skip


def default_model(lang: str, against: str) -> str:
    """For English the embedded MiniLM where it is installed; a multilingual model for others and across languages."""
    if against == "src":
        return ACROSS
    if not lang:
        raise MetricError("the model is chosen by the target language, and that is not known",
                          next="give it (-l de-en, in Python langs=), or name a model: sbert@minilm for English")
    if code_of(lang) == "en":
        return "minilm" if hub.embedded("minilm") else ENGLISH
    return OTHERS


def _cosine(a: FloatArray, b: FloatArray) -> float:
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / size) if size > 0 else float("nan")
