"""Output folders: run and model folders are replaced as a whole, shared ones file by file.

A run folder is written beside its target and swapped in under a lock: the older folder is renamed
to ``.NAME.wholetext-old``, the new one takes its name, files of others are moved over, and the rest
is removed. A process killed between the two renames leaves the older folder under the hidden name;
``restore`` puts it back.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wholetext.errors import WholetextError
from wholetext.files.parsing import read_json
from wholetext.files.storage import (
    is_temporary,
    refusing,
    remove_leftovers,
    sha256,
    sync,
    temporary,
    write_file,
)

try:
    from fcntl import LOCK_EX, LOCK_NB, flock

    EXCLUSIVE = 0
except ImportError:  # Windows: the existence of the lock file is the lock
    EXCLUSIVE = os.O_EXCL

LIST = ".wholetext-files.json"  # manifest: files that wholetext wrote, with their SHA-256
_WAIT = 60.0  # seconds for a lock; it is held only while files are renamed
_FOREIGN = "wholetext would replace this, and did not write it, or it was changed since"
_REMEDY = "move it elsewhere, or choose another --out"


@dataclass(frozen=True)
class OwnFolder:
    """A kind of folder that holds one result of wholetext and is replaced as a whole."""

    noun: str
    names: re.Pattern[str]  # of files that wholetext writes
    written: Callable[[Path], Mapping[str, str] | None]
    """Files of an earlier result with their SHA-256 ("" where unknown), the manifest first; None where
    the folder is of another kind."""
    error: type[WholetextError]
    ignored: re.Pattern[str] = re.compile(r"(?!)")  # entries that do not make a folder foreign


@dataclass(frozen=True)
class SharedFolder:
    """Files for any folder, whose other files stay."""

    noun: str
    error: type[WholetextError]
    # files of 0.1.0, which wrote no manifest
    older: Callable[[Path], Mapping[str, str]] = lambda folder: {}


# ---------------------------------------------------------------- folders that are replaced


@contextmanager
def replacing_folder(
    folder: Path, kind: OwnFolder, *, overwrite: bool = True, trial: bool = False
) -> Iterator[Path]:
    """Yield a new folder that replaces ``folder`` when the block ends (``trial``: check only).

    Without ``overwrite`` only one of several concurrent writers succeeds; the folders of the others
    are kept under numbered names, which their errors state.
    """
    target = _real(folder, kind.error)
    staged, lock = temporary(target.parent, "staged"), _beside(target, "lock")
    with (
        _named(folder, staged, target),
        refusing(str(folder), kind.error, f"the {kind.noun}"),
        _with_parents(target.parent),
        _removed(staged),
    ):
        remove_leftovers(target.parent, "staged")
        with locked(lock, kind.error):
            _check_own(target, kind, overwrite)
        staged.mkdir(parents=True)
        yield staged
        if trial:
            return
        for path in (*staged.iterdir(), staged):
            sync(path)
        with locked(lock, kind.error):
            _swap(target, staged, kind, overwrite)


def check_folder(folder: Path, kind: OwnFolder, *, overwrite: bool = True) -> None:
    """Raise, before any work, if the folder cannot be replaced."""
    with replacing_folder(folder, kind, overwrite=overwrite, trial=True):
        pass


def restore(folder: Path, error: type[WholetextError]) -> None:
    """Put back an older folder that a killed process left aside."""
    target = os.path.realpath(folder) if "\0" not in str(folder) else ""
    old = _beside(Path(target), "old")
    # pathlib raises where a name is too long
    if not os.path.lexists(target) and os.path.isdir(old):  # noqa: PTH112
        what, lock = "the folder that an interrupted command left", _beside(Path(target), "lock")
        with refusing(target, error, what), locked(lock, error):
            if not os.path.lexists(target):
                old.rename(target)


def _check_own(folder: Path, kind: OwnFolder, overwrite: bool) -> None:
    old = _beside(folder, "old")
    if old.is_dir() and not folder.exists():
        old.rename(folder)
    if not folder.exists():
        return
    if not folder.is_dir():
        raise kind.error(
            f"it is a file, not a {kind.noun}", where=str(folder), next="choose another --out"
        )
    if os.path.ismount(folder) or folder == Path.cwd():
        raise kind.error(
            f"a {kind.noun} is replaced as a whole, "
            "which a mount point or the working directory cannot be",
            where=str(folder),
            next="give a folder inside it",
        )
    ours = kind.written(folder)
    names = sorted(path.name for path in folder.iterdir())
    foreign = [
        name for name in names if not is_temporary(name) and not kind.ignored.fullmatch(name)
    ]
    if ours is None and foreign:
        raise kind.error(
            f"the folder holds {foreign[0]!r} and is not a {kind.noun}",
            where=str(folder),
            next="choose another --out",
        )
    if ours is not None and not overwrite:
        raise kind.error(
            "there is a run here already",
            where=str(folder),
            next="choose another folder, or replace it with --overwrite (overwrite=True)",
        )
    for name in filter(kind.names.fullmatch, names):
        if not _replaceable(folder / name, (ours or {}).get(name)):
            raise kind.error(_FOREIGN, where=str(folder / name), next=_REMEDY)


def _swap(folder: Path, staged: Path, kind: OwnFolder, overwrite: bool) -> None:
    try:
        _check_own(folder, kind, overwrite)
    except WholetextError as fault:  # another process was faster
        fault.next = f"the results of this command are in {_keep(staged, folder)}"
        raise
    old = _beside(folder, "old")
    _carry(old, folder, kind)  # what a killed process left to do
    if folder.exists():
        shutil.copymode(folder, staged)
        folder.rename(old)
    staged.rename(folder)
    sync(folder.parent)
    _carry(old, folder, kind)


def _carry(old: Path, folder: Path, kind: OwnFolder) -> None:
    """Move files of others from the older folder to the new one, then remove the older."""
    if not old.is_dir():
        return
    ours = [name for name in kind.written(old) or () if kind.names.fullmatch(name)]
    for path in list(old.iterdir()):
        if path.name not in ours and not os.path.lexists(folder / path.name):
            path.rename(folder / path.name)
    for name in reversed(ours):  # the manifest last
        (old / name).unlink(missing_ok=True)
    with suppress(OSError):
        old.rmdir()


def _keep(staged: Path, folder: Path) -> Path:
    """Rename a folder that lost its place to the first free numbered name."""
    for number in range(2, 1000):
        path = folder.with_name(f"{folder.name}-{number}")
        if not os.path.lexists(path):
            with suppress(OSError):
                return staged.rename(path)
    return staged


# ---------------------------------------------------------------- folders of several commands


@contextmanager
def changing(
    folder: Path, kind: SharedFolder, trial: Sequence[str] | None = None
) -> Iterator[Path]:
    """Yield a folder for new files, which replace older ones when the block ends.

    The manifest is written last. With ``trial``, only check whether files of these names could be
    written.
    """
    target = _real(folder, kind.error)
    staged = temporary(target, "staged")
    with _named(folder, staged, target), refusing(str(folder), kind.error, f"the {kind.noun}"):
        if target.exists() and not target.is_dir():
            raise kind.error(
                f"it is a file, not a {kind.noun}", where=str(target), next="choose another --out"
            )
        with _with_parents(target), _removed(staged):
            remove_leftovers(target, "staged")
            _check_shared(target, kind, dict.fromkeys(trial or (), ""))
            staged.mkdir(parents=True)
            yield staged
            if trial is None:
                _move(target, staged, kind)


def check(folder: Path, kind: SharedFolder, names: Sequence[str] = ()) -> None:
    """Raise, before any work, if files of these names cannot be written."""
    with changing(folder, kind, names):
        pass


def read_list(folder: Path, error: type[WholetextError]) -> dict[str, str]:
    """Return files that wholetext wrote, with their SHA-256; none without a manifest."""
    path = folder / LIST
    if not path.is_file():
        return {}
    digests = read_json(path.read_bytes(), where=str(path), error=error)
    if not isinstance(digests, dict) or not all(
        isinstance(digest, str) for digest in digests.values()
    ):
        raise error(
            "it is not a list of files",
            where=str(path),
            next="delete this file, or choose another folder",
        )
    return digests


def _move(folder: Path, staged: Path, kind: SharedFolder) -> None:
    digests = {
        path.relative_to(staged).as_posix(): sha256(path)
        for path in sorted(staged.rglob("*"))
        if path.is_file()
    }
    with locked(folder / ".wholetext-lock", kind.error):
        ours = _check_shared(folder, kind, digests)
        for name in digests:
            sync(staged / name)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / name).replace(folder / name)
        write_file(folder / LIST, json.dumps({**ours, **digests}, indent=1) + "\n", kind.error)


def _check_shared(folder: Path, kind: SharedFolder, digests: Mapping[str, str]) -> dict[str, str]:
    """Check that new files replace only files of wholetext; return the manifest."""
    ours = read_list(folder, kind.error) or dict(kind.older(folder))
    for name, digest in digests.items():
        path = folder / name
        for parent in (folder / part for part in Path(name).parents[:-1]):
            if parent.is_symlink() or (parent.exists() and not parent.is_dir()):
                raise kind.error(
                    "a folder is needed here, and this is a file or a link to another place",
                    where=str(parent),
                    next=_REMEDY,
                )
        if os.path.lexists(path) and not _replaceable(path, ours.get(name), digest):
            raise kind.error(_FOREIGN, where=str(path), next=_REMEDY)
    return ours


def _replaceable(path: Path, written: str | None, digest: str | None = None) -> bool:
    """Tell whether a file is as written ("": SHA-256 unknown), or as it is to be written."""
    return path.is_file() and (written == "" or sha256(path) in (written, digest))


# ---------------------------------------------------------------- locks and names


@contextmanager
def locked(path: Path, error: type[WholetextError]) -> Iterator[None]:
    """Hold a lock file against other writers; with fcntl, one of a killed process is void."""
    number = _acquire(path, error)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        if number is not None:
            os.close(number)


def _acquire(path: Path, error: type[WholetextError]) -> int | None:
    end = time.monotonic() + _WAIT
    while time.monotonic() < end:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            number = os.open(path, os.O_CREAT | os.O_RDWR | EXCLUSIVE, 0o666)
        except FileExistsError:
            time.sleep(0.02)
            continue
        except FileNotFoundError:
            if path.parent.is_dir():  # else another writer removed its empty folders
                raise
            continue
        if EXCLUSIVE:
            os.close(number)
            return None
        if _is_locked(number, path):
            return number
        os.close(number)
        time.sleep(0.02)
    raise error(
        "another command is writing here",
        where=str(path),
        next="wait for it; if there is none, delete this file",
    )


def _is_locked(number: int, path: Path) -> bool:
    try:
        flock(number, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    with suppress(FileNotFoundError):  # the previous holder removed the file
        return os.path.samestat(os.fstat(number), path.stat())
    return False


def _beside(folder: Path, what: str) -> Path:
    return folder.parent / f".{folder.name}.wholetext-{what}"


def _real(folder: Path, error: type[WholetextError]) -> Path:
    """Resolve links: a link to a folder stays a link."""
    if "\0" in str(folder):
        raise error(
            "there is a NUL character in the name",
            where=repr(str(folder)),
            next="choose another --out",
        )
    return Path(os.path.realpath(folder))


@contextmanager
def _named(folder: Path, *hidden: Path) -> Iterator[None]:
    """Name the requested folder in errors, not the paths behind it."""
    try:
        yield
    except WholetextError as fault:
        for path in hidden:
            fault.where = fault.where.replace(str(path), str(folder))
        raise


@contextmanager
def _removed(staged: Path) -> Iterator[None]:
    """Remove a temporary folder at the end."""
    try:
        yield
    finally:
        shutil.rmtree(staged, ignore_errors=True)


@contextmanager
def _with_parents(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; remove those that are empty at the end."""
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for path in created:
            with suppress(OSError):  # not empty
                path.rmdir()
