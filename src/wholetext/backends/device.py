"""Where and in which precision models run: device and dtype by name, and out-of-memory as the engine understands it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wholetext.errors import MissingExtra, ModelError, did_you_mean
from wholetext.types import OutOfMemory

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("fp32", "bf16", "fp16", "int8")
_NO_MEMORY = ("out of memory", "not enough memory", "can't allocate memory")


def torch() -> Any:
    """The torch module; an error with the pip line where it is not installed."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "models") from None
    return torch


def transformers() -> Any:
    """The transformers module; an error with the pip line where it is not installed."""
    try:
        import transformers
    except ImportError:
        raise MissingExtra("transformers", "models") from None
    return transformers


def choose_device(wanted: str) -> str:
    """``auto`` is the first of cuda, mps and cpu that is there; a device asked for by name must be there."""
    kind = wanted.split(":")[0]
    if kind not in DEVICES:
        raise ModelError(f"there is no device {wanted!r}", next=did_you_mean(kind, list(DEVICES)) or "use auto or cpu")
    there = {"cuda": torch().cuda.is_available(), "mps": torch().backends.mps.is_available(), "cpu": True}
    if kind == "auto":
        return next(name for name, here in there.items() if here)
    if not there[kind]:
        raise ModelError(f"the device {wanted!r} is not available on this machine", next="use --device auto or cpu")
    return wanted


def prepared(model: Any, device: str, dtype: str, *, cast: bool = True) -> Any:
    """A model ready to be run: no dropout, no gradients, on its device, in its precision (where ``cast``).

    ``int8`` quantises the linear layers' weights on the CPU, with activations quantised as they come.
    """
    if dtype not in DTYPES:
        raise ModelError(f"there is no precision {dtype!r}", next=f"choose one of {', '.join(DTYPES)}")
    pytorch = torch()
    model = model.eval().requires_grad_(False)
    if dtype == "int8":
        if device != "cpu":
            raise ModelError(f"int8 runs on the cpu, not on {device}", next="use --device cpu, or --dtype bf16")
        return pytorch.ao.quantization.quantize_dynamic(model.float(), {pytorch.nn.Linear}, dtype=pytorch.qint8)
    kinds = {"fp32": pytorch.float32, "bf16": pytorch.bfloat16, "fp16": pytorch.float16}
    return model.to(device=device, dtype=kinds[dtype]) if cast else model.to(device=device)


@contextmanager
def inference() -> Iterator[None]:
    """No gradients; whatever a device says when memory runs out becomes ``OutOfMemory``."""
    try:
        with torch().inference_mode():
            yield
    except RuntimeError as fault:  # torch.OutOfMemoryError is one of these; the CPU's has no class of its own
        if any(sign in str(fault).lower() for sign in _NO_MEMORY):
            raise OutOfMemory(str(fault).splitlines()[0]) from fault
        raise
    except MemoryError as fault:
        raise OutOfMemory("the machine's memory") from fault


def padded(rows: list[list[int]], pad: int, device: str) -> tuple[Any, Any]:
    """(rows, longest) ids padded on the right, and the mask that says which are real."""
    pytorch = torch()
    width = max(map(len, rows))
    ids = pytorch.tensor([row + [pad] * (width - len(row)) for row in rows], device=device)
    sizes = pytorch.tensor([len(row) for row in rows], device=device)
    mask = pytorch.arange(width, device=device)[None, :] < sizes[:, None]
    return ids, mask.long()
