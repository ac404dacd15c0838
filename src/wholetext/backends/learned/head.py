"""From features to a number: standardised, then a small feed-forward network. numpy to score with, torch to train."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from wholetext.backends.device import torch_module
from wholetext.backends.learned.config import Activation, HeadShape
from wholetext.backends.learned.weights import Array
from wholetext.types import FloatArray

PREFIX = "head."
LEAST_SPREAD = 1e-6  # a feature that never changes is centred, not blown up


@dataclass(frozen=True, eq=False)
class Head:
    """A trained head. It runs in double precision, so that scores do not depend on the batch."""

    mean: FloatArray  # (features,)
    spread: FloatArray  # (features,)
    layers: tuple[tuple[FloatArray, FloatArray], ...]  # weight (out, in), bias (out,)
    activation: Activation

    def __call__(self, features: FloatArray | Array) -> FloatArray:
        """(n, features) → (n,)"""
        x = (np.asarray(features, dtype=np.float64) - self.mean) / self.spread
        for i, (weight, bias) in enumerate(self.layers):
            x = (_activate(x, self.activation) if i else x) @ weight.T + bias
        return np.asarray(x[:, 0])


def shapes(width: int, shape: HeadShape) -> dict[str, tuple[int, ...]]:
    """Name → shape of every tensor of a head over ``width`` features."""
    found: dict[str, tuple[int, ...]] = {"mean": (width,), "spread": (width,)}
    for i, (size, out) in enumerate(pairwise((width, *shape.hidden, 1))):
        found |= {f"{i}.weight": (out, size), f"{i}.bias": (out,)}
    return found


def make_head(tensors: Mapping[str, Array], shape: HeadShape) -> Head:
    """The head of tensors by name (without their prefix)."""
    exact = {name: np.asarray(tensor, dtype=np.float64) for name, tensor in tensors.items()}
    layers = tuple((exact[f"{i}.weight"], exact[f"{i}.bias"]) for i in range(len(shape.hidden) + 1))
    return Head(exact["mean"], exact["spread"], layers, shape.activation)


def _activate(x: FloatArray, activation: Activation) -> FloatArray:
    if activation == "tanh":
        return np.tanh(x)
    if activation == "relu":
        return np.maximum(x, 0.0)
    from scipy.special import ndtr

    return np.asarray(x * ndtr(x))


# ---------------------------------------------------------------- training


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
            for i in range(len(layers)):
                x = self.get_submodule(str(i))(self.drop(act(x) if i else x))
            return x[:, 0]

    return Module()


def standardise(module: Any, features: FloatArray | Array) -> None:
    """Let a head module centre and scale its inputs as these (n, features) are spread."""
    torch = torch_module()
    spread = features.std(axis=0, dtype=np.float64)
    module.mean.copy_(torch.from_numpy(features.mean(axis=0, dtype=np.float64)))
    module.spread.copy_(torch.from_numpy(np.where(spread < LEAST_SPREAD, 1.0, spread)))


def head_tensors(module: Any) -> dict[str, Array]:
    """Name → tensor of a head module, as ``weights.safetensors`` has them (with their prefix)."""
    return {f"{PREFIX}{name}": tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}
