"""The interface: tasks go in, results come out in their order, wherever they are computed.

    with Executor("processes", workers=4) as executor:
        for result in executor.run(Task(function, shared, item) for item in items): ...

``local`` computes in this process, ``processes`` in others of this machine, ``ray`` on a Ray cluster. The last two
share the scheduler and the worker; they differ in how a worker is started and reached, which is a ``Pool``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

from wholetext.errors import InputError
from wholetext.executors.pool import Pool, Task

KINDS = ("local", "processes", "ray")


@dataclass
class Executor:
    """Where work is computed. Workers start with the first task and stay until ``close``."""

    on: str = "local"  # local, processes, ray, ray://host:port
    workers: int | None = None  # by default one per GPU, or as many as there are processors
    gpus: int | None = None  # shared out among the workers
    _scheduler: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        kind, mark, address = str(self.on).partition("://")
        if kind not in KINDS or (mark and not (kind == "ray" and address)):
            raise InputError(f"there is no executor {self.on!r}", next="it is local, processes, ray or ray://host:port")
        for name in ("workers", "gpus"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise InputError(f"{name} must be at least 1; got {value!r}", next="leave it out for the default")
        if self.local and (self.workers or self.gpus):
            raise InputError("workers and GPUs are shared out by the executors processes and ray only",
                             next="choose --on processes, in Python executor='processes'")

    @property
    def local(self) -> bool:
        return self.on == "local"

    @property
    def remote(self) -> bool:
        """Whether other machines may compute."""
        return self.on.startswith("ray")

    def run(self, tasks: Iterable[Task | None]) -> Generator[Any, None, None]:
        """The results in the order of the tasks, which are taken as there is room; None for tasks that are None."""
        if self.local:
            return (None if task is None else task.function(task.shared, task.item) for task in tasks)
        if self._scheduler is None:
            from wholetext.executors.schedule import Scheduler

            self._scheduler = Scheduler(self._pool)
        return self._scheduler.run(tasks)  # type: ignore[no-any-return]

    @property
    def done(self) -> list[int]:
        """Tasks that each worker has finished so far."""
        return [] if self._scheduler is None else [one.done for one in self._scheduler.workers]

    def close(self) -> None:
        """End the workers; the executor starts new ones when it is used again."""
        if self._scheduler is not None:
            self._scheduler.close()
            self._scheduler = None

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pool(self) -> Pool:
        if self.remote:
            from wholetext.executors.ray_actors import RayActors

            return RayActors(self.on, self.workers, self.gpus)
        from wholetext.executors.processes import Processes

        return Processes(self.workers, self.gpus)
