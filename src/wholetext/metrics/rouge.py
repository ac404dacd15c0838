"""ROUGE-1, ROUGE-2 and ROUGE-L with the rouge-score package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wholetext.errors import MetricError
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats

_PRODUCT = 400_000_000  # words of the one times words of the other


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
        from importlib.metadata import version

        return {"rouge-score": version("rouge-score"), "several_refs": "best f1"}

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        compare = _subsequence(self.stem) if self.kind == "L" else _package(self.kind, self.stem)
        between = "\n" if self.kind == "Lsum" else None  # Lsum reads one sentence per line
        rows = []
        for at, request in enumerate(requests):
            if any(char.isalpha() and not char.isascii() for char in request.hyp[0].text):
                run.warn(
                    "rouge-score reads the letters a–z and digits alone and drops all others", at
                )
            texts = [
                between.join(v.scored) if between else v.text
                for v in (request.hyp[0], *request.refs)
            ]
            rows.append(
                max((compare(ref, texts[0]) for ref in texts[1:]), key=lambda found: found[0])
            )
        return mean_stats(rows)


Found = tuple[float, float, float]  # f1, precision, recall
Compare = Callable[[str, str], Found]


def _package(kind: str, stem: bool) -> Compare:
    """Score with the package; the time of Lsum is bounded, as it grows with both lengths."""
    from rouge_score.rouge_scorer import RougeScorer

    name = f"rouge{kind}"
    scorer = RougeScorer([name], use_stemmer=stem)

    def compare(ref: str, hyp: str) -> Found:
        if (
            kind == "Lsum"
            and (ref.count(" ") + ref.count("\n")) * (hyp.count(" ") + hyp.count("\n")) > _PRODUCT
        ):
            raise MetricError(
                "these texts are too long for rouge(kind=Lsum): its time grows with their product",
                next="use rouge(kind=L), or a smaller view: paragraph(size=50):rouge(kind=Lsum)",
            )
        found = scorer.score(ref, hyp)[name]
        return found.fmeasure, found.precision, found.recall

    return compare


def _subsequence(stem: bool) -> Compare:
    """ROUGE-L with the package's tokens and formula, without its (words × words) table."""
    from rouge_score.scoring import fmeasure
    from rouge_score.tokenizers import DefaultTokenizer

    tokenize = DefaultTokenizer(stem).tokenize

    def compare(ref: str, hyp: str) -> Found:
        wanted, found = tokenize(ref), tokenize(hyp)
        if not wanted or not found:
            return 0.0, 0.0, 0.0
        common = longest_common_subsequence(wanted, found)
        precision, recall = common / len(found), common / len(wanted)
        return fmeasure(precision, recall), precision, recall

    return compare


def longest_common_subsequence(one: Sequence[str], two: Sequence[str]) -> int:
    """Length of the longest common subsequence (bit-parallel, Hyyrö 2004)."""
    places: dict[str, int] = {}
    for i, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << i
    every = (1 << len(one)) - 1
    row = every
    for word in two:
        matches = row & places.get(word, 0)
        row = ((row + matches) | (row - matches)) & every
    return len(one) - row.bit_count()
