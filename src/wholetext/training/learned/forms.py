"""Learned metrics ready to score: configuration, form and head of a folder.

A form turns requests of one hypothesis and at most one reference into an (n, width) array of
features, by ``run.map`` over its own backends, whatever their order and company. It is made from a
configuration, its base model, a precision and a run (which it does not keep), and has an ``id``
(all that decides the features), ``width``, ``fit``, ``shows`` and ``seen`` as metrics have. The
head, a small network, does the rest. A form that predicts directly has no head, but ``module`` (the
torch module that is trained) and ``learn`` (predictions through which gradients flow).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wholetext import slices
from wholetext.errors import ModelError, known
from wholetext.models.device import Precision, torch_module
from wholetext.models.hub import locate as hub
from wholetext.training.learned.folder import (
    Array,
    Config,
    HeadShape,
    Penalty,
    Scale,
    fill,
    find_base,
    read_config,
    read_head,
    verify,
)
from wholetext.types import FloatArray, Request, Runtime

LEAST_SPREAD = 1e-6  # a feature that never changes is centred, not blown up
FORMS: Mapping[str, str] = {
    "aligned": "wholetext.training.learned.aligned:AlignedForm",
    "t5": "wholetext.training.learned.t5:T5",
}


def form_class(name: str, where: str = "") -> Any:
    """Load the class of a form."""
    return slices.load(FORMS[known("form", name, FORMS, where=where, error=ModelError)])


def check(config: Config, where: str) -> None:
    """Raise if the settings of a configuration do not fit its form."""
    kind = form_class(config.form, where)
    fill(kind.Settings, config.settings, where, "settings.")
    scale, penalty = config.output, config.penalty
    on_scale = (scale.low, scale.high, scale.higher_is_better) == (0.0, 100.0, True)
    if (
        (config.head is None) != kind.predicts_directly
        or (config.form == "aligned" and set(config.reads) != {"hyp", "ref"})
        or (config.head is not None and min((*config.head.hidden, 1)) < 1)
        or (
            penalty is not None
            and not (on_scale and min(penalty.rate, penalty.length, penalty.shape) > 0)
        )
    ):
        raise ModelError(
            f"reads, head, output and penalty do not fit the form {config.form}",
            where=where,
            next="aligned reads hyp and ref; t5 has no head; sizes of a head are at least 1; a "
            "penalty is positive, and made from scores of 0 to 100",
        )


def checked_config(folder: Path) -> Config:
    """Read and check the configuration of a folder."""
    config = read_config(folder)
    check(config, str(folder))
    return config


class LearnedModel:
    """Form and head of a folder. Weights load when they are first used; the tokenizer at once."""

    def __init__(self, config: Config, form: Any, folder: Path) -> None:
        self.config, self.form, self.folder = config, form, folder

    @cached_property
    def head(self) -> dict[str, Array]:
        """The tensors of the head; the weights are checked once."""
        verify(self.folder)
        if self.config.head is None:
            return {}
        return read_head(self.folder, head_shapes(self.form.width, self.config.head))

    def scores(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """Score requests with one hypothesis and at most one reference: (n,)."""
        head = self.head  # its faults show before any model runs
        features = self.form.features(pairs, run)  # (n, width)
        return scaled(predictions(features, self.config.head, head), self.config.output)


def scaled(raw: FloatArray, output: Scale) -> FloatArray:
    """Map predictions to the scale that a metric promises."""
    values = output.shift + output.scale * raw
    low = -np.inf if output.low is None else output.low
    return np.clip(values, low, np.inf if output.high is None else output.high)


def penalties(scores: FloatArray, pairs: Sequence[Request], shape: Penalty) -> FloatArray:
    """Compute (n,) expected penalties, 0 or below; errors add up, so they grow with the length."""
    texts = [(pair.refs or pair.hyp)[0].text for pair in pairs]
    words = np.array([max(1, len(text.split())) for text in texts], dtype=np.float64)
    wrong = np.maximum(0.0, 1.0 - scores / 100.0)
    return (
        np.asarray(-shape.rate * words**shape.length * wrong**shape.shape) + 0.0
    )  # no negative zero


def open_learned(run: Runtime, model: str, revision: str, base: str = "") -> LearnedModel:
    """Open the learned metric in a folder, shared by everything in the process that uses it."""
    located = hub.locate(model, revision)
    precision = Precision(run.device, run.dtype)

    def make() -> LearnedModel:
        config = checked_config(located.path)
        own_base = find_base(config, located.path, base)
        form = form_class(config.form)(config, own_base, precision, run)
        return LearnedModel(config, form, located.path)

    key: tuple[Any, ...] = ("learned", str(located.path), located.revision, base, precision)
    return run.resource(key, make)


# ---------------------------------------------------------------- heads: numpy scores, torch trains


def head_shapes(width: int, shape: HeadShape) -> dict[str, tuple[int, ...]]:
    """Return name → shape of every tensor of a head over ``width`` features."""
    shapes: dict[str, tuple[int, ...]] = {"mean": (width,), "spread": (width,)}
    for i, (size, out) in enumerate(pairwise((width, *shape.hidden, 1))):
        shapes |= {f"{i}.weight": (out, size), f"{i}.bias": (out,)}
    return shapes


def predictions(
    features: FloatArray | Array, shape: HeadShape | None, tensors: Mapping[str, Array]
) -> FloatArray:
    """Apply the head to (n, features), in double precision: scores do not depend on the batch."""
    if shape is None:
        return np.asarray(features[:, 0])
    from scipy.special import ndtr

    exact = {name: np.asarray(tensor, dtype=np.float64) for name, tensor in tensors.items()}
    x = (np.asarray(features, dtype=np.float64) - exact["mean"]) / exact["spread"]
    for i in range(len(shape.hidden) + 1):
        if i:
            x = np.tanh(x) if shape.activation == "tanh" else x * ndtr(x)
        x = x @ exact[f"{i}.weight"].T + exact[f"{i}.bias"]
    return x[:, 0]


def head_module(features: Array, shape: HeadShape, dropout: float) -> Any:
    """Make a head as a torch module: buffers ``mean`` and ``spread``, numbered layers.

    Inputs are centred and scaled as these (n, width) features are spread.
    """
    torch, width = torch_module(), features.shape[1]
    spread = features.std(axis=0, dtype=np.float64)
    spread = np.where(spread < LEAST_SPREAD, 1.0, spread)
    scales = {"mean": features.mean(axis=0, dtype=np.float64), "spread": spread}
    act = torch.nn.Tanh() if shape.activation == "tanh" else torch.nn.GELU()
    layers = [torch.nn.Linear(size, out) for size, out in pairwise((width, *shape.hidden, 1))]

    class Module(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            for name, values in scales.items():
                self.register_buffer(name, torch.from_numpy(values).float())
            for i, layer in enumerate(layers):
                self.add_module(str(i), layer)
            self.drop = torch.nn.Dropout(dropout)

        def forward(self, features: Any) -> Any:
            x = (features - self.mean) / self.spread
            for i, layer in enumerate(layers):
                x = layer(self.drop(act(x) if i else x))
            return x[:, 0]

    return Module()
