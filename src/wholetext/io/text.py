"""Text files: gzip, standard input, BOM and CRLF; invalid UTF-8 is an error with its line."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO, cast

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import reading
from wholetext.files.storage import writing

FilePath = str | os.PathLike[str]
_BUFFER = 1 << 16
_BOM = b"\xef\xbb\xbf"
_UNZIPPED = 1 << 24  # bytes that any gzip file may expand to; larger ones by their size
_RATIO = 200  # text shrinks 3 to 10 times; a file made to fill the memory 1,000 times


class TextFile:
    """A file (``-``: standard input): ``head`` peeks, then it is read once, as bytes or lines.

    It is opened on first use, so ``path`` may also name a folder or a test set.
    """

    def __init__(self, path: FilePath) -> None:
        self.path, self.name = os.fspath(path), shown(path)

    def __fspath__(self) -> str:
        return self.path

    @cached_property
    def _raw(self) -> io.BufferedReader:
        with _reading(self.name, self.path):
            raw = _plain(self.path)
            zipped = raw.peek(2)[:2] == b"\x1f\x8b"
        return io.BufferedReader(_Unzipped(raw, self.name), _BUFFER) if zipped else raw

    def close(self) -> None:
        if "_raw" in self.__dict__:
            self._raw.close()

    def head(self) -> str:
        """Return the first characters (of 64 KiB) without leading blanks; they stay unread."""
        with _reading(self.name):
            return (
                self._raw.peek(_BUFFER)
                .removeprefix(_BOM)
                .decode("utf-8", errors="replace")
                .lstrip()
            )

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in large pieces."""
        with _reading(self.name):
            while piece := self._raw.read(1 << 20):
                yield piece

    def lines(self) -> Iterator[str]:
        r"""Yield lines without their ends: ``\n``, ``\r\n``, or ``\r`` if there is no ``\n``."""
        with _reading(self.name):
            number = 1
            for block in _ends(self._raw):
                plain = _decoded(block)
                yield from (
                    plain
                    if plain is not None
                    else (self._line(raw, number + i) for i, raw in enumerate(block))
                )
                number += len(block)

    def _line(self, raw: bytes, number: int) -> str:
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
        try:
            text = (raw.removeprefix(_BOM) if number == 1 else raw).decode("utf-8")
        except UnicodeDecodeError as error:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise InputError(
                    "expected UTF-8, got UTF-16",
                    where=at(self.name, number),
                    next="iconv -f UTF-16 -t UTF-8 FILE > CLEAN",
                ) from None
            byte = error.object[error.start]
            raise InputError(
                f"byte {error.start + 1} of this line (0x{byte:02x}) is not UTF-8",
                where=at(self.name, number),
                next="convert it: iconv -f WINDOWS-1252 -t UTF-8 "
                "FILE > CLEAN (or from what it was written in)",
            ) from None
        if "\0" in text:
            raise InputError(
                "there is a NUL character in this line",
                where=at(self.name, number),
                next="is this a text file? tr -d '\\000' < FILE > CLEAN removes NUL characters",
            )
        return text


class _Unzipped(io.RawIOBase):
    """The content of a gzip file, up to a bound: a small file can expand to terabytes."""

    def __init__(self, packed: io.BufferedReader, name: str) -> None:
        self._packed, self._name, self._count = packed, name, 0
        self._file = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)
        self._count += size
        if self._count > max(_UNZIPPED, _RATIO * self._packed.tell()):
            raise InputError(
                f"the gzip file expands to more than {_RATIO} times its size",
                where=self._name,
                next="is this the file you meant? if so, give it uncompressed: gunzip FILE",
            )
        return size

    def close(self) -> None:
        self._packed.close()
        super().close()


@contextmanager
def opened(path: FilePath) -> Iterator[TextFile]:
    """Open a file for a reader; whatever the reader does not foresee is an error that names it."""
    file = TextFile(path)
    try:
        with reading(file.name):
            yield file
    finally:
        file.close()


