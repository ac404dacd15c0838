"""ROUGE-1, ROUGE-2 and ROUGE-L with the rouge-score package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats

Prf = tuple[float, float, float]  # f1, precision, recall


@dataclass(frozen=True)
class Rouge(Metric):
    """ROUGE (Lin 2004); with several references the one with the best F1 counts."""

    name = "rouge"
    summary = "n-gram or longest-common-subsequence overlap, for summaries (rouge-score)"
    view = "whole"
    outputs = ("f1", "precision", "recall")
    reads_context = False

    kind: Literal["1", "2", "L", "Lsum"] = "L"
    stem: bool = False

    def facts(self) -> Mapping[str, str]:
        return {"rouge-score": version("rouge-score"), "several_refs": "best f1"}

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([f"rouge{self.kind}"], use_stemmer=self.stem)
        compare = subsequence if self.kind == "L" else _packaged
        rows = []
        for at, request in enumerate(requests):
            if any(char.isalpha() and not char.isascii() for char in request.hyp[0].text):
                run.warn(
                    "rouge-score reads the letters a–z and digits alone and drops all others", at
                )
            views = (request.hyp[0], *request.refs)  # Lsum reads one sentence per line
            hyp, *refs = ("\n".join(v.scored) if self.kind == "Lsum" else v.text for v in views)
            rows.append(max((compare(scorer, ref, hyp) for ref in refs), key=lambda prf: prf[0]))
        return mean_stats(rows)


def _packaged(scorer: Any, ref: str, hyp: str) -> Prf:
    (scores,) = scorer.score(ref, hyp).values()
    return scores.fmeasure, scores.precision, scores.recall


def subsequence(scorer: Any, ref: str, hyp: str) -> Prf:
    """ROUGE-L with the package's tokens and formula, without its (words × words) table."""
    from rouge_score.scoring import fmeasure

    expected, words = scorer._tokenizer.tokenize(ref), scorer._tokenizer.tokenize(hyp)
    if not expected or not words:
        return 0.0, 0.0, 0.0
    common = longest_common_subsequence(expected, words)
    precision, recall = common / len(words), common / len(expected)
    return fmeasure(precision, recall), precision, recall


def longest_common_subsequence(ref: Sequence[str], hyp: Sequence[str]) -> int:
    """Length of the longest common subsequence (bit-parallel, Hyyrö 2004)."""
    places: dict[str, int] = {}
    for i, word in enumerate(ref):
        places[word] = places.get(word, 0) | 1 << i
    every = (1 << len(ref)) - 1
    row = every
    for word in hyp:
        matches = row & places.get(word, 0)
        row = ((row + matches) | (row - matches)) & every
    return len(ref) - row.bit_count()
