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
from typing import Any

from wholetext.errors import WholetextError, WorkerError
from wholetext.serving.access import Refused
from wholetext.serving.jobs import Job, Jobs, State, without_paths
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
        stopped: Callable[[], bool],
        progress: Callable[..., None] = lambda *_: None,
    ) -> Any:
        """Send a message and return the answer, or raise the error that the process met.

        A process whose answer is late or not awaited any more is killed.
        """
        self.start()
        deadline = time.monotonic() + self.options.timeout
        try:
            self.pipe.send(message)
            while not stopped() and time.monotonic() < deadline:
                if self.pipe.poll(POLLING):
                    kind, *values = self.pipe.recv()
                    if kind == "answer":
                        return values[0]
                    if kind == "error":
                        raise values[0]
                    progress(*values)
        except (EOFError, OSError):
            code = self.kill(patience=5)
            raise WorkerError(
                f"the scoring process ended (exit code {code})",
                next="try fewer texts or smaller models if it ran out of memory; see the server's log",
            ) from None
        self.kill()
        if stopped():
            raise Refused(503, *ENDING)
        raise Refused(
            422,
            f"scoring took more than {self.options.timeout:g} seconds, the server's limit",
            "send fewer systems, metrics or texts at a time",
        )

    def kill(self, patience: float = 0) -> int | None:
        """End the process, if there is one, and return its exit code."""
        if self.process is None:
            return None
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        code, self.process = self.process.exitcode, None
        self.pipe.close()
        return code


class Scheduler:
    """A thread per worker that takes the next job, follows it and records how it ended."""

    def __init__(self, jobs: Jobs, options: ServeOptions) -> None:
        self.jobs, self.options = jobs, options
        self._news, self._closing = threading.Semaphore(options.workers), False
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._loop) for _ in range(self.options.workers)]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Announce a new job."""
        self._news.release()

    def close(self) -> None:
        """End the workers; a running job keeps its state, and the next server resumes it."""
        self._closing = True
        self._news.release(self.options.workers)
        for thread in self._threads:
            thread.join()

    # -------------------------------------------------------- in the threads

    def _loop(self) -> None:
        worker = Worker(self.options)
        while not self._closing:
            self._news.acquire(timeout=1.0)
            try:
                worker.start()
                while not self._closing and (job := self.jobs.claim()):
                    self._run(worker, job)
            except (OSError, WholetextError) as fault:  # the disk is full, say
                logging.getLogger(__name__).error("%s", fault)
                time.sleep(1.0)
        worker.kill()

    def _run(self, worker: Worker, job: Job) -> None:
        """Run a job to its end, publish its results and record how it ended."""
        place = self.jobs.place(job.id)
        out, result = place / f"try-{job.tries}", place / "result"
        state: State = "done"
        error = ""
        try:
            worker.ask(
                (job.request, out),
                lambda: self._closing or not self.jobs.active(job.id),
                partial(self.jobs.report, job.id),
            )
            shutil.rmtree(result, ignore_errors=True)  # of an attempt killed here
            out.replace(result)
        except OSError as fault:
            state, error = "failed", f"the results cannot be kept ({fault.strerror})"
        except WholetextError as fault:
            state, error = "failed", str(fault)
        if state == "done" or not self._closing:  # else the next server resumes it
            self.jobs.finish(job.id, state, without_paths(self.options.folder, error))
        shutil.rmtree(out, ignore_errors=True)
        if self.jobs.get(job.id) is None:
            self.jobs.delete(job.id)  # what was written meanwhile
