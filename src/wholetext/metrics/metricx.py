"""MetricX-23 and MetricX-24: T5 models that predict MQM error scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wholetext.metrics.model_metric import ModelMetric, refuse_unread
from wholetext.models.hub.locate import locate
from wholetext.models.loading import open_checkpoint
from wholetext.models.regressor import PROMPTS, Prompt, Regressor, locate_tokenizer, prompt
from wholetext.models.tokenizer import FILES, check_limit
from wholetext.types import FloatArray, Request, Runtime, Side, mean_stats

_LIMITS = {"23": 1024, "24": 1536}  # ids, end mark included, as published


@dataclass(frozen=True)
class MetricX(ModelMetric):
    """MetricX (Juraska et al. 2023, 2024): 0 is perfect, 25 the worst.

    The model reads everything a view shows, context included: it has no way to score a part of what
    it reads. Text that does not fit loses context first, oldest first, then the end of the prompt,
    as in the published code.
    """

    name = "metricx"
    summary = "predicted MQM error score, 0 (best) to 25 (MetricX-23, MetricX-24)"
    higher_is_better = False
    range = (0.0, 25.0)
    overlapping = True

    model: str = "google/metricx-24-hybrid-large-v2p6"
    version: Literal["auto", "23", "24"] = "auto"  # which prompt; by the model's name, else 24
    mode: Literal["auto", "ref", "qe"] = "auto"  # auto: by the model's name, else ref
    tokenizer: str = "auto"
    limit: int | None = None  # ids per prompt; by default those published with the version
    multi_ref: Literal["mean", "best"] = "mean"
    clamp: bool = True

    @property
    def _kind(self) -> tuple[Literal["23", "24"], Literal["ref", "qe"]]:
        """Version and mode; ``auto`` is settled by the model's name."""
        name = self.model.lower()
        version = self.version if self.version != "auto" else "23" if "metricx-23" in name else "24"
        mode = self.mode if self.mode != "auto" else "qe" if "-qe-" in name else "ref"
        return version, mode

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]
        version, mode = self._kind
        sides: set[Side] = {"hyp", "src"} if mode == "qe" else {"hyp", "ref"}
        return frozenset(sides | {"src"} if version == "24" else sides)

    def resolve(self, langs: tuple[str, str]) -> MetricX:
        (version, mode), located = self._kind, locate(self.model, self.revision, patterns=FILES)
        limit = _LIMITS[version] if self.limit is None else self.limit
        check_limit(limit, 2, 0, self.model)
        refuse_unread(self, f"mode={mode}", ("multi_ref",) if mode == "qe" else ())
        return replace(self, revision=located.revision, version=version, mode=mode, limit=limit)

    def facts(self) -> Mapping[str, str]:
        model = locate(self.model, self.revision, patterns=FILES)
        # its content changes scores as the model's does
        used = locate_tokenizer(model, self.tokenizer)
        return {**super().facts(), **({} if used == model else {"tokenizer": used.id})}

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        best = np.mean if self.multi_ref == "mean" else np.min
        rows = self.mapped(requests, run)
        return mean_stats(
            [best(np.clip(values, *self.range) if self.clamp else values) for values in rows]
        )

    def backend(self, run: Runtime) -> Regressor:
        limit = self.limit or _LIMITS[self._kind[0]]
        # T5 has no other attention in transformers 4: one way in all versions keeps scores the same
        checkpoint = open_checkpoint(run, self.model, self.revision, attention="eager")
        used = locate_tokenizer(checkpoint.located, self.tokenizer).id
        key = ("regressor", checkpoint.id, checkpoint.precision, used, limit)
        return run.resource(key, lambda: Regressor(checkpoint, self.tokenizer, limit))

    def inputs(self, request: Request) -> list[tuple[str, Prompt]]:
        """Build a prompt per reference, or a single one without references."""
        form, qe = PROMPTS[self._kind], self._kind[1] == "qe"
        pairs = [(request.hyp[0], None)] if qe else list(request.pairs())
        side = "prompt" if qe else "prompt with ref"
        return [
            (side, prompt(form, {"hyp": hyp, "ref": ref, "src": request.src})) for hyp, ref in pairs
        ]
