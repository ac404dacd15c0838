"""What metrics over contextual token vectors share: which model and layer, how texts are read, idf weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.encoder import open_encoder
from wholetext.backends.hub import locate as hub
from wholetext.backends.layout import together
from wholetext.backends.tokenizer import FILES, TokenizedText, read_config
from wholetext.backends.vectors.token_vectors import Tokens, TokenVectors
from wholetext.errors import MetricError, ModelError
from wholetext.languages import code_of
from wholetext.types import Excerpt, Fit, FloatArray, Metric, Request, Runtime

if TYPE_CHECKING:
    from typing_extensions import Self

ENGLISH, OTHERS = "FacebookAI/roberta-large", "google-bert/bert-base-multilingual-cased"
BY_LANGUAGE: Mapping[str, str] = {"zh": "google-bert/bert-base-chinese", "tr": "dbmdz/bert-base-turkish-cased"}
# the layer that agrees best with human judgment, by the last part of the model's name: published with bert-score,
# except MiniLM's, which `python benchmarks/minilm_layers.py` measures
LAYERS: Mapping[str, int] = {
    "roberta-base": 10, "roberta-large": 17, "xlm-roberta-base": 9, "xlm-roberta-large": 17,
    "bert-base-uncased": 9, "bert-large-uncased": 18, "bert-base-multilingual-cased": 9, "bert-base-chinese": 8,
    "bert-base-turkish-cased": 10, "scibert_scivocab_uncased": 8, "deberta-xlarge-mnli": 40, "mbart-large-50": 12,
    "minilm": 3, "all-minilm-l6-v2": 3,
}  # fmt: skip
# models that know English alone, by the last part of their name
ENGLISH_MODELS = frozenset({"minilm", "all-minilm-l6-v2", "all-minilm-l12-v2", "all-mpnet-base-v2", "roberta-base",
                            "roberta-large", "bert-base-uncased", "bert-large-uncased", "bert-base-cased",
                            "bert-large-cased", "scibert_scivocab_uncased", "deberta-xlarge-mnli", "bart-large",
                            "bart-large-cnn"})  # fmt: skip
KEEP = 256 << 20  # bytes of token vectors held at a time
Pair = tuple[Tokens, Tokens]  # hypothesis, reference


@dataclass(frozen=True)
class Idf:
    """How rare each token id is among the reference segments: log((N + 1) / (df + 1))."""

    segments: int
    counts: tuple[tuple[int, int], ...]  # (id, number of segments that have it), sorted

    def weights(self) -> Mapping[int, float]:
        return {token: math.log((self.segments + 1) / (count + 1)) for token, count in self.counts}

    @property
    def unseen(self) -> float:
        return math.log(self.segments + 1)


@dataclass(frozen=True)
class TokenMetric(Metric):
    """A metric that compares the token vectors of a hypothesis with those of each reference."""

    model: str = ""  # by target language unless given
    revision: str = ""
    layer: int | None = None  # from the published table, else three quarters of the way up
    idf: bool = False
    truncation: Literal["context", "reference"] = "context"
    limit: int | None = None  # tokens per sequence; what the model takes unless given

    @property
    def surveys(self) -> bool:  # type: ignore[override]  # only idf needs to see all references first
        return self.idf

    def resolve(self, langs: tuple[str, str]) -> Self:
        model = self.model or default_model(langs[1])
        located = hub.locate(model, self.revision, patterns=FILES)
        depth = int(read_config(located.path).get("num_hidden_layers") or 12)
        layer = LAYERS.get(model.rsplit("/", 1)[-1].lower(), round(0.75 * depth)) if self.layer is None else self.layer
        if not 0 <= layer <= depth:
            raise ModelError(f"it has {depth} layers, so there is no layer {layer}", where=model)
        return replace(self, model=model, revision=located.revision, layer=layer)

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        return english_only(self.model, langs[1])

    def seen(self, request: Request, run: Runtime) -> int | None:
        backend = self.backend(run)
        return backend.encoder.tokenizer.seen(request.hyp[0], backend.reading)

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        backend = self.backend(run) if requests else None
        return [together(map(backend.fit, dict.fromkeys(views(request)))) for request in requests] if backend else []

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        tokenizer, reading = (backend := self.backend(run)).encoder.tokenizer, backend.reading
        return [(side, tokenizer.marked(tokenizer.layout(view, reading)))
                for pair in request.pairs() for side, view in zip(("hyp", "ref"), pair)]  # fmt: skip

    def survey(self, references: Iterable[Excerpt], run: Runtime) -> Idf:
        tokenizer = open_encoder(run, self.model, self.revision, self.layer).tokenizer
        markers = tokenizer.markers
        counts: Counter[int] = Counter()
        segments = 0
        for view in references:
            segments += 1
            counts.update({*markers.opening, *markers.closing, *tokenizer.ids(view.text, strip=True)})
        return Idf(segments, tuple(sorted(counts.items())))

    def backend(self, run: Runtime, everything: bool = False) -> TokenVectors:
        """Token vectors at the metric's layer; ``everything``: of context and markers too."""
        encoder = open_encoder(run, self.model, self.revision, self.layer)
        limit = encoder.tokenizer.limited(self.limit, self.model)
        return TokenVectors(encoder, self.layer or 0, TokenizedText(limit, self.truncation, strip=True), everything)

    def compared(self, requests: Sequence[Request], run: Runtime, backend: TokenVectors) -> Iterator[list[Pair]]:
        """For each request its (hypothesis, reference) token vectors, a bounded amount of them in memory at a time."""
        width = int(backend.encoder.tokenizer.config.get("hidden_size") or 1024)
        at = 0
        for chunk in chunks(requests, backend, KEEP // (4 * width)):
            tokens = iter(run.map(backend, [view for request in chunk for view in views(request)]))
            for request in chunk:
                pairs = [(next(tokens), next(tokens)) for _ in request.refs]
                if not all(side.scored.any() for pair in pairs for side in pair):
                    run.warn("an empty hypothesis or reference scores 0", at)
                at += 1
                yield pairs


class TokenWeights:
    """Weighted means over tokens: all alike, or by idf."""

    def __init__(self, idf: Idf | None) -> None:
        self.table = None if idf is None else idf.weights()
        self.unseen = 0.0 if idf is None else idf.unseen

    def __call__(self, ids: Iterable[int]) -> FloatArray:
        """(tokens,) the weight of each."""
        if self.table is None:
            return np.ones(len(list(ids)))
        return np.array([self.table.get(int(token), self.unseen) for token in ids])

    def mean(self, values: NDArray[np.float32], ids: Iterable[int]) -> float:
        if self.table is None:
            return float(values.mean(dtype=np.float64))
        weights = np.array([self.table.get(int(token), self.unseen) for token in ids])
        total = weights.sum()
        return float(values @ weights / total) if total > 0 else math.nan


def default_model(lang: str) -> str:
    """The model for a target language: for English the embedded MiniLM where it is installed."""
    if not lang:
        raise MetricError("the model is chosen by the target language, and that is not known",
                          next="give it (-l de-en, in Python langs=), or name a model: bertscore@minilm for English")
    code = code_of(lang)
    if code == "en":
        return "minilm" if hub.embedded("minilm") else ENGLISH
    return BY_LANGUAGE.get(code, OTHERS)


def english_only(model: str, lang: str) -> tuple[str, ...]:
    """A note where a model that was trained on English reads another language."""
    code, name = code_of(lang), model.rsplit("/", 1)[-1]
    if not code or code == "en" or name.lower() not in ENGLISH_MODELS:
        return ()
    return (f"the model {name} was trained on English text; its quality on {code} is not known",)


def views(request: Request) -> Iterator[Excerpt]:
    for hyp, ref in request.pairs():
        yield hyp
        yield ref


def chunks(requests: Sequence[Request], backend: TokenVectors, tokens: int) -> Iterator[list[Request]]:
    """Requests in order, in groups whose vectors fit in memory."""
    chunk: list[Request] = []
    size = 0
    for request in requests:
        more = sum(backend.fit(view).tokens for view in views(request))
        if chunk and size + more > tokens:
            yield chunk
            chunk, size = [], 0
        chunk.append(request)
        size += more
    if chunk:
        yield chunk
