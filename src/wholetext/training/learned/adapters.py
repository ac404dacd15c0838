"""What training changes of a base model: all of it, or low-rank additions to some layers.

LoRA: Hu et al. 2022, eq. 3: W x + (alpha / rank) · B A x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wholetext.errors import ModelError, did_you_mean
from wholetext.models.device import torch_module
from wholetext.training.learned.config import Adapter

PREFIXES: Mapping[str, str] = {
    "lora": "adapter.",
    "full": "encoder.",
}  # of trained tensors in checkpoints
# queries and values of attention, as families of models call them
ATTENTION = (("query", "value"), ("q", "v"), ("q_lin", "v_lin"), ("q_proj", "v_proj"), ("Wqkv",))


def adapt(model: Any, adapter: Adapter) -> None:
    """Make a base model ready for training."""
    torch = torch_module()
    if adapter.kind == "lora":
        _add_low_rank(model, adapter)
    parameters = trained(model, adapter)
    model.requires_grad_(False)
    for name, parameter in parameters.items():
        parameter.requires_grad_(True)
        # the other half is 0: training starts from the base model itself
        if adapter.kind == "lora" and name.endswith(".down"):
            torch.nn.init.kaiming_uniform_(parameter, a=math.sqrt(5))


def trained(model: Any, adapter: Adapter) -> dict[str, Any]:
    """Name in checkpoints → parameter, of all that training changes."""
    if adapter.kind == "frozen":
        return {}
    prefix, ends = PREFIXES[adapter.kind], (".down", ".up") if adapter.kind == "lora" else ("",)
    return {
        f"{prefix}{name}": parameter
        for name, parameter in model.named_parameters()
        if name.endswith(ends)
    }


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

    class LowRank(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.linear = linear
            self.low_rank_scale = adapter.alpha / adapter.rank
            self.down = torch.nn.Parameter(torch.zeros(adapter.rank, linear.in_features))
            self.up = torch.nn.Parameter(torch.zeros(linear.out_features, adapter.rank))

        def forward(self, x: Any) -> Any:
            return self.linear(x) + (x @ self.down.T @ self.up.T) * self.low_rank_scale

    linears = {
        name: layer for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)
    }
    lasts = {name.rpartition(".")[2] for name in linears}
    targets = adapter.linears or next((group for group in ATTENTION if set(group) <= lasts), ())
    unknown = [group for group in targets if group not in lasts]
    if unknown or not targets:
        what = (
            f"it has no layer {unknown[0]!r}"
            if unknown
            else "its attention layers are not known by name"
        )
        near = did_you_mean(unknown[0], sorted(lasts)) if unknown else ""
        raise ModelError(
            f"{what} to adapt",
            next=near or f"name some of adapter.linears: {', '.join(sorted(lasts))}",
        )
    chosen = {name: layer for name, layer in linears.items() if name.rpartition(".")[2] in targets}
    most = min(min(layer.weight.shape) for layer in chosen.values())
    if not 1 <= adapter.rank <= most:
        raise ModelError(
            f"adapter.rank is {adapter.rank}",
            next=f"it must be from 1 to the size of a layer, {most}",
        )
    for name, layer in chosen.items():
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, LowRank(layer))
