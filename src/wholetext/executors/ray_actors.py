"""Workers as actors of a Ray cluster: one that is there, or one of this machine that lives as long as the run.

Order, retries and restarts are the scheduler's, as for processes: an actor that dies is replaced by a new one, and its
tasks need not wait for it.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import suppress
from typing import Any

from wholetext.errors import MissingExtra, WorkerError
from wholetext.executors.pool import Event
from wholetext.executors.processes import processors
from wholetext.executors.worker import Worker

_PATIENCE = 300  # seconds until some worker must be ready
_START = "start one with `ray start --head`, and on other machines `ray start --address=HOST:6379`"


class RayActors:
    """A pool of actors."""

    def __init__(self, on: str, workers: int | None, gpus: int | None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("ray", "ray") from None
        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            _connect(ray, on.partition("://")[2], workers or gpus)
        resources = ray.cluster_resources()
        there = {"CPU": int(resources.get("CPU", 0)), "GPU": int(resources.get("GPU", 0))}
        self.size = workers or gpus or there["GPU"] or there["CPU"]
        share = (gpus or there["GPU"]) / self.size if gpus or there["GPU"] else 0.0
        self._needs = {"num_cpus": min(1.0, there["CPU"] / self.size), "num_gpus": int(share) if share >= 1 else share}
        try:
            if (gpus or 0) > there["GPU"]:
                raise WorkerError(f"{gpus} GPUs requested, but the Ray cluster has {there['GPU']}", where=on,
                                  next="ask for fewer, or add machines that have them")
            if not self.size:
                raise WorkerError("the Ray cluster has neither processors nor GPUs", where=on, next=_START)
        except WorkerError:
            self.close()
            raise
        self._actors: dict[int, Any] = {}
        self._waiting: dict[Any, tuple[int, Any, int]] = {}  # reference → worker, its actor, task
        self._since = time.monotonic()
        self._any = False  # whether some worker was ready

    def start(self, worker: int) -> None:
        self._stop(worker)
        self._waiting = {ref: one for ref, one in self._waiting.items() if one[0] != worker}
        actor = self._ray.remote(Worker).options(**self._needs, max_restarts=0).remote(sys.path)
        self._actors[worker] = actor
        self._waiting[actor.hello.remote()] = (worker, actor, -1)

    def send(self, worker: int, task: int, payload: bytes) -> None:
        actor = self._actors[worker]
        self._waiting[actor.answer.remote(payload)] = (worker, actor, task)

    def receive(self) -> Event:
        while True:
            ready, _ = self._ray.wait(list(self._waiting), num_returns=1, timeout=5)
            if ready:
                return self._event(ready[0])
            if not self._any and time.monotonic() - self._since > _PATIENCE:
                raise WorkerError(f"no worker was ready after {_PATIENCE} seconds",
                                  next="`ray status` shows what the cluster waits for; each worker needs "
                                  f"{self._needs['num_cpus']:g} processors and {self._needs['num_gpus']:g} GPUs")

    def close(self) -> None:
        for worker in list(getattr(self, "_actors", {})):
            self._stop(worker)
        if self._ours:
            self._ray.shutdown()

    def _event(self, reference: Any) -> Event:
        worker, _, task = self._waiting.pop(reference)
        try:
            value = self._ray.get(reference)
        except self._ray.exceptions.RayError as fault:
            return Event(worker, "died", reason=self._reason(fault))
        self._any = True
        return Event(worker, "ready" if task < 0 else "answer", task, value)

    def _reason(self, fault: Exception) -> str:
        """Why an actor died; where a package is missing on its machine, no other would fare better."""
        text = str(fault)
        for name in ("ModuleNotFoundError", "ImportError"):
            if name in text:
                line = next(line for line in text.splitlines() if name in line)
                raise WorkerError(f"a worker of the cluster cannot be started ({line.strip()})",
                                  next="install wholetext and the same packages on every machine that has workers")
        if isinstance(fault, self._ray.exceptions.OutOfMemoryError) or "low on memory" in text:
            return "Ray killed it because memory ran out on its machine"
        first = next((line.strip() for line in text.splitlines() if line.strip()), type(fault).__name__)[:200]
        return f"its process ended, perhaps because memory ran out ({first})"

    def _stop(self, worker: int) -> None:
        if worker in self._actors:
            with suppress(Exception):  # dead already, or the cluster is gone
                self._ray.kill(self._actors.pop(worker), no_restart=True)


def _connect(ray: Any, address: str, workers: int | None) -> None:
    """Join a cluster by its address or ``RAY_ADDRESS``; without either, start one on this machine."""
    quiet = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}
    address = address or os.environ.get("RAY_ADDRESS", "").removeprefix("ray://")
    try:
        if address:
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), timeout=10).close()  # Ray itself would try for minutes
            ray.init(address=address, log_to_driver=False, logging_level="error")
        else:
            ray.init(address="local", num_cpus=max(workers or 0, processors()), **quiet)  # GPUs: those that Ray finds
    except (OSError, ValueError, RuntimeError) as fault:
        first = str(fault).strip().splitlines()[0][:300] if str(fault).strip() else type(fault).__name__
        if "ersion mismatch" in str(fault):
            raise WorkerError(f"the Ray cluster has another version of Ray or Python ({first})", where=address,
                              next="install the same versions here and there") from fault
        raise WorkerError(f"there is no Ray cluster to connect to ({first})", where=address, next=_START) from fault
