"""The persistent cache: one SQLite file (WAL) of small values by content hash, shared by processes, self-repairing.

Every value has a checksum: a value that was damaged on disk is dropped and computed again, never used.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from wholetext.errors import CacheError

T = TypeVar("T")
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


def note_damage(note: str) -> None:
    """Note that something that is kept between runs was damaged, where there is no ``Cache`` to note it."""
    _damage.append(note)


def damage_notes() -> list[str]:
    """What ``note_damage`` was told since the last call."""
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
    """Values by key. A damaged value is dropped, a damaged file is set aside and a new one begun; ``notes`` says so."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_path()
        self._events: list[str] = []
        self._dropped = 0
        self._db = self._open()

    @property
    def notes(self) -> list[str]:
        """What was found damaged."""
        if not self._dropped:
            return list(self._events)
        what = "1 value of the cache" if self._dropped == 1 else f"{self._dropped} values of the cache"
        return [*self._events, f"{what} {self.path} had a wrong checksum: dropped, and computed again"]

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there, by key."""
        found: dict[bytes, bytes] = {}
        bad: list[bytes] = []

        def read(part: Sequence[bytes]) -> None:
            marks = ",".join("?" * len(part))
            query = f"SELECT key, kind, value, checksum FROM checked_items WHERE key IN ({marks})"
            for key, kind, value, stored in self._db.execute(query, part):
                if _is_whole(key, kind, value, stored):
                    found[key] = value
                else:
                    bad.append(key)

        for begin in range(0, len(keys), _CHUNK):
            self._guarded(lambda: read(keys[begin : begin + _CHUNK]), None)  # noqa: B023 - called at once
        self._drop(bad)
        return found

    def put(self, kind: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        """Store values; all of them or none, and safely beside other processes."""
        rows = [(key, kind, value, checksum(key, kind, value)) for key, value in items]

        def write() -> None:
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO checked_items VALUES (?, ?, ?, ?)", rows)

        self._guarded(write, None)

    def info(self) -> CacheInfo:
        def count() -> tuple[dict[str, int], int]:
            rows = self._db.execute("SELECT kind, count(*) FROM checked_items GROUP BY kind ORDER BY kind").fetchall()
            old = self._db.execute("SELECT count(*) FROM items").fetchone()[0] if self._has_old() else 0
            return {_text(kind): int(number) for kind, number in rows}, int(old)

        nothing: tuple[dict[str, int], int] = ({}, 0)
        counts, old = self._guarded(count, nothing)
        return CacheInfo(self.path, self.path.stat().st_size, counts, old)

    def clear(self, kind: str | None = None) -> int:
        """Drop everything, or everything of one kind; returns how many values went."""

        def drop() -> int:
            with self._db:
                if kind is not None:
                    return self._db.execute("DELETE FROM checked_items WHERE kind = ?", (kind,)).rowcount
                gone = self._db.execute("DELETE FROM checked_items").rowcount
                return gone + (self._db.execute("DELETE FROM items").rowcount if self._has_old() else 0)

        gone = self._guarded(drop, 0)
        self._guarded(lambda: self._db.execute("VACUUM"), None)
        return gone

    def close(self) -> None:
        self._db.close()

    def _has_old(self) -> bool:
        return bool(self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'items'").fetchone())

    def _drop(self, bad: Sequence[bytes]) -> None:
        """Remove damaged values, so that they are noted once."""
        self._dropped += len(bad)

        def remove() -> None:
            with self._db:
                gone = self._db.executemany("DELETE FROM checked_items WHERE key = ?", [(key,) for key in bad]).rowcount
            if gone < len(bad):
                raise sqlite3.DatabaseError("a damaged value cannot be removed")

        if bad:
            self._guarded(remove, None)

    # -------------------------------------------------------- the file

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _connect(self.path)
        except _FAULTS as fault:
            self._rename(fault)
            return self._connect_again()
        except (OSError, ValueError) as fault:
            raise CacheError(f"the cache cannot be opened ({fault})", where=str(self.path), next=_REMEDY) from fault

    def _guarded(self, act: Callable[[], T], otherwise: T) -> T:
        """Do something with the file; if it is damaged, set it aside: that must not cost the user the run."""
        try:
            return act()
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError):  # a mistake of ours, not damage
            raise
        except _FAULTS as fault:
            self._db.close()
            self._rename(fault)
            self._db = self._connect_again()
            return otherwise

    def _rename(self, fault: Exception) -> None:
        """Begin a new file, keep the damaged one for inspection; an error where the fault is none of the file's."""
        text = "it names things that are not UTF-8" if isinstance(fault, UnicodeDecodeError) else str(fault)
        told = f"{text} {getattr(fault, 'sqlite_errorname', '')}"
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        # a damaged header makes SQLite take a file for read-only
        if any(word in told for word in _ENVIRONMENT) and not ("readonly" in text and writable):
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

    def _connect_again(self) -> sqlite3.Connection:
        try:
            return _connect(self.path)
        except sqlite3.Error as fault:
            raise CacheError(f"the cache cannot be opened ({fault})", where=str(self.path), next=_REMEDY) from fault


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


def _is_whole(key: object, kind: object, value: object, stored: object) -> bool:
    if not isinstance(key, bytes) or not isinstance(value, bytes):  # a damaged record may have any type
        return False
    return stored == checksum(key, _text(kind), value)


def _text(kind: object) -> str:
    return kind.decode("utf-8", "replace") if isinstance(kind, bytes) else str(kind)
