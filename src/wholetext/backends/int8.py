"""Linear layers in small integers on a CPU.

Weights are rounded to -63 … 63 with a scale for each output, inputs to 128 levels between the least and the greatest
value of their row. Each row is rounded by itself and sums of integers are exact, so what a layer gives does not depend
on the batch, on threads, or on who computes it: int8.c, compiled for this processor when it is first needed, or torch,
which gives the same numbers but takes longer than fp32.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wholetext.errors import ModelError
from wholetext.types import Runtime

LEVELS, MOST = 127, 63  # the greatest code of an input, and of a weight
_WARNING = "int8 rounds weights and activations to 7 bits: scores move, and systems that are close may change places"
_SLOW = "int8 is slower than fp32 here: to be faster it needs a C compiler (gcc or clang) and a processor with AVX2"
_SOURCE = Path(__file__).with_name("int8.c")
_FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
_COLUMNS, _STEP = 16, 8  # outputs in a panel, and inputs at a time: weights are filled up to multiples of them
_LEAST = 2.0**-126  # the least step whose inverse is a number: closer values are all rounded to the lowest
_EXACT = 2048  # products whose sum fp32 holds exactly: 2048 · 127 · 63 < 2^24
_SHARE = 64  # rows from which a second thread pays

Kernel = Callable[[Any, int, int, int], int]


class _Layer(ctypes.Structure):
    """``Layer`` of int8.c."""

    _fields_ = (("weights", ctypes.c_void_p), ("scales", ctypes.c_void_p), ("totals", ctypes.c_void_p),
                ("bias", ctypes.c_void_p), ("inputs", ctypes.c_int64), ("outputs", ctypes.c_int64))  # fmt: skip


def warn(run: Runtime) -> None:
    """Say what int8 does to scores, if that is asked for."""
    if run.dtype == "int8":
        run.warn(_WARNING)
        if kernel() is None:
            run.warn(_SLOW)


def refuse_elsewhere(dtype: str, device: str) -> None:
    """An error where int8 is asked for on anything but a CPU: said before weights are loaded."""
    if dtype == "int8" and device != "cpu":
        raise ModelError(f"int8 runs on the CPU only, not on {device}", next="use --device cpu, or --dtype bf16")


def quantised(model: Any) -> Any:
    """The model with its linear layers replaced, in place."""
    import torch

    for name, part in model.named_children():
        setattr(model, name, layer_class()(part, kernel()) if type(part) is torch.nn.Linear else quantised(part))
    return model


@cache
def kernel() -> Kernel | None:
    """int8.c, compiled; None where there is no compiler, or what it makes does not give torch's numbers."""
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), "cc")
    with TemporaryDirectory(prefix="wholetext-", ignore_cleanup_errors=True) as folder:
        made = Path(folder) / "int8.so"  # for this process alone: nothing that others could have changed is loaded
        try:
            command = [*shlex.split(os.environ.get("CC", found)), *_FLAGS, "-o", str(made), str(_SOURCE)]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            apply: Any = ctypes.CDLL(str(made)).apply
        except (OSError, ValueError, AttributeError, subprocess.SubprocessError):
            return None
    apply.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    return apply if _agrees(apply) else None


def _agrees(apply: Kernel) -> bool:
    import torch

    draw = torch.Generator().manual_seed(1)
    exact = torch.nn.Linear(301, 53)  # no multiple of what is done at a time
    exact.weight.data, exact.bias.data = torch.randn(53, 301, generator=draw), torch.randn(53, generator=draw)
    rows = torch.randn(7, 301, generator=draw)
    return bool(torch.equal(layer_class()(exact, apply)(rows), layer_class()(exact, None)(rows)))


