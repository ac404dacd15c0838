"""Learned metrics ready to score: configuration, form and head of a folder.

A form turns requests of one hypothesis and at most one reference into an (n, width) array of features,
by ``run.map`` over its own backends. The head, a small network, does the rest. Forms whose base model
can be trained have ``module`` (the torch module) and ``learn`` (features through which gradients flow).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from wholetext.errors import ModelError, did_you_mean
from wholetext.models.device import Precision, torch_module
from wholetext.models.hub import locate as hub
from wholetext.training.learned.body import Opening
from wholetext.training.learned.config import (
    WEIGHTS,
    Config,
    HeadShape,
    Penalty,
    Scale,
    fill,
    read_config,
)
from wholetext.training.learned.folder import Array, find_base, read_head, verify
from wholetext.types import Fit, FloatArray, Request, Runtime

LEAST_SPREAD = 1e-6  # a feature that never changes is centred, not blown up
FORMS: Mapping[str, str] = {
    "aligned": "wholetext.training.learned.aligned:Aligned",
    "bitext": "wholetext.training.learned.bitext:Bitext",
    "matched": "wholetext.training.learned.matched:Matched",
    "t5": "wholetext.training.learned.t5:T5",
}


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


def form_class(name: str, where: str = "") -> Any:
    """The class behind a form's name."""
    if name not in FORMS:
        raise ModelError(
            f"there is no form {name!r}",
            where=where,
            next=did_you_mean(name, list(FORMS)) or f"forms: {', '.join(FORMS)}",
        )
    module, _, attribute = FORMS[name].partition(":")
    return getattr(import_module(module), attribute)


def check(config: Config, where: str) -> None:
    """Raise if the settings of a configuration do not fit its form."""
    kind = form_class(config.form, where)
    fill(kind.Settings, config.settings, where, "settings.")
    if (config.head is None) != predicts_directly(kind):
        raise ModelError(
            f"a metric of the form {config.form} has {'no' if config.head else 'a'} head",
            where=where,
        )
    scale, penalty = config.output, config.penalty
    if penalty is not None and (scale.low, scale.high, scale.higher_is_better) != (
        0.0,
        100.0,
        True,
    ):
        raise ModelError("a penalty needs scores from 0 to 100", where=where)
    if penalty is not None and min(penalty.rate, penalty.length, penalty.shape) <= 0:
        raise ModelError("the rate, length and shape of a penalty must be above 0", where=where)
    if config.head is not None and min((*config.head.hidden, 1)) < 1:
        raise ModelError(
            f"head.hidden is {list(config.head.hidden)}", where=where, next="sizes are at least 1"
        )


def predicts_directly(kind: Any) -> bool:
    """Whether the one feature of a form is the prediction itself, so that there is no head."""
    return bool(getattr(kind, "predicts_directly", False))


def checked_config(folder: Path) -> Config:
    """The configuration of a folder, whole and known."""
    config = read_config(folder)
    check(config, str(folder))
    return config


