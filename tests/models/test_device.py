"""Devices: the best there is by default; one that is not there is an error before any weight is read."""

from __future__ import annotations

import weakref

import pytest

from wholetext.errors import ModelError
from wholetext.models.device import attend, attention_error, memory, pick_device, place
from wholetext.types import OutOfMemory

torch = pytest.importorskip("torch")


def pretend(monkeypatch: pytest.MonkeyPatch, cuda: int, mps: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(("cuda", "mps", "best"), [(2, False, "cuda"), (0, True, "mps"), (0, False, "cpu")])
def test_auto_is_the_best_there_is(cuda: int, mps: bool, best: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, cuda, mps)
    assert pick_device("auto") == best
    assert pick_device("cpu") == "cpu"


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_low_precision_is_for_gpus(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 1, False)
    assert pick_device("auto", dtype) == pick_device("cuda:0", dtype)[:4] == "cuda"
    with pytest.raises(ModelError, match=f"{dtype} is for GPUs"):
        pick_device("cpu", dtype)
    pretend(monkeypatch, 0, False)
    with pytest.raises(ModelError, match=f"{dtype} is for GPUs"):
        pick_device("auto", dtype)


@pytest.mark.parametrize("wanted", ["cuda", "cuda:0", "mps"])
def test_a_device_that_is_not_there(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 0, False)
    with pytest.raises(ModelError, match=f"device {wanted} is not available") as caught:
        pick_device(wanted)
    assert "torch finds cpu" in caught.value.next


def test_numbers_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 2, False)
    assert pick_device("cuda:1") == "cuda:1"
    with pytest.raises(ModelError, match="device cuda:2 is not available"):
        pick_device("cuda:2")


def test_the_run_says_where_and_with_what_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.scoring.compute import environment

    pretend(monkeypatch, 0, False)
    found = environment("auto")
    assert found["device"] == "cpu" and torch.__version__.startswith(found["torch"]) and "python" in found


@pytest.mark.parametrize("fault", [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    torch.AcceleratorError("CUDA error: out of memory") if hasattr(torch, "AcceleratorError") else MemoryError(),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("MPS backend out of memory (MPS allocated: 17.00 GiB, other allocations: 1 GiB, max allowed: 18 GiB)"),
    RuntimeError("Invalid buffer size: 19.38 GiB"),  # of MPS
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] data. DefaultCPUAllocator: can't allocate memory"),
], ids=lambda fault: str(fault)[:30])  # fmt: skip
def test_memory_that_is_full_whoever_says_so(fault: Exception) -> None:
    with pytest.raises(OutOfMemory), memory():
        raise fault


def test_a_model_that_does_not_fit_is_said_and_its_files_are_not_blamed() -> None:
    class Large(torch.nn.Module):
        def to(self, *_: object, **__: object) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    with pytest.raises(ModelError, match="does not fit in the memory of cuda:1") as caught:
        place(Large(), "cuda:1", dtype=torch.float16)
    assert "--dtype bf16" in caught.value.next and "fetch" not in caught.value.next


class OnMps(torch.Tensor):
    """A tensor of a CPU that says it is on MPS."""

    device = property(lambda self: torch.device("mps"))  # type: ignore[assignment]


def test_attention_on_mps_reads_no_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """They gave wrong values there, with no error: pytorch's issues 163597 and 181133, pull request 184180."""
    functional, layouts = torch.nn.functional, []
    kernel = functional.scaled_dot_product_attention

    def recorded(*heads: torch.Tensor, attn_mask: torch.Tensor) -> torch.Tensor:
        layouts.append((*(part.is_contiguous() for part in (*heads, attn_mask)), tuple(attn_mask.shape)))
        return kernel(*heads, attn_mask=attn_mask)

    monkeypatch.setattr(functional, "scaled_dot_product_attention", recorded)
    heads = [torch.randn(2, many, 4, 64).transpose(1, 2) for many in (3, 9, 9)]
    mask = torch.zeros(2, 1, 1, 9).expand(-1, 1, 3, -1)
    there = attend([part.as_subclass(OnMps) for part in heads], mask)
    here = attend(heads, mask)
    assert layouts == [(True, True, True, True, (2, 4, 3, 9)), (False, False, False, False, (2, 1, 3, 9))]
    torch.testing.assert_close(there.as_subclass(torch.Tensor), here)


def test_wrong_attention_of_a_device_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attention_error("cpu", "fp32") == 0
    assert 1e-6 < attention_error("cpu", "fp16") < 2e-3  # tolerances of `models verify --device`
    assert 1e-6 < attention_error("cpu", "bf16") < 1e-2
    kernel = torch.nn.functional.scaled_dot_product_attention

    def as_if_contiguous(*heads: torch.Tensor, attn_mask: torch.Tensor | None) -> torch.Tensor:
        """What MPS made of views: their memory, read in the order of their shape."""
        if heads[0].dtype == torch.float16:
            heads = tuple(part.transpose(1, 2).reshape(part.shape) for part in heads)
        return kernel(*heads, attn_mask=attn_mask)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", as_if_contiguous)
    assert attention_error("cpu", "fp16") > 0.1


def test_tensors_of_a_failed_batch_are_released() -> None:
    """The smaller batch runs while the error is handled, so the error must not hold the larger one."""
    held = []

    def fill() -> None:
        states = torch.zeros(8)
        held.append(weakref.ref(states))
        raise RuntimeError("CUDA out of memory")

    try:
        with memory():
            fill()
    except OutOfMemory:
        assert held[0]() is None
