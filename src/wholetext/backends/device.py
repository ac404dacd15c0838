"""torch itself: the devices and precisions models run in, and its errors while they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wholetext.errors import MissingExtra, ModelError
from wholetext.types import OutOfMemory

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


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
        raise ModelError(f"device {wanted} is not available", next=f"torch sees {', '.join(there)}: use --device auto")
    return wanted


@contextmanager
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
                      next="its configuration, vocabulary and weights may not match: check it with "
                      "`wholetext models verify`, or fetch it again")
