"""Run jobs in worker processes; a worker is killed if its job is cancelled or takes too long."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from wholetext.errors import WholetextError, WorkerError
from wholetext.serving.access import Refused
from wholetext.serving.jobs import TRIES, Job, Jobs, State, without_paths
from wholetext.serving.settings import ServeOptions
from wholetext.serving.worker import work

POLLING = 0.1  # seconds between looks at a running job


ENDING = ("the server ends", "send the request again when it runs")


class Worker:
    """A worker process, started where it is needed, and the pipe to it."""

    pipe: Connection

    def __init__(self, options: ServeOptions) -> None:
        self.options = options
        self.process: BaseProcess | None = None

    def start(self) -> None:
        """Start the process, unless it waits for a message already."""
        if self.process is not None:
            if not self.pipe.poll():
                return
            self.kill()  # the pipe of a process that has ended can be read
        # the current folder may hold foreign data: no process imports modules from it
        os.environ["PYTHONSAFEPATH"] = "1"
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other, self.options))
        self.process.start()
        other.close()

    def ask(
        self,
        message: object,
        timeout: float,
        stopped: Callable[[], bool],
        progress: Callable[..., None] = lambda *_: None,
    ) -> Any:
        """Send a message and return the answer; kill the process if it is late or not awaited."""
        self.start()
        deadline = time.monotonic() + timeout
        try:
            self.pipe.send(message)
            while not stopped():
                if self.pipe.poll(POLLING):
                    kind, *values = self.pipe.recv()
                    if kind == "answer":
                        return values[0]
                    progress(*values)
                if time.monotonic() > deadline:
                    self.kill()
                    raise Refused(
                        422,
                        f"scoring took more than {timeout:g} seconds, the server's limit",
                        "send fewer systems, metrics or texts at a time",
                    )
        except (EOFError, OSError):
            code = self.kill(patience=5)
            raise WorkerError(
                f"the scoring process ended (exit code {code})",
                next="try fewer texts or smaller models if it ran out of memory; see the server's log",
            ) from None
        self.kill()
        raise Refused(503, *ENDING)

    def kill(self, patience: float = 0) -> int | None:
        """End the process, if there is one, and return its exit code."""
        if self.process is None:
            return None
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.pipe.close()
        self.process = None
        return code


class Scheduler:
    """A thread per worker that takes the next job, follows it and records how it ended."""

    def __init__(self, jobs: Jobs, options: ServeOptions) -> None:
        self.jobs, self.options = jobs, options
        self._changed, self._closing = threading.Condition(), False
        self._cancelled: set[str] = set()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._loop) for _ in range(self.options.workers)]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Announce a new job, or the end of one."""
        with self._changed:
            self._changed.notify_all()

    def cancel(self, id: str) -> None:
        """Cancel a job that is waiting or running; return when it has ended."""

        def ended() -> bool:
            job = self.jobs.get(id)
            return self._closing or job is None or not job.active

        with self._changed:
            job = self.jobs.get(id)
            if job is not None and job.state == "waiting":
                self.jobs.finish(id, "cancelled")
            self._cancelled.add(id)
            self._changed.wait_for(ended)
            self._cancelled.discard(id)

    def close(self) -> None:
        """End the workers; a running job keeps its state, and the next server resumes it."""
        self._closing = True
        self.wake()
        for thread in self._threads:
            thread.join()

    # -------------------------------------------------------- in the threads

    def _loop(self) -> None:
        worker = Worker(self.options)
        while not self._closing:
            try:
                worker.start()
                with self._changed:
                    job = self.jobs.claim()
                    if job is None:
                        self._changed.wait(1.0)
                if job is not None:
                    self._run(worker, job)
                    self.wake()
            except (OSError, WholetextError) as fault:  # the disk is full, say
                logging.getLogger(__name__).error("%s", fault)
                time.sleep(1.0)
        worker.kill()

    def _run(self, worker: Worker, job: Job) -> None:
        """Run a job to its end and publish its results."""
        place = self.jobs.place(job.id)
        out = place / f"try-{job.tries}"
        state, error = self._follow(worker, job, out)
        try:
            if state == "done":
                shutil.rmtree(place / "result", ignore_errors=True)  # of an attempt killed here
                out.replace(place / "result")
        except OSError as fault:
            state, error = "failed", f"the results cannot be kept ({fault.strerror})"
        if state is not None:
            self.jobs.finish(job.id, state, without_paths(self.options.folder, error))
        shutil.rmtree(out, ignore_errors=True)

    def _follow(self, worker: Worker, job: Job, out: Path) -> tuple[State | None, str]:
        """Wait for the end of a job; return its state (None if the server ends) and error."""
        try:
            state, error = worker.ask(
                (job.request, out),
                self.options.timeout,
                lambda: self._closing or job.id in self._cancelled,
                partial(self.jobs.report, job.id),
            )
            return state, error
        except WorkerError as fault:
            begun = self.jobs.get(job.id)
            if begun and not begun.progress and job.tries < TRIES:
                return "waiting", ""  # it had died idle, which its pipe shows a little later
            return "failed", str(fault)
        except Refused as fault:
            if fault.status == 503:
                return (None if self._closing else "cancelled"), ""
            return "failed", str(fault)
