"""Forms of learned metrics: how a pair of texts becomes features. One module each; this table names them.

A form is made from an ``Opening`` and turns requests of one hypothesis and at most one reference into an (n, width)
array, by ``run.map`` over its own backends. The head does the rest (``head.py``), so a form writes no regression.
Forms whose base model can be trained have ``module`` and ``learn`` too; where the base stays frozen, training
computes ``features`` once for all examples and only the head learns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from wholetext.backends.device import Precision
from wholetext.backends.hub.locate import Located
from wholetext.backends.learned.config import Config, HeadShape, read_config
from wholetext.backends.learned.fields import Origin, fill
from wholetext.backends.learned.weights import WeightsFile
from wholetext.errors import ModelError, did_you_mean
from wholetext.types import Fit, FloatArray, Request, Runtime

FORMS: Mapping[str, str] = {
    "aligned": "wholetext.backends.learned.aligned:Aligned",
    "joint": "wholetext.backends.learned.joint:Joint",
    "separate": "wholetext.backends.learned.separate:Separate",
    "t5": "wholetext.backends.learned.t5:T5",
}


@dataclass(frozen=True, eq=False)
class Opening:
    """What a form is made from. ``run`` lends models that are shared; a form does not keep it."""

    config: Config
    base: Located  # the base model, found and checked
    weights: WeightsFile  # empty before training
    precision: Precision
    run: Runtime


class Form(Protocol):
    """How a pair becomes features."""

    id: str  # what decides the features: base, settings, trained tensors
    width: int  # number of features

    def __init__(self, opening: Opening) -> None: ...

    def fit(self, pair: Request) -> Fit:
        """Tokenizer only: how the pair fits the model."""
        ...

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        """(side, tokens with «the scored ones» marked) of every sequence the model reads."""
        ...

    def seen(self, pair: Request) -> int | None:
        """How many characters of the hypothesis are read; None if unknown."""
        ...

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """(n, width) features of the pairs, independent of their order and company."""
        ...


@runtime_checkable
class Learnable(Protocol):
    """A form whose base model can be trained."""

    @property
    def module(self) -> Any:
        """The torch module that holds the parameters."""
        ...

    def learn(self, pairs: Sequence[Request]) -> Any:
        """(n, width) features as a tensor through which gradients flow."""
        ...


def form_class(name: str, where: str = "") -> Any:
    """The class behind a form's name."""
    if name not in FORMS:
        raise ModelError(f"there is no form {name!r}", where=where,
                         next=did_you_mean(name, list(FORMS)) or f"forms: {', '.join(FORMS)}")
    module, _, attribute = FORMS[name].partition(":")
    return getattr(import_module(module), attribute)


def check(config: Config, where: str) -> None:
    """Raise if the settings of a configuration do not fit its form."""
    kind = form_class(config.form, where)
    fill(kind.Settings, config.settings, Origin(where, ModelError), "settings.")
    if (config.head is None) != bool(getattr(kind, "predicts_directly", False)):
        raise ModelError(f"a metric of the form {config.form} has {'no' if config.head else 'a'} head", where=where)
    if config.head is not None and min((*config.head.hidden, 1)) < 1:
        raise ModelError(f"head.hidden is {list(config.head.hidden)}", where=where, next="sizes are at least 1")


def checked_config(folder: Path) -> Config:
    """The configuration of a folder, whole and known."""
    config = read_config(folder)
    check(config, str(folder))
    return config


def default_head(form: str) -> HeadShape | None:
    return None if getattr(form_class(form), "predicts_directly", False) else HeadShape()
