"""Where work is computed: in this process, in other processes (loky), or on a Ray cluster."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from functools import partial
from pickle import PicklingError
from queue import SimpleQueue
from typing import Any

from wholetext.errors import InputError, WorkerError, optional

Call = Callable[..., Any]
_RESTARTS = 3  # of an actor, and of its task, by Ray; a process that dies ends the run
_PATIENCE = 300  # seconds until all actors must have started


class Executor(AbstractContextManager["Executor"]):
    """Where to compute: ``local``, ``processes``, ``ray`` or ``ray://host:port``, until ``close``."""

    def __init__(
        self, on: str = "local", workers: int | None = None, gpus: int | None = None
    ) -> None:
        known = on in ("local", "processes", "ray") or on.startswith("ray://")
        if not known or 0 in (workers, gpus) or (on == "local" and (workers or gpus)):
            raise InputError(
                f"there is no executor {on!r} with {workers} workers and {gpus} GPUs",
                next="it is local, or processes, ray or ray://host:port with at least 1 or None",
            )
        self.on, self.workers, self.gpus = on, workers, gpus
        self.local, self.remote = on == "local", on.startswith("ray")  # remote: on other machines
        self._calls: list[Call] = []  # of each worker: compute and wait
        self._stops: list[Call] = []
        self._idle: SimpleQueue[Call] = SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None  # each waits for one worker
        self.ahead = 0  # results that may be outstanding: enough to keep all workers busy

    def submit(self, function: Call, *args: Any) -> Future[Any]:
        """Compute ``function(*args)``: at once if local, otherwise on the next idle worker."""
        if self.local:
            future: Future[Any] = Future()
            future.set_result(function(*args))
            return future
        if self._threads is None:
            self._start_actors() if self.remote else self._start_processes()
            self._threads = ThreadPoolExecutor(len(self._calls))
            self.ahead = 3 * len(self._calls)
            for call in self._calls:
                self._idle.put(call)
        return self._threads.submit(_on_idle_worker, self._idle, function, *args)

    def close(self) -> None:
        """Stop the workers, whatever they are doing; a later task starts new ones."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        for stop in self._stops:
            stop()
        self._calls, self._stops, self._idle, self._threads = [], [], SimpleQueue(), None

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start_processes(self) -> None:
        """Divide processors and, by CUDA_VISIBLE_DEVICES, GPUs of this machine among workers."""
        from joblib.externals.loky import ProcessPoolExecutor, cpu_count

        size = self.workers or self.gpus or cpu_count()
        cards = (
            os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(self.gpus or 0)))
        ).split(",")
        for number in range(size):
            env = {
                "OMP_NUM_THREADS": os.environ.get(
                    "OMP_NUM_THREADS", str(max(1, cpu_count() // size))
                )
            }
            if self.gpus:
                env["CUDA_VISIBLE_DEVICES"] = cards[number * self.gpus // size]
            pool = ProcessPoolExecutor(1, initializer=_initialise, env=env)
            self._calls.append(lambda *task, pool=pool: pool.submit(*task).result())
            self._stops.append(partial(pool.shutdown, kill_workers=True))

    def _start_actors(self) -> None:
        """Join the cluster of the address or RAY_ADDRESS, otherwise start one on this machine."""
        ray = optional("ray", "ray")
        address = self.on.partition("://")[2] or os.environ.get("RAY_ADDRESS", "").removeprefix(
            "ray://"
        )
        try:
            if not ray.is_initialized():
                if address:  # Ray itself would try for minutes
                    socket.create_connection(address.rsplit(":", 1), timeout=10).close()  # type: ignore[arg-type]
                alone = {} if address else {"include_dashboard": False}
                ray.init(
                    address=address or "local", log_to_driver=False, logging_level="error", **alone
                )
                self._stops.append(ray.shutdown)
            cpus, cards = (int(ray.cluster_resources().get(kind, 0)) for kind in ("CPU", "GPU"))
            size, gpus = self.workers or self.gpus or cards or cpus, self.gpus or cards
            if gpus > cards:
                raise ValueError(f"it has {cards} GPUs, not {gpus}")
            needs = {
                "num_cpus": min(1.0, cpus / size),
                "num_gpus": gpus / size if gpus < size else gpus // size,
            }
            remote = ray.remote(**needs, max_restarts=_RESTARTS, max_task_retries=_RESTARTS)(_Actor)
            actors = [remote.remote(sys.path) for _ in range(size)]
            self._stops[:0] = [partial(ray.kill, actor) for actor in actors]
            ray.get([actor.run.remote(os.getpid) for actor in actors], timeout=_PATIENCE)
        except (OSError, ValueError, RuntimeError, ray.exceptions.RayError) as fault:
            self.close()
            raise WorkerError(
                f"the Ray cluster cannot be used ({_short(fault)})",
                where=address or "this machine",
                next="start it with `ray start --head`, on others `ray start --address=HOST:6379`;"
                " all need the same packages (`ray status` shows what it waits for)",
            ) from fault
        self._calls = [partial(_call_actor, ray, actor) for actor in actors]


class _Actor:
    def __init__(self, path: Sequence[str]) -> None:
        sys.path += [folder for folder in path if folder not in sys.path]

    def run(self, function: Call, *args: Any) -> Any:
        return function(*args)


def _initialise() -> None:
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = (
        False  # a second model is no memory leak, for which loky would restart the worker
    )
    os.dup2(2, 1)  # what libraries print must not be mixed with the command's output
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the command, which stops its workers
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:  # otherwise the command was killed
        time.sleep(1)
    os._exit(1)


def _on_idle_worker(idle: SimpleQueue[Call], function: Call, *args: Any) -> Any:
    call = idle.get()
    try:
        return call(function, *args)
    except BrokenProcessPool as fault:
        raise WorkerError(
            f"a worker failed: {_short(fault)}",
            next="run it again: what is finished is kept; "
            "where memory is short, use fewer workers or shorter windows",
        ) from fault
    except PicklingError as fault:
        reason = (
            str(fault.__cause__).strip('"\n').rpartition("\n")[2]
        )  # the last line of a traceback
        raise WorkerError(
            f"this work cannot be sent to a worker ({reason})", next="use --on local"
        ) from fault
    finally:
        idle.put(call)


def _call_actor(ray: Any, actor: Any, function: Call, *args: Any) -> Any:
    try:
        return ray.get(actor.run.remote(function, *args))
    except ray.exceptions.RayError as fault:
        cause = getattr(fault, "cause", fault)
        raise (
            BrokenProcessPool(_short(cause))
            if isinstance(cause, ray.exceptions.RayError)
            else cause
        ) from fault


def _short(fault: Exception) -> str:
    text = str(fault).partition("Detailed tracebacks")[0]  # of loky, which are those of all workers
    return " ".join(text.split())[:300] or type(fault).__name__
