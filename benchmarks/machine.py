"""The machine that a benchmark ran on, as its tables name it."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """The kind of processor: its model name and its widest vector instructions."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").split("\n") if Path("/proc/cpuinfo").is_file() else []
    facts = dict(line.replace("\t", "").split(":", 1) for line in lines if ":" in line)
    wide = [name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in facts.get("flags", "").split()]
    return ", ".join([facts.get("model name", platform.processor()).strip(), *wide[:1]])
