"""Messages between the scheduler and its workers: tasks one way, events the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Task:
    """``function(shared, item)``. ``shared`` is sent to a worker once, however many tasks have it."""

    function: Callable[[Any, Any], Any]  # of a module that the worker can import
    shared: Any
    item: Any


@dataclass(frozen=True)
class Event:
    """What happened to a worker: it is ready, it answered, its task failed, or it died (``reason``)."""

    worker: int
    kind: str  # ready, answer, failed, died
    task: int = -1
    value: Any = None
    reason: str = ""


class Pool(Protocol):
    """Workers as the scheduler sees them. Each works through what it is sent, one task after the other."""

    size: int

    def start(self, worker: int) -> None:
        """Start a worker, or start it again after its death; a ready event follows."""
        ...

    def send(self, worker: int, task: int, payload: bytes) -> None: ...

    def receive(self) -> Event:
        """The next event; waits for one."""
        ...

    def close(self) -> None:
        """End all workers, whatever they do."""
        ...