@cache
def layer_class() -> Any:
    """The layer, as a class; torch is not needed before."""
    import torch

    class Int8Linear(torch.nn.Module):  # type: ignore[misc]
        """Takes the place of ``torch.nn.Linear`` where nothing is learned."""

        def __init__(self, exact: Any, apply: Kernel | None) -> None:
            super().__init__()
            weight = exact.weight.detach().float()  # (outputs, inputs)
            self.outputs, self.inputs = weight.shape
            self.home = exact.weight.data_ptr()  # tells whether the weights are also used elsewhere
            scales = weight.abs().amax(1) / MOST
            codes = (weight / scales.where(scales > 0, 1)[:, None]).round().clamp(-MOST, MOST)
            bias = torch.zeros(self.outputs) if exact.bias is None else exact.bias.detach().float()
            self.codes = codes if apply is None else _panels(codes)
            self.scales, self.totals, self.bias = (_fill(row, _COLUMNS) for row in (scales, codes.sum(1), bias))
            tensors = (self.codes, self.scales, self.totals, self.bias)
            self.fields = _Layer(*(tensor.data_ptr() for tensor in tensors), self.inputs, self.outputs)
            self.apply_layer = apply

        def weight(self) -> Any:
            """(outputs, inputs) as they are now. A method, as torch's own quantised layers have it: models ask."""
            codes = self.codes if self.apply_layer is None else _from_panels(self.codes)
            return codes[: self.outputs, : self.inputs] * self.scales[: self.outputs, None]

        def forward(self, x: Any) -> Any:
            """(…, inputs) → (…, outputs)"""
            rows = x.detach().float().reshape(-1, self.inputs).contiguous()
            out = (_by_torch if self.apply_layer is None else _by_kernel)(self, rows)
            return out.view(*x.shape[:-1], self.outputs)

    return Int8Linear


def _by_kernel(layer: Any, rows: Any) -> Any:
    """(rows, outputs) by int8.c, on as many threads as torch has here."""
    import torch

    out = torch.empty(len(rows), layer.outputs)
    share = max(_SHARE, -(-len(rows) // torch.get_num_threads()))
    begins = range(0, len(rows), share)

    def work(begin: int) -> int:
        part, into = rows[begin : begin + share], out[begin : begin + share]
        return int(layer.apply_layer(ctypes.byref(layer.fields), part.data_ptr(), len(part), into.data_ptr()))

    if len(begins) < 2:
        failed = [work(begin) for begin in begins]
    else:
        with ThreadPoolExecutor(len(begins)) as pool:
            failed = list(pool.map(work, begins))
    if any(failed):
        raise MemoryError
    return out


def _by_torch(layer: Any, rows: Any) -> Any:
    """The same step by step, as int8.c does it, in floats that hold the integers exactly."""
    import torch

    low, high = rows.aminmax(dim=1, keepdim=True)
    step = (high - low) / LEVELS
    codes = ((rows - low) * (1 / step).where(step >= _LEAST, 0)).round()
    sums = torch.zeros(len(rows), layer.outputs, dtype=torch.int32)
    for begin in range(0, layer.inputs, _EXACT):
        part = slice(begin, begin + _EXACT)
        sums += (codes[:, part] @ layer.codes[:, part].T).int()
    scales, totals, bias = (row[: layer.outputs] for row in (layer.scales, layer.totals, layer.bias))
    return (sums.float() * step + low * totals) * scales + bias


def _fill(tensor: Any, unit: int) -> Any:
    """Zeros after the end, up to a multiple of ``unit``."""
    import torch

    return torch.nn.functional.pad(tensor, (0, -tensor.shape[-1] % unit))


def _panels(codes: Any) -> Any:
    """(outputs, inputs) → (panels, fours of inputs, 16 outputs, 4 inputs) in bytes, as int8.c reads them."""
    import torch

    full = _fill(_fill(codes, _STEP).T, _COLUMNS).T.to(torch.int8)
    return full.unflatten(1, (-1, 4)).unflatten(0, (-1, _COLUMNS)).transpose(1, 2).contiguous()


def _from_panels(panels: Any) -> Any:
    return panels.transpose(1, 2).flatten(2).flatten(0, 1)
