"""The base model of a learned metric: shared where it is frozen, else with its own weights.

Training may change all of it, low-rank additions to some layers, or nothing.
LoRA: Hu et al. 2022, eq. 3: W x + (alpha / rank) · B A x.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wholetext.backends.device import Precision, torch_module
from wholetext.backends.encoder import Encoder, cut_above, load_pretrained, open_encoder
from wholetext.backends.hub.locate import Located, locate
from wholetext.backends.layout import Ids
from wholetext.backends.learned.config import Adapter, Config
from wholetext.backends.learned.folder import WeightsFile
from wholetext.backends.tokenizer import Tokenizer
from wholetext.errors import MetricError, ModelError, did_you_mean
from wholetext.types import Excerpt, Request, Runtime

# of trained tensors in weights.safetensors
PREFIXES: Mapping[str, str] = {"lora": "adapter.", "full": "encoder."}
# queries and values of attention, as families of models call them
ATTENTION = (("query", "value"), ("q", "v"), ("q_lin", "v_lin"), ("q_proj", "v_proj"), ("Wqkv",))
_UNREAD = "pooler."  # a layer for other tasks, which no form reads


@dataclass(frozen=True, eq=False)
class Opening:
    """What a form is made from. ``run`` lends models that are shared; a form does not keep it."""

    config: Config
    base: Located  # the base model, found and checked
    weights: WeightsFile  # empty before training
    precision: Precision
    run: Runtime


@dataclass(frozen=True)
class Pooling:
    """Which layers are read (negative: from the last), and how vectors of a text become one."""

    layers: tuple[int, ...] = (-1,)
    pool: Literal["mean", "cls"] = "mean"
    limit: int = 0  # tokens per sequence; 0: what the model takes

    def check(self, views: Iterable[Excerpt]) -> None:
        if self.pool == "cls" and any(view.before or view.after for view in views):
            raise MetricError("this metric pools the first token, so a segment cannot be separated from "
                              "its context", next="use a view without context: sentence, slide, paragraph")


class Body:
    """An encoder and the layers that are read."""

    def __init__(self, opening: Opening, pooling: Pooling) -> None:
        base, adapter = opening.base, opening.config.adapter
        self.tokenizer = opening.run.resource(("tokenizer", base.path), lambda: Tokenizer(base.path))
        config = self.tokenizer.config
        depth = int(config.get("num_hidden_layers") or config.get("num_layers") or 12)
        self.layers = tuple(layer + depth + 1 if layer < 0 else layer for layer in pooling.layers)
        wrong = [given for given, layer in zip(pooling.layers, self.layers) if not 0 <= layer <= depth]
        if wrong or not self.layers:
            what = f"there is no layer {wrong[0]}" if wrong else "no layer is read"
            raise ModelError(f"{what}: it has {depth} layers", where=base.name, next="name layers with settings.layers")
        top = max(self.layers)
        self.width = int(config.get("hidden_size") or config.get("d_model") or 0)
        self.typed = int(config.get("type_vocab_size") or 0) > 1

        def build() -> Any:
            if adapter.kind == "frozen":  # its weights are the ones that other metrics use
                return open_encoder(opening.run, base.asked, base.revision, top).model
            folder = locate(base.asked, base.revision).path  # with the weights
            return adapt(cut_above(load_pretrained(folder), top), adapter, opening.weights)

        self.encoder = Encoder(base, self.tokenizer, opening.precision, build, top)
        # standardising magnifies rounding errors
        self.encoder.exact, self.encoder.min_padded_length = True, 32
        trained = None if adapter.kind == "frozen" else opening.weights.path
        self.id = f"{base.id}/{opening.precision.dtype}/{adapter}/{trained}/{self.layers}/{pooling}"

    def states(self, sequences: Sequence[Ids], types: Sequence[Ids] | None, learning: bool) -> list[Any]:
        """The states of each layer that is read, each (batch, tokens, width) in single precision."""
        states, _ = self.encoder.hidden(sequences, types if self.typed else None, learning)
        return [states[layer].float() for layer in self.layers]


def average(states: Sequence[Any], positions: Sequence[Sequence[int]]) -> Any:
    """(batch, layers · width) the mean over some positions of each row, layer by layer."""
    torch = torch_module()
    weights = torch.zeros(states[0].shape[:2], device=states[0].device)  # (batch, tokens)
    for row, places in zip(weights, positions):
        row[list(places)] = 1.0 / len(places)
    return torch.cat([(weights[:, None, :] @ state)[:, 0] for state in states], dim=-1)


def texts_of(pair: Request, reads: Sequence[str]) -> dict[str, Excerpt]:
    """The texts a metric reads, in its order, the hypothesis first."""
    there = {"hyp": pair.hyp[0], "ref": pair.refs[0] if pair.refs else None, "src": pair.src}
    order = dict.fromkeys(("hyp", *reads))
    found = {side: view for side in order if (view := there[side]) is not None}
    if len(found) < len(reads):
        missing = next(side for side in reads if side not in found)
        raise MetricError(f"this metric reads the {missing}, and there is none", next="give it, or use another metric")
    return found


# ---------------------------------------------------------------- what training changes


def adapt(model: Any, adapter: Adapter, weights: WeightsFile) -> Any:
    """The base model ready for training, or with what was trained put in."""
    torch = torch_module()
    if adapter.kind == "lora":
        _add_low_rank(model, adapter)
    parameters = trained(model, adapter)
    model.requires_grad_(False)
    if weights and parameters:
        prefix = PREFIXES[adapter.kind]
        found = weights.group(prefix, {name[len(prefix) :]: tuple(p.shape) for name, p in parameters.items()})
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(torch.from_numpy(found[name[len(prefix) :]]))
        return model
    for name, parameter in parameters.items():
        parameter.requires_grad_(True)
        # the other half is 0: training starts from the base model itself
        if adapter.kind == "lora" and name.endswith(".down"):
            torch.nn.init.kaiming_uniform_(parameter, a=math.sqrt(5))
    return model


def trained(model: Any, adapter: Adapter) -> dict[str, Any]:
    """Name in ``weights.safetensors`` → parameter, of all that training changes."""
    if adapter.kind == "frozen":
        return {}
    prefix, ends = PREFIXES[adapter.kind], (".down", ".up") if adapter.kind == "lora" else ("",)
    return {f"{prefix}{name}": parameter for name, parameter in model.named_parameters()
            if _UNREAD not in name and name.endswith(ends)}


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

    linears = {name: layer for name, layer in model.named_modules()
               if isinstance(layer, torch.nn.Linear) and _UNREAD not in name}
    lasts = {name.rpartition(".")[2] for name in linears}
    wanted = adapter.linears or next((each for each in ATTENTION if set(each) <= lasts), ())
    unknown = [each for each in wanted if each not in lasts]
    if unknown or not wanted:
        what = f"it has no layer {unknown[0]!r}" if unknown else "its attention layers are not known by name"
        near = did_you_mean(unknown[0], sorted(lasts)) if unknown else ""
        raise ModelError(f"{what} to adapt", next=near or f"name some of adapter.linears: {', '.join(sorted(lasts))}")
    chosen = {name: layer for name, layer in linears.items() if name.rpartition(".")[2] in wanted}
    most = min(min(layer.weight.shape) for layer in chosen.values())
    if not 1 <= adapter.rank <= most:
        raise ModelError(f"adapter.rank is {adapter.rank}", next=f"it must be from 1 to the size of a layer, {most}")
    for name, layer in chosen.items():
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, LowRank(layer))
