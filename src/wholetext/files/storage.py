"""Atomic writes: a temporary file is synced, then renamed.

A killed process or a full disk leaves the old file or the new one, never a part of either.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from wholetext.errors import WholetextError, WriteError

FilePath = str | os.PathLike[str]


def write_file(
    path: FilePath, content: str | bytes, error: type[WholetextError] = WriteError
) -> None:
    """Write a file atomically; text is UTF-8. Parent folders are created."""
    with writing(path, error) as out:
        out.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextmanager
def writing(path: FilePath, error: type[WholetextError] = WriteError) -> Iterator[BinaryIO]:
    """Yield a file that replaces ``path`` when the block ends, and is removed if it fails."""
    with replacing(path, error) as beside, beside.open("wb") as out:
        yield cast(BinaryIO, out)


@contextmanager
def replacing(path: FilePath, error: type[WholetextError] = WriteError) -> Iterator[Path]:
    """Yield a path that replaces ``path`` likewise. Devices and pipes are written directly."""
    name = os.fspath(path)
    with refusing(name, error):
        target = Path(os.path.realpath(name))  # a link to a file stays a link
        exists = target.exists()
        if exists and not target.is_file() and not target.is_dir():
            yield target
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if exists and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        beside = target.with_name(f".wholetext-{secrets.token_hex(8)}.part")
        try:
            yield beside
            if exists:
                shutil.copymode(target, beside)
            sync(beside)
            beside.replace(target)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def refuse_foreign(path: Path, mark: bytes, kind: str, option: str) -> None:
    """Raise if a file that does not begin as one of this ``kind``, with ``mark``, would be replaced."""
    with suppress(OSError):  # writing will tell
        head = path.read_bytes()[:4096] if path.is_file() else b""
        if head and mark not in head:
            raise WriteError(
                f"this file is not {kind}, and would be replaced",
                where=str(path),
                next=f"choose another file with {option}",
            )


def sha256(path: Path, digest: Any = None) -> str:
    """Return the SHA-256 of a file, or another ``digest`` of hashlib."""
    digest = digest or hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return str(digest.hexdigest())


def sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def refusing(
    where: str, error: type[WholetextError] = WriteError, what: str = "this file"
) -> Iterator[None]:
    """Convert an OSError about writing into an ``error`` with the reason and a remedy."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else None
        raise error(
            f"{what} cannot be written: {reason or fault}",
            where=where,
            next="write to another place, or make this one writable (space, permissions, name)",
        ) from fault
