"""Metrics over contextual token vectors: BERTScore, and optimal transport (mover)."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import InputError, ModelError, optional
from wholetext.files.parsing import file_bytes
from wholetext.metrics.model_metric import EncoderMetric, locate, model_for
from wholetext.models.embeddings import Tokens, TokenVectors
from wholetext.models.encoder import open_encoder
from wholetext.models.tokenizer import TokenizedText, read_config
from wholetext.text import code_of
from wholetext.text.overlap import blocks
from wholetext.types import Excerpt, FloatArray, Request, Runtime, mean_stats

ENGLISH, OTHERS = "FacebookAI/roberta-large", "google-bert/bert-base-multilingual-cased"
BY_LANGUAGE: Mapping[str, str] = {
    "zh": "google-bert/bert-base-chinese",
    "tr": "dbmdz/bert-base-turkish-cased",
}
# The layer that agrees best with human judgment, by the last part of the model's name, as published
# with bert-score; MiniLM's is measured by `python benchmarks/minilm_layers.py`.
LAYERS: Mapping[str, int] = {
    "roberta-base": 10,
    "roberta-large": 17,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "bert-base-turkish-cased": 10,
    "scibert_scivocab_uncased": 8,
    "deberta-xlarge-mnli": 40,
    "mbart-large-50": 12,
    "minilm": 3,
    "all-minilm-l6-v2": 3,
}
KEEP = 256 << 20  # bytes of token vectors held at a time
Pair = tuple[Tokens, Tokens]  # hypothesis, reference


@dataclass(frozen=True)
class Idf:
    """In how many reference segments each token id occurs."""

    segments: int
    counts: Mapping[int, int]  # id → number of segments that have it, sorted


def token_weights(idf: Idf | None, ids: NDArray[np.int64]) -> FloatArray:
    """(tokens,) weights: uniform, or idf over reference segments, log((N + 1) / (df + 1))."""
    if idf is None:
        return np.ones(len(ids))
    return np.log((idf.segments + 1) / np.array([idf.counts.get(int(i), 0) + 1 for i in ids]))


@dataclass(frozen=True)
class TokenMetric(EncoderMetric):
    """A metric that compares the token vectors of a hypothesis with those of each reference."""

    lowest: ClassVar[int] = 0  # the first layer that can be read; 0 are the embeddings

    layer: int | None = None  # from the published table, else three quarters of the way up
    idf: bool = False
    truncation: Literal["context", "reference"] = "context"
    limit: int | None = None  # tokens per sequence; by default the model's maximum

    @property
    def surveys(self) -> bool:  # type: ignore[override]
        """Only idf needs to see all references first."""
        return self.idf

    def resolve(self, langs: tuple[str, str]) -> TokenMetric:
        others = BY_LANGUAGE.get(code_of(langs[1]), OTHERS)
        model = self.model or model_for(langs[1], self.name, ENGLISH, others)
        located = locate(self.name, model, self.revision)
        config = read_config(located.path)
        depth = int(config.get("num_hidden_layers") or config.get("n_layers") or 12)
        layer = self.default_layer(model, depth) if self.layer is None else self.layer
        if not self.lowest <= layer <= depth:
            raise ModelError(
                f"it has {depth} layers, so there is no layer {layer}",
                where=model,
                next="leave layer out to read the one that is usual for it",
            )
        return replace(self, model=model, revision=located.revision, layer=layer)

    def default_layer(self, model: str, depth: int) -> int:
        """Return the layer that is read unless another is named."""
        return LAYERS.get(model.rsplit("/", 1)[-1].lower(), round(0.75 * depth))

    def survey(self, references: Iterable[tuple[Excerpt, ...]], run: Runtime) -> Idf:
        tokenizer = open_encoder(run, self.model, self.revision, self.layer).tokenizer
        special = {*tokenizer.markers.opening, *tokenizer.markers.closing}
        texts = [view.text for view in chain.from_iterable(references)]
        each = (special.union(tokenizer.ids(text, strip=True)) for text in texts)
        return Idf(len(texts), dict(sorted(Counter(chain.from_iterable(each)).items())))

    def backend(
        self, run: Runtime, everything: bool = False, kind: type[TokenVectors] = TokenVectors
    ) -> TokenVectors:
        """Token vectors at the metric's layer; ``everything``: of context and markers too."""
        encoder = open_encoder(run, self.model, self.revision, self.layer)
        limit = encoder.tokenizer.limited(self.limit, self.model)
        reading = TokenizedText(limit, self.truncation, strip=True)
        return kind(encoder, self.layer or 0, reading, everything)

    def inputs(self, request: Request) -> list[tuple[str, Excerpt]]:
        return [
            (side, view) for pair in request.pairs() for side, view in zip(("hyp", "ref"), pair)
        ]

    def compared(self, requests: Sequence[Request], run: Runtime) -> Iterator[list[Pair]]:
        """Yield (hypothesis, reference) token vectors per request; memory is bounded."""
        backend = self.backend(run)
        width = int(backend.encoder.tokenizer.config.get("hidden_size") or 1024)
        room = KEEP // (4 * width)  # tokens
        sizes = [sum(backend.fit(x).tokens for _, x in self.inputs(r)) for r in requests]
        for part in blocks(sizes, room):
            tokens = self.mapped(requests[part], run)
            for at, row in enumerate(tokens, part.start):
                if not all(side.scored.any() for side in row):
                    run.warn("an empty hypothesis or reference scores 0", at)
                yield list(zip(row[::2], row[1::2]))


