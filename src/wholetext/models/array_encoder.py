"""Small encoders of the BERT family on numpy: what metrics read of MiniLM on a CPU, without torch.

Devlin et al. 2019; Vaswani et al. 2017, §3. Each sequence is encoded by itself, by one thread, so
its states depend neither on its batch nor on the number of processors.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import optional
from wholetext.models.device import in_order
from wholetext.models.layout import Ids
from wholetext.models.loading import refuse_weights
from wholetext.models.tokenizer import FAMILY, OFFSET

Array = NDArray[np.float32]
WIDEST = 384  # of a state; wider models take torch
FILE = "model.safetensors"
# settings without defaults
_SIZES = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "max_position_embeddings",
    "type_vocab_size",
    "vocab_size",
    "pad_token_id",
    "layer_norm_eps",
)
# settings of other architectures
_OTHERWISE = ("is_decoder", "add_cross_attention", "quantization_config")
_ROWS = 16  # of an activation at a time: they fit into the cache of a core
# Φ(−z) = t·(c₁ + t·(c₂ + …))·exp(−z²/2) with t = 1 / (1 + SLOPE·z), |error| < 1e-7:
# Abramowitz & Stegun 1964, eq. 7.1.26, whose erfc(z/√2)/2 it is
_SLOPE = np.float32(0.3275911 / math.sqrt(2))
_TAIL = tuple(
    np.float32(c / 2) for c in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)


def is_small(config: Mapping[str, Any]) -> bool:
    """Whether a configuration is one of the family, with uniform layers up to ``WIDEST``."""
    return (
        config.get("model_type") in FAMILY
        and config.get("hidden_act") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and all(isinstance(config.get(key), (int, float)) for key in _SIZES)
        and int(config["hidden_size"]) <= WIDEST
        and config.get("dtype", config.get("torch_dtype")) in (None, "float32", "float16")
        and not any(config.get(key) for key in _OTHERWISE)
    )


@dataclass(frozen=True, eq=False)
class ArrayEncoder:
    """Weights by name, and the configuration."""

    weights: Mapping[str, Array]
    config: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path, config: Mapping[str, Any]) -> ArrayEncoder:
        """Read the weights of a folder; raise an error if some are missing or do not fit."""
        from safetensors.numpy import load_file

        tensors, first = load_file(folder / FILE), "embeddings.word_embeddings.weight"
        prefix = next((n.removesuffix(first) for n in tensors if n.endswith(first)), "")
        shapes = _shapes(config)
        missing = [name for name in shapes if prefix + name not in tensors]
        misshapen = [
            name
            for name in shapes
            if tensors.get(prefix + name, np.empty(shapes[name])).shape != shapes[name]
        ]
        refuse_weights(misshapen, missing, folder)
        return cls({n: np.asarray(tensors[prefix + n], np.float32) for n in shapes}, config)

    @property
    def depth(self) -> int:
        return int(self.config["num_hidden_layers"])

    def vectors(
        self, sequences: Sequence[Ids], layers: Sequence[int], positions: Sequence[Sequence[int]]
    ) -> list[Array]:
        """(layers, positions, width) hidden states of each sequence; layer 0 are the embeddings."""
        encode = partial(self._encode, [range(self.depth + 1)[layer] for layer in layers])
        lanes = _lanes(os.getpid())
        with lanes:
            return list(lanes.pool.map(encode, sequences, positions))

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        """``work`` of each batch, in order; several wait for their sequences at a time."""
        return in_order(ThreadPoolExecutor(_lanes(os.getpid()).number, "wholetext"), work, batches)

    def _encode(self, layers: Sequence[int], ids: Ids, positions: Sequence[int]) -> Array:
        """Run the layers that are read; the last of them at the requested positions alone."""
        places, top = np.asarray(positions, int), max(layers)
        state = self._embed(np.asarray(ids))
        states = [state[places]]
        for layer in range(top):
            asking = state[places] if layer == top - 1 else state
            state = self._layer(f"encoder.layer.{layer}.", state, asking)
            states.append(state if layer == top - 1 else state[places])
        return np.stack([states[layer] for layer in layers])

    def _embed(self, ids: NDArray[np.int64]) -> Array:
        """(tokens, width) normed sum of word, position and type.

        RoBERTa's positions follow its padding id.
        """
        places, filler = np.arange(len(ids)), self.config["pad_token_id"]
        if self.config["model_type"] in OFFSET:
            places = np.cumsum(ids != filler) * (ids != filler) + filler
        total = self.weights["embeddings.word_embeddings.weight"][ids]
        total += self.weights["embeddings.token_type_embeddings.weight"][0]
        total += self.weights["embeddings.position_embeddings.weight"][places]
        return self._norm("embeddings.LayerNorm", total)

    def _layer(self, name: str, state: Array, asking: Array) -> Array:
        """Attention of ``asking`` (some rows of the state), two dense layers, residuals, norms."""
        count = self.config["num_attention_heads"]
        size = state.shape[1] // count
        heads = [
            self._dense(f"{name}attention.self.{part}", rows)
            .reshape(len(rows), count, size)
            .transpose(1, 0, 2)
            for part, rows in (("query", asking), ("key", state), ("value", state))
        ]
        scores = heads[0] @ heads[1].transpose(0, 2, 1)  # (heads, asking, tokens)
        scores *= np.float32(1 / math.sqrt(size))
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ heads[2]).transpose(1, 0, 2).reshape(asking.shape)
        inner = self._dense(f"{name}attention.output.dense", mixed)
        inner = self._norm(f"{name}attention.output.LayerNorm", inner + asking)
        wide = _gelu(self._dense(f"{name}intermediate.dense", inner))
        after = self._dense(f"{name}output.dense", wide)
        return self._norm(f"{name}output.LayerNorm", after + inner)

    def _dense(self, name: str, x: Array) -> Array:
        product: Array = x @ self.weights[f"{name}.weight"].T
        product += self.weights[f"{name}.bias"]
        return product

    def _norm(self, name: str, x: Array) -> Array:
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(
            np.mean(x * x, axis=-1, keepdims=True) + np.float32(self.config["layer_norm_eps"])
        )
        x *= self.weights[f"{name}.weight"]
        x += self.weights[f"{name}.bias"]
        return x


def _gelu(x: Array) -> Array:
    """x·Φ(x) = max(x, 0) − |x|·Φ(−|x|) (Hendrycks & Gimpel 2016, §2), in place.

    An eighth of the time of ``scipy.special.erf``, which would take more than all matrix products.
    """
    for start in range(0, len(x), _ROWS):
        part = x[start : start + _ROWS]
        z = np.abs(part)
        t = z * _SLOPE
        t += np.float32(1)
        np.reciprocal(t, out=t)
        tail = t * _TAIL[0]
        for coefficient in _TAIL[1:]:
            tail += coefficient
            tail *= t
        tail *= z
        z *= z
        z *= np.float32(-0.5)
        tail *= np.exp(z, out=z)
        np.maximum(part, 0, out=part)
        part -= tail
    return x


def _shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shape of each weight, by the names of transformers."""
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        f"embeddings.{kind}_embeddings.weight": (config[size], width)
        for kind, size in (
            ("word", "vocab_size"),
            ("position", "max_position_embeddings"),
            ("token_type", "type_vocab_size"),
        )
    }
    dense = {
        f"encoder.layer.{layer}.{part}": sizes
        for layer in range(config["num_hidden_layers"])
        for part, sizes in {
            "attention.self.query": (width, width),
            "attention.self.key": (width, width),
            "attention.self.value": (width, width),
            "attention.output.dense": (width, width),
            "attention.output.LayerNorm": (width,),
            "intermediate.dense": (inner, width),
            "output.dense": (width, inner),
            "output.LayerNorm": (width,),
        }.items()
    } | {"embeddings.LayerNorm": (width,)}
    for name, sizes in dense.items():
        shapes |= {f"{name}.weight": sizes, f"{name}.bias": sizes[:1]}
    return shapes


class Lanes:
    """Threads that encode one sequence each, while numpy's BLAS has one thread for all of them."""

    def __init__(self) -> None:
        threads = optional("threadpoolctl", "minilm")
        self._blas = threads.ThreadpoolController().select(user_api="blas")
        self._lock, self._users = Lock(), 0
        self._limit: Any = None
        self.number = max((part["num_threads"] for part in self._blas.info()), default=1)
        self.pool = ThreadPoolExecutor(self.number, "wholetext-encoder")

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = self._blas.limit(limits=1)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:  # the last one leaves BLAS as it was
                self._limit.restore_original_limits()


@lru_cache(maxsize=1)
def _lanes(process: int) -> Lanes:
    """The lanes of a process; threads do not survive a fork."""
    return Lanes()
