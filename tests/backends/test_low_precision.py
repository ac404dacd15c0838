"""Low precision on a CPU is tried in a child process first; children that die stand in for processors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wholetext.backends import low_precision
from wholetext.backends.low_precision import ISA, LIMITS
from wholetext.errors import ModelError
from wholetext.scoring.engine import Engine

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
DIES_ABOVE = f"import os, signal; os.environ.get('{ISA}') == '{{}}' or os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Counter[str]]:
    """``child(code)``: every trial runs this instead; returns how often, by limit of the instruction set."""
    for name in low_precision._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(low_precision, "_outcomes", {})
    monkeypatch.setattr(low_precision, "_notes", [])
    monkeypatch.setattr(low_precision, "store", lambda: tmp_path / "new" / "processor.json")
    monkeypatch.setattr(low_precision.platform, "machine", lambda: "x86_64")
    real, runs = subprocess.run, Counter[str]()

    def run(command: Any, env: Any, **options: Any) -> Any:
        runs[env.get(ISA, "")] += 1
        return real(command, env=env, **options)

    monkeypatch.setattr(low_precision.subprocess, "run", run)

    def use(code: str) -> Counter[str]:
        monkeypatch.setattr(low_precision, "command", lambda dtype: [sys.executable, "-S", "-c", code])
        return runs

    return use


def test_what_works_is_tried_once_and_kept(child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = child("pass")
    low_precision.check("bf16", "cpu")
    low_precision.check("bf16", "cpu")
    monkeypatch.setattr(low_precision, "_outcomes", {})  # as in a new process
    low_precision.check("bf16", "cpu")
    assert runs == {"": 1}
    low_precision.check("fp16", "cpu")
    assert runs == {"": 2} and ISA not in os.environ
    monkeypatch.setattr(low_precision, "version", lambda name: "99.0")
    low_precision.check("bf16", "cpu")  # another torch
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    low_precision.check("bf16", "cpu")  # another environment
    monkeypatch.setattr(low_precision, "_processor", lambda: ("another", "0"))
    low_precision.check("bf16", "cpu")
    assert runs == {"": 5}
    assert len(json.loads(low_precision.store().read_text())) == 5


def test_fp32_and_other_devices_cost_nothing(child: Any) -> None:
    runs = child(DIES)
    low_precision.check("fp32", "cpu")
    low_precision.check("bf16", "cuda")
    low_precision.warn(Engine(dtype="fp32"), lambda device: pytest.fail("the device is not asked for"))
    assert not runs and not low_precision.store().exists()


def test_a_processor_that_dies_is_an_error_with_the_remedy(child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = child(DIES)
    for _ in range(2):
        monkeypatch.setattr(low_precision, "_outcomes", {})
        with pytest.raises(ModelError, match=r"(?s)bf16 .* SIGILL .*AVX2.*--dtype fp32.*processor\.json"):
            low_precision.check("bf16", "cpu")
    assert runs == dict.fromkeys(("", *LIMITS), 1)  # the second time from the file


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("limit", LIMITS)
def test_fewer_instructions_are_used_where_they_work(limit: str, child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = child(DIES_ABOVE.format(limit))
    monkeypatch.setattr(low_precision, "forward", lambda dtype: None)
    monkeypatch.setenv(ISA, "")  # so that what is set here is taken back
    engine = Engine(dtype="bf16")
    low_precision.warn(engine, lambda device: "cpu")
    assert os.environ[ISA] == limit
    low_precision.warn(engine, lambda device: "cpu")
    assert runs == dict.fromkeys(("", *LIMITS[: LIMITS.index(limit) + 1]), 1)
    (note,) = engine.warnings
    assert f"{ISA}={limit}" in note and "SIGILL" in note


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_where_onednn_has_run_already_the_error_says_what_to_set(child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    child(DIES_ABOVE.format("AVX512_CORE_BF16"))
    monkeypatch.setattr(low_precision, "forward", lambda dtype: os.kill(os.getpid(), signal.SIGILL))
    with pytest.raises(ModelError, match=f"(?s)already run.*{ISA}=AVX512_CORE_BF16, or use --dtype fp32"):
        low_precision.check("bf16", "cpu")
    assert ISA not in os.environ


def test_the_users_own_limit_is_kept(child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = child(DIES_ABOVE.format("AVX2"))
    monkeypatch.setenv(ISA, "AVX512_CORE")
    with pytest.raises(ModelError, match="SIGILL"):
        low_precision.check("bf16", "cpu")
    assert runs == {"AVX512_CORE": 1} and os.environ[ISA] == "AVX512_CORE"
    monkeypatch.setenv(ISA, "AVX2")
    low_precision.check("bf16", "cpu")


def test_a_trial_that_hangs_is_not_kept(child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = child("import time; time.sleep(60)")
    monkeypatch.setattr(low_precision, "SECONDS", 0.2)
    with pytest.raises(ModelError, match="took longer than"):
        low_precision.check("bf16", "cpu")
    assert runs == {"": 1} and not low_precision.store().exists()


def test_a_trial_that_fails_names_the_fault(child: Any) -> None:
    runs = child("raise SystemExit('addmm is not implemented for Half')")
    with pytest.raises(ModelError, match="addmm is not implemented for Half"):
        low_precision.check("fp16", "cpu")
    assert runs == {"": 1}  # no instruction set mends that


@pytest.mark.parametrize(
    "content", ["", "[1]", "{", "[" * 100_000, '{"KEY": {"works": 1, "limit": "rm"}}', '{"KEY": 3}'], ids=range(6)
)
def test_a_damaged_file_is_tried_anew(content: str, child: Any) -> None:
    runs = child("pass")
    low_precision.store().parent.mkdir()
    low_precision.store().write_text(content.replace('"KEY"', json.dumps(low_precision._key("bf16"))))
    low_precision.check("bf16", "cpu")
    assert runs == {"": 1}
    assert low_precision._outcome(json.loads(low_precision.store().read_text())[low_precision._key("bf16")])


@pytest.mark.long
def test_the_real_trial_runs_here() -> None:
    """With the real child: what works is said to work, and the pass itself is one that models need."""
    assert low_precision.command("bf16")[:2] == [sys.executable, "-c"]
    assert low_precision.command("bf16")[2].startswith(low_precision.interpreter("")[2]), "not of the folder"
    outcome = low_precision.tried("bf16")
    assert outcome.works, outcome.why
