"""A worker: takes tasks, keeps what they share, gives results or failures. As a program it reads and writes pipes."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any, NoReturn

from wholetext.errors import MissingExtra, WholetextError, WorkerError
from wholetext.version import __version__

# packages whose version can change scores
_PACKAGES = ("numpy", "sacrebleu", "rouge-score", "torch", "transformers", "tokenizers", "spacy")


@dataclass(frozen=True)
class Failure:
    """An exception of a task, as it travels to the driver."""

    kind: type[WholetextError] | None  # None: not a deliberate error
    what: str
    where: str = ""
    next: str = ""
    trace: str = ""

    def reraise(self) -> NoReturn:
        if self.kind is not None:
            raise self.kind(self.what, where=self.where, next=self.next)
        raise WorkerError(f"a task failed on a worker: {self.what}", where=self.where,
                          next="--on local shows where in the code") from RuntimeError(self.trace)


class Worker:
    """What runs on a worker, be it a process or an actor."""

    def __init__(self, path: Sequence[str] = ()) -> None:
        """``path``: the driver's module search path, appended to the worker's own."""
        sys.path += [folder for folder in path if folder not in sys.path]
        self._shared: dict[int, Any] = {}

    def hello(self) -> dict[str, str]:
        """Where this is, and the versions that matter for scores."""
        return {"place": place(), "gpus": os.environ.get("CUDA_VISIBLE_DEVICES", ""), **versions()}

    def answer(self, payload: bytes) -> Any:
        """The result of a task, or its Failure."""
        try:
            function, mark, shared, item = pickle.loads(payload)
            if shared is not None:
                self._shared[mark] = pickle.loads(shared)
            return function(self._shared[mark], item)
        except Exception as fault:
            return _failure(fault)


def _failure(fault: Exception) -> Failure:
    """Errors that depend on the worker's machine say which one it is; others are as they would be in the driver."""
    text = "".join(traceback.format_exception_only(type(fault), fault)).strip()
    if isinstance(fault, MissingExtra):
        return Failure(WorkerError, fault.what, place(), f"{fault.next} on every machine that has workers")
    if isinstance(fault, WholetextError):
        return Failure(type(fault), fault.what, fault.where, fault.next)
    if isinstance(fault, MemoryError):
        return Failure(WorkerError, "a worker ran out of memory", place(),
                       "use fewer workers, a smaller --batch-tokens or shorter windows")
    if isinstance(fault, ImportError) or "Can't get attribute" in text:
        return Failure(WorkerError, f"a worker cannot import what the task needs ({text})", place(),
                       "install the same packages on every machine that has workers; metrics must be in a module")
    return Failure(None, text, place(), trace=traceback.format_exc())


def place() -> str:
    return f"{socket.gethostname()}, process {os.getpid()}"


@lru_cache
def versions() -> dict[str, str]:
    """The versions of Python, wholetext and the packages that can change scores."""
    found = {"wholetext": __version__, "python": ".".join(python_version().split(".")[:2])}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def check_versions(hello: dict[str, str]) -> None:
    """An error where a worker has another version than this process of something that both have."""
    for name, mine in versions().items():
        theirs = hello.get(name, mine)
        if theirs != mine:
            raise WorkerError(f"the worker has {name} {theirs}, this process {mine}: scores could differ",
                              where=hello.get("place", ""), next=f"install {name} {mine} on the worker")


def main() -> None:
    """Read tasks from standard input until it ends, which it does when the driver ends, however that came about."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not come between the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's: it closes the pipe
    tasks = sys.stdin.buffer
    try:
        worker = Worker(pickle.load(tasks))
        pickle.dump(("ready", -1, worker.hello()), answers)
        answers.flush()
        while True:
            number, payload = pickle.load(tasks)
            pickle.dump(("answer", number, worker.answer(payload)), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except (EOFError, BrokenPipeError):
        os._exit(0)  # at once: nothing here is worth tidying, and threads of libraries may hang
