"""Learned metrics: whatever ``wholetext train`` made, by its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.backends.hub import locate as hub
from wholetext.backends.learned.config import Config
from wholetext.backends.learned.forms import checked_config, open_learned
from wholetext.errors import MetricError
from wholetext.languages import code_of
from wholetext.metrics.model_metric import ModelMetric
from wholetext.types import FloatArray, Request, Runtime, Side, mean_stats


@dataclass(frozen=True)
class Learned(ModelMetric):
    """A regression metric trained here (in the style of Deutsch et al. 2023, §4), on any view.

    Its folder says what it reads, what its numbers mean and which way is better. Several references: the mean.
    """

    name = "learned"
    summary = "a metric made by `wholetext train`, by its folder: learned@FOLDER"
    several_refs = "mean"
    overlapping = True

    model: str = ""  # the folder
    revision: str = ""
    base: str = ""  # where its base model lies, if not where it was

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]  # the folder decides
        reads: tuple[Side, ...] = self._config.reads if self._config else ("hyp", "ref")
        return frozenset(reads)

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        return self._config.output.higher_is_better if self._config else True

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        output = self._config.output if self._config else None
        low, high = (output.low, output.high) if output else (None, None)
        return (-np.inf if low is None else low, np.inf if high is None else high)

    def resolve(self, langs: tuple[str, str]) -> Learned:
        if not self.model:
            raise MetricError("learned names no folder", next="write learned@FOLDER, the folder `wholetext train` made")
        return replace(self, revision=hub.locate(self.model, self.revision).revision)

    def facts(self) -> Mapping[str, str]:
        config = self._config
        if config is None:
            return {"several_refs": self.several_refs}
        base = f"{Path(config.base).name or 'its own'}#{config.content}"
        where = {"base": base} if self.base else {}  # wherever it lies, its content is what is trained_on
        return {**hub.identity(self.model, self.revision), **where, "several_refs": self.several_refs,
                "form": config.form, "trained_on": base}

    def backend(self, run: Runtime) -> Any:
        return open_learned(run, self.model, self.revision, self.base).form

    def inputs(self, request: Request) -> list[tuple[str, Request]]:
        """One request per reference; one in all for metrics that read none."""
        if "ref" not in self.needs:
            return [("", Request(request.hyp[:1], request.src))]
        src = request.src if "src" in self.needs else None
        return [("", Request((hyp,), src, (ref,))) for hyp, ref in request.pairs()]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        form = self.backend(run)
        return [shown for _, pair in self.inputs(request) for shown in form.shows(pair)]

    def seen(self, request: Request, run: Runtime) -> int | None:
        found: int | None = self.backend(run).seen(self.inputs(request)[0][1])
        return found

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        asked = [[pair for _, pair in self.inputs(request)] for request in requests]
        model = open_learned(run, self.model, self.revision, self.base)
        scores = iter(model.scores([pair for row in asked for pair in row], run))
        return mean_stats([float(np.mean([next(scores) for _ in row])) for row in asked])

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        known, lang = self._config.targets if self._config else (), code_of(langs[1])
        if not known or not lang or lang in known:
            return ()
        return (f"the model was trained on outputs in {', '.join(known)}; its quality on {lang} is not known",)

    @cached_property
    def _config(self) -> Config | None:
        return checked_config(hub.locate(self.model, self.revision).path) if self.model else None
