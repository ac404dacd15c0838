"""What training may change in a base model: all of it, low-rank additions to some layers (LoRA), or nothing.

LoRA: Hu et al. 2022, "LoRA: Low-Rank Adaptation of Large Language Models", eq. 3: W x + (alpha / rank) · B A x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wholetext.backends.device import torch_module
from wholetext.backends.learned.config import Adapter
from wholetext.backends.learned.weights import Array, WeightsFile
from wholetext.errors import ModelError, did_you_mean

FULL, LORA = "encoder.", "adapter."
PREFIXES: Mapping[str, tuple[str, ...]] = {"frozen": (), "lora": (LORA,), "full": (FULL,)}
# queries and values of attention, as families of models call them
ATTENTION = (("query", "value"), ("q", "v"), ("q_lin", "v_lin"), ("q_proj", "v_proj"), ("Wqkv",))
_UNREAD = "pooler."  # a layer for other tasks, which no form reads


def adapt(model: Any, adapter: Adapter, weights: WeightsFile) -> Any:
    """The base model ready for training (draws from torch's generator), or with what was trained put in."""
    if adapter.kind == "lora":
        _add_low_rank(model, adapter)
    parameters = trained(model, adapter)
    for name, parameter in parameters.items() if adapter.kind == "lora" and not weights else ():
        if name.endswith(".down"):  # the other half stays 0: training starts from the base model itself
            torch_module().nn.init.kaiming_uniform_(parameter, a=math.sqrt(5))
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parameter in parameters.values():
        parameter.requires_grad_(not weights)
    if weights and adapter.kind != "frozen":
        torch, prefix = torch_module(), FULL if adapter.kind == "full" else LORA
        shapes = {name[len(prefix) :]: tuple(p.shape) for name, p in parameters.items()}
        found = weights.group(prefix, shapes)
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(torch.from_numpy(found[name[len(prefix) :]]))
    return model


def trained(model: Any, adapter: Adapter) -> dict[str, Any]:
    """Name in ``weights.safetensors`` → parameter, of all that training changes."""
    named = [(name, p) for name, p in model.named_parameters() if _UNREAD not in name]
    if adapter.kind == "full":
        return {f"{FULL}{name}": p for name, p in named}
    if adapter.kind == "lora":
        return {f"{LORA}{name}": p for name, p in named if name.endswith((".down", ".up"))}
    return {}


def tensors_of(parameters: Mapping[str, Any]) -> dict[str, Array]:
    return {name: p.detach().cpu().float().numpy().copy() for name, p in parameters.items()}


def merge(model: Any) -> Any:
    """Low-rank additions added to the layers they belong to, which are then as they were."""
    torch = torch_module()
    for name, layer in [*model.named_modules()]:
        if hasattr(layer, "low_rank_scale"):
            owner, _, last = name.rpartition(".")
            with torch.no_grad():
                layer.linear.weight += (layer.up @ layer.down) * layer.low_rank_scale
            setattr(model.get_submodule(owner), last, layer.linear)
    return model


def _add_low_rank(model: Any, adapter: Adapter) -> None:
    torch = torch_module()
    linears = {name: layer for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)}
    lasts = {name.rpartition(".")[2] for name in linears if _UNREAD not in name}
    wanted = adapter.linears or next((each for each in ATTENTION if set(each) <= lasts), ())
    unknown = [each for each in wanted if each not in lasts]
    if unknown or not wanted:
        what = f"it has no layer {unknown[0]!r}" if unknown else "its attention layers are not known by name"
        near = did_you_mean(unknown[0], sorted(lasts)) if unknown else ""
        raise ModelError(f"{what} to adapt", next=near or f"name some of adapter.linears: {', '.join(sorted(lasts))}")
    most = min(min(layer.weight.shape) for name, layer in linears.items() if name.rpartition(".")[2] in wanted)
    if not 1 <= adapter.rank <= most:
        raise ModelError(f"adapter.rank is {adapter.rank}", next=f"it must be from 1 to the size of a layer, {most}")
    for name, layer in linears.items():
        owner, _, last = name.rpartition(".")
        if last in wanted and _UNREAD not in name:
            setattr(model.get_submodule(owner), last, _low_rank(layer, adapter))


def _low_rank(linear: Any, adapter: Adapter) -> Any:
    torch = torch_module()

    class LowRank(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = linear
            self.low_rank_scale = adapter.alpha / adapter.rank
            self.down = torch.nn.Parameter(torch.zeros(adapter.rank, linear.in_features))
            self.up = torch.nn.Parameter(torch.zeros(linear.out_features, adapter.rank))

        def forward(self, x: Any) -> Any:
            return self.linear(x) + (x @ self.down.T @ self.up.T) * self.low_rank_scale

    return LowRank()
