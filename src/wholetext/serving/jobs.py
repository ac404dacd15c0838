"""Jobs in one SQLite file: they survive a restart, and one that was running then is started again."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from wholetext.errors import InputError, RunError
from wholetext.files.parsing import read_json
from wholetext.files.storage import refusing

FILE, ID = "jobs.sqlite", r"[0-9a-f]{32}"
TRIES = 3  # times that a job is started, where the server ended while it ran
State = Literal["waiting", "running", "done", "failed", "cancelled"]
_COLUMNS = "id, title, state, request, created, started, ended, tries, error"
_SCHEMA = """CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, title TEXT NOT NULL, state TEXT NOT NULL,
    request TEXT NOT NULL, created REAL NOT NULL, started REAL, ended REAL, tries INTEGER NOT NULL, error TEXT NOT NULL
)"""


@dataclass(frozen=True)
class Job:
    """One request for scores. ``request`` is what to read and how, as the worker takes it."""

    id: str
    title: str
    state: State
    request: Mapping[str, Any]
    created: float
    started: float | None = None
    ended: float | None = None
    tries: int = 0
    error: str = ""
    progress: tuple[str, int, int] | None = field(default=None, compare=False)  # stage, done, of

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running")


class Jobs:
    """The jobs of a data folder. One process uses a folder at a time; threads share the object."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._lock = folder, threading.RLock()
        self._progress: dict[str, tuple[str, int, int]] = {}
        with refusing(str(folder), RunError, "the data folder"):
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()) and not (folder / FILE).exists():
                raise RunError(
                    "this folder has other files in it",
                    where=str(folder),
                    next="choose an empty or a new folder for --data",
                )
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
        except sqlite3.OperationalError as fault:
            if "locked" in str(fault):
                raise RunError(
                    "another server uses this data folder",
                    where=str(self.folder),
                    next="end it first, or choose another folder with --data",
                ) from None
            raise RunError(
                f"the list of jobs cannot be opened ({fault})",
                where=str(self.folder / FILE),
                next="check the permissions of the folder and the free space",
            ) from None
        except sqlite3.DatabaseError as fault:
            raise RunError(
                f"the list of jobs is damaged ({fault})",
                where=str(self.folder / FILE),
                next="move the file away; the folders in jobs/ hold what was computed",
            ) from None
        return db

    def _resume(self) -> None:
        """Running jobs wait again; those of programs that waited for an answer are dropped with their connection.

        Folders of uploads that never became a job are removed.
        """
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
        """The folder of a job; ids are made by the server, and nothing else can be a path."""
        if not re.fullmatch(ID, id):
            raise InputError("there is no such job", where=id[:40])
        return self.folder / "jobs" / id

    # -------------------------------------------------------- changing

    def new_id(self) -> str:
        """An id with a folder for input files; the job exists when it is added."""
        id = secrets.token_hex(16)
        with refusing(str(self.folder), RunError, "the data folder"):
            (self.place(id) / "input").mkdir(parents=True)
        return id

    def add(self, id: str, title: str, request: Mapping[str, Any]) -> Job:
        text = json.dumps(dict(request), ensure_ascii=False)
        now = time.time()
        self._do(
            "INSERT INTO jobs (id, title, state, request, created, tries, error) VALUES (?, ?, ?, ?, ?, 0, '')",
            id,
            title,
            "waiting",
            text,
            now,
        )
        return Job(id, title, "waiting", request, now)

    def claim(self) -> Job | None:
        """The job that has waited longest, which runs from now on."""
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
        """Progress is kept in memory only."""
        self._progress[id] = (stage, done, total)

    def finish(self, id: str, state: State, error: str = "", metrics: Sequence[str] = ()) -> None:
        """Note how a job ended, and the ``metrics`` that it computed."""
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
        place = self.place(id)
        self._do("DELETE FROM jobs WHERE id=?", id)
        shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -------------------------------------------------------- SQL

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._db
            except sqlite3.Error as fault:
                raise RunError(
                    f"the list of jobs cannot be used ({fault})",
                    where=str(self.folder / FILE),
                    next="check the free space on the disk, then start the server again",
                ) from fault

    def _do(self, sql: str, *values: object) -> list[Any]:
        with self._guarded() as db:
            return db.execute(sql, values).fetchall()

    def _job(self, row: tuple[Any, ...]) -> Job:
        id, title, state, request, *rest = row
        asked = read_json(request, where=str(self.folder / FILE), error=RunError)
        return replace(Job(id, title, state, asked, *rest), progress=self._progress.get(id))
