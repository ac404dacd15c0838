"""Transformer encoders: hidden states of token sequences, on any device; weights load on first use.

Small encoders of the BERT family run on numpy on a CPU (array_encoder.py), whatever is installed;
others, and all on a GPU, on torch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.errors import MetricError
from wholetext.models.array_encoder import FILE, ArrayEncoder, is_small
from wholetext.models.device import (
    DTYPES,
    Precision,
    memory,
    need_torch,
    padded,
    pick_device,
    place,
    side_by_side,
    torch_module,
)
from wholetext.models.hub.locate import Located, guarded, locate
from wholetext.models.layout import Ids, Layout, pad
from wholetext.models.loading import load_model
from wholetext.models.tokenizer import FILES, TokenizedText, Tokenizer, read_config
from wholetext.types import Excerpt, Fit, Runtime

# encoders of uniform layers, where removing the last ones leaves the others unchanged
STACKED = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet", "rembert"})


def open_encoder(run: Runtime, model: str, revision: str, top: int | None = None) -> Encoder:
    """The encoder by hub name or folder, shared by everything in the process that uses it."""
    precision = Precision(run.device, run.dtype)

    def make() -> Encoder:
        located = locate(model, revision, patterns=FILES)
        if not on_arrays(read_config(located.path), precision):
            need_torch()  # before weights are downloaded
        tokenizer = run.resource(("tokenizer", located.path), lambda: Tokenizer(located.path))
        return Encoder(
            located,
            tokenizer,
            precision,
            lambda: read_pretrained(locate(model, revision).path, precision),
            top,
        )

    return run.resource(("encoder", model, revision, precision, top), make)


class Encoder:
    """A model that maps ids to hidden states; ``top`` is the last layer needed (None: all)."""

    def __init__(
        self,
        located: Located,
        tokenizer: Tokenizer,
        precision: Precision,
        build: Callable[[], Any] | None = None,
        top: int | None = None,
    ) -> None:
        self.located, self.tokenizer, self.precision, self.top = located, tokenizer, precision, top
        # for metrics of single tokens, where rounding errors are not averaged out
        self.exact = False
        # in tokens: a different kernel computes very small matrices, and rounds differently
        self.min_padded_length = 0
        self._build = build or (lambda: read_pretrained(located.path, precision))

    @property
    def id(self) -> str:
        return f"{self.located.id}/{self.precision.dtype}"

    @cached_property
    def device(self) -> str:
        return pick_device(self.precision.device, self.precision.dtype)

    @cached_property
    def model(self) -> Any:
        """The model, loaded when it is first needed: an ArrayEncoder, or a torch module."""
        with guarded(self.located.path):
            model = self._build()
            if not isinstance(model, ArrayEncoder):
                dtype = getattr(torch_module(), DTYPES[self.precision.dtype])
                model = place(cut_above(model, self.top), self.device, dtype=dtype)
                if self.device == "mps":
                    model.set_attn_implementation("eager")  # see ``attend``
            return model

    @property
    def depth(self) -> int:
        """The number of layers above the embeddings."""
        model = self.model
        return int(
            model.depth if isinstance(model, ArrayEncoder) else model.config.num_hidden_layers
        )

    def vectors(
        self, sequences: Sequence[Ids], layers: Sequence[int], positions: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float32]]:
        """(layers, positions, width) hidden states of each sequence; layer 0 are the embeddings."""
        if isinstance(self.model, ArrayEncoder):
            with memory():
                return self.model.vectors(sequences, layers, positions)
        states, _ = self.hidden(sequences)
        torch = torch_module()
        with torch.inference_mode(), memory():
            chosen = torch.stack([states[layer].float() for layer in layers], dim=1).cpu().numpy()
        return [rows[:, list(places)] for rows, places in zip(chosen, positions)]

    def hidden(
        self, sequences: Sequence[Ids], types: Sequence[Ids] | None = None
    ) -> tuple[Sequence[Any], Any]:
        """Hidden states per layer, (batch, tokens, width), and the mask of tokens."""
        torch = torch_module()
        model, device = self.model, self.device
        with torch.inference_mode(), memory(), self._attention():
            # (batch, tokens)
            ids, mask = padded(sequences, self.tokenizer.pad, device, self.min_padded_length)
            inputs = {"input_ids": ids, "attention_mask": mask.long()}
            if types is not None:
                kinds = torch.tensor(pad(types, 1, self.min_padded_length), device=device)
                inputs["token_type_ids"] = kinds
            return model(**inputs, output_hidden_states=True).hidden_states, mask

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        """``work`` of each batch, in order; on a CPU several at a time."""
        if isinstance(self.model, ArrayEncoder):  # loaded before threads use it
            yield from self.model.spread(work, batches)
            return
        with self._attention():  # a setting of the whole process, so it spans all batches
            yield from side_by_side(self.device, work, batches)

    def _attention(self) -> contextlib.AbstractContextManager[Any]:
        """The fastest, or the one whose rounding does not depend on the batch."""
        if not self.exact:
            return contextlib.nullcontext()
        kernels: Any = torch_module().nn.attention
        return kernels.sdpa_kernel(kernels.SDPBackend.MATH)  # type: ignore[no-any-return]


class EncoderBackend:
    """Base class of backends over an encoder; by default for excerpts, as ``reading`` says."""

    encoder: Encoder
    reading: TokenizedText

    def layout(self, x: Any) -> Layout:
        """Return the token sequence of an input."""
        return self.encoder.tokenizer.layout(x, self.reading)

    def shown(self, x: Any) -> str:
        """Render the tokens of an input, the scored ones marked."""
        layout = self.layout(x)
        return layout.marked(self.encoder.tokenizer.tokens(layout.ids))

    def fit(self, x: Any) -> Fit:
        return self.layout(x).fit

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        return self.encoder.spread(work, batches)


def average(state: Any, kept: Any) -> Any:
    """(batch, 1, width) mean over the kept tokens."""
    weights = kept.to(state.dtype)
    return (weights[:, None, :] @ state) / weights.sum(dim=1)[:, None, None]


def refuse_context(model: str, view: Excerpt) -> None:
    """Raise an error if a model without separable segments reads context."""
    if view.before or view.after:
        raise MetricError(
            f"{model} pools the first token, so a segment cannot be separated from its context",
            next="use a view without context: sentence, slide, paragraph",
        )


def cut_above(model: Any, top: int | None) -> Any:
    """The model without the layers above ``top``, where that changes nothing below."""
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if top is not None and layers is not None and model.config.model_type in STACKED:
        model.encoder.layer = layers[:top]
    return model


def on_arrays(config: Mapping[str, Any], precision: Precision) -> bool:
    """Whether a model runs on numpy: small, and no GPU or low precision is requested."""
    cpu = precision.device in {"auto", "cpu"} and precision.dtype == "fp32"
    return cpu and is_small(config)


def read_pretrained(folder: Path, precision: Precision) -> Any:
    """An encoder for inference; on numpy if its weights are a single safetensors file."""
    config = read_config(folder)
    if on_arrays(config, precision) and [p.name for p in folder.glob("*.safetensors")] == [FILE]:
        return ArrayEncoder.read(folder, config)
    return load_pretrained(folder)


def load_pretrained(folder: Path) -> Any:
    """A transformers encoder, or the encoder of an encoder-decoder."""
    model = load_model(folder, "AutoModel", unread="pooler.")  # the pooler is for other tasks
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model
