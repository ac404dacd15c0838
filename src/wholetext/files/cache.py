"""The persistent cache: one SQLite file (WAL) of small values by content hash, shared by processes, self-repairing.

Every value has a checksum: a value that was damaged on disk is dropped and computed again, never used.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wholetext.errors import CacheError, count

# 0.1.0 has a table ``items`` without checksums; it is left alone, and its values are computed again
_SCHEMA = """CREATE TABLE IF NOT EXISTS checked_items
    (key BLOB PRIMARY KEY, kind TEXT NOT NULL, value BLOB NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID"""
_CHUNK = 500  # keys per SELECT; SQLite allows at least 999 variables
_REMEDY = "choose another file with WHOLETEXT_CACHE=…, or run with --no-cache"
# errors that are not damage: words of messages, and names of codes (Python 3.11)
_ENVIRONMENT = ("locked", "is full", "unable to open", "interrupted", "readonly", "_WRITE", "_FSYNC", "_SHMSIZE")
# what SQLite raises on damaged files; its messages quote them, and need not be UTF-8 then
_FAULTS = (sqlite3.Error, MemoryError, OverflowError, UnicodeDecodeError)


def default_path() -> Path:
    """``$WHOLETEXT_CACHE`` or ``wholetext/cache.sqlite`` in the user's cache folder."""
    given = os.environ.get("WHOLETEXT_CACHE")
    if given:
        return Path(given)
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "wholetext" / "cache.sqlite"
    except RuntimeError:
        raise CacheError("there is no home folder to put the cache in", next="set HOME, or WHOLETEXT_CACHE to a file, "
                         "or run with --no-cache") from None


_damage: list[str] = []


def note_damage(*notes: str) -> None:
    """Record damage to stored data outside of a ``Cache``."""
    _damage.extend(notes)


def damage_notes() -> list[str]:
    """The notes of ``note_damage`` since the last call."""
    found = list(dict.fromkeys(_damage))
    _damage.clear()
    return found


def content_key(*parts: object) -> bytes:
    """A 20-byte key of JSON-ready parts; unambiguous, because JSON is."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=20).digest()


def checksum(key: bytes, kind: str, value: bytes) -> bytes:
    """8 bytes over everything that is stored of a value."""
    digest = hashlib.blake2b(key, digest_size=8, person=b"wholetext cache")
    digest.update(f"{len(key)} {kind}\0".encode() + value)
    return digest.digest()


@dataclass(frozen=True)
class CacheInfo:
    """What a cache file holds."""

    path: Path
    bytes: int
    counts: Mapping[str, int]  # kind → number of values
    unused: int = 0  # values of wholetext 0.1.0, which have no checksums


class Cache:
    """Values by key. A damaged value is dropped, a damaged file is replaced by a new one; both are in ``notes``."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self._events: list[str] = []
        self._dropped = 0
        self._db = self._open()

    @property
    def notes(self) -> list[str]:
        """Notes on damaged entries."""
        if not self._dropped:
            return list(self._events)
        what = f"{count(self._dropped, 'value')} of the cache"
        return [*self._events, f"{what} {self.path} had a wrong checksum: dropped, and computed again"]

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there, by key. Damaged ones are removed, so that they are noted once."""
        found: dict[bytes, bytes] = {}
        bad: list[tuple[bytes]] = []
        for begin in range(0, len(keys), _CHUNK):
            part = keys[begin : begin + _CHUNK]
            query = f"SELECT key, kind, value, checksum FROM checked_items WHERE key IN ({','.join('?' * len(part))})"
            with self._repairing() as db:
                for key, kind, value, stored in db.execute(query, part):
                    whole = isinstance(key, bytes) and isinstance(value, bytes)  # else damaged
                    if whole and stored == checksum(key, _text(kind), value):
                        found[key] = value
                    else:
                        bad.append((key,))
        self._dropped += len(bad)
        if bad:
            with self._repairing() as db:
                if db.executemany("DELETE FROM checked_items WHERE key = ?", bad).rowcount < len(bad):
                    raise sqlite3.DatabaseError("a damaged value cannot be removed")
        return found

    def put(self, kind: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store values, all or none; safe with concurrent processes."""
        rows = [(key, kind, value, checksum(key, kind, value)) for key, value in items]
        with self._repairing() as db:
            db.executemany("INSERT OR REPLACE INTO checked_items VALUES (?, ?, ?, ?)", rows)

    def info(self) -> CacheInfo:
        counts, old = dict[str, int](), 0
        with self._repairing() as db:
            rows = db.execute("SELECT kind, count(*) FROM checked_items GROUP BY kind ORDER BY kind").fetchall()
            counts = {_text(kind): int(number) for kind, number in rows}
            old = int(db.execute("SELECT count(*) FROM items").fetchone()[0]) if _has_old(db) else 0
        return CacheInfo(self.path, self.path.stat().st_size, counts, old)

    def clear(self, kind: str | None = None) -> int:
        """Drop everything, or everything of one kind; returns how many values went."""
        gone = 0
        with self._repairing() as db:
            if kind is not None:
                gone = db.execute("DELETE FROM checked_items WHERE kind = ?", (kind,)).rowcount
            else:
                gone = db.execute("DELETE FROM checked_items").rowcount
                gone += db.execute("DELETE FROM items").rowcount if _has_old(db) else 0
        with self._repairing() as db:
            db.execute("VACUUM")
        return gone

    def close(self) -> None:
        self._db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and not self.path.is_file():
                raise ValueError("it is not a regular file")
            try:
                db = _connect(self.path)
            except _FAULTS as fault:
                self._rename(fault)
                db = _connect(self.path)
            self._inode = self.path.stat().st_ino
            return db
        except (OSError, ValueError, sqlite3.Error) as fault:
            raise CacheError(f"the cache cannot be opened ({fault})", where=str(self.path), next=_REMEDY) from fault

    @contextmanager
    def _repairing(self) -> Iterator[sqlite3.Connection]:
        """One transaction. If the file is damaged it is set aside, which must not cost the user the run."""
        try:
            with self._db as db:
                yield db
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError):  # a programming error, not damage
            raise
        except _FAULTS as fault:
            self._db.close()
            # else another connection of this run moved it away and noted it
            if self.path.exists() and self.path.stat().st_ino == self._inode:
                self._rename(fault)
            self._db = self._open()

    def _rename(self, fault: Exception) -> None:
        """Set the damaged file aside; an error if the fault is not the file's."""
        text = "it names things that are not UTF-8" if isinstance(fault, UnicodeDecodeError) else str(fault)
        unnamed = "_WRITE" if "disk I/O" in text else ""  # Python 3.10 has no codes; an error harms less
        described = f"{text} {getattr(fault, 'sqlite_errorname', unnamed)}"
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        # a damaged header makes SQLite take a file for read-only
        if any(word in described for word in _ENVIRONMENT) and not ("readonly" in text and writable):
            raise CacheError(f"the cache cannot be used ({text})", where=str(self.path), next=_REMEDY) from fault
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}")
        try:
            self.path.rename(aside)
            for ending in ("-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        except FileNotFoundError:  # another process was faster
            return
        except OSError as failed:
            raise CacheError(f"the cache is damaged ({text}) and cannot be moved aside ({failed.strerror})",
                             where=str(self.path), next=_REMEDY) from fault
        self._events.append(f"the cache {self.path} was damaged ({text}); it was set aside as {aside.name}")


def remembered(kind: str, key: bytes, make: Callable[[], bytes]) -> bytes:
    """What ``make`` gives, from the cache if it is there."""
    try:
        cache = Cache()
    except CacheError:
        return make()
    try:
        found = cache.get([key]).get(key)
        if found is None:
            found = make()
            cache.put(kind, [(key, found)])
        return found
    finally:
        note_damage(*cache.notes)
        cache.close()


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60, check_same_thread=False)
    try:
        db.text_factory = bytes  # text that was damaged need not be UTF-8
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(_SCHEMA)
        db.execute("SELECT key, kind, value, checksum FROM checked_items LIMIT 1").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _has_old(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = 'items'").fetchone())


def _text(kind: object) -> str:
    return kind.decode("utf-8", "replace") if isinstance(kind, bytes) else str(kind)
