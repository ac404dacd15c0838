"""ROUGE-1, ROUGE-2 and ROUGE-L through the rouge-score package: precision, recall and F1, averaged over rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wholetext.types import FloatArray, Metric, Request, Run, mean_stats


@dataclass(frozen=True)
class Rouge(Metric):
    """ROUGE (Lin 2004); with several references the one with the best F1 counts."""

    name = "rouge"
    summary = "n-gram or longest-common-subsequence overlap, for summaries (rouge-score)"
    view = "whole"
    outputs = ("f1", "precision", "recall")

    kind: Literal["1", "2", "L", "Lsum"] = "L"
    stem: bool = False

    def facts(self) -> Mapping[str, str]:
        from importlib.metadata import version

        return {"rouge-score": version("rouge-score"), "several_refs": "best f1"}

    def measure(self, requests: Sequence[Request], run: Run) -> FloatArray:
        from rouge_score.rouge_scorer import RougeScorer

        name = f"rouge{self.kind}"
        scorer = RougeScorer([name], use_stemmer=self.stem)
        between = "\n" if self.kind == "Lsum" else None  # Lsum reads one sentence per line
        rows = []
        for at, request in enumerate(requests):
            if any(char.isalpha() and not char.isascii() for char in request.hyp[0].text):
                run.warn("rouge-score reads the letters a–z and digits alone and drops all others", at)
            texts = [between.join(v.scored) if between else v.text for v in (request.hyp[0], *request.refs)]
            best = max((scorer.score(ref, texts[0])[name] for ref in texts[1:]), key=lambda s: s.fmeasure)
            rows.append((best.fmeasure, best.precision, best.recall))
        return mean_stats(rows)
