"""Folders whose files change all at once, and in which files of other people stay.

New files are staged in a hidden folder inside the target. A journal, renamed into place, is the commit point: from then
on the new files count, although they are still being moved. Readers look through a journal they find; the next writer
finishes the moves. Before the journal only the staged files exist, and the older files count.
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

from wholetext.errors import WholetextError
from wholetext.files.parsing import file_bytes, read_json
from wholetext.files.storage import is_temporary, refusing, remove_leftovers, sha256, sync, temporary, write_file

JOURNAL = ".wholetext-journal.json"
LIST = ".wholetext-files.json"  # files that were written, with their SHA-256, where no file of the kind lists them

_PART = r"(?!\.\.?(?:/|$))[^/\0]+"
_RELATIVE = re.compile(f"{_PART}(?:/{_PART})*")  # names that lead nowhere else


@dataclass(frozen=True)
class Kind:
    """Description of a kind of output folder."""

    noun: str  # as messages call it
    names: re.Pattern[str]  # the files that are written
    written: Callable[[Path], Mapping[str, str] | None]
    """Files that wholetext wrote into a folder earlier, with their SHA-256 ("" where it is not known); None where the
    folder is of another kind."""
    error: type[WholetextError]
    ignored: re.Pattern[str] = re.compile(r"(?!)")  # entries of other programs that do not make a folder foreign
    shared: bool = False  # any folder is accepted, and its other files stay


@dataclass(frozen=True)
class Journal:
    """New files that count already and have not all been moved."""

    staged: Path
    files: tuple[str, ...]
    remove: Mapping[str, str]  # files of the older writing that the new one does not have, with their SHA-256


def check(folder: Path, kind: Kind, names: Sequence[str] = ()) -> None:
    """An error, before any work, if the folder or some of its files cannot be written."""
    with changing(folder, kind, names):
        pass


@contextmanager
def changing(folder: Path, kind: Kind, trial: Sequence[str] | None = None) -> Iterator[Path]:
    """A new folder to write files into; all are moved to ``folder`` when the block ends, or none. With ``trial``,
    only checks whether files of these names could be written.
    """
    if "\0" in str(folder):
        raise kind.error("there is a NUL character in the name", where=repr(str(folder)), next="choose another --out")
    folder = Path(os.path.realpath(folder))  # a link to a folder stays a link
    with refusing(str(folder), kind.error, f"the {kind.noun}"):
        if folder.exists() and not folder.is_dir():
            raise kind.error(f"it is a file, not a {kind.noun}", where=str(folder), next="choose another --out")
        made = [path for path in (folder, *folder.parents) if not path.exists()]  # innermost first
        folder.mkdir(parents=True, exist_ok=True)
        staged, committed = temporary(folder, "staged"), False
        try:
            with locked(folder):
                _ours(folder, kind, trial or ())
            staged.mkdir()
            yield staged
            if trial is None:
                _commit(folder, staged, kind)
        except WholetextError as fault:
            fault.where = fault.where.replace(f"/{staged.name}", "")  # the requested path
            raise
        finally:
            with suppress(OSError):
                committed = staged.name in (folder / JOURNAL).read_text("utf-8", "replace")
            if not committed:
                shutil.rmtree(staged, ignore_errors=True)
            for path in made:
                with suppress(OSError):  # not empty: what we came for is in it
                    path.rmdir()


def finish(folder: Path, error: type[WholetextError]) -> None:
    """Finish a writing that was interrupted after its commit point; nothing to do in any other case."""
    if os.path.exists(folder / JOURNAL):  # noqa: PTH110 - pathlib raises where a name is too long
        with refusing(str(folder), error, "the rest of an interrupted writing"), locked(folder):
            _roll_forward(folder, error)


def current(folder: Path, name: str, error: type[WholetextError]) -> Path:
    """Where a file of the folder is now: in its place, or still staged."""
    journal = _read_journal(folder, error)
    if journal is not None and (name in journal.remove or (journal.staged / name).is_file()):
        return journal.staged / name
    return folder / name


@contextmanager
def locked(folder: Path, shared: bool = False) -> Iterator[None]:
    """Lock the folder against other processes, where the system has such locks."""
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


# ---------------------------------------------------------------- committing


def _commit(folder: Path, staged: Path, kind: Kind) -> None:
    names = sorted(path.relative_to(staged).as_posix() for path in staged.rglob("*") if path.is_file())
    strange = [name for name in names if not kind.names.fullmatch(name)]
    assert not strange, f"{strange} would not be recognised as files of a {kind.noun}"
    for name in names:
        sync(staged / name)
    with locked(folder):
        older = _ours(folder, kind, names)
        remove = {} if kind.shared else {name: sha256(folder / name) for name in older if name not in names}
        if kind.shared:
            listed = {**older, **{name: sha256(staged / name) for name in names}}
            write_file(staged / LIST, json.dumps(listed, indent=1) + "\n", kind.error)
            names.append(LIST)
        for path in (staged, *(path for path in staged.rglob("*") if path.is_dir())):
            sync(path)
        content = {"staged": staged.name, "files": names, "remove": remove}
        write_file(folder / JOURNAL, json.dumps(content, indent=1), kind.error)
        _roll_forward(folder, kind.error)


def _roll_forward(folder: Path, error: type[WholetextError]) -> None:
    """Move what a journal lists; may be repeated at any point."""
    journal = _read_journal(folder, error)
    if journal is None:
        return
    for name in journal.files:
        if (journal.staged / name).is_file():  # else it is moved already
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (journal.staged / name).replace(folder / name)
    for name, digest in journal.remove.items():
        path = folder / name
        if path.is_file() and digest == sha256(path):
            path.unlink()
    sync(folder)
    (folder / JOURNAL).unlink()
    shutil.rmtree(journal.staged, ignore_errors=True)


def _ours(folder: Path, kind: Kind, names: Sequence[str]) -> dict[str, str]:
    """The files that were written here earlier; an error if other files are in the way."""
    _roll_forward(folder, kind.error)
    remove_leftovers(folder, "staged")
    ours = kind.written(folder)
    there = sorted(path.name for path in folder.iterdir())
    foreign = [name for name in there if not is_temporary(name) and not kind.ignored.fullmatch(name)]
    if ours is None and foreign and not kind.shared:
        raise kind.error(f"the folder holds {foreign[0]!r} and is not a {kind.noun}", where=str(folder),
                         next="choose another --out")
    ours = {name: digest for name, digest in (ours or {}).items() if kind.names.fullmatch(name)}
    links = [part for name in names for part in _inside(folder, name) if part.is_symlink()]
    if links:
        raise kind.error("a folder is wanted here, and this is a link to another place", where=str(links[0]),
                         next="move it elsewhere, or choose another --out")
    for name in names if kind.shared else [name for name in there if kind.names.fullmatch(name)]:
        path, fault = folder / name, ""
        if any(os.path.lexists(parent) and not parent.is_dir() for parent in _inside(folder, name)):
            path, fault = path.parent, "a folder is wanted here, and this is a file"
        elif os.path.lexists(path) and (name not in ours or not path.is_file()):
            fault = "wholetext would replace this, and did not write it"
        elif os.path.lexists(path) and ours[name] not in ("", sha256(path)):
            fault = "wholetext would replace this file, and it was changed since it was written"
        if fault:
            raise kind.error(fault, where=str(path), next="move it elsewhere, or choose another --out")
    return {name: digest for name, digest in ours.items() if (folder / name).is_file()}


def _inside(folder: Path, name: str) -> list[Path]:
    """The folders between a folder and a file in it."""
    return [folder / parent for parent in Path(name).parents[:-1]]


def read_list(folder: Path, error: type[WholetextError]) -> dict[str, str]:
    """The files that were written here, with their SHA-256; none where there is no list."""
    path = folder / LIST
    if not path.is_file():
        return {}
    found = read_json(file_bytes(path, most=1 << 24, error=error), where=str(path), error=error)
    if not isinstance(found, dict) or not all(isinstance(digest, str) for digest in found.values()):
        raise error("it is not a list of files", where=str(path), next="delete this file, or choose another folder")
    return found


def shared_kind(noun: str, error: type[WholetextError], older: Callable[[Path], Mapping[str, str]] | None = None
                ) -> Kind:
    """Files for any folder, which may have others; ``older`` recognises those that 0.1.0 wrote."""

    def written(folder: Path) -> dict[str, str]:
        listed = read_list(folder, error)
        return listed or dict(older(folder) if older else {})

    return Kind(noun, _RELATIVE, written, error, shared=True)


def _read_journal(folder: Path, error: type[WholetextError]) -> Journal | None:
    path = folder / JOURNAL
    try:
        found = json.loads(path.read_bytes())
        staged, files, remove = found["staged"], found["files"], found["remove"]
        if not is_temporary(staged) or not all(_RELATIVE.fullmatch(name) for name in [*files, *remove]):
            raise ValueError("it names files elsewhere")
        passed = [folder / staged, *(part for name in [*files, *remove] for part in _inside(folder, name)),
                  *(part for name in files for part in _inside(folder / staged, name))]
        if any(part.is_symlink() for part in passed):  # never write outside of the requested folder
            raise ValueError("it leads through a link to another place")
        return Journal(folder / staged, tuple(files), dict(remove))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise error(f"the record of an interrupted writing is damaged ({fault})", where=str(path),
                    next="write to another folder, or delete this file") from None
