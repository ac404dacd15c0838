"""Devices: the best there is by default; one that is not there is an error before any weight is read."""

from __future__ import annotations

import weakref

import pytest

from wholetext.errors import ModelError
from wholetext.models.device import memory, pick_device
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


def test_the_run_says_where_and_with_what_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    from wholetext.scoring.compute import environment

    pretend(monkeypatch, 0, False)
    found = environment("auto")
    assert found["device"] == "cpu" and torch.__version__.startswith(found["torch"]) and "python" in found


def test_a_failed_allocation_of_a_library_is_memory_that_is_full() -> None:
    with pytest.raises(OutOfMemory), memory():
        raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")


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