def read_lines(path: FilePath) -> list[str]:
    """Return all lines of a file."""
    with opened(path) as file:
        return list(file.lines())


def at(name: str, line: int) -> str:
    """Return ``file:line``, the place of an error."""
    return f"{name}:{line}"


def is_folder(path: FilePath) -> bool:
    """Tell whether a folder exists; False where the name itself is impossible."""
    return os.path.isdir(path)  # noqa: PTH112 - pathlib raises where a name is too long


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
    if "\0" in text:
        raise InputError(
            "there is a NUL character in this text", where=where, next="remove the NUL characters"
        )
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"half of a surrogate pair (U+{ord(text[error.start]):04X}) "
                "without its other half here",
                where=where,
                next="the text was cut inside a character: write it again as UTF-8",
            ) from None
    return text


def write_lines(path: FilePath, lines: Iterable[str]) -> None:
    """Write one line per string (``.gz``: compressed); a line break in a string is an error."""
    name = os.fspath(path)

    def write(out: TextIO) -> None:
        for number, line in enumerate(lines, 1):
            if "\n" in line or line.endswith("\r"):
                raise InputError(
                    "a line break inside a segment cannot be written to a file of lines",
                    where=at(name, number),
                    next="write JSONL, or replace the line breaks by spaces",
                )
            out.write(clean(line, at(name, number)) + "\n")

    write_text(path, write)


def write_text(path: FilePath, write: Callable[[TextIO], None]) -> None:
    """Write a text file atomically; ``.gz`` is compressed."""
    with writing(path, InputError) as raw:
        packed = gzip.GzipFile(fileobj=raw, mode="wb") if Path(path).suffix == ".gz" else raw
        with (
            packed,
            io.TextIOWrapper(
                cast(io.BufferedWriter, packed), encoding="utf-8", newline="\n"
            ) as out,
        ):
            write(out)


def _ends(raw: io.BufferedReader) -> Iterator[list[bytes]]:
    r"""Yield blocks of lines with their ends; a file with ``\r`` only is cut at those."""
    first = raw.readline()
    if not first.endswith(b"\n") and b"\r" in first[:-1]:  # so this is the whole file
        yield [line + b"\n" for line in first.removesuffix(b"\r").split(b"\r")]
    elif first:
        yield [first]
        while block := raw.readlines(_BUFFER):
            yield block


def _decoded(block: list[bytes]) -> list[str] | None:
    """Decode a block of lines at once; None where they must be decoded one by one."""
    data = b"".join(block)
    if b"\r" in data or b"\0" in data or data.startswith(_BOM):
        return None
    try:
        return data.removesuffix(b"\n").decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None


def _plain(path: str) -> io.BufferedReader:
    """Open a file; standard input and pipes are read into memory, so that ``head`` can peek."""
    if path == "-":
        source: Any = nullcontext(sys.stdin.buffer)
    else:
        source = open(path, "rb", buffering=_BUFFER)  # noqa: PTH123, SIM115 - the caller closes it
        if stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            return cast(io.BufferedReader, source)
    with source as raw:
        return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(raw.read())), _BUFFER)


@contextmanager
def _reading(name: str, path: str = "") -> Iterator[None]:
    """Convert errors of the operating system and gzip into an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", where=name, next=_neighbours(Path(path))) from None
    except IsADirectoryError:
        raise InputError(
            "expected a file, got a folder",
            where=name,
            next=f"name the files in it, e.g. {name}/*.txt; "
            "only an EvalSet folder is read as a whole",
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"the gzip file is broken: {error}",
            where=name,
            next="download or compress it again; gzip -t FILE checks it",
        ) from None
    except OSError as error:
        raise InputError(f"cannot read this file: {error.strerror or error}", where=name) from None
    except ValueError as error:  # a NUL inside the path itself
        raise InputError(f"cannot read this file: {error}", where=repr(name)) from None


def _neighbours(path: Path) -> str:
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())[:1000]
    except OSError:
        return f"there is no folder {path.parent}"
    return did_you_mean(path.name, names) or "check the path"
