"""A whole third-party metric: how close an output's length is to the reference's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wholetext import FloatArray, Metric, Request, Runtime, mean_stats


@dataclass(frozen=True)
class LengthMatch(Metric):
    """min(a, b) / max(a, b) of the two lengths; the nearest reference counts."""

    name = "lengthmatch"
    summary = "ratio of the shorter to the longer text"
    view = "whole"

    unit: Literal["word", "char"] = "word"

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats([self._best(request) for request in requests])

    def _best(self, request: Request) -> float:
        return max(self._match(self._size(hyp.text), self._size(ref.text)) for hyp, ref in request.pairs())

    def _size(self, text: str) -> int:
        return len(text.split()) if self.unit == "word" else len(text)

    @staticmethod
    def _match(a: int, b: int) -> float:
        return min(a, b) / max(a, b) if max(a, b) else 1.0
