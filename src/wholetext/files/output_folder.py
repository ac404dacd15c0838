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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wholetext.errors import WholetextError
from wholetext.files.parsing import read_json
from wholetext.files.storage import refusing, sha256, sync, write_file

OLD = ".{}.wholetext-old"  # the older folder, while the new one takes its name
LIST = ".wholetext-files.json"  # manifest: files that wholetext wrote, with their SHA-256
_FOREIGN = "wholetext would replace this, and did not write it, or it was changed since"
_REMEDY = "move it elsewhere, or choose another --out"


@dataclass(frozen=True)
class OwnFolder:
    """A kind of folder that holds one result of wholetext and is replaced as a whole."""

    noun: str
    names: re.Pattern[str]  # of files that wholetext writes
    written: Callable[[Path], Mapping[str, str] | None]
    """Files of an earlier result with their SHA-256 ("" where unknown), the manifest first; None
    where the folder is of another kind."""
    error: type[WholetextError]
    ignored: re.Pattern[str] = re.compile(r"(?!)")  # entries that do not make a folder foreign


@dataclass(frozen=True)
class SharedFolder:
    """Files for any folder, whose other files stay."""

    noun: str
    error: type[WholetextError]


# ---------------------------------------------------------------- folders that are replaced


@contextmanager
def replacing_folder(folder: Path, kind: OwnFolder, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a new folder that replaces ``folder`` when the block ends."""
    check_folder(folder, kind, overwrite=overwrite)
    target = Path(os.path.realpath(folder))
    with _staged(target.parent, folder, kind) as staged:
        yield staged
        for path in filter(Path.is_file, staged.iterdir()):
            sync(path)
        with _locked(target.parent):
            if target.exists():
                _check_own(target, kind, overwrite)  # another process may have been faster
            old = target.with_name(OLD.format(target.name))
            if old.is_dir():
                _carry(old, target, kind)  # what a killed process left to do
            if target.exists():
                shutil.copymode(target, staged)
                target.rename(old)
            staged.rename(target)
            if old.is_dir():
                _carry(old, target, kind)


def check_folder(folder: Path, kind: OwnFolder, *, overwrite: bool = True) -> None:
    """Raise, before any work, if the folder cannot be replaced."""
    target = Path(os.path.realpath(folder))
    restore(folder, kind.error)
    with _staged(next(filter(Path.exists, (*target.parents, target))), folder, kind):
        if target.exists():
            _check_own(target, kind, overwrite)


def restore(folder: Path, error: type[WholetextError]) -> None:
    """Put back an older folder that a killed process left aside."""
    target = Path(os.path.realpath(folder))
    with refusing(str(folder), error, "the folder that an interrupted command left"):
        # pathlib raises where a name is too long
        old = target.with_name(OLD.format(target.name)) if target.name else target
        if not os.path.lexists(target) and os.path.isdir(old):  # noqa: PTH112
            with _locked(target.parent):  # unless a running command is about to
                if not os.path.lexists(target):
                    old.rename(target)


def _check_own(folder: Path, kind: OwnFolder, overwrite: bool) -> None:
    written, what = None, f"this file is not a {kind.noun}"
    names, foreign = list[str](), [folder.name]
    if folder.is_dir():
        written, names = kind.written(folder), [path.name for path in sorted(folder.iterdir())]
        foreign = [name for name in names if not kind.ignored.fullmatch(name)]
        what = f"the folder holds {foreign[0]!r} and is not a {kind.noun}" if foreign else ""
    if written is None and foreign:
        raise kind.error(what, where=str(folder), next="choose another --out")
    if written is not None and not overwrite:
        raise kind.error(
            "there is a run here already",
            where=str(folder),
            next="choose another folder, or replace it with --overwrite (overwrite=True)",
        )
    for name in filter(kind.names.fullmatch, names):
        if not _replaceable(folder / name, (written or {}).get(name)):
            raise kind.error(_FOREIGN, where=str(folder / name), next=_REMEDY)


def _carry(old: Path, folder: Path, kind: OwnFolder) -> None:
    """Move files of others from the older folder to the new one, then remove the older."""
    written = [name for name in kind.written(old) or () if kind.names.fullmatch(name)]
    for path in list(old.iterdir()):
        if path.name not in written and not os.path.lexists(folder / path.name):
            path.rename(folder / path.name)
    for name in reversed(written):  # the manifest last
        (old / name).unlink(missing_ok=True)
    with suppress(OSError):
        old.rmdir()


# ---------------------------------------------------------------- folders of several commands


@contextmanager
def changing(folder: Path, kind: SharedFolder) -> Iterator[Path]:
    """Yield a folder for new files, which replace older ones when the block ends."""
    target = Path(os.path.realpath(folder))
    with _staged(target, folder, kind) as staged:
        yield staged
        digests = {
            path.relative_to(staged).as_posix(): sha256(path)
            for path in sorted(staged.rglob("*"))
            if path.is_file()
        }
        with _locked(target):
            written = _check_shared(target, kind, digests)
            for name in digests:
                sync(staged / name)
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (staged / name).replace(target / name)
            manifest = json.dumps({**written, **digests}, indent=1) + "\n"
            write_file(target / LIST, manifest, kind.error)


def check(folder: Path, kind: SharedFolder, names: Sequence[str] = ()) -> None:
    """Raise, before any work, if files of these names cannot be written."""
    target = Path(os.path.realpath(folder))
    with _staged(target, folder, kind):
        _check_shared(target, kind, dict.fromkeys(names, ""))


def read_list(folder: Path, error: type[WholetextError]) -> dict[str, str]:
    """Return files that wholetext wrote, with their SHA-256; none without a manifest."""
    path = folder / LIST
    digests = read_json(path.read_bytes(), where=str(path), error=error) if path.is_file() else {}
    if not isinstance(digests, dict) or not all(isinstance(d, str) for d in digests.values()):
        raise error("it is not a list of files", where=str(path), next="delete this file")
    return digests


def _check_shared(folder: Path, kind: SharedFolder, digests: Mapping[str, str]) -> dict[str, str]:
    """Check that new files replace only files of wholetext; return the manifest."""
    written = read_list(folder, kind.error)
    for name, digest in digests.items():
        path = folder / name
        parents = [folder / part for part in Path(name).parents[:-1]]
        blocked = any(parent.is_symlink() or parent.is_file() for parent in parents)
        if blocked or (os.path.lexists(path) and not _replaceable(path, written.get(name), digest)):
            raise kind.error(_FOREIGN, where=str(path), next=_REMEDY)
    return written


# ---------------------------------------------------------------- both


def _replaceable(path: Path, written: str | None, digest: str | None = None) -> bool:
    """Tell whether a file is as written ("": SHA-256 unknown), or as it is to be written."""
    return path.is_file() and (written == "" or sha256(path) in (written, digest))


@contextmanager
def _staged(parent: Path, folder: Path, kind: OwnFolder | SharedFolder) -> Iterator[Path]:
    """Yield a temporary folder in ``parent``; errors name ``folder`` instead."""
    with refusing(str(folder), kind.error, f"the {kind.noun}"):
        parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".wholetext-", dir=parent) as temporary:
            staged = Path(temporary, "staged")
            staged.mkdir()
            try:
                yield staged
            except WholetextError as fault:
                for path in (str(staged), os.path.realpath(folder)):
                    fault.where = fault.where.replace(path, str(folder))
                raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other writers; a no-op on systems without such locks."""
    try:
        from fcntl import LOCK_EX, flock
    except ImportError:  # Windows
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            flock(number, LOCK_EX)
        yield
    finally:
        os.close(number)
