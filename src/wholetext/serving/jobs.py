"""The job queue in an SQLite file; jobs that were running when the server ended are resumed."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import RunError
from wholetext.files.parsing import printable
from wholetext.files.storage import refusing

FILE = "jobs.sqlite"
TRIES = 3  # attempts at a job during which the server ended
State = Literal["waiting", "running", "done", "failed", "cancelled"]
_COLUMNS = "id, title, state, request, created, tries, error"
_SCHEMA = """CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, title TEXT NOT NULL,
    state TEXT NOT NULL, request TEXT NOT NULL, created REAL NOT NULL,
    tries INTEGER NOT NULL, error TEXT NOT NULL
)"""


@dataclass(frozen=True)
class Job:
    """A request for scores; ``request`` is passed to the worker as it is."""

    id: str
    title: str
    state: State
    request: Mapping[str, Any]
    created: float
    tries: int = 0
    error: str = ""
    progress: tuple[str, int, int] | None = field(default=None, compare=False)  # stage, done, total

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")


def without_paths(folder: Path, message: str) -> str:
    """Remove folders of this machine from an error; uploads keep their names."""
    place = re.escape(f"{folder}{os.sep}")
    message = re.sub(rf"{place}(jobs/\w+/(input/(\d+/)?|try-\d+/)?)?", "", message)
    return printable(message, keep="\n")


class Jobs:
    """The jobs of a data folder, locked by this process; the object is thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._lock = folder, threading.RLock()
        self._progress: dict[str, tuple[str, int, int]] = {}
        with refusing(str(folder), RunError, "the data folder"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()) and not (folder / FILE).exists():
                raise RunError(
                    "this folder has other files in it",
                    where=str(folder),
                    next="choose an empty or a new folder for --data",
                )
            folder.chmod(0o700)  # texts and results are the user's own
            (folder / FILE).touch(mode=0o600)
            for name in ("jobs", "files", "work"):
                (folder / name).mkdir(exist_ok=True)
        self._db = sqlite3.connect(
            folder / FILE, timeout=1.0, isolation_level=None, check_same_thread=False
        )
        self._do("PRAGMA locking_mode=EXCLUSIVE")  # held as long as this process lives
        self._do("BEGIN IMMEDIATE")
        self._do(_SCHEMA)
        self._do("COMMIT")
        self._resume()

    def _resume(self) -> None:
        """Requeue running jobs; drop those whose client was waiting, and folders without a job."""
        jobs = self.all()
        for place in (self.folder / "jobs").glob("[0-9a-f]" * 32):
            if place.name not in {job.id for job in jobs}:
                shutil.rmtree(place, ignore_errors=True)
        for job in jobs:
            if job.active and not job.request.get("keep", True):
                self.delete(job.id)
            elif job.state == "running" and job.tries >= TRIES:
                self.finish(job.id, "failed", f"the server ended {TRIES} times while this job ran")
            elif job.state == "running":
                self._do("UPDATE jobs SET state='waiting' WHERE id=?", job.id)

    # -------------------------------------------------------- reading

    def all(self) -> list[Job]:
        """Newest first."""
        return self._jobs("ORDER BY number DESC")

    def get(self, id: str) -> Job | None:
        return next(iter(self._jobs("WHERE id=?", id)), None)

    def active(self, id: str) -> bool:
        """Whether a job waits or runs."""
        job = self.get(id)
        return job is not None and job.active

    def place(self, id: str) -> Path:
        """The folder of a job."""
        return self.folder / "jobs" / id

    # -------------------------------------------------------- changing

    def new_id(self) -> str:
        """Reserve an id and a folder for its input files."""
        id = secrets.token_hex(16)
        (self.place(id) / "input").mkdir(parents=True)
        return id

    def add(self, id: str, title: str, request: Mapping[str, Any]) -> Job:
        text, now = json.dumps(request, ensure_ascii=False), time.time()
        self._do(
            "INSERT INTO jobs (id, title, state, request, created, tries, error) "
            "VALUES (?, ?, 'waiting', ?, ?, 0, '')",
            *(id, title, text, now),
        )
        return Job(id, title, "waiting", request, now)

    def claim(self) -> Job | None:
        """Mark the job that has waited longest as running and return it."""
        with self._lock:
            for job in self._jobs("WHERE state='waiting' ORDER BY number LIMIT 1"):
                self._do("UPDATE jobs SET state='running', tries=tries+1 WHERE id=?", job.id)
                return self.get(job.id)
        return None

    def report(self, id: str, stage: str, done: int, total: int) -> None:
        """Note the progress of a job, in memory only."""
        self._progress[id] = (stage, done, total)

    def finish(self, id: str, state: State, error: str = "") -> None:
        """Record how a job ended, unless it had ended; one that runs is stopped by its thread."""
        self._progress.pop(id, None)
        self._do(
            "UPDATE jobs SET state=?, error=? WHERE id=? AND state IN ('waiting', 'running')",
            *(state, error, id),
        )

    def delete(self, id: str) -> None:
        """Remove a job with all its files."""
        self._do("DELETE FROM jobs WHERE id=?", id)
        shutil.rmtree(self.place(id), ignore_errors=True)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -------------------------------------------------------- SQL

    def _do(self, sql: str, *values: object) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as fault:
            locked = "another server uses this data folder" if "locked" in str(fault) else ""
            raise RunError(
                locked or f"the list of jobs cannot be used ({fault})",
                where=str(self.folder / FILE),
                next="choose another folder with --data, or end that server first"
                if locked
                else "check permissions and free space; results are kept in jobs/",
            ) from fault

    def _jobs(self, rest: str, *values: object) -> list[Job]:
        rows = self._do(f"SELECT {_COLUMNS} FROM jobs {rest}", *values)
        return [
            Job(
                id, title, state, json.loads(request), created, tries, error, self._progress.get(id)
            )
            for id, title, state, request, created, tries, error in rows
        ]
