"""Work for workers in the tests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from wholetext.errors import MetricError, MissingExtra


def slow(item: int) -> int:
    time.sleep(0.3)
    return item


def setting(name: str) -> str:
    print("libraries print to standard output")
    return os.environ.get(name, "")


def die(mark: Path | None = None) -> str:
    """Die, if there is a mark only the first time."""
    if mark is not None and mark.exists():
        return "alive"
    if mark is not None:
        mark.write_text("died")
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def fail(kind: str) -> None:
    if kind == "ours":
        raise MetricError("it cannot be scored", where="document 3", next="use another metric")
    if kind == "extra":
        raise MissingExtra("torch", "models")
    raise ZeroDivisionError("by nought")
