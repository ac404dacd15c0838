"""The conformance kit accepts every built-in surface metric and catches broken ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from wholetext import registry
from wholetext.testing import check_metric
from wholetext.types import FloatArray, Metric, Request, Runtime, mean_stats


@pytest.mark.parametrize(
    "spec", ["bleu", "chrf", "chrf++", "ter", "rouge", "slide(size=2,step=1):chrf", "d-bleu", "context:bleu"]
)
def test_built_in_metrics_conform(spec: str) -> None:
    check_metric(spec)


@dataclass(frozen=True)
class DependsOnCompany(Metric):
    name = "company"
    summary = "scores by the average of the batch"

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        lengths = np.array([float(len(r.hyp[0].text)) for r in requests])
        return mean_stats(lengths / max(1.0, lengths.max()))


@dataclass(frozen=True)
class OutOfRange(Metric):
    name = "range"
    summary = "says it stays in 0…1 and does not"

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        return mean_stats([2.0] * len(requests))


@pytest.mark.parametrize(("kind", "claim"), [(DependsOnCompany, "depend"), (OutOfRange, "stay in")])
def test_broken_metrics_are_caught(kind: type[Metric], claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "BUILTIN", {**registry.BUILTIN, kind.name: f"{__name__}:{kind.__name__}"})
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("sys").modules[kind.__module__])
    with pytest.raises(AssertionError, match=claim):
        check_metric(kind.name)
