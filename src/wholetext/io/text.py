"""Text files: gzip, standard input, BOM and CRLF; invalid UTF-8 is an error with its line."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TextIO, cast

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import reading
from wholetext.files.storage import writing

FilePath = str | os.PathLike[str]
_BUFFER = 1 << 16
_BOM, _GZIP = b"\xef\xbb\xbf", b"\x1f\x8b"


class TextFile:
    """A file (``-``: standard input): ``head`` peeks, then it is read once, as bytes or lines.

    It is opened on first use, so ``path`` may also name a folder or a test set. With ``data``, these
    bytes are read in its place.
    """

    def __init__(self, path: FilePath, data: bytes | None = None) -> None:
        self.path, self.name, self._data = os.fspath(path), shown(path), data

    def __fspath__(self) -> str:
        return self.path

    @cached_property
    def _raw(self) -> io.BufferedReader:
        """The open file; standard input and pipes are read into memory, so ``head`` can peek."""
        data = self._data
        if data is None and self.path == "-":
            data = sys.stdin.buffer.read()
        elif data is None and not os.path.isfile(self.path):  # noqa: PTH113 - names may be too long
            data = Path(self.path).read_bytes()
        stream = io.FileIO(self.path) if data is None else io.BytesIO(data)
        raw: io.BufferedReader = io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER)
        if raw.peek(2)[:2] != _GZIP:
            return raw
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw)), _BUFFER)

    def head(self) -> str:
        """Return the first characters (of 64 KiB) without leading blanks; they stay unread."""
        start = self._raw.peek(_BUFFER).removeprefix(_BOM)
        return start.decode("utf-8", errors="replace").lstrip()

    def read(self) -> bytes:
        """Return all bytes."""
        return self._raw.read()

    def lines(self) -> Iterator[str]:
        r"""Yield lines without their ends, ``\n`` or ``\r\n``."""
        for number, raw in enumerate(self._raw, 1):
            raw = raw.removesuffix(b"\n").removesuffix(b"\r")
            try:
                text = (raw.removeprefix(_BOM) if number == 1 else raw).decode("utf-8")
            except UnicodeDecodeError as error:
                byte = error.object[error.start]
                raise InputError(
                    f"byte {error.start + 1} of this line (0x{byte:02x}) is not UTF-8",
                    where=at(self.name, number),
                    next="convert it from its encoding: "
                    "iconv -f WINDOWS-1252 -t UTF-8 FILE > CLEAN",
                ) from None
            yield clean(text, at(self.name, number)) if "\0" in text else text


@contextmanager
def opened(path: FilePath) -> Iterator[TextFile]:
    """Open a file for a reader; whatever the reader does not foresee is an error that names it."""
    file = TextFile(path)
    with reading(file.name, what="cannot read this file"):
        try:
            yield file
        except FileNotFoundError:
            names = sorted(entry.name for entry in Path(path).parent.glob("*"))[:1000]
            remedy = did_you_mean(Path(path).name, names) or "check the path"
            raise InputError("no such file", where=file.name, next=remedy) from None
        finally:
            if "_raw" in vars(file):
                file._raw.close()


def read_lines(path: FilePath) -> list[str]:
    """Return all lines of a file."""
    with opened(path) as file:
        return list(file.lines())


def at(name: str, line: int) -> str:
    """Return ``file:line``, the place of an error."""
    return f"{name}:{line}"


is_folder = os.path.isdir  # pathlib raises where a name is too long


def shown(path: FilePath) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == "-" else os.fspath(path)


def stem(path: FilePath) -> str:
    """Name a system or reference after its file: ``out/sysA.txt.gz`` → ``sysA``.

    ``GPT-4.1`` keeps its dot.
    """
    if path == "-":
        return "stdin"
    # a name need not be UTF-8, but a system's must
    name = os.fsencode(Path(path).name).decode("utf-8", "replace")
    name = name.removesuffix(".gz")
    front, dot, extension = name.rpartition(".")
    return front if dot and front and extension.isalpha() and len(extension) <= 5 else name


def file_name(name: str) -> str:
    """Return a name that can be a file's; others are an InputError."""
    if (
        not name
        or name.startswith(".")
        or not name.isprintable()
        or any(sign in name for sign in "/\\:")
        or len(name.encode()) > 200
    ):
        raise InputError(
            f"{name[:80]!r} cannot be the name of a file", next="rename this system or reference"
        )
    return name


def clean(text: str, where: str) -> str:
    """Return a text that UTF-8 can hold; a NUL or a lone surrogate is an InputError."""
    fault = "a NUL character" if "\0" in text else ""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        fault = f"half of a surrogate pair (U+{ord(text[error.start]):04X})"
    if fault:
        raise InputError(f"there is {fault} in this text", where=where, next="remove it")
    return text


def write_lines(path: FilePath, lines: Iterable[str]) -> None:
    """Write one line per string (``.gz``: compressed); a line break in a string is an error."""
    with text_writer(path) as out:
        for number, line in enumerate(lines, 1):
            where = at(os.fspath(path), number)
            if "\n" in line or line.endswith("\r"):
                raise InputError(
                    "a line break inside a segment cannot be written to a file of lines",
                    where=where,
                    next="write JSONL, or replace the line breaks by spaces",
                )
            out.write(clean(line, where) + "\n")


@contextmanager
def text_writer(path: FilePath) -> Iterator[TextIO]:
    """Write a text file atomically; ``.gz`` is compressed."""
    with writing(path, InputError) as raw:
        packed = gzip.GzipFile(fileobj=raw, mode="wb") if Path(path).suffix == ".gz" else raw
        buffer = cast(io.BufferedWriter, packed)
        with packed, io.TextIOWrapper(buffer, encoding="utf-8", newline="\n") as out:
            yield out
