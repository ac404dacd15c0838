"""Transformer encoders: hidden states of token sequences, on any device; weights load on first use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from wholetext.backends import low_precision
from wholetext.backends.device import DTYPES, Precision, memory, pick_device, torch_module
from wholetext.backends.hub.locate import Located, guarded, loading, locate
from wholetext.backends.layout import Ids, pad
from wholetext.backends.loading import reading, refuse_gaps, refuse_larger
from wholetext.backends.parallel import side_by_side
from wholetext.backends.stack import can_stack, states
from wholetext.backends.tokenizer import FILES, Tokenizer, read_config
from wholetext.errors import ModelError
from wholetext.types import Runtime

# encoders whose layers all do the same to their input, so that leaving the last ones out changes nothing below
STACKED = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet", "rembert"})


def open_encoder(run: Runtime, model: str, revision: str, top: int | None = None) -> Encoder:
    """The encoder by hub name or folder, shared by everything in the process that uses it."""
    precision = Precision(run.device, run.dtype)
    low_precision.warn(run, pick_device)

    def make() -> Encoder:
        located = locate(model, revision, patterns=FILES)
        tokenizer = run.resource(("tokenizer", located.path), lambda: Tokenizer(located.path))
        return Encoder(located, tokenizer, precision, lambda: load_pretrained(locate(model, revision).path), top)

    return run.resource(("encoder", model, revision, precision, top), make)


class Encoder:
    """A model that turns ids into hidden states. ``top`` is the last layer that is needed (None: all)."""

    def __init__(self, located: Located, tokenizer: Tokenizer, precision: Precision,
                 build: Callable[[], Any] | None = None, top: int | None = None) -> None:  # fmt: skip
        if precision.dtype not in DTYPES:
            raise ModelError(f"there is no dtype {precision.dtype!r}", next=f"choose one of {', '.join(DTYPES)}")
        self.located, self.tokenizer, self.precision, self.top = located, tokenizer, precision, top
        self.exact = False  # for whoever reads single tokens, where no average evens the rounding out
        self.min_padded_length = 0  # in tokens: very small matrices take another kernel, which rounds differently
        self._build = build or (lambda: load_pretrained(located.path))
        self._model: Any = None
        self._stacks = False

    @property
    def id(self) -> str:
        return f"{self.located.id}/{self.precision.dtype}"

    @property
    def device(self) -> str:
        return pick_device(self.precision.device)

    @property
    def model(self) -> Any:
        """The transformers model, loaded when it is first needed."""
        if self._model is None:
            low_precision.check(self.precision.dtype, self.device)
            with guarded(self.located.path):
                model = self._prepare(self._build())
                self._stacks = can_stack(model)
            self._model = model
        return self._model

    def hidden(
        self, sequences: Sequence[Ids], types: Sequence[Ids] | None = None, learning: bool = False,
        last: Sequence[Sequence[int]] | None = None,
    ) -> tuple[Sequence[Any], Any]:  # fmt: skip
        """Hidden states of every layer, each (batch, tokens, width), and the mask (batch, tokens) of real tokens.

        ``learning``: gradients flow back through them. ``last``: the positions of each sequence at which the last layer
        is read; what is elsewhere in it means nothing.
        """
        torch = torch_module()
        model, device = self.model, self.device
        with torch.enable_grad() if learning else torch.inference_mode(), memory(), self._attention():
            ids = torch.tensor(pad(sequences, self.tokenizer.pad, self.min_padded_length), device=device)
            lengths = torch.tensor([len(ids) for ids in sequences], device=device)
            mask = torch.arange(ids.shape[1], device=device)[None, :] < lengths[:, None]  # (batch, tokens)
            kinds = None if types is None else torch.tensor(pad(types, 1, self.min_padded_length), device=device)
            if self._stacks and not learning:
                return states(model, ids, mask, kinds, last), mask
            more = {} if kinds is None else {"token_type_ids": kinds}
            output = model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True, **more)
        return output.hidden_states, mask

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        """``work`` of each batch, in order; on a CPU several at a time."""
        _ = self.model  # loaded once, before several ask for it
        with self._attention():  # a setting of the whole process: it outlasts every batch's own
            yield from side_by_side(torch_module(), work, batches) if self.device == "cpu" else map(work, batches)

    def _attention(self) -> contextlib.AbstractContextManager[Any]:
        """The fastest attention there is, or the one whose rounding does not depend on the batch."""
        if not self.exact:
            return contextlib.nullcontext()
        kernels: Any = torch_module().nn.attention
        return kernels.sdpa_kernel(kernels.SDPBackend.MATH)  # type: ignore[no-any-return]

    def _prepare(self, model: Any) -> Any:
        torch = torch_module()
        model = cut_above(model, self.top)
        return model.eval().to(device=self.device, dtype=getattr(torch, DTYPES[self.precision.dtype]))


def cut_above(model: Any, top: int | None) -> Any:
    """The model without the layers above ``top``, where that changes nothing below."""
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if top is not None and layers is not None and model.config.model_type in STACKED:
        model.encoder.layer = layers[:top]
    return model


def load_pretrained(folder: Path) -> Any:
    """A transformers encoder (of an encoder-decoder its first half); every weight must come from its files."""
    read_config(folder)
    with reading(folder) as transformers:
        refuse_larger(transformers, "AutoModel", folder)
        found, facts = transformers.AutoModel.from_pretrained(
            str(folder), output_loading_info=True, ignore_mismatched_sizes=True, **loading(folder)
        )
    unread = "pooler."  # a layer that encoders have for other tasks and that nothing here reads
    refuse_gaps(folder, {**facts, "missing_keys": [key for key in facts["missing_keys"] if unread not in key]})
    return found.get_encoder() if getattr(found.config, "is_encoder_decoder", False) else found