class LearnedModel:
    """Form and head of a folder. Weights load when they are first used; the tokenizer at once."""

    def __init__(self, opening: Opening, id: str, folder: Path) -> None:
        self.config, self.id, self.folder = opening.config, id, folder
        self.form: Form = form_class(self.config.form)(opening)

    @cached_property
    def head(self) -> dict[str, Array]:
        """The tensors of the head; the weights are checked once."""
        shape = self.config.head
        tensors = (
            {}
            if shape is None
            else read_head(self.folder / WEIGHTS, head_shapes(self.form.width, shape))
        )
        verify(self.folder)
        return tensors

    def scores(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """(n,) scores of requests with one hypothesis and at most one reference."""
        if not pairs:
            return np.zeros(0)
        head = self.head  # its faults show before any model runs
        features = self.form.features(pairs, run)  # (n, width)
        return scaled(predictions(features, self.config.head, head), self.config.output)


def scaled(raw: FloatArray, output: Scale) -> FloatArray:
    """Predictions on the scale a metric promises."""
    values = output.shift + output.scale * raw
    low = -np.inf if output.low is None else output.low
    return np.clip(values, low, np.inf if output.high is None else output.high)


def penalties(scores: FloatArray, pairs: Sequence[Request], shape: Penalty) -> FloatArray:
    """(n,) expected penalties, 0 or below: what is wrong adds up over a text, so they grow with its length."""
    texts = [(pair.refs or pair.hyp)[0].text for pair in pairs]
    words = np.array([max(1, len(text.split())) for text in texts], dtype=np.float64)
    wrong = np.maximum(0.0, 1.0 - scores / 100.0)
    return (
        np.asarray(-shape.rate * words**shape.length * wrong**shape.shape) + 0.0
    )  # no negative zero


def open_learned(run: Runtime, model: str, revision: str, base: str = "") -> LearnedModel:
    """The learned metric in a folder, shared by everything in the process that uses it."""
    located = hub.locate(model, revision)
    precision = Precision(run.device, run.dtype)

    def make() -> LearnedModel:
        config = checked_config(located.path)
        opening = Opening(config, find_base(config, located.path, base), precision, run)
        return LearnedModel(opening, f"{located.id}/{precision.dtype}", located.path)

    key: tuple[Any, ...] = ("learned", str(located.path), located.revision, base, precision)
    return run.resource(key, make)


# ---------------------------------------------------------------- heads: numpy to score with, torch to train


def head_shapes(width: int, shape: HeadShape) -> dict[str, tuple[int, ...]]:
    """Name → shape of every tensor of a head over ``width`` features."""
    shapes: dict[str, tuple[int, ...]] = {"mean": (width,), "spread": (width,)}
    for i, (size, out) in enumerate(pairwise((width, *shape.hidden, 1))):
        shapes |= {f"{i}.weight": (out, size), f"{i}.bias": (out,)}
    return shapes


def predictions(
    features: FloatArray | Array, shape: HeadShape | None, tensors: Mapping[str, Array]
) -> FloatArray:
    """(n, features) → (n,), in double precision: scores do not depend on the batch."""
    if shape is None:
        return np.asarray(features[:, 0])
    exact = {name: np.asarray(tensor, dtype=np.float64) for name, tensor in tensors.items()}
    x = (np.asarray(features, dtype=np.float64) - exact["mean"]) / exact["spread"]
    for i in range(len(shape.hidden) + 1):
        x = (_ACTIVATE[shape.activation](x) if i else x) @ exact[f"{i}.weight"].T + exact[
            f"{i}.bias"
        ]
    return np.asarray(x[:, 0])


def _gelu(x: FloatArray) -> FloatArray:
    from scipy.special import ndtr

    return np.asarray(x * ndtr(x))


_ACTIVATE: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": _gelu,
}


def head_module(width: int, shape: HeadShape, dropout: float) -> Any:
    """The same as a torch module: buffers ``mean`` and ``spread``, layers ``0``, ``1`` …"""
    torch = torch_module()
    act = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU, "gelu": torch.nn.GELU}[shape.activation]()
    layers = [torch.nn.Linear(size, out) for size, out in pairwise((width, *shape.hidden, 1))]

    class Module(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(width))
            self.register_buffer("spread", torch.ones(width))
            for i, layer in enumerate(layers):
                self.add_module(str(i), layer)
            self.drop = torch.nn.Dropout(dropout)

        def forward(self, features: Any) -> Any:
            x = (features - self.mean) / self.spread
            for i, layer in enumerate(layers):
                x = layer(self.drop(act(x) if i else x))
            return x[:, 0]

    return Module()


def standardise(module: Any, features: FloatArray | Array) -> None:
    """Let a head module centre and scale its inputs as these (n, features) are spread."""
    torch = torch_module()
    spread = features.std(axis=0, dtype=np.float64)
    module.mean.copy_(torch.from_numpy(features.mean(axis=0, dtype=np.float64)))
    module.spread.copy_(torch.from_numpy(np.where(spread < LEAST_SPREAD, 1.0, spread)))
