"""Learned metrics: whatever ``wholetext train`` made, by its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from wholetext.backends.hub import locate as hub
from wholetext.backends.learned.config import Config
from wholetext.backends.learned.forms import LearnedModel, checked_config, open_learned
from wholetext.errors import MetricError
from wholetext.languages import code_of
from wholetext.types import Fit, FloatArray, Metric, Request, Runtime, Side, mean_stats


@dataclass(frozen=True)
class Learned(Metric):
    """A regression metric trained here (in the style of Deutsch et al. 2023, §4), on any view.

    Its folder says what it reads, what its numbers mean and which way is better. Several references: the mean.
    """

    name = "learned"
    summary = "a metric made by `wholetext train`, by its folder: learned@FOLDER"

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
            return {"several_refs": "mean"}
        base = f"{Path(config.base).name or 'its own'}#{config.content}"
        where = {"base": base} if self.base else {}  # wherever it lies, its content is what is trained_on
        return {**hub.identity(self.model, self.revision), **where, "several_refs": "mean", "form": config.form,
                "trained_on": base}

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        if not requests:
            return []
        form = self._open(run).form
        found = []
        for request in requests:  # each reference repeats the hypothesis, so losses are not added up
            parts = [form.fit(pair) for pair in self._pairs(request)]
            found.append(max(parts, key=lambda fit: (fit.lost_focus, fit.lost_context, fit.tokens)))
        return found

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        form = self._open(run).form
        return [shown for pair in self._pairs(request) for shown in form.shows(pair)]

    def seen(self, request: Request, run: Runtime) -> int | None:
        return self._open(run).form.seen(self._pairs(request)[0])

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        pairs = [self._pairs(request) for request in requests]
        scores = iter(self._open(run).scores([pair for row in pairs for pair in row], run))
        return mean_stats([float(np.mean([next(scores) for _ in row])) for row in pairs])

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        known, lang = self._config.targets if self._config else (), code_of(langs[1])
        if not known or not lang or lang in known:
            return ()
        return (f"the model was trained on outputs in {', '.join(known)}; its quality on {lang} is not known",)

    def _pairs(self, request: Request) -> list[Request]:
        """One request per reference; one in all for metrics that read none."""
        if "ref" not in self.needs:
            return [Request(request.hyp[:1], request.src)]
        src = request.src if "src" in self.needs else None
        return [Request((hyp,), src, (ref,)) for hyp, ref in request.pairs()]

    @cached_property
    def _config(self) -> Config | None:
        return checked_config(hub.locate(self.model, self.revision).path) if self.model else None

    def _open(self, run: Runtime) -> LearnedModel:
        return open_learned(run, self.model, self.revision, self.base)
