"""Work for workers in the tests: ``function(shared, item)``."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wholetext.errors import MetricError

Work = Callable[[Any, Any], Any]


def add(shared: int, item: int) -> int:
    return shared + item


def slow_add(shared: tuple[float, int], item: int) -> int:
    time.sleep(shared[0])
    return shared[1] + item


def where(_: Any, __: Any) -> dict[str, str]:
    print("libraries print to standard output")
    names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
    return {"pid": str(os.getpid()), **{name: os.environ.get(name, "") for name in names}}


def large(shared: bytes, item: bytes) -> bytes:
    return shared + item


def die_at(shared: str, item: int) -> int:
    """Dies of item 3 the first time (a file remembers it), and of item 5 always."""
    mark = Path(shared)
    if item == 5 or (item == 3 and not mark.exists()):
        mark.write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def die_once(work: Work, mark: str, delay: float, shared: Any, item: Any) -> Any:
    """The first time (a file remembers it) dies ``delay`` seconds after it began, or as soon as the work is done."""
    if Path(mark).exists():
        return work(shared, item)
    Path(mark).write_text("died")
    end = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL))
    end.start()
    work(shared, item)
    end.join()  # no answer is given
    raise AssertionError("killed before")


def fail(_: Any, item: str) -> None:
    if item == "ours":
        raise MetricError("it cannot be scored", where="document 3", next="use another metric")
    if item == "memory":
        raise MemoryError
    raise ZeroDivisionError("by nought")


def leave(_: Any, __: Any) -> None:
    sys.exit(3)
