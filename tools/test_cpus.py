"""`make test-cpus`: the default and long tests under every instruction set of this processor that can be chosen.

torch's own kernels (ATEN_CPU_CAPABILITY), torch's oneDNN and MKL, numpy's kernels and its OpenBLAS each choose by
processor. A set that the processor lacks would end the process with SIGILL, so it is skipped, with the reason. Further
arguments go to pytest: ``python tools/test_cpus.py tests/scoring`` repeats these tests only.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


@dataclass(frozen=True)
class Variant:
    """An environment variable, its value, and the flags of /proc/cpuinfo that it needs."""

    name: str
    value: str
    needs: tuple[str, ...] = ()


VARIANTS = (
    Variant("ATEN_CPU_CAPABILITY", "default"),
    Variant("ATEN_CPU_CAPABILITY", "avx2", ("avx2", "fma")),
    Variant("ATEN_CPU_CAPABILITY", "avx512", AVX512),
    Variant("OPENBLAS_CORETYPE", "Haswell", ("avx2", "fma")),
    Variant("OPENBLAS_CORETYPE", "SkylakeX", AVX512),
    Variant("OPENBLAS_CORETYPE", "Zen", ("avx2", "fma")),
    Variant("NPY_DISABLE_CPU_FEATURES", "X86_V3", ("avx2", "fma")),
    Variant("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR", AVX512),
    Variant("NPY_DISABLE_CPU_FEATURES", "X86_V3 X86_V4 AVX512_ICL AVX512_SPR", AVX512),
    Variant("ONEDNN_MAX_CPU_ISA", "SSE41", ("sse4_1",)),
    Variant("ONEDNN_MAX_CPU_ISA", "AVX2", ("avx2", "fma")),
    Variant("ONEDNN_MAX_CPU_ISA", "AVX2_VNNI", ("avx_vnni",)),
    Variant("ONEDNN_MAX_CPU_ISA", "AVX512_CORE", AVX512),
    Variant("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_VNNI", (*AVX512, "avx512_vnni")),
    Variant("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", (*AVX512, "avx512_bf16")),
    Variant("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", (*AVX512, "avx512_fp16")),
    Variant("MKL_ENABLE_INSTRUCTIONS", "SSE4_2", ("sse4_2",)),
    Variant("MKL_ENABLE_INSTRUCTIONS", "AVX2", ("avx2", "fma")),
    Variant("MKL_ENABLE_INSTRUCTIONS", "AVX512", AVX512),
)


def flags() -> frozenset[str] | None:
    """What this processor says it can do; None if unknown."""
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"^flags\s*:(.*)$", cpuinfo.read_text("utf-8"), re.M) if cpuinfo.exists() else None
    return frozenset(found[1].split()) if found else None


def why_not(variant: Variant, known: frozenset[str] | None) -> str:
    """Why a variant cannot be tested here, or ""."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return f"the processor is {platform.machine()}, not x86-64"
    if known is None:
        return "/proc/cpuinfo does not list what the processor has"
    missing = [flag for flag in variant.needs if flag not in known]
    return f"the processor has no {', '.join(missing)}" if missing else ""


def run(variant: Variant | None, more: list[str]) -> tuple[bool, str]:
    """Whether the tests passed, and pytest's last line (or how it died)."""
    command = [sys.executable, "-m", "pytest", "-m", "not slow and not browser", "-n", "2", "--dist", "worksteal"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **({variant.name: variant.value} if variant else {})}
    ended = subprocess.run([*command, *more], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = [line.strip("= ") for line in ended.stdout.splitlines() if line.strip()]
    said = lines[-1] if lines else f"pytest ended with {ended.returncode}"
    return ended.returncode == 0, "\n".join([said, *(f"    {line}" for line in lines if line.startswith("FAILED"))])


def main() -> int:
    known, failed = flags(), 0
    for variant in (None, *VARIANTS):
        label = f"{variant.name}={variant.value}" if variant else "as it is"
        reason = why_not(variant, known) if variant else ""
        passed, said = (True, reason) if reason else run(variant, sys.argv[1:])
        failed += not passed
        print(f"{label:42} {'skipped' if reason else 'passed' if passed else 'FAILED':8} {said}", flush=True)
    print(f"{failed} failed" if failed else "all that this processor can run passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
