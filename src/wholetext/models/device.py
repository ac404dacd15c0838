"""torch: devices and precisions, parallel batches, out-of-memory errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from traceback import clear_frames
from typing import Any

from wholetext.errors import MissingExtra, ModelError, count, optional
from wholetext.models.layout import Ids, pad
from wholetext.types import OutOfMemory

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_FULL = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "status_alloc_failed",
    "invalid buffer size",  # of MPS: larger than a buffer can be
)
_MOST = 8  # batches in memory at a time
_ROUNDS = 4  # batches per lane from which lanes of several threads pay off; fewer leave them idle


@dataclass(frozen=True)
class Precision:
    """Device and floating-point format of a model."""

    device: str = "auto"
    dtype: str = "fp32"


def torch_module() -> Any:
    """Import torch; if it is missing, raise an error that names the extra."""
    return optional("torch", "models")


def need_torch() -> None:
    """Raise an error if torch is not installed, without importing it."""
    if find_spec("torch") is None:
        raise MissingExtra("torch", "models")


def pick_device(requested: str, dtype: str = "fp32") -> str:
    """Resolve ``auto`` to the first of cuda, mps and cpu that torch finds.

    Raises for a missing device, and for low precision on a CPU.
    """
    cuda, available = 0, ["cpu"]
    if requested != "cpu":
        torch = torch_module()
        cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
        available[:0] = ["mps"] if torch.backends.mps.is_available() else []
        available[:0] = ["cuda"] if cuda else []
    device = available[0] if requested == "auto" else requested
    kind, _, number = device.partition(":")
    present = number in {"", *map(str, range(cuda if kind == "cuda" else 1))}
    if kind not in available or not present:
        raise ModelError(
            f"device {device} is not available",
            next=f"torch finds {', '.join(available)}: use --device auto",
        )
    if kind == "cpu" and dtype != "fp32":
        raise ModelError(
            f"{dtype} is for GPUs, and the model would run on a CPU", next="use --dtype fp32"
        )
    return device


def need_gpus(number: int) -> None:
    """Raise an error if torch finds fewer GPUs."""
    torch = torch_module()
    available = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if available < number:
        raise ModelError(
            f"{count(number, 'GPU')} requested, but torch finds {available or 'none'} "
            "on this machine",
            next=f"use --gpus {available}"
            if available
            else "use --workers N to use its processors, or "
            "--on ray://HOST:PORT for a cluster that has GPUs",
        )


def padded(
    sequences: Sequence[Ids], filler: int, device: str, min_length: int = 0
) -> tuple[Any, Any]:
    """(batch, ids) sequences as a padded tensor, and its mask."""
    torch = torch_module()
    ids = torch.tensor(pad(sequences, filler, min_length), device=device)
    lengths = torch.tensor([len(row) for row in sequences], device=device)
    return ids, torch.arange(ids.shape[1], device=device)[None, :] < lengths[:, None]


def is_full(fault: Exception) -> bool:
    """Tell whether an error reports full memory: torch has a class for CUDA, and words for others."""
    text = str(fault).lower()
    told = isinstance(fault, RuntimeError) and any(words in text for words in _FULL)
    return told or isinstance(fault, MemoryError)


def place(model: Any, device: str, **dtype: Any) -> Any:
    """Move a model to its device, for inference; say so if it does not fit."""
    try:
        return model.eval().to(device=device, **dtype)
    except (MemoryError, RuntimeError) as fault:
        if not is_full(fault):
            raise
        raise ModelError(
            f"the model does not fit in the memory of {device} ({str(fault)[:200]})",
            next="use a smaller model or --device cpu, or on a GPU --dtype bf16",
        ) from fault


def attend(heads: Sequence[Any], mask: Any) -> Any:
    """Scaled dot-product attention of queries, keys, values: (batch, heads, tokens, width) each.

    On MPS, views and broadcast masks gave wrong values without an error in several versions of
    torch (its issues 163597 and 181133, its pull request 184180), so they are copied there.
    """
    if heads[0].device.type == "mps":
        heads = [part.contiguous() for part in heads]
        if mask is not None:
            mask = mask.expand(*heads[0].shape[:3], heads[1].shape[2]).contiguous()
    return torch_module().nn.functional.scaled_dot_product_attention(*heads, attn_mask=mask)


def attention_error(device: str, dtype: str) -> float:
    """The largest difference of attention on a device from a CPU's, relative to the largest value.

    Sizes and layouts are those of the models: heads of 64 as views, padding, few tokens that ask.
    """
    torch = torch_module()

    def results(device: str, kind: Any) -> Iterator[Any]:
        generator = torch.Generator().manual_seed(1)
        for asking, tokens in ((3, 40), (40, 40), (600, 600)):
            sizes = (asking, tokens, tokens)
            drawn = [torch.randn(3, size, 4, 64, generator=generator) for size in sizes]
            heads = [part.to(device, kind).transpose(1, 2) for part in drawn]
            lengths = torch.tensor([tokens, tokens // 2, 1], device=device)
            real = (torch.arange(tokens, device=device) < lengths[:, None])[:, None, None, :]
            closed = heads[0].new_zeros(real.shape).masked_fill_(~real, float("-inf"))
            for mask in (None, real.expand(-1, 1, asking, -1), closed.expand(-1, 1, asking, -1)):
                yield attend(heads, mask).float().cpu()

    differences = [
        (result - expected).abs().max() / expected.abs().max()
        for result, expected in zip(
            results(device, getattr(torch, DTYPES[dtype])), results("cpu", torch.float32)
        )
    ]
    return float(torch.stack(differences).nan_to_num(float("inf")).max())


@contextmanager
def memory() -> Iterator[None]:
    """Convert every out-of-memory error of torch into OutOfMemory."""
    try:
        yield
    except (
        MemoryError,
        RuntimeError,
        ArithmeticError,
        IndexError,
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
    ) as fault:
        if is_full(fault):
            clear_frames(fault.__traceback__)  # they hold the tensors that filled the memory
            raise OutOfMemory(str(fault)) from fault
        raise ModelError(
            f"the model cannot be run ({type(fault).__name__}: {str(fault)[:300]})",
            next="its configuration, vocabulary and weights may not match: check it with "
            "`wholetext models verify`, or fetch it again",
        ) from fault


def side_by_side(device: str, work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[Any]:
    """Yield ``work`` of each batch, in order; on a CPU in lanes that share torch's threads.

    A matrix product on one core need not wait for others, and its data stays in that core's cache.
    Up to eight threads, a lane has a single thread even for a single batch: the rounding of a
    product depends on its threads, and scores must not depend on the number of processors.
    """
    torch = torch_module()
    threads = torch.get_num_threads()
    lanes = min(threads, _MOST)
    if device != "cpu" or threads == 1 or (threads > _MOST and len(batches) < _ROUNDS * lanes):
        yield from map(work, batches)
        return
    pool = ThreadPoolExecutor(
        lanes, "wholetext", initializer=torch.set_num_threads, initargs=(threads // lanes,)
    )
    try:
        yield from in_order(pool, work, batches)
    finally:
        torch.set_num_threads(threads)  # threads started later inherit the last value


def in_order(
    pool: ThreadPoolExecutor, work: Callable[[Any], Any], batches: Sequence[Any]
) -> Iterator[Any]:
    """Yield ``work`` of each batch by the threads of a pool, which ends with them."""
    try:
        yield from pool.map(work, batches)
    finally:  # a failed batch, or a consumer that stops: queued batches are cancelled
        pool.shutdown(cancel_futures=True)
