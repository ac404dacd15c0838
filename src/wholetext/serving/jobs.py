"""The job queue in an SQLite file; jobs that were running when the server ended are resumed."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, RunError
from wholetext.files.storage import refusing

FILE, ID = "jobs.sqlite", r"[0-9a-f]{32}"
TRIES = 3  # attempts at a job during which the server ended
State = Literal["waiting", "running", "done", "failed", "cancelled"]
_COLUMNS = "id, title, state, request, created, started, ended, tries, error"
_SCHEMA = """CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, title TEXT NOT NULL,
    state TEXT NOT NULL, request TEXT NOT NULL, created REAL NOT NULL, started REAL, ended REAL,
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
    started: float | None = None
    ended: float | None = None
    tries: int = 0
    error: str = ""
    progress: tuple[str, int, int] | None = field(default=None, compare=False)  # stage, done, total

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")


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
            (folder / FILE).touch()
            (folder / FILE).chmod(0o600)
            for name in ("jobs", "files", "work"):
                (folder / name).mkdir(exist_ok=True)
        self._db = self._opened()
        self._resume()

    def _opened(self) -> sqlite3.Connection:
        try:
            db = sqlite3.connect(
                self.folder / FILE, timeout=1.0, isolation_level=None, check_same_thread=False
            )
            db.execute("PRAGMA locking_mode=EXCLUSIVE")  # held as long as this process lives
            db.execute("PRAGMA synchronous=FULL")
            db.execute("BEGIN IMMEDIATE")
            db.execute(_SCHEMA)
            db.execute("COMMIT")
        except sqlite3.DatabaseError as fault:
            if "locked" in str(fault):
                raise RunError(
                    "another server uses this data folder",
                    where=str(self.folder),
                    next="end it first, or choose another folder with --data",
                ) from None
            raise RunError(
                f"the list of jobs cannot be opened ({fault})",
                where=str(self.folder / FILE),
                next="check permissions and free space; results are kept in jobs/",
            ) from None
        return db

    def _resume(self) -> None:
        """Requeue running jobs; drop those whose client was waiting, and folders without a job."""
        known = {job.id for job in self.all()}
        for place in (self.folder / "jobs").iterdir():
            if re.fullmatch(ID, place.name) and place.name not in known:
                shutil.rmtree(place, ignore_errors=True)
        for job in self.all():
            if job.active and not job.request.get("keep", True):
                self.delete(job.id)
            elif job.state == "running" and job.tries >= TRIES:
                self.finish(
                    job.id, "failed", f"the server ended {job.tries} times while this job ran"
                )
            elif job.state == "running":
                self._do("UPDATE jobs SET state='waiting', started=NULL WHERE id=?", job.id)

    # -------------------------------------------------------- reading

    def all(self) -> list[Job]:
        """Newest first."""
        return [
            self._job(row) for row in self._do(f"SELECT {_COLUMNS} FROM jobs ORDER BY number DESC")
        ]

    def get(self, id: str) -> Job | None:
        rows = self._do(f"SELECT {_COLUMNS} FROM jobs WHERE id=?", id)
        return self._job(rows[0]) if rows else None

    def place(self, id: str) -> Path:
        """The folder of a job; anything that is not an id of this server is rejected."""
        if not re.fullmatch(ID, id):
            raise InputError("there is no such job", where=id[:40])
        return self.folder / "jobs" / id

    # -------------------------------------------------------- changing

    def new_id(self) -> str:
        """Reserve an id and a folder for its input files."""
        id = secrets.token_hex(16)
        with refusing(str(self.folder), RunError, "the data folder"):
            (self.place(id) / "input").mkdir(parents=True)
        return id

    def add(self, id: str, title: str, request: Mapping[str, Any]) -> Job:
        text, now = json.dumps(request, ensure_ascii=False), time.time()
        self._do(
            "INSERT INTO jobs (id, title, state, request, created, tries, error) "
            "VALUES (?, ?, ?, ?, ?, 0, '')",
            id,
            title,
            "waiting",
            text,
            now,
        )
        return Job(id, title, "waiting", request, now)

    def claim(self) -> Job | None:
        """Mark the job that has waited longest as running and return it."""
        with self._lock:
            rows = self._do("SELECT id FROM jobs WHERE state='waiting' ORDER BY number LIMIT 1")
            if not rows:
                return None
            self._do(
                "UPDATE jobs SET state='running', started=?, tries=tries+1 WHERE id=?",
                time.time(),
                rows[0][0],
            )
            return self.get(rows[0][0])

    def report(self, id: str, stage: str, done: int, total: int) -> None:
        """Note the progress of a job, in memory only."""
        self._progress[id] = (stage, done, total)

    def finish(self, id: str, state: State, error: str = "", metrics: Sequence[str] = ()) -> None:
        """Record how a job ended and which metrics it computed."""
        self._progress.pop(id, None)
        if metrics and (job := self.get(id)) is not None:
            self._do(
                "UPDATE jobs SET request=? WHERE id=?",
                json.dumps({**job.request, "metrics": list(metrics)}, ensure_ascii=False),
                id,
            )
        self._do(
            "UPDATE jobs SET state=?, ended=?, error=? WHERE id=?", state, time.time(), error, id
        )

    def delete(self, id: str) -> None:
        """Remove a job with all its files."""
        folder = self.place(id)
        self._do("DELETE FROM jobs WHERE id=?", id)
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -------------------------------------------------------- SQL

    def _do(self, sql: str, *values: object) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as fault:
                raise RunError(
                    f"the list of jobs cannot be used ({fault})",
                    where=str(self.folder / FILE),
                    next="check the free space on the disk, then start the server again",
                ) from fault

    def _job(self, row: tuple[Any, ...]) -> Job:
        id, title, state, request, *rest = row
        job = Job(id, title, state, json.loads(request), *rest)
        return replace(job, progress=self._progress.get(id))
