"""BERTScore: greedy matching of contextual token vectors, with document context where the view gives some."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from wholetext.backends.hub import locate as hub
from wholetext.backends.vectors.token_vectors import Tokens, TokenVectors
from wholetext.errors import InputError
from wholetext.metrics.token_metric import ENGLISH, TokenMetric, TokenWeights
from wholetext.types import FloatArray, Request, Runtime, mean_stats

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class BertScore(TokenMetric):
    """BERTScore (Zhang et al. 2020, eq. 1); under ``context`` it is Doc-BERTScore (Vernikos et al. 2022, §3).

    Tokens are matched within the scored segments, as both papers define it; ``align_scope=sequence`` also lets them
    match context and markers, as the published code does. Several references: the best P, R and F, each by itself.
    """

    name = "bertscore"
    summary = "greedy matching of contextual token vectors; F1, precision, recall"
    range = (-1.0, 1.0)
    outputs = ("f1", "precision", "recall")

    align_scope: Literal["sentence", "sequence"] = "sentence"
    match_special_tokens: bool | None = None  # as align_scope has it unless given
    baseline: str = ""  # a table LAYER,P,R,F: scores are rescaled to (x − b) / (1 − b)

    def resolve(self, langs: tuple[str, str]) -> Self:
        special = self.align_scope == "sequence" if self.match_special_tokens is None else self.match_special_tokens
        return replace(super().resolve(langs), match_special_tokens=special)

    def facts(self) -> Mapping[str, str]:
        facts = {**hub.identity(self.model, self.revision), "several_refs": "max"}
        if self.baseline:  # by its content, wherever the table lies
            facts |= {"baseline": "table", "baseline_hash": sha256(_bytes(Path(self.baseline))).hexdigest()[:12]}
        return facts

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        small = f"scored with the small embedded model MiniLM; published scores use {ENGLISH}"
        return (*super().notes(langs), *((small,) if self.model == "minilm" else ()))

    def backend(self, run: Runtime, everything: bool = False) -> TokenVectors:
        return super().backend(run, everything or self.align_scope == "sequence" or bool(self.match_special_tokens))

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        weigh = TokenWeights(run.survey if self.idf else None)
        table = np.array([
            np.max([self._pair(hyp, ref, weigh) for hyp, ref in pairs], axis=0)
            for pairs in self.compared(requests, run, self.backend(run))
        ]).reshape(-1, 3)  # (n, outputs)
        if not self.baseline:
            return mean_stats(table)
        floor = read_baseline(Path(self.baseline), self.layer or 0)  # (outputs,)
        return mean_stats((table - floor) / (1.0 - floor))

    def _pair(self, hyp: Tokens, ref: Tokens, weigh: TokenWeights) -> FloatArray:
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
