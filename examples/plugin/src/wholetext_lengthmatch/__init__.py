"""A whole third-party metric: how close an output's length is to the reference's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wholetext import FloatArray, Metric, Request, Runtime, mean_stats

interface = 3  # of wholetext's plug-ins: see docs/plugins.md


@dataclass(frozen=True)
class LengthMatch(Metric):
    """min(a, b) / max(a, b) of the two lengths; the nearest reference counts. Surplus text is marked."""

    name, summary, view = "lengthmatch", "ratio of the shorter to the longer text", "whole"

    unit: Literal["word", "char"] = "word"

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        for i, request in enumerate(requests):
            end, longest = len(request.hyp[0].text), max(len(ref.text) for ref in request.refs)
            if end > longest:
                run.detail(i, spans=[{"start": longest, "end": end, "severity": "surplus"}])
        return mean_stats([max(self.match(hyp.text, ref.text) for hyp, ref in one.pairs()) for one in requests])

    def match(self, *texts: str) -> float:
        sizes = [len(text.split()) if self.unit == "word" else len(text) for text in texts]
        return min(sizes) / max(sizes) if any(sizes) else 1.0
