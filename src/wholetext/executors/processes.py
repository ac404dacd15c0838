"""Workers as processes of this machine: fresh interpreters, so neither threads nor locks of this one are copied."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from wholetext.executors.pool import Event


class Processes:
    """A pool of processes. Threads write to and read from each, so that the driver waits for none of them."""

    def __init__(self, workers: int | None, gpus: int | None) -> None:
        self.size = workers or gpus or processors()
        self._gpus = gpus
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._tasks: dict[int, SimpleQueue[object]] = {}  # to be written, None: nothing follows
        self._events: SimpleQueue[tuple[int, Event]] = SimpleQueue()  # with the id of the process

    def start(self, worker: int) -> None:
        self._stop(worker)
        process = subprocess.Popen(
            [*interpreter("from wholetext.executors.worker import main; main()"), "wholetext.executors.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment(worker),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        self._running[worker], self._tasks[worker] = process, SimpleQueue()
        self._tasks[worker].put(sys.path)
        threading.Thread(target=_write, args=(self._tasks[worker], process.stdin), daemon=True).start()
        threading.Thread(target=self._listen, args=(worker, process, process.stdout), daemon=True).start()

    def send(self, worker: int, task: int, payload: bytes) -> None:
        self._tasks[worker].put((task, payload))

    def receive(self) -> Event:
        while True:
            process, event = self._events.get()
            if self._running[event.worker].pid == process:  # else of one that was started again
                return event

    def close(self) -> None:
        for worker in self._running:
            self._stop(worker)

    def environment(self, worker: int) -> dict[str, str]:
        """Processors and GPUs are shared out; more workers than GPUs share one."""
        found = {"OMP_NUM_THREADS": str(max(1, processors() // self.size)), **os.environ}
        if self._gpus:
            seen = found.get("CUDA_VISIBLE_DEVICES", "")
            cards = [card for card in seen.split(",") if card] or [str(card) for card in range(self._gpus)]
            found["CUDA_VISIBLE_DEVICES"] = cards[worker * self._gpus // self.size % len(cards)]
        return with_package(found)

    def _listen(self, worker: int, process: subprocess.Popen[bytes], answers: IO[bytes]) -> None:
        with answers:
            try:
                while True:
                    kind, task, value = pickle.load(answers)
                    self._events.put((process.pid, Event(worker, kind, task, value)))
            except Exception:  # the pipe ended, perhaps in the middle of an answer
                self._events.put((process.pid, Event(worker, "died", reason=_reason(process))))

    def _stop(self, worker: int) -> None:
        if worker in self._running:
            self._tasks[worker].put(None)
            self._running[worker].kill()
            self._running[worker].wait()


def _write(tasks: SimpleQueue[object], pipe: IO[bytes]) -> None:
    with suppress(OSError, ValueError), pipe:  # if the worker died, the listener reports it
        while (task := tasks.get()) is not None:
            pickle.dump(task, pipe, pickle.HIGHEST_PROTOCOL)
            pipe.flush()


def interpreter(code: str) -> list[str]:
    """The command that runs code in a new interpreter, which imports nothing from the current folder: `-c` and `-m`
    would, and data of other people may lie there."""
    return [sys.executable, "-c", f"import sys; sys.path[0] or sys.path.pop(0); {code}"]


def with_package(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which this package can be imported, also where it is not installed."""
    package = str(Path(__file__).resolve().parents[2])
    return {**environment, "PYTHONPATH": os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])}


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _reason(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(timeout=5)
    except subprocess.TimeoutExpired:  # it lives on without its pipe
        process.kill()
        return f"process {process.pid} no longer answers"
    if code == -9:
        return f"process {process.pid} was killed, as systems do where memory runs out"
    return f"process {process.pid} ended with code {code}"
