"""Bodies of requests: multipart forms and JSON, within limits that hold while they arrive."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException, MultiPartParser

from wholetext.errors import InputError
from wholetext.files.parsing import printable

FIELD_BYTES = 100_000  # limit of a field that is not a file
PARTS = 300  # limit of fields, and of files
NAME_BYTES = 200  # limit of a file name; file systems take 255
GRACE = 30.0  # seconds that a body may take, beside those that RATE allows it
RATE = 10_000  # bytes per second below which a client is too slow


class TooLarge(InputError):
    """A request with more bytes than the server accepts."""


class TooSlow(InputError):
    """A request that does not arrive in time."""


@dataclass
class Form:
    """Fields by name, and files by role: (name as uploaded, path in the folder of the job)."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)


class _MultipartParser(MultiPartParser):
    """Write files to a folder as they arrive, rather than to the folder for temporary files."""

    folder: Path
    complete = False

    def on_headers_finished(self) -> None:
        super().on_headers_finished()
        upload = self._current_part.file
        if upload is not None:
            path = self.folder / str(len(self.items)) / safe_name(upload.filename or "")
            path.parent.mkdir(parents=True)
            upload.file = path.open("w+b")

    def on_end(self) -> None:
        self.complete = True


async def read_form(
    chunks: AsyncIterator[bytes], content_type: str, folder: Path, limit: int
) -> Form:
    """Parse the form of a request and store its files in ``folder``."""
    if not content_type.lower().startswith("multipart/form-data"):
        raise InputError(
            "the request has no form with files", next="send it as multipart/form-data"
        )
    parser = _MultipartParser(
        Headers({"content-type": content_type}),
        limited(chunks, limit),
        max_files=PARTS,
        max_fields=PARTS,
        max_part_size=FIELD_BYTES,
    )
    parser.folder = folder
    try:
        items = await parser.parse()
        if not parser.complete:
            raise MultiPartException("it is incomplete")
    except (MultiPartException, ValueError) as fault:  # ValueError: of python-multipart, of codecs
        reason = getattr(fault, "message", fault)
        raise InputError(
            f"the form of the request cannot be read ({reason})",
            next="send it again, with a boundary of at most 70 characters",
        ) from None
    return await run_in_threadpool(_listed, items)


def _listed(items: FormData) -> Form:
    form = Form()
    for name, value in items.multi_items():
        if isinstance(value, str):
            form.fields.setdefault(name, []).append(value)
            continue
        with value.file as upload:
            if upload.read(2) == b"\x1f\x8b":  # a small file can expand to terabytes
                raise InputError("uploads may not be compressed", next="gunzip the file first")
        if value.filename:  # empty if no file was chosen
            uploaded_name = printable(re.split(r"[/\\]", value.filename)[-1])
            form.files.setdefault(name, []).append((uploaded_name, Path(upload.name)))
    return form


async def store(chunks: AsyncIterator[bytes], path: Path, limit: int) -> int:
    """Write a body to a file and return its size."""
    with path.open("wb") as file:
        async for chunk in limited(chunks, limit):
            await run_in_threadpool(file.write, chunk)
        return file.tell()


async def limited(chunks: AsyncIterator[bytes], limit: int) -> AsyncGenerator[bytes, None]:
    """Yield the chunks of a body; raise an error if they are too many, or come too slowly."""
    received, start = 0, time.monotonic()
    while True:
        left = start + GRACE + received / RATE - time.monotonic()
        try:
            chunk = await asyncio.wait_for(anext(chunks, None), left)
        except asyncio.TimeoutError:
            raise TooSlow(
                f"the request arrives at less than {RATE:,} bytes per second",
                next="send it again over a faster connection, or in smaller parts",
            ) from None
        if chunk is None:
            return
        received += len(chunk)
        if received > limit:
            raise too_large(limit)
        yield chunk


def too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"the request has more than {limit:,} bytes, the limit of this server",
        next="send fewer files at a time, or start the server with a larger --max-upload",
    )


def safe_name(name: str) -> str:
    """Reduce a file name to its last part, with plain characters only."""
    plain = re.sub(r"[^\w.+-]", "_", re.split(r"[/\\]", name)[-1])[-80:]
    return plain.encode()[-NAME_BYTES:].decode("utf-8", "ignore").lstrip(".") or "file"
