"""Multipart forms: fields and uploaded files, within limits that hold while the body arrives."""

from __future__ import annotations

import re
import shutil
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


class TooLarge(InputError):
    """A request with more bytes than the server accepts."""


@dataclass
class Form:
    """Fields by name, and files by role: (name as uploaded, path in the folder of the job)."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[tuple[str, Path]]] = field(default_factory=dict)


class _Parser(MultiPartParser):
    complete = False

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
    parser = _Parser(
        Headers({"content-type": content_type}),
        limited(chunks, limit),
        max_files=PARTS,
        max_fields=PARTS,
        max_part_size=FIELD_BYTES,
    )
    try:
        items = await parser.parse()
        if not parser.complete:
            raise MultiPartException("it is incomplete")
        return await run_in_threadpool(_stored, items, folder)
    except MultiPartException as fault:
        raise InputError(
            f"the form of the request cannot be read ({fault.message})", next="send it again"
        ) from None


def _stored(items: FormData, folder: Path) -> Form:
    form = Form()
    for number, (name, value) in enumerate(items.multi_items()):
        if isinstance(value, str):
            form.fields.setdefault(name, []).append(value)
        elif value.filename:  # empty if no file was chosen
            path = folder / str(number) / safe_name(value.filename)
            path.parent.mkdir(parents=True)
            with value.file as upload, path.open("xb") as file:
                shutil.copyfileobj(upload, file)
            uploaded_name = printable(re.split(r"[/\\]", value.filename)[-1])
            form.files.setdefault(name, []).append((uploaded_name, path))
    return form


async def limited(chunks: AsyncIterator[bytes], limit: int) -> AsyncGenerator[bytes, None]:
    """Yield the chunks of a body; raise TooLarge beyond a number of bytes."""
    received = 0
    async for chunk in chunks:
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
    return re.sub(r"[^\w.+-]", "_", re.split(r"[/\\]", name)[-1])[-80:].lstrip(".") or "file"
