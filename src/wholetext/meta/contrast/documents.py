"""Line-aligned documents (OpenSubtitles) from which ContraPro and ctxpro take the sentences before an item."""

from __future__ import annotations

import os
from pathlib import Path

from wholetext.errors import InputError
from wholetext.io.text import opened

_REMEMBERED = 256  # documents
Lines = tuple[tuple[str, ...], tuple[str, ...]]  # source and target, line by line


class Documents:
    """A folder of ``ID.src`` and ``ID.tgt`` files (by year or not), or one TSV of document, source, target."""

    def __init__(self, path: Path, langs: tuple[str, str]) -> None:
        if not path.exists():
            raise InputError("there are no documents here", where=str(path),
                             next="give the folder of line-aligned documents, or a TSV of document, source, target")
        self.path, self.langs = path, langs
        self._table = _tsv(path) if path.is_file() else None
        self._read: dict[str, Lines | None] = {}

    def lines(self, doc: str) -> Lines | None:
        """Source and target lines of a document, or None where it is not there."""
        if self._table is not None:
            return self._table.get(doc)
        if doc not in self._read:
            if len(self._read) >= _REMEMBERED:
                self._read.clear()
            self._read[doc] = _pair(self.path, doc, self.langs)
        return self._read[doc]


def _pair(folder: Path, doc: str, langs: tuple[str, str]) -> Lines | None:
    stem = doc
    for lang in langs:
        stem = stem.removesuffix(f".{lang}")
    if ".." in Path(stem).parts or Path(stem).is_absolute():  # an id may not lead out of the folder
        return None
    name = Path(stem).name
    for parent in (Path(stem).parent, Path(name.split("_")[0]), Path()):
        files = [folder / parent / f"{name}.{lang}" for lang in langs]
        if all(os.path.isfile(file) for file in files):  # noqa: PTH113 - pathlib raises where a name is too long
            source, target = (_read(file) for file in files)
            if len(source) != len(target):
                raise InputError(f"{len(source)} lines, but {len(target)} in {files[1].name}", where=str(files[0]),
                                 next="documents must be aligned line by line")
            return source, target
    return None


def _read(path: Path) -> tuple[str, ...]:
    with opened(path) as file:
        return tuple(line.strip() for line in file.lines())


def _tsv(path: Path) -> dict[str, Lines]:
    found: dict[str, tuple[list[str], list[str]]] = {}
    with opened(path) as file:
        for number, line in enumerate(file.lines(), 1):
            cells = line.split("\t")
            if len(cells) != 3:
                raise InputError(f"{len(cells)} columns, not 3", where=f"{path}:{number}",
                                 next="one line per sentence: document, source, target")
            source, target = found.setdefault(cells[0], ([], []))
            source.append(cells[1].strip())
            target.append(cells[2].strip())
    return {doc: (tuple(source), tuple(target)) for doc, (source, target) in found.items()}
