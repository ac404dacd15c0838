"""Run jobs in worker processes; a worker is killed if its job is cancelled or takes too long."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from wholetext.errors import WholetextError
from wholetext.files.parsing import printable
from wholetext.serving.jobs import Job, Jobs
from wholetext.serving.settings import ServeOptions
from wholetext.serving.worker import TAKEN, Task, work

LOG = logging.getLogger(__name__)
_STARTING = threading.Lock()
POLLING = 0.1  # seconds between looks at a running job
REPLY = 30.0  # seconds in which an idle worker must accept a job, else it is replaced


class Worker:
    """A worker process and the pipe to it."""

    def __init__(self, folder: Path) -> None:
        context = get_context("spawn")
        self.pipe: Connection
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other, folder), daemon=False)
        with _without_current_folder():
            self.process.start()
        other.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


@contextmanager
def _without_current_folder() -> Iterator[None]:
    """Keep new processes from importing modules of the current folder, which may hold foreign data."""
    with _STARTING:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ["PYTHONSAFEPATH"]
            else:
                os.environ["PYTHONSAFEPATH"] = before


class Scheduler:
    """A thread per worker that takes the next job, follows it and records how it ended."""

    def __init__(self, jobs: Jobs, options: ServeOptions) -> None:
        self.jobs, self.options = jobs, options
        self._wake, self._closing = threading.Condition(), False
        self._cancelled: set[str] = set()
        self._threads = [
            threading.Thread(target=self._loop, name=f"worker {i}") for i in range(options.workers)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Announce a new job."""
        with self._wake:
            self._wake.notify_all()

    def cancel(self, id: str) -> None:
        """Cancel a job that is waiting or running; return when it has ended."""
        with self._wake:
            job = self.jobs.get(id)
            if job is None or not job.active:
                return
            self._cancelled.add(id)
            if job.state == "waiting":
                self.jobs.finish(id, "cancelled")
                self._cancelled.discard(id)
                return
            while (job := self.jobs.get(id)) is not None and job.active and not self._closing:
                self._wake.wait(POLLING)

    def close(self) -> None:
        """End the workers; a running job keeps its state, and the next server resumes it."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    # -------------------------------------------------------- in the threads

    def _loop(self) -> None:
        worker: Worker | None = None
        try:
            while not self._closing:
                with self._wake:
                    job = self.jobs.claim()
                    if job is None:
                        self._wake.wait(1.0)
                        continue
                try:
                    worker = self._run(self._assign(job, worker), job)
                except (OSError, WholetextError) as fault:  # the disk is full, say
                    LOG.error("job %s: %s", job.id, fault)
                    with suppress(WholetextError):
                        self.jobs.finish(job.id, "failed", f"the job cannot be run ({fault})")
                with self._wake:
                    self._wake.notify_all()
        finally:
            if worker is not None:
                worker.kill()

    def _assign(self, job: Job, worker: Worker | None) -> Worker:
        """Send the job to the idle worker, or to a new one if there is none or it has died.

        A worker is known to be alive only by its reply: a process with threads counts as alive for
        some time after its end.
        """
        out = self.jobs.place(job.id) / f"try-{job.tries}"
        shutil.rmtree(out, ignore_errors=True)
        task = Task(job.request, out, self.options)
        if worker is not None:
            try:
                worker.pipe.send(task)
                if worker.pipe.poll(REPLY) and worker.pipe.recv() == TAKEN:
                    return worker
            except (EOFError, OSError):
                pass
            worker.kill()
        worker = Worker(self.options.folder / "work")
        with suppress(OSError):  # it died at once; _follow notices
            worker.pipe.send(task)
        return worker

    def _run(self, worker: Worker, job: Job) -> Worker | None:
        """Follow a job to its end; return the worker if it can take another."""
        place = self.jobs.place(job.id)
        out = place / f"try-{job.tries}"
        try:
            answer = self._follow(worker, job)
        except (EOFError, OSError):
            answer = ("lost",)
        kind = answer[0]
        if kind == "done":
            self._publish(job, out, answer[1])
        elif kind == "failed":
            self.jobs.finish(job.id, "failed", self._shown(answer[1], place))
        elif kind == "late":
            self.jobs.finish(
                job.id,
                "failed",
                f"the job took more than {self.options.timeout:g} seconds, the limit "
                "of this server\n  → score fewer systems or metrics at a time",
            )
        elif kind == "cancelled":
            self.jobs.finish(job.id, "cancelled")
        elif kind == "lost" and not self._closing:
            worker.process.join(5)
            code = worker.process.exitcode
            hint = "see the server's log"
            if code is None or code < 0:  # killed by a signal
                hint = "perhaps it ran out of memory: try fewer or smaller models"
            self.jobs.finish(
                job.id, "failed", f"the scoring process ended (exit code {code})\n  → {hint}"
            )
        if kind != "done":
            shutil.rmtree(out, ignore_errors=True)
        self._cancelled.discard(job.id)
        if kind in ("done", "failed"):
            return worker
        worker.kill()
        return None

    def _follow(self, worker: Worker, job: Job) -> tuple[Any, ...]:
        deadline = time.monotonic() + self.options.timeout
        while not self._closing:
            if worker.pipe.poll(POLLING):
                message: tuple[Any, ...] = worker.pipe.recv()
                if message[0] == "progress":
                    self.jobs.report(job.id, *message[1:])
                elif message != TAKEN:
                    return message
            if job.id in self._cancelled:
                return ("cancelled",)
            if time.monotonic() > deadline:
                return ("late",)
        return ("closing",)

    def _publish(self, job: Job, out: Path, metrics: list[str]) -> None:
        """Move the results into place at once and finish the job."""
        result = self.jobs.place(job.id) / "result"
        try:
            shutil.rmtree(result, ignore_errors=True)  # of an attempt that was killed right here
            out.replace(result)
            self.jobs.finish(job.id, "done", metrics=metrics)
        except (OSError, WholetextError) as fault:
            self.jobs.finish(job.id, "failed", f"the results cannot be kept ({fault})")

    def _shown(self, message: str, place: Path) -> str:
        """Remove paths of this machine from an error; uploads keep their names."""
        message = re.sub(
            rf"{re.escape(f'{place}{os.sep}input{os.sep}')}\d+{re.escape(os.sep)}", "", message
        )
        for folder in (place / "input", place, self.options.folder):
            message = message.replace(f"{folder}{os.sep}", "")
        return printable(message, keep="\n")
