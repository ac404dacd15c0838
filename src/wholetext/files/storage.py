"""Atomic writes: a temporary file is synced, then renamed.

A killed process or a full disk leaves the old file or the new one, never a part of either.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from platform import node
from typing import Any, BinaryIO, cast

from wholetext.errors import WholetextError, WriteError

FilePath = str | os.PathLike[str]
_HOST, _PROCESS = hashlib.blake2b(node().encode(), digest_size=3).hexdigest(), secrets.token_hex(4)
_COUNT = itertools.count()
_NAME = re.compile(r"\.wholetext-([0-9a-f]{6})-([0-9]{1,7})-([0-9a-f]{8})-[0-9]+\.(part|staged)")
# seconds without a change after which a temporary file of another machine is a leftover
_ABANDONED = 24 * 3600

_REASONS = {
    errno.ENOSPC: ("the disk is full", "free some space, or write to another disk"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or write to another disk"),
    errno.EFBIG: (
        "the file would be larger than is allowed here",
        "raise the limit (ulimit -f), or write elsewhere",
    ),
    errno.EROFS: ("the disk is read-only", "write to another place"),
    errno.EACCES: (
        "permission denied",
        "change the permissions of the folder, or write to another place",
    ),
    errno.EISDIR: ("it is a folder", "give the name of a file"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "write to another place"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter name"),
    errno.EIO: ("the disk reports an error", "write to another disk"),
}
_REASONS |= {errno.EPERM: _REASONS[errno.EACCES], errno.EEXIST: _REASONS[errno.ENOTDIR]}


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
    if "\0" in name:
        raise error(
            "there is a NUL character in the name", where=repr(name), next="choose another name"
        )
    with refusing(name, error):
        mode = None
        with suppress(FileNotFoundError):
            mode = os.stat(name).st_mode  # noqa: PTH116 - a name may be impossible for pathlib
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is not None and not stat.S_ISREG(mode):
            yield Path(name)
            return
        target = Path(os.path.realpath(name))  # a link to a file stays a link
        target.parent.mkdir(parents=True, exist_ok=True)
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        remove_leftovers(target.parent)
        beside = temporary(target.parent)
        try:
            yield beside
            if mode is not None:
                beside.chmod(stat.S_IMODE(mode))
            sync(beside)
            beside.replace(target)
            sync(target.parent)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def sha256(path: Path, digest: Any = None) -> str:
    """Return the SHA-256 of a file, or another ``digest`` of hashlib."""
    digest = digest or hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return str(digest.hexdigest())


def sync(path: Path) -> None:
    """Wait until a file, or the list of names of a folder, is on the disk."""
    folder = path.is_dir()
    if folder and os.name != "posix":
        return
    number = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(number)
    except OSError as fault:
        # some file systems sync no folders
        if not folder or fault.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(number)


@contextmanager
def refusing(
    where: str, error: type[WholetextError] = WriteError, what: str = "this file"
) -> Iterator[None]:
    """Convert an OSError about writing into an ``error`` with the reason and a remedy."""
    try:
        yield
    except OSError as fault:
        reason, remedy = _REASONS.get(
            fault.errno or 0, (fault.strerror or str(fault), "write to another place")
        )
        raise error(f"{what} cannot be written: {reason}", where=where, next=remedy) from fault
    except UnicodeEncodeError as fault:
        raise error(
            f"{what} cannot be written as UTF-8: "
            f"{fault.object[fault.start]!r} is half of a character",
            where=where,
            next="the text or the name was cut inside a character: repair it",
        ) from None


# ---------------------------------------------------------------- temporary names


def temporary(folder: Path, ending: str = "part") -> Path:
    """Return a unique name with the process and the machine that write it."""
    return folder / f".wholetext-{_HOST}-{os.getpid()}-{_PROCESS}-{next(_COUNT)}.{ending}"


def is_temporary(name: str) -> bool:
    """Tell whether ``temporary`` makes such names."""
    return _NAME.fullmatch(name) is not None


def remove_leftovers(folder: Path, ending: str = "part") -> None:
    """Remove temporary files (``staged``: folders) of processes that are dead."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            name = _NAME.fullmatch(entry.name)
            if name is None or name[4] != ending or _in_use(name, entry):
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - scandir gives strings


def _in_use(name: re.Match[str], entry: os.DirEntry[str]) -> bool:
    host, pid, process = name[1], int(name[2]), name[3]
    if host != _HOST:
        with suppress(OSError):
            return time.time() - entry.stat(follow_symlinks=False).st_mtime < _ABANDONED
        return False
    if pid == os.getpid():  # numbers are used again: in a container every process may be number 1
        return process == _PROCESS
    if os.name != "posix":  # there a signal 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except OSError as fault:
        return not isinstance(fault, ProcessLookupError)  # else it is another user's
    return True
