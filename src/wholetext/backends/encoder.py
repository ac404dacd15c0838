"""Transformer encoders: hidden states of token sequences, on any device; weights load on first use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.backends import low_precision
from wholetext.backends.hub.locate import Located, guarded, loading, locate
from wholetext.backends.layout import Ids, pad
from wholetext.backends.parallel import side_by_side
from wholetext.backends.stack import can_stack, states
from wholetext.backends.tokenizer import FILES, Tokenizer, read_config
from wholetext.errors import MissingExtra, ModelError
from wholetext.types import OutOfMemory, Runtime

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# encoders whose layers all do the same to their input, so that leaving the last ones out changes nothing below
STACKED = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "electra", "mpnet", "rembert"})


@dataclass(frozen=True)
class Precision:
    """Where a model runs and in which numbers."""

    device: str = "auto"
    dtype: str = "fp32"


def torch_module() -> Any:
    """torch, or how to get it."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "models") from None
    return torch


def pick_device(wanted: str) -> str:
    """``auto`` becomes cuda, mps or cpu, whichever is there first; an error where the one asked for is not there."""
    torch = torch_module()
    cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    there = [*(["cuda"] if cuda else []), *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]
    if wanted == "auto":
        return there[0]
    kind, _, number = wanted.partition(":")
    if kind not in there or not (number or "0").isdecimal() or int(number[:9] or 0) >= max(1, cuda):
        raise ModelError(f"there is no device {wanted} here", next=f"torch sees {', '.join(there)}: use --device auto")
    return wanted


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
        self.least = 0  # tokens to which short sequences are filled up: tiny matrices are multiplied in another way
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
            ids = torch.tensor(pad(sequences, self.tokenizer.pad, self.least), device=device)  # (batch, tokens)
            lengths = torch.tensor([len(ids) for ids in sequences], device=device)
            mask = torch.arange(ids.shape[1], device=device)[None, :] < lengths[:, None]  # (batch, tokens)
            kinds = None if types is None else torch.tensor(pad(types, 1, self.least), device=device)
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
    from wholetext.backends.loading import reading, refuse_gaps, refuse_larger

    read_config(folder)
    with reading(folder) as transformers:
        refuse_larger(transformers, "AutoModel", folder)
        found, facts = transformers.AutoModel.from_pretrained(
            str(folder), output_loading_info=True, ignore_mismatched_sizes=True, **loading(folder)
        )
    unread = "pooler."  # a layer that encoders have for other tasks and that nothing here reads
    refuse_gaps(folder, {**facts, "missing_keys": [key for key in facts["missing_keys"] if unread not in key]})
    return found.get_encoder() if getattr(found.config, "is_encoder_decoder", False) else found


@contextlib.contextmanager
def memory() -> Iterator[None]:
    """Turn every way torch says that memory ran out into OutOfMemory."""
    try:
        yield
    except MemoryError as fault:
        raise OutOfMemory(str(fault)) from fault
    except RuntimeError as fault:
        text = str(fault).lower()
        if "out of memory" in text or "can't allocate memory" in text or "not enough memory" in text:
            raise OutOfMemory(str(fault)) from fault
        raise _cannot_run(fault) from fault
    except (IndexError, ValueError, TypeError, AttributeError, KeyError) as fault:
        raise _cannot_run(fault) from fault


def _cannot_run(fault: Exception) -> ModelError:
    return ModelError(f"the model cannot be run ({type(fault).__name__}: {str(fault)[:300]})",
                      next="its configuration, vocabulary and weights may not belong together: check it with "
                      "`wholetext models verify`, or fetch it again")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and load reports from transformers while a model loads; its settings are put back."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
