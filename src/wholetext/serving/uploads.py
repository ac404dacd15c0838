"""Requests with files, read as they arrive: each part goes to its own file, and what is too large is refused early."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from python_multipart import MultipartParser
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import parse_options_header

from wholetext.errors import InputError
from wholetext.files.parsing import printable

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FIELD, HEADERS, PARTS = (
    100_000,
    10_000,
    300,
)  # bytes of a field, bytes of the headers of a part, parts in all


class TooLarge(InputError):
    """A request with more bytes than the server takes."""


@dataclass
class Form:
    """Fields by name, and files by role: (name that was given, file in the folder of the job)."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)


async def read_form(
    chunks: AsyncIterator[bytes], content_type: str, folder: Path, most: int
) -> Form:
    """The form of a request; its files are written into ``folder`` as they arrive."""
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise InputError(
            "the request has no form with files", next="send it as multipart/form-data"
        )
    reader = _Reader(folder)
    parser = MultipartParser(options[b"boundary"], reader.callbacks())
    try:
        async for chunk in limited(chunks, most):
            parser.write(chunk)
        parser.finalize()
    except MultipartParseError as fault:
        raise InputError(
            f"the form of the request is damaged ({fault})", next="send it again"
        ) from None
    finally:
        reader.close()
    if not reader.ended:
        raise InputError("the form of the request is incomplete", next="send it again")
    return reader.form


async def limited(chunks: AsyncIterator[bytes], most: int) -> AsyncIterator[bytes]:
    """The chunks of a body, up to a number of bytes."""
    seen = 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen > most:
            raise too_large(most)
        yield chunk


def too_large(most: int) -> TooLarge:
    return TooLarge(
        f"the request has more than {most:,} bytes, the limit of this server",
        next="send fewer files at a time, or start the server with a larger --max-upload",
    )


def safe_name(given: str) -> str:
    """The last part of a file name with plain characters only."""
    name = re.sub(r"[^\w.+-]", "_", re.split(r"[/\\]", given)[-1])[-80:].lstrip(".")
    return name or "file"


class _Reader:
    """What the parser calls, part by part."""

    def __init__(self, folder: Path) -> None:
        self.form, self.ended, self._folder, self._parts = Form(), False, folder, 0
        self._headers: dict[str, bytes] = {}
        self._header, self._value, self._text = b"", b"", b""
        self._name = ""
        self._file: BinaryIO | None = None

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > PARTS:
            raise InputError(
                f"the form has more than {PARTS} parts", next="send fewer files at a time"
            )
        self._headers, self._header, self._value, self._text = {}, b"", b"", b""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]
        self._check(self._header)

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._check(self._value)

    def _check(self, text: bytes) -> None:
        if len(text) > HEADERS or len(self._headers) > 20:
            raise InputError("the headers of a form part are too long", next="send it again")

    def _header_end(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value
        self._header, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" not in options:
            return
        given = options[b"filename"].decode("utf-8", "replace")
        if not given:  # a field for files that was left empty
            self._name = ""
            return
        path = self._folder / str(self._parts) / safe_name(given)
        path.parent.mkdir(parents=True)
        self._file = path.open("xb")
        self.form.files.setdefault(self._name, []).append(
            (printable(re.split(r"[/\\]", given)[-1]), path)
        )

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > FIELD:
            raise InputError(
                f"the field {self._name!r} has more than {FIELD:,} bytes", next="send it as a file"
            )

    def _end(self) -> None:
        if self._file is not None:
            self.close()
        elif self._name:
            self.form.fields.setdefault(self._name, []).append(
                self._text.decode("utf-8", "replace")
            )

    def _finish(self) -> None:
        self.ended = True
