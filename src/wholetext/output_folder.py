"""Folders whose files change all at once, and in which files of other people stay.

New files are staged in a hidden folder inside the target. A journal, renamed into place, is the commit point: from then
on the new files count, although they are still being moved. Readers look through a journal they find; the next writer
finishes the moves. Before the journal only the staged files exist, and the older files count.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wholetext.errors import WholetextError
from wholetext.storage import is_temporary, refusing, remove_leftovers, sync, temporary, write_file

JOURNAL = ".wholetext-journal.json"


@dataclass(frozen=True)
class Kind:
    """What is to be known of a kind of folder."""

    noun: str  # as messages call it
    names: re.Pattern[str]  # the files that are written
    written: Callable[[Path], Mapping[str, str] | None]
    """Files that wholetext wrote into a folder earlier, with their SHA-256 ("" where it is not known); None where the
    folder is of another kind."""
    error: type[WholetextError]
    ignored: re.Pattern[str] = re.compile(r"(?!)")  # entries of other programs that do not make a folder foreign


@dataclass(frozen=True)
class Journal:
    """New files that count already and have not all been moved."""

    staged: Path
    files: tuple[str, ...]
    remove: Mapping[str, str]  # files of the older writing that the new one does not have, with their SHA-256


def check(folder: Path, kind: Kind) -> None:
    """An error, before any work, where a folder of this kind cannot be written; leaves nothing behind."""
    with changing(folder, kind, trial=True):
        pass


@contextmanager
def changing(folder: Path, kind: Kind, trial: bool = False) -> Iterator[Path]:
    """A new folder to write files into; they take their places in ``folder`` when the block ends, all or none."""
    if "\0" in str(folder):
        raise kind.error("there is a NUL character in the name", where=repr(str(folder)), next="choose another --out")
    folder = Path(os.path.realpath(folder))  # a link to a folder stays a link
    with refusing(str(folder), kind.error, f"the {kind.noun}"):
        if folder.exists() and not folder.is_dir():
            raise kind.error(f"it is a file, not a {kind.noun}", where=str(folder), next="choose another --out")
        made, staged = _make(folder), temporary(folder, "staged")
        try:
            with locked(folder):
                _ours(folder, kind)
            staged.mkdir()
            yield staged
            if not trial:
                _commit(folder, staged, kind)
        finally:
            if not _is_committed(folder, staged):
                shutil.rmtree(staged, ignore_errors=True)
            for path in made:
                with suppress(OSError):  # not empty: what we came for is in it
                    path.rmdir()


def finish(folder: Path, kind: Kind) -> None:
    """Finish a writing that was interrupted after its commit point; nothing to do in any other case."""
    if os.path.exists(folder / JOURNAL):  # noqa: PTH110 - pathlib raises where a name is too long
        with refusing(str(folder), kind.error, "the rest of an interrupted writing"), locked(folder):
            _roll_forward(folder, kind)


def current(folder: Path, name: str, kind: Kind) -> Path:
    """Where a file of the folder is now: in its place, or still staged."""
    journal = _read_journal(folder, kind)
    if journal is not None and (name in journal.remove or (journal.staged / name).is_file()):
        return journal.staged / name
    return folder / name


@contextmanager
def locked(folder: Path, shared: bool = False) -> Iterator[None]:
    """No other process changes the files of the folder meanwhile; where there are no such locks, do without."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # file systems without locks
            fcntl.flock(number, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


# ---------------------------------------------------------------- committing


def _commit(folder: Path, staged: Path, kind: Kind) -> None:
    names = sorted(path.name for path in staged.iterdir())
    strange = [name for name in names if not kind.names.fullmatch(name)]
    assert not strange, f"{strange} would not be recognised as files of a {kind.noun}"
    for name in names:
        sync(staged / name)
    sync(staged)
    with locked(folder):
        older = _ours(folder, kind)
        remove = {name: digest for name, digest in older.items() if name not in names}
        content = {"staged": staged.name, "files": names, "remove": remove}
        write_file(folder / JOURNAL, json.dumps(content, indent=1), kind.error)
        _roll_forward(folder, kind)


def _roll_forward(folder: Path, kind: Kind) -> None:
    """Move what a journal lists; may be repeated at any point."""
    journal = _read_journal(folder, kind)
    if journal is None:
        return
    for name in journal.files:
        with suppress(FileNotFoundError):  # moved already
            (journal.staged / name).replace(folder / name)
    for name, digest in journal.remove.items():
        path = folder / name
        if path.is_file() and digest in ("", sha256(path)):
            path.unlink()
    sync(folder)
    (folder / JOURNAL).unlink()
    shutil.rmtree(journal.staged, ignore_errors=True)


def _ours(folder: Path, kind: Kind) -> dict[str, str]:
    """The files an earlier writing left here; an error where anything of another origin is in the way."""
    _roll_forward(folder, kind)
    remove_leftovers(folder, "staged")
    ours = kind.written(folder)
    names = sorted(path.name for path in folder.iterdir())
    if ours is None:
        foreign = [name for name in names if not is_temporary(name) and not kind.ignored.fullmatch(name)]
        if foreign:
            raise kind.error(f"the folder holds {foreign[0]!r} and is not a {kind.noun}", where=str(folder),
                             next="choose another --out")
        return {}
    found = {name: digest for name, digest in ours.items() if name in names and kind.names.fullmatch(name)}
    for name in names:
        path = folder / name
        if not kind.names.fullmatch(name):
            continue
        if name not in found or not path.is_file():
            raise kind.error("wholetext would replace this, and did not write it", where=str(path),
                             next="move it elsewhere, or choose another --out")
        if found[name] not in ("", sha256(path)):
            raise kind.error("wholetext would replace this file, and it was changed since it was written",
                             where=str(path), next="move it elsewhere, or choose another --out")
    return found


def _read_journal(folder: Path, kind: Kind) -> Journal | None:
    path = folder / JOURNAL
    try:
        found = json.loads(path.read_bytes())
        staged, files, remove = found["staged"], found["files"], found["remove"]
        if not is_temporary(staged) or not all(kind.names.fullmatch(name) for name in [*files, *remove]):
            raise ValueError("it names other files")
        return Journal(folder / staged, tuple(files), dict(remove))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise kind.error(f"the record of an interrupted writing is damaged ({fault})", where=str(path),
                         next="write to another folder, or delete this file") from None


def _is_committed(folder: Path, staged: Path) -> bool:
    try:
        return staged.name in (folder / JOURNAL).read_text("utf-8", "replace")
    except OSError:
        return False


def _make(folder: Path) -> list[Path]:
    """Make a folder; the folders that were not there, innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
