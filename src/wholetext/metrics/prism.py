"""Prism and BARTScore: how likely an encoder-decoder model finds one text after reading another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from wholetext.errors import ModelError
from wholetext.metrics.model_metric import ModelMetric, refuse_unread
from wholetext.models.fairseq import is_fairseq, open_fairseq
from wholetext.models.hub.locate import Located, folder_of, locate
from wholetext.models.layout import together
from wholetext.models.loading import open_checkpoint
from wholetext.models.seq2seq import Pair, Seq2Seq, TokenLogProbs, languages
from wholetext.models.tokenizer import FILES, check_limit
from wholetext.types import Fit, FloatArray, Request, Runtime, Side, mean_stats

Direction = Literal["f", "ref-hyp", "hyp-ref", "src-hyp"]
Span = Literal["auto", "reference", "sentence", "sentence+eos", "all"]
M39V1 = "http://data.statmt.org/prism/m39v1.tar"


@dataclass(frozen=True)
class Likelihood(ModelMetric):
    """Mean log-probability per token; ``f`` is the mean of both directions.

    ``token_span``: ``sentence`` is the text alone; ``reference`` adds the mark before it, as the
    published Doc-Prism does (the language tag, or with context the separator); ``sentence+eos`` the
    mark after it, as Prism does; ``all`` both; ``auto`` is what was published with the model.
    ``multi_ref``: what several references give.
    ``empty``: the score of a span without tokens (else undefined). ``truncation=reference`` cuts on
    the right and divides by the tokens that were cut away too, as the published Doc-Prism does:
    such scores come near 0, which looks excellent (for comparison only).
    """

    range = (float("-inf"), 0.0)
    published_span: ClassVar[Span] = "reference"

    direction: Direction = "f"
    token_span: Span = "auto"
    multi_ref: Literal["mean", "max"] = "mean"
    src_lang: str = "auto"
    tgt_lang: str = "auto"
    limit: int | None = None  # maximum ids per text; default: the model's
    empty: float | None = None
    truncation: Literal["context", "reference"] = "context"

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]
        return frozenset({"hyp", "src" if self.direction == "src-hyp" else "ref"})

    @property
    def outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("score", "precision", "recall") if self.direction == "f" else ("score",)

    def resolve(self, langs: tuple[str, str]) -> Likelihood:
        src, tgt = (
            lang if code == "auto" else code
            for lang, code in zip(langs, (self.src_lang, self.tgt_lang))
        )
        unread = "multi_ref" if self.direction == "src-hyp" else "src_lang"
        refuse_unread(self, f"direction={self.direction}", (unread,))
        if self.limit is not None:
            check_limit(self.limit, 1, 0, self.model)
        located = self._located()
        fairseq = is_fairseq(located.path)
        named = (self.src_lang, self.tgt_lang) != ("auto", "auto")
        if named and not fairseq and not languages(located.path):
            refuse_unread(self, f"model={self.model}", ("src_lang", "tgt_lang"))
        span = "sentence+eos" if fairseq else self.published_span
        return replace(
            self,
            revision=located.revision,
            src_lang=src if self.direction == "src-hyp" else "auto",
            tgt_lang=tgt,
            token_span=span if self.token_span == "auto" else self.token_span,
        )

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        for at, request in enumerate(requests):
            if not request.hyp[0].text.strip():
                run.warn("the output is empty, so only special tokens are scored", at)
        rows = [
            self._combine(np.array([self._mean(logs) for logs in row]))
            for row in self.mapped(requests, run)
        ]
        return mean_stats(np.array(rows).reshape(len(requests), len(self.outputs)))

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        fits: list[Fit] = []
        for request in requests:
            backend = self.backend(run)
            # each text is used on both sides; its losses are counted once
            pairs = [pair for _, pair in self.inputs(request)]
            sides = {pair.target: backend.target for pair in pairs}
            sides |= {pair.source: backend.source for pair in pairs}
            fits.append(together(side(view).fit for view, side in sides.items()))
        return fits

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        backend = self.backend(run)
        names = dict.fromkeys(request.hyp, "hyp") | dict.fromkeys(request.refs, "ref")
        rows = []
        for _, pair in self.inputs(request):
            read, scored = backend.source(pair.source), backend.target(pair.target)
            rows.append((f"{names.get(pair.source, 'src')} (read)", backend.marked(read)))
            rows.append((f"{names.get(pair.target, 'src')} (scored)", backend.marked(scored)))
        return rows

    def backend(self, run: Runtime) -> Seq2Seq:
        langs = (self.src_lang if self.direction == "src-hyp" else self.tgt_lang, self.tgt_lang)
        located = self._located()
        checkpoint = (
            open_fairseq(run, located)
            if is_fairseq(located.path)
            else open_checkpoint(run, self.model, self.revision)
        )
        key = ("seq2seq", checkpoint.id, checkpoint.precision, langs, self.limit, self.truncation)
        return run.resource(
            key, lambda: Seq2Seq(checkpoint, langs, self.limit or 0, self.truncation)
        )

    def _located(self) -> Located:
        if self.model.lower() == "m39v1" and folder_of(self.model) is None:
            raise ModelError(
                "there is no folder m39v1 here, and Prism's model is not on the hub",
                next=f"download and unpack {M39V1}, then write prism@PATH/m39v1",
            )
        return locate(self.model, self.revision, patterns=FILES)

    def inputs(self, request: Request) -> list[tuple[str, Pair]]:
        """List the pairs of each reference: the one for precision, then that for recall."""
        if self.direction == "src-hyp":
            return [("", Pair(request.src, request.hyp[0]))] if request.src else []
        ways = {"ref-hyp": slice(0, 1), "hyp-ref": slice(1, 2)}.get(self.direction, slice(2))
        both = ([Pair(ref, hyp), Pair(hyp, ref)] for hyp, ref in request.pairs())
        return [("", pair) for pairs in both for pair in pairs[ways]]

    def _mean(self, logs: TokenLogProbs) -> float:
        before, total, count, after = logs
        parts = [(total, count)]
        if self.token_span in ("reference", "all") and not np.isnan(before):
            parts.append((before, 1))
        if self.token_span in ("sentence+eos", "all"):
            parts.append((after, 1))
        tokens = sum(many for _, many in parts)
        if tokens:
            return sum(value for value, _ in parts) / tokens
        return float("nan") if self.empty is None else self.empty

    def _combine(self, values: FloatArray) -> list[float]:
        best = np.mean if self.multi_ref == "mean" else np.max
        if self.direction != "f":
            return [float(best(values))]
        both = values.reshape(-1, 2)  # (references, precision and recall)
        table = np.column_stack([both.mean(axis=1), both])
        return [float(value) for value in best(table, axis=0)]


@dataclass(frozen=True)
class Prism(Likelihood):
    """Prism (Thompson and Post 2020) with mBART-50; Doc-Prism (Vernikos et al. 2022, §3.2).

    ``prism@PATH/m39v1`` is the authors' own model, a folder of fairseq: 39 languages, natural
    logarithms, the language tag left out and the end of the text included.
    """

    name = "prism"
    summary = (
        "log-probability of output and reference given each other (mBART-50; Prism, Doc-Prism)"
    )

    model: str = "facebook/mbart-large-50"


@dataclass(frozen=True)
class BartScore(Likelihood):
    """BARTScore (Yuan et al. 2021, eq. 2).

    Directions: src-hyp is faithfulness, ref-hyp precision, hyp-ref recall, f their mean.
    """

    name = "bartscore"
    summary = (
        "log-probability under BART: faithfulness, precision, recall or their mean (BARTScore)"
    )

    published_span: ClassVar[Span] = "all"

    model: str = "facebook/bart-large-cnn"
