"""Transformers models from untrusted folders: only tensors, and none missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError
from wholetext.models.device import (
    DTYPES,
    Precision,
    pick_device,
    place,
    side_by_side,
    torch_module,
)
from wholetext.models.hub.locate import SAFE, Located, gguf, loading, locate
from wholetext.models.tokenizer import FILES, load_tokenizer, reading
from wholetext.types import Runtime


class Checkpoint:
    """A model that writes, located at once; configuration and weights load on first use."""

    def __init__(
        self,
        model: str,
        revision: str,
        precision: Precision,
        attention: str | None = None,
        kind: str = "AutoModelForSeq2SeqLM",
    ) -> None:
        self.model, self.revision, self.precision = model, revision, precision
        self.attention, self.kind = attention, kind
        self.located: Located = locate(model, revision, patterns=FILES)

    @property
    def id(self) -> str:
        return f"{self.located.id}/{self.precision.dtype}"

    @cached_property
    def device(self) -> str:
        return pick_device(self.precision.device, self.precision.dtype)

    def load_tokenizer(self) -> Any:
        return load_tokenizer(self.located.path)

    @cached_property
    def config(self) -> Any:
        with reading(self.located.path) as transformers:
            options = gguf(self.located.path)
            return transformers.AutoConfig.from_pretrained(self.located.path, **SAFE, **options)

    @cached_property
    def weights(self) -> Any:
        device = self.device  # fail before the weights are read
        attention = "eager" if device == "mps" else self.attention  # see ``attend``
        options = {} if attention is None else {"attn_implementation": attention}
        folder = locate(self.model, self.revision).path
        model = load_model(folder, self.kind, self.precision.dtype, **options)
        return place(model, device)


class CheckpointBackend:
    """Base class of backends over such a model."""

    checkpoint: Checkpoint

    def spread(self, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
        """``work`` of each batch, in order; on a CPU several at a time."""
        _ = self.checkpoint.weights  # load them before threads use them
        return side_by_side(self.checkpoint.device, work, batches)


def open_checkpoint(
    run: Runtime,
    model: str,
    revision: str,
    attention: str | None = None,
    kind: str = "AutoModelForSeq2SeqLM",
) -> Checkpoint:
    """The checkpoint by hub name or folder, shared within the process.

    ``attention`` selects its implementation; by default transformers chooses the fastest.
    """
    precision = Precision(run.device, run.dtype)
    key = ("checkpoint", model, revision, precision, attention, kind)
    return run.resource(key, lambda: Checkpoint(model, revision, precision, attention, kind))


def load_model(folder: Path, kind: str, dtype: str = "", unread: str = "", **options: Any) -> Any:
    """A transformers model; every weight must be in its files, except names with ``unread``."""
    with reading(folder) as transformers:
        if dtype:  # set here, as transformers keeps modules in fp32 that overflow in fp16
            options["dtype"] = getattr(torch_module(), DTYPES[dtype])
        model, facts = getattr(transformers, kind).from_pretrained(
            folder,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **loading(folder),
            **gguf(folder),
            **options,
        )
    # transformers would fill in random numbers; some versions list shapes with the names
    misshapen = [str(key if isinstance(key, str) else key[0]) for key in facts["mismatched_keys"]]
    missing = [str(key) for key in facts["missing_keys"] if not unread or unread not in key]
    refuse_weights(misshapen, missing, folder)
    return model


def fill(model: Any, tensors: Mapping[str, Any]) -> Any:
    """Give a model of the meta device its weights, for inference, and its buffers."""
    torch = torch_module()
    model.load_state_dict(tensors, strict=False, assign=True)
    for name, buffer in list(model.named_buffers()):
        owner, _, last = name.rpartition(".")
        places = torch.arange(buffer.shape[-1]).expand(1, -1)
        values = places if last == "position_ids" else torch.zeros(buffer.shape)
        module = model.get_submodule(owner)
        module.register_buffer(last, values.to(buffer.dtype), persistent=False)
    return model.requires_grad_(False)


def refuse_weights(misshapen: Iterable[str], missing: Iterable[str], folder: Path) -> None:
    """Raise an error if a checkpoint lacks weights, or has some of another shape."""
    names = sorted(misshapen) or sorted(missing)
    if names:
        what = "weights of the wrong shape" if misshapen else "no weights"
        more = f" and {len(names) - 1} others" if len(names) > 1 else ""
        raise ModelError(
            f"the checkpoint has {what} for {names[0]}{more}",
            where=str(folder),
            next="the file is damaged, or belongs to another kind of model",
        )