@dataclass(frozen=True)
class BertScore(TokenMetric):
    """BERTScore (Zhang et al. 2020, eq. 1); with ``context`` Doc-BERTScore (Vernikos et al. 2022).

    Tokens may also match the other side's context and markers, as in the published code (bert-score
    and its fork for documents); ``align_scope=sentence`` matches within the scored segments alone,
    as both papers define it. Several references: the best P, R and F, each by itself.
    """

    name = "bertscore"
    summary = "greedy matching of contextual token vectors; F1, precision, recall"
    range = (-1.0, 1.0)
    worst = 0.0  # what an empty hypothesis scores
    outputs = ("f1", "precision", "recall")

    align_scope: Literal["sentence", "sequence"] = "sequence"
    match_special_tokens: bool | None = None  # by default with align_scope=sequence
    baseline: str = ""  # a table LAYER,P,R,F: scores are rescaled to (x − b) / (1 − b)

    def resolve(self, langs: tuple[str, str]) -> TokenMetric:
        special = (
            self.align_scope == "sequence"
            if self.match_special_tokens is None
            else self.match_special_tokens
        )
        return TokenMetric.resolve(replace(self, match_special_tokens=special), langs)

    def facts(self) -> Mapping[str, str]:
        if not self.baseline:
            return super().facts()
        # by its content, whatever the path of the table
        content = sha256(file_bytes(Path(self.baseline))).hexdigest()[:12]
        return {**super().facts(), "baseline": "table", "baseline_hash": content}

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        small = f"scored with the small embedded model MiniLM; published scores use {ENGLISH}"
        return (*super().notes(langs), *((small,) if self.model == "minilm" else ()))

    def backend(
        self, run: Runtime, everything: bool = False, kind: type[TokenVectors] = TokenVectors
    ) -> TokenVectors:
        around = self.align_scope == "sequence" or bool(self.match_special_tokens)
        return super().backend(run, everything or around, kind)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        idf = run.survey if self.idf else None
        table = np.array(
            [
                np.max([self._pair(hyp, ref, idf) for hyp, ref in pairs], axis=0)
                for pairs in self.compared(requests, run)
            ]
        ).reshape(-1, 3)  # (n, outputs)
        if not self.baseline:
            return mean_stats(table)
        floor = read_baseline(Path(self.baseline), self.layer or 0)  # (outputs,)
        return mean_stats((table - floor) / (1.0 - floor))

    def _pair(self, hyp: Tokens, ref: Tokens, idf: Idf | None) -> FloatArray:
        """(f1, precision, recall) of one hypothesis against one reference."""
        if not hyp.scored.any() or not ref.scored.any():
            return np.zeros(3)
        similar = hyp.vectors @ ref.vectors.T  # (hyp tokens, ref tokens)
        ours, theirs = (self._candidates(tokens) for tokens in (hyp, ref))
        best = similar[np.ix_(hyp.scored, theirs)].max(axis=1)  # (scored hyp tokens,)
        covered = similar[np.ix_(ours, ref.scored)].max(axis=0)  # (scored ref tokens,)
        precision = _mean(best, token_weights(idf, hyp.ids[hyp.scored]))
        recall = _mean(covered, token_weights(idf, ref.ids[ref.scored]))
        total = precision + recall
        return np.array([2 * precision * recall / total if total else 0.0, precision, recall])

    def _candidates(self, tokens: Tokens) -> NDArray[np.bool_]:
        """(tokens,) which tokens the other side may match."""
        if self.align_scope == "sequence":
            return np.ones_like(tokens.scored) if self.match_special_tokens else ~tokens.marker
        return tokens.scored | tokens.own if self.match_special_tokens else tokens.scored


