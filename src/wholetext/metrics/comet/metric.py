"""COMET: regression, reference-free, ranking, unified (UniTE, CometKiwi) and xCOMET."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from wholetext.errors import MetricError, ModelError
from wholetext.metrics.comet.model import (
    FIRST_TOKEN,
    CometModel,
    CrossEncoder,
    GroupedVectors,
    Prediction,
    SentenceVectors,
    locate_comet,
    locate_encoder,
    read_hparams,
    regression_scores,
)
from wholetext.metrics.model_metric import ModelMetric, refuse_unread
from wholetext.models.device import Precision
from wholetext.models.tokenizer import TokenizedText
from wholetext.types import Excerpt, FloatArray, Request, Runtime, Side, mean_stats

Kind = Literal[
    "auto",
    "regression",
    "referenceless",
    "ranking",
    "unified",
    "unified-src",
    "unified-ref",
    "xcomet",
]
NEEDS: Mapping[str, frozenset[Side]] = {
    "regression": frozenset({"src", "hyp", "ref"}),
    "ranking": frozenset({"src", "hyp", "ref"}),
    "unified": frozenset({"hyp"}),
    "unified-ref": frozenset({"hyp", "ref"}),
}
CROSSED = {"unified", "unified-src", "unified-ref", "xcomet"}  # kinds that read all texts at once
# weights of the passes (source, reference, both) for error spans and for xCOMET's score
# (Guerreiro et al. 2024, §4)
SPAN_WEIGHTS = (0.1667, 0.3333, 0.5)
SCORE_WEIGHTS, MQM_WEIGHT = (0.12, 0.33, 0.33), 0.22
PENALTIES = {"minor": 1, "major": 5, "critical": 10}


@dataclass(frozen=True)
class Comet(ModelMetric):
    """COMET (Rei et al. 2020), Doc-COMET (``context``, Vernikos et al. 2022), SLIDE (``slide``).

    The class named in ``hparams.yaml`` decides which sides it needs and how it scores. Several
    references: the mean.
    """

    name = "comet"
    summary = "trained metrics of the COMET family, read from their checkpoints"
    range = (-np.inf, np.inf)
    several_refs = "mean"

    model: str = "Unbabel/wmt22-comet-da"
    kind: Kind = "auto"  # what the checkpoint is; it is read from it
    qe: bool = False  # leave references out where the model can do without (unified, xcomet)
    pool_special_tokens: bool = True
    layernorm_scope: Literal["segment", "minibatch8"] = "segment"
    truncation: Literal["context", "reference"] = "context"
    limit: int | None = None  # tokens per sequence; by default those of the published tool

    @property
    def worst(self) -> float | None:
        """Models of 2022 and later score from 0 to 1."""
        name = self.model.rpartition("/")[2].lower()
        return (
            0.0 if self.kind == "xcomet" or name.startswith(("wmt22", "wmt23", "xcomet")) else None
        )

    @property
    def needs(self) -> frozenset[Side]:  # type: ignore[override]  # the checkpoint decides
        return NEEDS.get(self.kind, frozenset({"src", "hyp"}))

    @property
    def wants(self) -> frozenset[Side]:  # type: ignore[override]
        more: frozenset[Side] = frozenset({"src"}) if self.kind == "unified" else frozenset()
        able = self.kind in {"auto", "unified", "xcomet"} and not self.qe
        return more | (frozenset({"ref"}) if able else frozenset())

    def resolve(self, langs: tuple[str, str]) -> Comet:
        located = locate_comet(self.model, self.revision, weights=False)
        hparams = read_hparams(located.path)
        kind: Any = hparams.kind
        if kind == "unified" and not {"src", "ref"} <= set(hparams.segments):
            kind = "unified-src" if "src" in hparams.segments else "unified-ref"
        if self.kind not in {"auto", kind}:
            raise ModelError(
                f"the checkpoint is of the kind {kind}, not {self.kind}", where=self.model
            )
        crossed = kind in CROSSED
        unread = {
            "qe": kind not in {"unified", "xcomet"},
            "pool_special_tokens": crossed or hparams.pool in FIRST_TOKEN,
            "layernorm_scope": crossed or not hparams.normed,
            "truncation": crossed,
        }
        refuse_unread(self, f"kind={kind}", {name for name, holds in unread.items() if holds})
        return replace(self, revision=located.revision, kind=kind)

    def facts(self) -> Mapping[str, str]:
        if self.kind == "auto":
            return super().facts()
        encoder = locate_encoder(locate_comet(self.model, self.revision, weights=False))
        return {**super().facts(), "encoder": encoder.id}

    @property
    def cacheable(self) -> bool:
        """With ``minibatch8`` a row depends on the other seven of its batch."""
        return self.layernorm_scope == "segment"

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        grouped = (
            "under layernorm_scope=minibatch8 scores depend on which segments are scored "
            "together; rows are not kept in the cache"
        )
        return () if self.cacheable else (grouped,)

    @property
    def overlapping(self) -> bool:  # type: ignore[override]
        return self.kind in CROSSED

    def inputs(self, request: Request) -> list[tuple[str, Any]]:
        """List excerpts for models over sentence vectors, passes for cross-encoders."""
        if self.overlapping:
            return [(_name(x), x) for group in _passes(request, self.qe) for x in group]
        return [
            (side, view)
            for row in self._rows(request)
            for side, view in zip(("hyp", "src", "ref"), row)
        ]

    def backend(self, run: Runtime) -> CrossEncoder | SentenceVectors:
        key = ("comet", self.model, self.revision, run.device, run.dtype)
        precision = Precision(run.device, run.dtype)
        model = run.resource(
            key, lambda: CometModel(locate_comet(self.model, self.revision), precision)
        )
        limit = model.tokenizer.limited(self.limit, self.model)
        if self.overlapping:
            return CrossEncoder(model, limit)
        reading = TokenizedText(limit, self.truncation)
        return SentenceVectors(model, reading, self.pool_special_tokens)

    def seen(self, request: Request, run: Runtime) -> int | None:
        backend = self.backend(run)
        if isinstance(backend, CrossEncoder):
            return min(backend.seen(x) for _, x in self.inputs(request))
        return backend.model.tokenizer.seen(request.hyp[0], backend.reading)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        backend = self.backend(run)
        if isinstance(backend, CrossEncoder):
            return mean_stats(self._cross(requests, backend, run))
        by_request = [self._rows(request) for request in requests]
        rows = list(chain.from_iterable(by_request))
        # (rows, sides, width)
        sides = np.stack(self._encode(rows, backend, run)).reshape(len(rows), len(rows[0]), -1)
        scores = iter(regression_scores(backend.model, *sides.swapaxes(0, 1)))
        return mean_stats([np.mean([next(scores) for _ in each]) for each in by_request])

    # ------------------------------------------------------------ models over sentence vectors

    def _rows(self, request: Request) -> list[tuple[Excerpt, ...]]:
        """Return (hypothesis, source, reference) per reference, or a pair without references."""
        src = (request.src,) if request.src else ()
        if self.kind == "referenceless":
            return [(request.hyp[0], *src)]
        return [(hyp, *src, ref) for hyp, ref in request.pairs()]

    def _encode(
        self, rows: Sequence[tuple[Excerpt, ...]], vectors: SentenceVectors, run: Runtime
    ) -> list[Any]:
        if self.layernorm_scope == "segment":
            return run.map(vectors, [view for row in rows for view in row])
        order = sorted(range(len(rows)), key=lambda i: len(" </s> ".join(rows[i][1].parts)))
        groups = [order[i : i + 8] for i in range(0, len(order), 8)]
        sides = range(len(rows[0]))
        batches = [tuple(rows[i][side] for i in group) for group in groups for side in sides]
        places = [[(i, side) for i in group] for group in groups for side in sides]
        outputs = zip(chain(*places), chain(*run.map(GroupedVectors(vectors), batches)))
        return [vector for _, vector in sorted(outputs, key=lambda item: item[0])]

    # ------------------------------------------------------------ cross-encoders

    def _cross(self, requests: Sequence[Request], cross: CrossEncoder, run: Runtime) -> FloatArray:
        scores = []
        for at, (request, outputs) in enumerate(zip(requests, self.mapped(requests, run))):
            if any(view.before or view.after for view in request.hyp):
                run.warn(
                    "this model scores a segment and its context as one, "
                    "because it reads both from one token",
                    at,
                )
            predictions = iter(outputs)
            groups = [
                [(x, next(predictions)) for x in group] for group in _passes(request, self.qe)
            ]
            by_reference = [self._combine(group, cross) for group in groups]
            scores.append(np.mean([score for score, _ in by_reference]))
            facts = by_reference[0][1]
            # the first reference's, as the published tool has them; and all
            if len(by_reference) > 1 and facts:
                facts = {**facts, "by_reference": [each for _, each in by_reference]}
            run.detail(at, **facts)
        return np.array(scores)

    def _combine(
        self, passes: Sequence[tuple[Request, Prediction]], cross: CrossEncoder
    ) -> tuple[float, dict[str, Any]]:
        raw = [score for _, (score, _) in passes]
        labelled = [labels for _, (_, labels) in passes if labels is not None]
        facts: dict[str, Any] = {}
        if len(raw) > 1:
            facts["passes"] = {_name(x): score for (x, _), score in zip(passes, raw)}
        if not labelled:
            return float(np.mean(raw)), facts
        weights = SPAN_WEIGHTS if len(passes) == 3 else (1.0,)
        labels = np.sum([weight * each for weight, each in zip(weights, labelled)], axis=0)
        facts["spans"] = cross.spans(passes[0][0], labels)
        if self.kind != "xcomet":
            return float(np.mean(raw)), facts
        penalty = sum(PENALTIES.get(span["severity"], 0) for span in facts["spans"])
        facts["mqm"] = 1 - min(25, penalty) / 25
        shares = SCORE_WEIGHTS if len(passes) == 3 else (sum(SCORE_WEIGHTS),)
        regressed = sum(share * min(1.0, score) for share, score in zip(shares, raw))
        return regressed + MQM_WEIGHT * facts["mqm"], facts


def _name(x: Request) -> str:
    """Name the sides that a pass reads besides the hypothesis."""
    return "+".join(side for side, texts in (("src", x.src), ("ref", x.refs)) if texts)


def _passes(request: Request, qe: bool) -> list[tuple[Request, ...]]:
    """Group the passes of a unified model by reference: source, reference, both."""
    groups: list[tuple[Request, ...]] = []
    for hyp, ref in () if qe else request.pairs():
        alone, both = Request((hyp,), None, (ref,)), Request((hyp,), request.src, (ref,))
        groups.append((Request((hyp,), request.src), alone, both) if request.src else (alone,))
    if not groups and request.src is None:
        raise MetricError("this model needs a source or a reference, and there is neither")
    return groups or [(Request(request.hyp[:1], request.src),)]
