"""Base of metrics with a model: token limits, what ``plan`` shows, choice by language."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any, ClassVar, cast

from wholetext.errors import MetricError, ModelError, SpecError
from wholetext.models.hub import locate as hub
from wholetext.models.layout import together
from wholetext.models.tokenizer import FILES
from wholetext.text import code_of
from wholetext.types import Fit, Metric, Request, Runtime

# models trained on English only, by the last part of their name
ENGLISH_MODELS = frozenset(
    {
        "minilm",
        "all-minilm-l6-v2",
        "all-minilm-l12-v2",
        "all-mpnet-base-v2",
        "roberta-base",
        "roberta-large",
        "bert-base-uncased",
        "bert-large-uncased",
        "bert-base-cased",
        "bert-large-cased",
        "distilbert-base-uncased",
        *(f"bleurt-{size}-{limit}" for size in ("tiny", "base", "large") for limit in (128, 512)),
        "scibert_scivocab_uncased",
        "deberta-xlarge-mnli",
        "bart-large",
        "bart-large-cnn",
    }
)


@dataclass(frozen=True)
class ModelMetric(Metric):
    """A metric with a model; ``fits`` and ``shows`` follow from its backend and inputs."""

    several_refs: ClassVar[str] = ""  # how several references are used, for the signature
    # whether all sequences of a request hold its hypothesis: losses are then not added up
    overlapping: ClassVar[bool] = False

    model: str = ""  # chosen by the target language where a metric names none
    revision: str = ""

    @abstractmethod
    def backend(self, run: Runtime) -> Any:
        """Return the backend that reads the inputs; no weights are loaded yet."""

    @abstractmethod
    def inputs(self, request: Request) -> list[tuple[str, Any]]:
        """List (side, input) of everything the backend reads for a request."""

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        return english_only(self.model, langs[1])

    def facts(self) -> Mapping[str, str]:
        several = {"several_refs": self.several_refs} if self.several_refs else {}
        return {**hub.identity(self.model, self.revision), **several}

    def fits(self, requests: Sequence[Request], run: Runtime) -> list[Fit]:
        if not requests:
            return []
        backend = self.backend(run)
        combine = _worst if self.overlapping else together
        inputs = (dict.fromkeys(x for _, x in self.inputs(request)) for request in requests)
        return [combine(map(backend.fit, distinct)) for distinct in inputs]

    def mapped(self, requests: Sequence[Request], run: Runtime) -> list[list[Any]]:
        """Run the backend on the inputs of all requests: its outputs by request."""
        inputs = [[x for _, x in self.inputs(request)] for request in requests]
        outputs = iter(run.map(self.backend(run), list(chain.from_iterable(inputs))))
        return [[next(outputs) for _ in row] for row in inputs]

    def shows(self, request: Request, run: Runtime) -> list[tuple[str, str]]:
        backend = self.backend(run)
        return [(side, backend.shown(x)) for side, x in self.inputs(request)]


def _worst(fits: Iterable[Fit]) -> Fit:
    return max(fits, key=lambda fit: (fit.lost_focus, fit.lost_context, fit.tokens))


@dataclass(frozen=True)
class EncoderMetric(ModelMetric):
    """A metric that compares vectors of one encoder."""

    several_refs = "max"

    def seen(self, request: Request, run: Runtime) -> int | None:
        backend = self.backend(run)
        seen: int | None = backend.encoder.tokenizer.seen(request.hyp[0], backend.reading)
        return seen


def refuse_unread(metric: Metric, setting: str, names: Container[str]) -> None:
    """Raise an error for parameters without effect under a setting; signatures would have them."""
    for field in fields(cast(Any, metric)):
        if field.name in names and getattr(metric, field.name) != field.default:
            raise SpecError(
                f"{metric.name}({setting}) does not read {field.name}",
                next=f"leave {field.name} out",
            )


def model_for(lang: str, metric: str, english: str, others: str) -> str:
    """Choose the published model for a target language."""
    if not lang:
        raise MetricError(
            "the model is chosen by the target language, and that is not known",
            next="give it (-l de-en, in Python langs=), or name a model: "
            f"{metric}@minilm for English",
        )
    return english if code_of(lang) == "en" else others


def locate(metric: str, model: str, revision: str) -> hub.Located:
    """Locate a metric's model; the error for an English one also suggests MiniLM."""
    try:
        return hub.locate(model, revision, patterns=FILES)
    except ModelError as fault:
        if model == "minilm" or model.rsplit("/", 1)[-1].lower() not in ENGLISH_MODELS:
            raise
        raise ModelError(
            fault.what,
            where=fault.where,
            next=f"{fault.next}, or write {metric}@minilm for the small "
            "English model MiniLM, which needs no torch",
        ) from fault


def english_only(model: str, lang: str) -> tuple[str, ...]:
    """Note that a model trained on English reads another language."""
    code, name = code_of(lang), model.rsplit("/", 1)[-1]
    if not code or code == "en" or name.lower() not in ENGLISH_MODELS:
        return ()
    return (f"the model {name} was trained on English text; its quality on {code} is not known",)