def _mean(values: NDArray[np.float32], weights: FloatArray) -> float:
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else math.nan


def read_baseline(path: Path, layer: int) -> FloatArray:
    """Read (f1, precision, recall) of random pairs at a layer; columns LAYER,P,R,F."""
    try:
        rows = csv.DictReader(file_bytes(path).decode("utf-8").splitlines())
        row = next(row for row in rows if int(float(row["LAYER"])) == layer)
        return np.array([float(row[column]) for column in ("F", "P", "R")])
    except (KeyError, ValueError, StopIteration) as fault:
        raise InputError(
            f"the baseline table has no line for layer {layer} ({fault!r})",
            where=str(path),
            next="it needs a header line LAYER,P,R,F and one line per layer",
        ) from fault


# ---------------------------------------------------------------- optimal transport


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
        idf = run.survey if self.idf else None
        return mean_stats(
            [
                max(self._pair(hyp, ref, idf) for hyp, ref in pairs)
                for pairs in self.compared(requests, run)
            ]
        )

    def _pair(self, hyp: Tokens, ref: Tokens, idf: Idf | None) -> float:
        if not hyp.scored.any() or not ref.scored.any():
            return 0.0
        weights = token_weights(idf, hyp.ids), token_weights(idf, ref.ids)
        return transported(hyp.vectors, ref.vectors, weights)


def transported(
    hyp: NDArray[Any],
    ref: NDArray[Any],
    weights: tuple[FloatArray, FloatArray],
    distance: Literal["euclidean", "sqeuclidean"] = "euclidean",
) -> float:
    """1 − earth mover's distance of the rows of two texts; NaN where one of them weighs nothing."""
    from scipy.spatial.distance import cdist

    if not all(mass.sum() > 0 for mass in weights):
        return math.nan
    # from differences: from products, rounding would be magnified where tokens are alike
    return 1.0 - earth_movers_distance(cdist(hyp, ref, distance), *weights)


def earth_movers_distance(cost: FloatArray, *weights: FloatArray) -> float:
    """Least cost of moving ``weights`` (n,) to (m,) others; uniform by default.

    By POT (Flamary et al. 2021).
    """
    emd2 = optional("ot", "transport", "POT").emd2
    shares = [mass / mass.sum() for mass in weights or map(np.ones, cost.shape)]
    costs = np.ascontiguousarray(cost, dtype=np.float64)
    return float(emd2(*shares, costs, numItermax=10_000_000))
