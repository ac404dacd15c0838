"""The base encoder of a learned metric: shared with other metrics where it is frozen, else with its own weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wholetext.backends.device import torch_module
from wholetext.backends.encoder import Encoder, cut_above, load_pretrained, open_encoder
from wholetext.backends.hub.locate import locate
from wholetext.backends.layout import Ids
from wholetext.backends.learned.adapters import adapt
from wholetext.backends.learned.forms import Opening
from wholetext.backends.tokenizer import Tokenizer
from wholetext.errors import ModelError


@dataclass(frozen=True)
class Pooling:
    """Which layers are read (negative: from the last one back), and how the vectors of a text become one."""

    layers: tuple[int, ...] = (-1,)
    pool: Literal["mean", "cls"] = "mean"
    limit: int = 0  # tokens per sequence; 0: what the model takes


class Body:
    """An encoder and the layers that are read."""

    def __init__(self, opening: Opening, pooling: Pooling) -> None:
        base, adapter = opening.base, opening.config.adapter
        self.tokenizer = opening.run.resource(("tokenizer", base.path), lambda: Tokenizer(base.path))
        depth = int(self.tokenizer.config.get("num_hidden_layers") or self.tokenizer.config.get("num_layers") or 12)
        self.layers = tuple(layer + depth + 1 if layer < 0 else layer for layer in pooling.layers)
        wrong = [given for given, layer in zip(pooling.layers, self.layers) if not 0 <= layer <= depth]
        if wrong or not self.layers:
            what = f"there is no layer {wrong[0]}" if wrong else "no layer is read"
            raise ModelError(f"{what}: it has {depth} layers", where=base.name, next="name layers with settings.layers")
        top = max(self.layers)
        self.width = int(self.tokenizer.config.get("hidden_size") or self.tokenizer.config.get("d_model") or 0)
        self.typed = int(self.tokenizer.config.get("type_vocab_size") or 0) > 1
        if adapter.kind == "frozen":  # its weights are the ones that other metrics use
            shared = open_encoder(opening.run, opening.base.asked, base.revision, top)
            self.encoder = Encoder(base, self.tokenizer, opening.precision, lambda: shared.model, top)
        else:
            self.encoder = Encoder(base, self.tokenizer, opening.precision, lambda: _build(opening, top), top)
        self.encoder.exact, self.encoder.min_padded_length = True, 32  # standardising magnifies rounding errors
        trained = None if adapter.kind == "frozen" else opening.weights.path
        self.id = f"{base.id}/{opening.precision.dtype}/{adapter}/{trained}/{self.layers}/{pooling}"

    def states(self, sequences: Sequence[Ids], types: Sequence[Ids] | None, learning: bool) -> list[Any]:
        """The states of each layer that is read, each (batch, tokens, width) in single precision."""
        states, _ = self.encoder.hidden(sequences, types if self.typed else None, learning)
        return [states[layer].float() for layer in self.layers]


def _build(opening: Opening, top: int) -> Any:
    folder = locate(opening.base.asked, opening.base.revision).path  # the weights too, where only words were fetched
    return adapt(cut_above(load_pretrained(folder), top), opening.config.adapter, opening.weights)


def average(states: Sequence[Any], positions: Sequence[Sequence[int]]) -> Any:
    """(batch, layers · width) the mean over some positions of each row, layer by layer."""
    torch = torch_module()
    weights = torch.zeros(states[0].shape[:2], device=states[0].device)  # (batch, tokens)
    for row, places in zip(weights, positions):
        row[list(places)] = 1.0 / len(places)
    return torch.cat([(weights[:, None, :] @ state)[:, 0] for state in states], dim=-1)
