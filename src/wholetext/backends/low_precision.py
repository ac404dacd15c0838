"""bf16 and fp16 on a CPU: tried in a child process before they are used, because they can end the process.

A virtual machine may announce instructions (AMX) that it does not let programs use. torch's oneDNN believes it and the
process ends with SIGILL, which no program can catch. So a small forward pass runs in a child first; if the child dies,
it runs again with fewer instructions. The outcome is stored near the cache for this processor, torch and environment.
"""

from __future__ import annotations

import faulthandler
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wholetext.errors import ModelError, WholetextError
from wholetext.files.cache import default_path
from wholetext.files.storage import write_file
from wholetext.types import Runtime

ISA = "ONEDNN_MAX_CPU_ISA"
LIMITS = ("AVX512_CORE_BF16", "AVX512_CORE", "AVX2")  # from most instructions to fewest
SECONDS = 180.0  # a trial takes 2 s; the rest is for busy machines
_VARIABLES = (ISA, "DNNL_MAX_CPU_ISA", "ONEDNN_DEFAULT_FPMATH_MODE", "ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS")
_outcomes: dict[str, Outcome] = {}
_notes: list[str] = []


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: whether it worked, with which limit ("": none), and why not without it."""

    works: bool
    limit: str = ""
    why: str = ""
    final: bool = True  # a trial that timed out is not evidence about the processor


def warn(run: Runtime, device: Callable[[str], str]) -> None:
    """Try the precision of a run and pass on the notes of the trial. ``device`` resolves "auto"."""
    if run.dtype == "fp32":
        return
    check(run.dtype, device(run.device))
    for note in _notes:
        run.warn(note)


def check(dtype: str, device: str) -> None:
    """Raise an error if a precision cannot be used on a device, before weights are loaded."""
    if dtype == "fp32" or device != "cpu":
        return
    outcome = tried(dtype)
    if not outcome.works:
        again = f"; to try again, remove {store()}" if outcome.final else ""
        raise ModelError(f"{dtype} does not work on this processor: {outcome.why}", where=_processor()[0],
                         next=f"use --dtype fp32{again}")
    if outcome.limit and os.environ.get(ISA) != outcome.limit:
        _limit_this_process(dtype, outcome)


def tried(dtype: str) -> Outcome:
    """The outcome for this machine, from memory, from the file or from a trial now."""
    key = _key(dtype)
    if key not in _outcomes:
        kept = _read().get(key)
        outcome = _outcome(kept) if kept is not None else None
        if outcome is None:
            outcome = _try(dtype)
            if outcome.final:
                with suppress(WholetextError):  # a folder that cannot be written costs a trial each time
                    write_file(store(), json.dumps({**_read(), key: asdict(outcome)}, indent=1))
        _outcomes[key] = outcome
    return _outcomes[key]


def store() -> Path:
    return default_path().with_name("processor.json")


def interpreter(code: str) -> list[str]:
    """The command that runs code in a new interpreter, which imports nothing from the current folder."""
    return [sys.executable, "-c", f"import sys; sys.path[0] or sys.path.pop(0); {code}"]


def with_package(environment: dict[str, str]) -> dict[str, str]:
    """An environment in which this package can be imported, also where it is not installed."""
    package = str(Path(__file__).resolve().parents[2])
    return {**environment, "PYTHONPATH": os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])}


def command(dtype: str) -> list[str]:
    return interpreter(f"from wholetext.backends.low_precision import forward; forward({dtype!r})")


def forward(dtype: str) -> None:
    """What models do, in small: linear layers, products, attention, softmax, norms."""
    import torch

    torch.set_num_threads(1)  # a fork has no other threads
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(dtype, torch.float32)
    with torch.inference_mode():
        model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256),
                                    torch.nn.LayerNorm(256)).to(kind)  # fmt: skip
        found = [model(torch.ones(rows, 256, dtype=kind)) for rows in (1, 7, 64, 300)]
        heads = torch.ones(2, 4, 600, 64, dtype=kind)
        mask = torch.ones(2, 1, 1, 600, dtype=torch.bool)
        attend = torch.nn.functional.scaled_dot_product_attention
        found += [attend(heads, heads, heads), attend(heads, heads, heads, attn_mask=mask),
                  torch.softmax(heads @ heads.transpose(2, 3), -1)]  # fmt: skip
        if not all(bool(torch.isfinite(values).all()) for values in found):
            raise SystemExit("the results are not finite")


# ---------------------------------------------------------------- trials


def _try(dtype: str) -> Outcome:
    free = platform.machine() in ("x86_64", "AMD64") and not any(os.environ.get(name) for name in _VARIABLES[:2])
    first = ""
    for limit in ("", *LIMITS) if free else ("",):
        fault, died = _attempt(dtype, limit)
        if not fault:
            return Outcome(True, limit, first)
        first = first or fault
        if not died:
            return Outcome(False, why=fault, final=died is not None)
    return Outcome(False, why=f"{first} (also with {ISA}={LIMITS[-1]})" if free else first)


def _attempt(dtype: str, limit: str) -> tuple[str, bool | None]:
    """What went wrong ("": nothing), and whether a signal ended the child (None: too long)."""
    environment = with_package({**os.environ, **({ISA: limit} if limit else {})})
    try:
        ended = subprocess.run(command(dtype), env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"a trial took longer than {SECONDS:.0f} s", None
    except OSError as fault:
        return f"a trial could not be started ({fault})", None
    if ended.returncode < 0:
        return f"a trial ended with {_signal(-ended.returncode)}", True
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    return (f"a trial failed ({lines[-1][:200] if lines else ended.returncode})" if ended.returncode else ""), False


def _limit_this_process(dtype: str, outcome: Outcome) -> None:
    """Set the limit here, if oneDNN has not read it yet: it does so once, when first used."""
    os.environ[ISA] = outcome.limit
    if not _survives(dtype):
        del os.environ[ISA]
        raise ModelError(f"{dtype} needs fewer instructions on this processor ({outcome.why} with all of them), and "
                         "torch has already run in this process", where=_processor()[0],
                         next=f"start again with the environment variable {ISA}={outcome.limit}, or use --dtype fp32")
    _outcomes[_key(dtype)] = Outcome(True)
    _notes.append(f"{dtype} runs with {ISA}={outcome.limit}, which was set for this process: with all the instructions "
                  f"that the processor announces, {outcome.why}")


def _survives(dtype: str) -> bool:
    """Whether the forward pass works in a copy of this process, with what oneDNN has read."""
    if not hasattr(os, "fork"):
        return "torch" not in sys.modules
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            faulthandler.disable()  # the end of the copy is expected
            forward(dtype)
            os._exit(0)
        os._exit(1)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


# ---------------------------------------------------------------- what is kept


def _key(dtype: str) -> str:
    environment = {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = ""
    return json.dumps([dtype, torch, *_processor(), environment])


def _processor() -> tuple[str, str]:
    """Its name, and a digest of what it can do."""
    facts: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0].splitlines():
            name, _, value = line.partition(":")
            facts[name.strip()] = value.strip()
    name = facts.get("model name") or platform.processor() or platform.machine()
    known = json.dumps([facts.get(key) for key in ("vendor_id", "cpu family", "model", "flags", "Features")])
    return name, blake2b(known.encode(), digest_size=8).hexdigest()


def _read() -> dict[str, Any]:
    try:
        found = json.loads(store().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _outcome(kept: Any) -> Outcome | None:
    if not isinstance(kept, dict) or kept.get("limit") not in ("", *LIMITS) or not isinstance(kept.get("works"), bool):
        return None
    return Outcome(kept["works"], kept["limit"], str(kept.get("why", "")))


def _signal(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
