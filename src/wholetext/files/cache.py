"""The persistent cache: one SQLite file (WAL) of small values by content hash, shared by processes.

Every value has a checksum: a value that was damaged on disk is a miss.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wholetext.errors import CacheError

_PATIENCE = 60.0  # seconds to wait for other processes
_SETUP = """PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS checked_items
    (key BLOB PRIMARY KEY, kind TEXT NOT NULL, value BLOB NOT NULL, checksum BLOB NOT NULL)
    WITHOUT ROWID;"""
_CHUNK = 500  # keys per SELECT; SQLite allows at least 999 variables
_REMEDY = "delete the file, choose another with WHOLETEXT_CACHE=…, or run with --no-cache"
# raised by SQLite over damaged files
_FAULTS = (sqlite3.Error, OSError, ValueError, MemoryError, OverflowError)


def content_key(*parts: object) -> bytes:
    """Return a 20-byte key of JSON-ready parts; unambiguous, because JSON is."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=20).digest()


def checksum(key: bytes, kind: str, value: bytes) -> bytes:
    """Return 8 bytes over everything that is stored of a value."""
    digest = hashlib.blake2b(key, digest_size=8, person=b"wholetext cache")
    digest.update(f"{len(key)} {kind}\0".encode() + value)
    return digest.digest()


@dataclass(frozen=True)
class CacheInfo:
    """The contents of a cache file."""

    path: Path
    bytes: int
    counts: Mapping[str, int]  # kind → number of values


class Cache:
    """Cached values by key, by default in ``$WHOLETEXT_CACHE`` or in the user's cache folder."""

    def __init__(self, path: Path | None = None) -> None:
        root = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        default = os.environ.get("WHOLETEXT_CACHE") or root / "wholetext" / "cache.sqlite"
        self.path = path or Path(default)
        with self._faults():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False)
            self._set_up()

    def _set_up(self) -> None:
        """Make the tables; SQLite's own timeout does not cover the change to a write-ahead log."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._db.executescript(_SETUP)
                return
            except sqlite3.OperationalError as fault:
                if "locked" not in str(fault) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the stored and undamaged values, by key."""
        values: dict[bytes, bytes] = {}
        for begin in range(0, len(keys), _CHUNK):
            part = keys[begin : begin + _CHUNK]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, kind, value, checksum FROM checked_items WHERE key IN ({marks})"
            with self._faults(), self._db as db:
                values |= {
                    key: value
                    for key, kind, value, stored in db.execute(query, part)
                    if isinstance(value, bytes) and stored == checksum(key, kind, value)
                }
        return values

    def put(self, kind: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store values, all or none; safe with concurrent processes."""
        rows = [(key, kind, value, checksum(key, kind, value)) for key, value in items]
        with self._faults(), self._db as db:
            db.executemany("INSERT OR REPLACE INTO checked_items VALUES (?, ?, ?, ?)", rows)

    def info(self) -> CacheInfo:
        """Return the size of the file and the number of values by kind."""
        with self._faults(), self._db as db:
            rows = db.execute(
                "SELECT kind, count(*) FROM checked_items GROUP BY kind ORDER BY kind"
            ).fetchall()
        return CacheInfo(self.path, self.path.stat().st_size, dict(rows))

    def clear(self, kind: str | None = None) -> int:
        """Delete all values, or those of one kind; return their number."""
        with self._faults():
            with self._db as db:
                query = "DELETE FROM checked_items WHERE ?1 IS NULL OR kind = ?1"
                dropped = db.execute(query, (kind,)).rowcount
            self._db.execute("VACUUM")
        return dropped

    def close(self) -> None:
        """Close the file; the cache cannot be used afterwards."""
        self._db.close()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Convert errors of SQLite and of the disk to a CacheError."""
        try:
            yield
        except _FAULTS as fault:
            raise CacheError(
                f"the cache cannot be used ({fault})", where=str(self.path), next=_REMEDY
            ) from fault


def remembered(kind: str, key: bytes, make: Callable[[], bytes]) -> bytes:
    """Return the cached value, or make and store it."""
    with suppress(CacheError), closing(Cache()) as cache:
        value = cache.get([key]).get(key)
        if value is None:
            value = make()
            cache.put(kind, [(key, value)])
        return value
    return make()
