"""Vectors of views: of tokens at a hidden layer, and of texts as in sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import ModelError
from wholetext.files.parsing import file_bytes, read_json
from wholetext.models.encoder import Encoder, EncoderBackend, refuse_context
from wholetext.models.hub.locate import guarded
from wholetext.models.layout import Layout
from wholetext.models.tokenizer import TokenizedText, read_table
from wholetext.types import Excerpt, FloatArray

_MODULES = {"Transformer", "Pooling", "Dense", "Normalize"}
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}


@dataclass(frozen=True, eq=False)
class Tokens:
    """Unit vectors of a view's tokens, with masks of scored tokens and markers."""

    vectors: NDArray[np.float32]  # (tokens, width)
    ids: NDArray[np.int64]  # (tokens,)
    scored: NDArray[np.bool_]  # (tokens,)
    marker: NDArray[np.bool_]  # (tokens,)
    own: NDArray[np.bool_]  # (tokens,) the markers around the scored segments


class TokenVectors(EncoderBackend):
    """Backend: view → Tokens, of the scored tokens or (``everything``) of all."""

    def __init__(
        self, encoder: Encoder, layer: int, reading: TokenizedText, everything: bool = False
    ) -> None:
        self.encoder, self.layer, self.reading, self.everything = (
            encoder,
            layer,
            reading,
            everything,
        )
        self.id = f"{encoder.id}/layer{layer}/{reading}/{'all' if everything else 'scored'}"

    def run(self, batch: Sequence[Excerpt]) -> list[Tokens]:
        layouts = [self.layout(view) for view in batch]
        positions = [
            np.arange(len(layout.ids)) if self.everything else np.arange(layout.start, layout.stop)
            for layout in layouts
        ]
        states = self.encoder.vectors(
            [layout.ids for layout in layouts], self.layers, [keep.tolist() for keep in positions]
        )
        special = {*self.encoder.tokenizer.markers.opening, *self.encoder.tokenizer.markers.between}
        outputs = []
        for rows, layout, keep in zip(states, layouts, positions):
            ids = np.array(layout.ids, dtype=np.int64)[keep]
            scored = (keep >= layout.start) & (keep < layout.stop)
            marker = ~scored & np.isin(ids, list(special))
            own = ~scored & np.isin(keep, layout.kept(markers=True))
            outputs.append(Tokens(self.vectors(rows), ids, scored, marker, own))
        return outputs

    @property
    def layers(self) -> list[int]:
        """The layers that ``vectors`` reads."""
        return [self.layer]

    def vectors(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """(tokens, width) vectors from the states of the layers, (layers, tokens, width)."""
        return unit(states[0])


class Embeddings(EncoderBackend):
    """Backend: view → (width,) vector, pooled over the scored tokens and the markers around them.

    Encoder, pooling and dense layers come from the folder of a sentence-transformers model.
    """

    def __init__(self, encoder: Encoder, reading: TokenizedText) -> None:
        self.encoder = encoder
        self.folder = encoder.located.path
        self.modules = _modules(self.folder)
        stated = _table(self.folder / "sentence_bert_config.json")
        unknown = sorted({kind for kind, _ in self.modules} - _MODULES)
        unknown += ["do_lower_case"] if stated.get("do_lower_case") else []
        if unknown:
            raise ModelError(
                f"{unknown[0][:80]} is not supported",
                where=str(self.folder),
                next="use a model of Transformer, Pooling, Dense and Normalize modules",
            )
        with guarded(self.folder, "max_seq_length is not a number of tokens"):
            longest = int(stated.get("max_seq_length") or encoder.tokenizer.limit)
        longest = min(longest, encoder.tokenizer.positions or longest)
        self.reading = replace(reading, limit=reading.limit or longest)
        self.pooling = self._pooling()
        self.id = f"{encoder.id}/{self.pooling}/{self.reading}"

    def layout(self, x: Excerpt) -> Layout:
        if self.pooling == "cls":
            refuse_context(self.encoder.located.name, x)
        return super().layout(x)

    def run(self, batch: Sequence[Excerpt]) -> list[FloatArray]:
        layouts = [self.layout(view) for view in batch]
        places = [[0] if self.pooling == "cls" else layout.kept(markers=True) for layout in layouts]
        states = self.encoder.vectors([layout.ids for layout in layouts], [-1], places)
        pool = np.max if self.pooling == "max" else np.mean
        vectors: FloatArray = np.array([pool(row.astype(np.float64), axis=0) for [row] in states])
        for weight, bias in self.dense:
            vectors = np.tanh(vectors @ weight.T + bias)
        return list(vectors)

    def _pooling(self) -> str:
        path = next((path for kind, path in self.modules if kind == "Pooling"), None)
        config = (
            _table(self.folder / path / "config.json")
            if path
            else {"pooling_mode_mean_tokens": True}
        )
        chosen = [
            name for name, on in config.items() if name.startswith("pooling_mode_") and on is True
        ]
        if len(chosen) != 1 or chosen[0] not in _POOLINGS:
            raise ModelError(
                f"its pooling {' and '.join(chosen) or 'is not stated and'} is not supported",
                where=str(self.folder),
                next=f"supported: {', '.join(_POOLINGS)}",
            )
        return _POOLINGS[chosen[0]]

    @cached_property
    def dense(self) -> list[tuple[FloatArray, FloatArray]]:
        """Weight and bias of each dense layer, all with tanh."""
        from safetensors.numpy import load_file

        layers = []
        for folder in (self.folder / path for kind, path in self.modules if kind == "Dense"):
            config, file = _table(folder / "config.json"), folder / "model.safetensors"
            with guarded(file, "its dense layer is not a tanh layer stored as safetensors"):
                if not str(config.get("activation_function")).endswith("Tanh"):
                    raise ValueError("another activation function")
                tensors = load_file(str(file))
                weight, bias = tensors["linear.weight"], tensors["linear.bias"]
                layers.append((weight.astype(float), bias.astype(float)))
        return layers


def unit(vectors: NDArray[Any]) -> NDArray[Any]:
    """(…, width) vectors of length 1."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.float32(1e-30)))


def _modules(folder: Path) -> list[tuple[str, str]]:
    """(kind, folder) of each module; folders are inside the model's."""
    path = folder / "modules.json"
    if not path.is_file():
        return []
    listed = read_json(file_bytes(path, error=ModelError), where=str(path), error=ModelError)
    with guarded(path, "it is not a list of modules, each with a type and a folder"):
        return [(module["type"].rsplit(".", 1)[-1], Path(module["path"]).name) for module in listed]


def _table(path: Path) -> dict[str, Any]:
    return read_table(path) if path.is_file() else {}
