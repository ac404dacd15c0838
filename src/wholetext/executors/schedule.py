"""The scheduler: two tasks in flight at each worker, results in order; tasks of a dead worker are sent to others."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from wholetext.errors import WorkerError
from wholetext.executors.pool import Event, Pool, Task
from wholetext.executors.worker import Failure, check_versions

IN_FLIGHT = 2  # per worker: one runs, one waits, so that no worker waits for the driver
AHEAD = 6  # tasks per worker that may start before the oldest one is finished: bounds the driver's memory
TRIES = 5  # deaths of workers over one task, or of one worker over nothing, until it is an error


_END: Any = object()


@dataclass
class _Worker:
    ready: bool = False
    flight: deque[int] = field(default_factory=deque)  # the first one runs
    known: set[int] = field(default_factory=set)  # what was sent of the shared parts of tasks
    done: int = 0
    failures: int = 0  # deaths since its last answer
    gone: bool = False


class Scheduler:
    """Runs tasks on a pool of workers that may die; every result is returned exactly once."""

    def __init__(self, open_pool: Callable[[], Pool]) -> None:
        self._open = open_pool
        self._pool: Pool | None = None
        self.workers: list[_Worker] = []
        self._last = 0  # number of the last task started
        self._shared: dict[int, tuple[int, Any]] = {}  # id → number and the object, kept so that the id stays its own
        self._tasks: dict[int, Task] = {}  # started, not finished
        self._deaths: dict[int, int] = {}  # per task
        self._retries: deque[int] = deque()  # tasks of dead workers: the next to be sent
        self._results: dict[int, Any] = {}

    def run(self, tasks: Iterable[Task | None]) -> Generator[Any, None, None]:
        """The results in order. A consumer that stops early leaves the workers to later runs."""
        source = iter(tasks)
        first, more = self._last + 1, True
        try:
            while True:
                more = self._fill(source, first) if more or self._retries else False
                if first in self._results:
                    yield self._results.pop(first)
                    first += 1
                elif first > self._last and not more:
                    return
                else:
                    assert self._pool is not None  # else there would be a result
                    self._handle(self._pool.receive())
        except GeneratorExit:
            raise
        except BaseException:  # an error or Ctrl-C: nothing is left running
            self.close()
            raise
        finally:
            self._tasks.clear()
            self._retries.clear()
            self._results.clear()

    def close(self) -> None:
        pool, self._pool = self._pool, None
        self.workers = []
        self._shared.clear()
        if pool is not None:
            pool.close()

    def _fill(self, source: Iterator[Task | None], first: int) -> bool:
        """Send tasks to workers with free slots, the least busy first; returns whether there may be more tasks."""
        while True:
            free = [one for one in self.workers if one.ready and len(one.flight) < IN_FLIGHT]
            chosen = min(free, key=lambda one: len(one.flight)) if free else None
            if self._retries:
                if chosen is None:
                    return True
                self._send(chosen, self._retries.popleft())
                continue
            ahead = self._last + 1 - first
            if self._pool is not None and (chosen is None or ahead >= AHEAD * self._pool.size):
                return True
            task = next(source, _END)
            if task is _END:
                return False
            self._last += 1
            if task is None:
                self._results[self._last] = None
                if ahead:
                    continue
                return True
            if self._pool is None:
                self._start()
            self._tasks[self._last] = task
            self._deaths.pop(self._last, None)
            self._retries.append(self._last)

    def _start(self) -> None:
        self._pool = self._open()
        self.workers = [_Worker() for _ in range(self._pool.size)]
        for number in range(self._pool.size):
            self._pool.start(number)

    def _send(self, worker: _Worker, number: int) -> None:
        assert self._pool is not None
        task = self._tasks[number]
        mark, _ = self._shared.setdefault(id(task.shared), (len(self._shared), task.shared))
        try:
            shared = None if mark in worker.known else pickle.dumps(task.shared, pickle.HIGHEST_PROTOCOL)
            payload = pickle.dumps((task.function, mark, shared, task.item), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as fault:
            raise WorkerError(f"this work cannot be sent to another process ({fault})",
                              next="metrics must be defined in a module, or use --on local") from fault
        worker.known.add(mark)
        worker.flight.append(number)
        self._pool.send(self.workers.index(worker), number, payload)

    def _handle(self, event: Event) -> None:
        worker = self.workers[event.worker]
        if event.kind == "ready":
            check_versions(event.value)
            worker.ready = True
        elif event.kind == "died":
            self._restart(event)
        elif event.task in worker.flight:  # else from before it was started again
            worker.flight.remove(event.task)
            worker.done, worker.failures = worker.done + 1, 0
            if self._tasks.pop(event.task, None) is None:
                return  # its run was cancelled
            if isinstance(event.value, Failure):
                event.value.reraise()
            self._results[event.task] = event.value

    def _restart(self, event: Event) -> None:
        """Restart a dead worker and reschedule its tasks; raise after repeated failures."""
        worker = self.workers[event.worker]
        flight = [number for number in worker.flight if number in self._tasks]
        if flight and worker.flight[0] == flight[0]:
            self._deaths[flight[0]] = self._deaths.get(flight[0], 0) + 1
        worker.failures += 1
        if flight and self._deaths.get(flight[0], 0) >= TRIES:
            raise WorkerError(f"{TRIES} workers died over the same work, the last one: {event.reason}",
                              next="use fewer workers, a smaller --batch-tokens or shorter windows if memory is short")
        self._retries.extendleft(reversed(flight))
        worker.flight.clear()
        worker.known.clear()
        worker.ready = False
        if worker.failures >= TRIES:
            worker.gone = True
            if all(one.gone for one in self.workers):
                raise WorkerError(f"no worker can be started, the last one: {event.reason}",
                                  next="see the messages above, if any; where memory is short, use fewer workers; "
                                  "--on local computes in this process")
            return
        assert self._pool is not None
        self._pool.start(event.worker)


