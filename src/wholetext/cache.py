"""The persistent cache: one SQLite file (WAL) of small values by content hash, shared by processes, self-repairing."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wholetext.errors import CacheError

_SCHEMA = """CREATE TABLE IF NOT EXISTS items
    (key BLOB PRIMARY KEY, kind TEXT NOT NULL, value BLOB NOT NULL) WITHOUT ROWID"""
_CHUNK = 500  # keys per SELECT; SQLite allows at least 999 variables


def default_path() -> Path:
    """``$WHOLETEXT_CACHE`` or ``wholetext/cache.sqlite`` in the user's cache folder."""
    given = os.environ.get("WHOLETEXT_CACHE")
    if given:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "wholetext" / "cache.sqlite"


def content_key(*parts: object) -> bytes:
    """A 20-byte key of JSON-ready parts; unambiguous, because JSON is."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=20).digest()


@dataclass(frozen=True)
class CacheInfo:
    """What a cache file holds."""

    path: Path
    bytes: int
    counts: Mapping[str, int]  # kind → number of values


class Cache:
    """Values by key. A damaged file is set aside and a new one begun; ``notes`` says so."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self.notes: list[str] = []
        self._db = self._open()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there, by key."""
        found: dict[bytes, bytes] = {}
        try:
            for begin in range(0, len(keys), _CHUNK):
                part = keys[begin : begin + _CHUNK]
                marks = ",".join("?" * len(part))
                found.update(self._db.execute(f"SELECT key, value FROM items WHERE key IN ({marks})", part))
        except sqlite3.DatabaseError as fault:
            self._set_aside(fault)
        return found

    def put(self, kind: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store values; all of them or none, and safely beside other processes."""
        rows = [(key, kind, value) for key, value in items]
        try:
            with self._db:
                self._db.executemany("INSERT OR IGNORE INTO items VALUES (?, ?, ?)", rows)
        except sqlite3.DatabaseError as fault:
            self._set_aside(fault)

    def info(self) -> CacheInfo:
        counts: dict[str, int] = {}
        try:
            counts.update(self._db.execute("SELECT kind, count(*) FROM items GROUP BY kind ORDER BY kind"))
        except sqlite3.DatabaseError as fault:
            self._set_aside(fault)
        return CacheInfo(self.path, self.path.stat().st_size, counts)

    def clear(self, kind: str | None = None) -> int:
        """Drop everything, or everything of one kind; returns how many values went."""
        gone = 0
        try:
            with self._db:
                if kind is None:
                    gone = self._db.execute("DELETE FROM items").rowcount
                else:
                    gone = self._db.execute("DELETE FROM items WHERE kind = ?", (kind,)).rowcount
            self._db.execute("VACUUM")
        except sqlite3.DatabaseError as fault:
            self._set_aside(fault)
        return gone

    def close(self) -> None:
        self._db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _connect(self.path)
        except sqlite3.DatabaseError as fault:
            if isinstance(fault, sqlite3.OperationalError) and "not a database" not in str(fault):
                raise CacheError(f"the cache cannot be opened ({fault})", where=str(self.path), next=_REMEDY) from fault
            self._rename(fault)
            return _connect(self.path)
        except OSError as fault:
            raise CacheError(f"the cache cannot be opened ({fault})", where=str(self.path), next=_REMEDY) from fault

    def _set_aside(self, fault: sqlite3.DatabaseError) -> None:
        """A damaged file must not cost the user the run: begin a new one, keep the old one for inspection."""
        text = str(fault)
        damaged = any(word in text for word in ("malformed", "not a database", "disk I/O"))
        if isinstance(fault, sqlite3.OperationalError) and not damaged:
            raise CacheError(f"the cache cannot be used ({fault})", where=str(self.path), next=_REMEDY) from fault
        self._db.close()
        self._rename(fault)
        self._db = _connect(self.path)

    def _rename(self, fault: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}")
        try:
            self.path.rename(aside)
        except FileNotFoundError:  # another process was faster
            return
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self.notes.append(f"the cache {self.path} was damaged ({fault}); it was set aside as {aside.name}")


_REMEDY = "choose another file with WHOLETEXT_CACHE=…, or run with --no-cache"


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute(_SCHEMA)
    db.execute("SELECT key FROM items LIMIT 1").fetchone()
    return db
