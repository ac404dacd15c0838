"""BERTScore: greedy matching of contextual token vectors, with document context where the view gives some."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.backends import hub
from wholetext.backends.encoder import open_encoder
from wholetext.backends.layout import together
from wholetext.backends.token_vectors import Tokens, TokenVectors
from wholetext.backends.tokenizer import Reading, read_config
from wholetext.errors import InputError, ModelError
from wholetext.types import Fit, FloatArray, Metric, Request, Run, View, mean_stats

ENGLISH, OTHERS = "FacebookAI/roberta-large", "google-bert/bert-base-multilingual-cased"
BY_LANGUAGE: Mapping[str, str] = {"zh": "google-bert/bert-base-chinese", "tr": "dbmdz/bert-base-turkish-cased"}
# the layer that agrees best with human judgment (published with bert-score), by the last part of the model's name
LAYERS: Mapping[str, int] = {
    "roberta-base": 10, "roberta-large": 17, "xlm-roberta-base": 9, "xlm-roberta-large": 17,
    "bert-base-uncased": 9, "bert-large-uncased": 18, "bert-base-multilingual-cased": 9, "bert-base-chinese": 8,
    "bert-base-turkish-cased": 10, "scibert_scivocab_uncased": 8, "deberta-xlarge-mnli": 40, "mbart-large-50": 12,
}  # fmt: skip
KEEP = 256 << 20  # bytes of token vectors held at a time


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
class BertScore(Metric):
    """BERTScore (Zhang et al. 2020, eq. 1); under ``context`` it is Doc-BERTScore (Vernikos et al. 2022, §3).

    Tokens are matched within the scored segments, as both papers define it; ``align_scope=sequence`` also lets them
    match context and markers, as the published code does. Several references: the best P, R and F, each by itself.
    """

    name = "bertscore"
    summary = "greedy matching of contextual token vectors; F1, precision, recall"
    range = (-1.0, 1.0)
    outputs = ("f1", "precision", "recall")

    model: str = ""  # by target language unless given
    revision: str = ""
    layer: int | None = None  # from the published table, else three quarters of the way up
    idf: bool = False
    align_scope: Literal["sentence", "sequence"] = "sentence"
    match_special_tokens: bool | None = None  # as align_scope has it unless given
    baseline: str = ""  # a table LAYER,P,R,F: scores are rescaled to (x − b) / (1 − b)
    truncation: Literal["context", "reference"] = "context"
    limit: int = 0  # tokens per sequence; 0: what the model takes

    @property
    def surveys(self) -> bool:  # type: ignore[override]  # only idf needs to see all references first
        return self.idf

    def resolve(self, langs: tuple[str, str]) -> BertScore:
        model = self.model or default_model(langs[1])
        located = hub.locate(model, self.revision)
        depth = int(read_config(located.path).get("num_hidden_layers") or 12)
        layer = LAYERS.get(model.rsplit("/", 1)[-1].lower(), round(0.75 * depth)) if self.layer is None else self.layer
        if not 0 <= layer <= depth:
            raise ModelError(f"it has {depth} layers, so there is no layer {layer}", where=model)
        special = self.align_scope == "sequence" if self.match_special_tokens is None else self.match_special_tokens
        return replace(self, model=model, revision=located.revision, layer=layer, match_special_tokens=special)

    def facts(self) -> Mapping[str, str]:
        return {"baseline_hash": sha256(_bytes(Path(self.baseline))).hexdigest()[:12]} if self.baseline else {}

    def fits(self, requests: Sequence[Request], run: Run) -> list[Fit]:
        backend = self._backend(run) if requests else None
        return [together(map(backend.fit, dict.fromkeys(_views(request)))) for request in requests] if backend else []

    def survey(self, references: Iterable[View], run: Run) -> Idf:
        tokenizer = open_encoder(run, self.model, self.revision, self.layer).tokenizer
        markers = tokenizer.markers
        counts: Counter[int] = Counter()
        segments = 0
        for view in references:
            segments += 1
            counts.update({*markers.opening, *markers.closing, *tokenizer.ids(view.text, strip=True)})
        return Idf(segments, tuple(sorted(counts.items())))

    def measure(self, requests: Sequence[Request], run: Run) -> FloatArray:
        if self.model == "minilm":
            run.warn(f"bertscore: scored with the small embedded model MiniLM; published BERTScores use {ENGLISH}")
        backend = self._backend(run)
        weigh = _Weights(run.survey if self.idf else None)
        width = int(backend.encoder.tokenizer.config.get("hidden_size") or 1024)
        scores: list[FloatArray] = []  # (outputs,) each
        for chunk in _chunks(requests, backend, KEEP // (4 * width)):
            tokens = iter(run.map(backend, [view for request in chunk for view in _views(request)]))
            for request in chunk:
                pairs = [self._pair(next(tokens), next(tokens), weigh) for _ in request.refs]
                scores.append(np.max(pairs, axis=0))
        table = np.array(scores).reshape(-1, 3)  # (n, outputs)
        empty = int((table == 0.0).all(axis=1).sum())
        if empty:
            run.warn("bertscore: an empty hypothesis or reference scores 0")
        return mean_stats(self._rescaled(table))

    def _backend(self, run: Run) -> TokenVectors:
        encoder = open_encoder(run, self.model, self.revision, self.layer)
        reading = Reading(self.limit, self.truncation, strip=True)
        everything = self.align_scope == "sequence" or bool(self.match_special_tokens)
        return TokenVectors(encoder, self.layer or 0, reading, everything)

    def _pair(self, hyp: Tokens, ref: Tokens, weigh: _Weights) -> FloatArray:
        """(f1, precision, recall) of one hypothesis against one reference."""
        if not hyp.scored.any() or not ref.scored.any():
            return np.zeros(3)
        similar = hyp.vectors @ ref.vectors.T  # (hyp tokens, ref tokens)
        found = similar[np.ix_(hyp.scored, self._candidates(ref))].max(axis=1)  # (scored hyp tokens,)
        covered = similar[np.ix_(self._candidates(hyp), ref.scored)].max(axis=0)  # (scored ref tokens,)
        precision = weigh.mean(found, hyp.ids[hyp.scored])
        recall = weigh.mean(covered, ref.ids[ref.scored])
        total = precision + recall
        return np.array([2 * precision * recall / total if total else 0.0, precision, recall])

    def _candidates(self, tokens: Tokens) -> NDArray[np.bool_]:
        """(tokens,) which tokens the other side may match."""
        if self.align_scope == "sequence":
            return np.ones_like(tokens.scored) if self.match_special_tokens else ~tokens.marker
        return tokens.scored | tokens.own if self.match_special_tokens else tokens.scored

    def _rescaled(self, table: FloatArray) -> FloatArray:
        if not self.baseline:
            return table
        floor = read_baseline(Path(self.baseline), self.layer or 0)  # (outputs,)
        return (table - floor) / (1.0 - floor)


class _Weights:
    """Weighted means over tokens: all alike, or by idf."""

    def __init__(self, idf: Idf | None) -> None:
        self.table = None if idf is None else idf.weights()
        self.unseen = 0.0 if idf is None else idf.unseen

    def mean(self, values: NDArray[np.float32], ids: Iterable[int]) -> float:
        if self.table is None:
            return float(values.mean(dtype=np.float64))
        weights = np.array([self.table.get(int(token), self.unseen) for token in ids])
        total = weights.sum()
        return float(values @ weights / total) if total > 0 else math.nan


def default_model(lang: str) -> str:
    """The model for a target language: for English the embedded MiniLM where it is installed."""
    code = lang.lower().replace("_", "-").split("-")[0]
    if code == "en":
        return "minilm" if hub.embedded("minilm") else ENGLISH
    return BY_LANGUAGE.get(code, OTHERS)


def read_baseline(path: Path, layer: int) -> FloatArray:
    """(f1, precision, recall) of random pairs at a layer, from a table with the columns LAYER,P,R,F."""
    try:
        rows = list(csv.DictReader(_bytes(path).decode("utf-8").splitlines()))
        row = next(row for row in rows if int(float(row["LAYER"])) == layer)
        return np.array([float(row[column]) for column in ("F", "P", "R")])
    except (KeyError, ValueError) as fault:
        raise InputError(f"the baseline table cannot be read ({fault})", where=str(path),
                         next="it needs a header line LAYER,P,R,F and one line per layer") from fault
    except StopIteration:
        raise InputError(f"the baseline table has no line for layer {layer}", where=str(path)) from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InputError(f"the baseline table cannot be read ({fault.strerror})", where=str(path)) from fault


def _views(request: Request) -> Iterator[View]:
    for hyp, ref in request.pairs():
        yield hyp
        yield ref


def _chunks(requests: Sequence[Request], backend: TokenVectors, tokens: int) -> Iterator[list[Request]]:
    """Requests in order, in groups whose vectors fit in memory."""
    chunk: list[Request] = []
    size = 0
    for request in requests:
        more = sum(backend.fit(view).tokens for view in _views(request))
        if chunk and size + more > tokens:
            yield chunk
            chunk, size = [], 0
        chunk.append(request)
        size += more
    if chunk:
        yield chunk
