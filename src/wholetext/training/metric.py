"""Learned metrics: whatever ``wholetext train`` made, by its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from wholetext.errors import MetricError
from wholetext.metrics.model_metric import ModelMetric
from wholetext.models.hub import locate as hub
from wholetext.text import code_of
from wholetext.training.learned.folder import Config
from wholetext.training.learned.forms import checked_config, open_learned, penalties
from wholetext.types import FloatArray, Request, Runtime, Side, mean_stats


@dataclass(frozen=True)
class Learned(ModelMetric):
    """A regression metric trained here (in the style of Deutsch et al. 2023, §4), on any view.

    Its folder says what it reads, what its numbers mean and which way is better. The scores against
    several references are averaged.
    """

    name = "learned"
    summary = "a metric made by `wholetext train`, by its folder: learned@FOLDER"
    several_refs = "mean"
    overlapping = True

    model: str = ""  # the folder
    revision: str = ""
    base: str = ""  # folder of its base model, if that was moved
    output: Literal["score", "penalty"] = "score"  # which one ranks

    @property
    def outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        if self.output == "penalty":
            return ("penalty",)
        return ("score", "penalty") if self._config.penalty else ("score",)

    @property
    def sums(self) -> tuple[str, ...]:
        return ("penalty",) if "penalty" in self.outputs else ()

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]  # the folder decides
        return frozenset(self._config.reads)

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        return self._config.output.higher_is_better

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        low, high = self._config.output.low, self._config.output.high
        if self.output == "penalty":
            low, high = None, 0.0
        return (-np.inf if low is None else low, np.inf if high is None else high)

    def resolve(self, langs: tuple[str, str]) -> Learned:
        if not self.model or (self.output == "penalty" and self._config.penalty is None):
            raise MetricError(
                f"{self.model} has no output penalty" if self.model else "learned names no folder",
                next="write learned@FOLDER, the folder `wholetext train` made; output=penalty "
                "needs a metric that was trained with one",
            )
        return replace(self, revision=hub.locate(self.model, self.revision).revision)

    def facts(self) -> Mapping[str, str]:
        config = self._config
        if not self.model:
            return {"several_refs": self.several_refs}
        base = f"{Path(config.base).name or 'its own'}#{config.content}"
        return {
            **hub.identity(self.model, self.revision),
            **({"base": base} if self.base else {}),  # its content, wherever it lies
            **({"version": config.version} if config.version else {}),
            **({"document_score": "sum of penalties"} if self.sums else {}),
            "several_refs": self.several_refs,
            "form": config.form,
            "trained_on": base,
        }

    def backend(self, run: Runtime) -> Any:
        return open_learned(run, self.model, self.revision, self.base).form

    def inputs(self, request: Request) -> list[tuple[str, Request]]:
        """Return a request per reference; a single one for metrics that read none."""
        if "ref" not in self.needs:
            return [("", Request(request.hyp[:1], request.src))]
        src = request.src if "src" in self.needs else None
        return [("", Request((hyp,), src, (ref,))) for hyp, ref in request.pairs()]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        form = self.backend(run)
        return [shown for _, pair in self.inputs(request) for shown in form.shows(pair)]

    def seen(self, request: Request, run: Runtime) -> int | None:
        return cast("int | None", self.backend(run).seen(self.inputs(request)[0][1]))

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        inputs = [[pair for _, pair in self.inputs(request)] for request in requests]
        model = open_learned(run, self.model, self.revision, self.base)
        flat = [pair for row in inputs for pair in row]
        scores = model.scores(flat, run)
        shape = model.config.penalty
        known = {
            "score": scores,
            "penalty": scores if shape is None else penalties(scores, flat, shape),
        }
        table = np.stack([known[name] for name in self.outputs], axis=1)  # (pairs, outputs)
        ends = np.cumsum([len(row) for row in inputs])
        return mean_stats(
            [table[end - len(row) : end].mean(axis=0) for end, row in zip(ends, inputs)]
        )

    def reduce_docs(self, totals: FloatArray) -> FloatArray:
        """Sum the penalties of a document, average its scores.

        Run folders open without the metric's folder.
        """
        scores = self.reduce(totals)
        column = 0 if self.output == "penalty" else 1
        if column < scores.shape[-1]:
            scores[..., column] = totals[..., column]
        return scores

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        known, lang = self._config.targets, code_of(langs[1])
        if not known or not lang or lang in known:
            return ()
        return (
            f"the model was trained on outputs in {', '.join(known)}; its quality on {lang} is not "
            "known",
        )

    @cached_property
    def _config(self) -> Config:
        """The configuration of the folder; an empty one where no folder is named."""
        if not self.model:
            return Config("", "", "")
        return checked_config(hub.locate(self.model, self.revision).path)
