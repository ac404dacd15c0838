"""Forms with files: read as they arrive, in whatever pieces, and never beyond the limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from wholetext.errors import InputError
from wholetext.serving.uploads import Form, TooLarge, read_form, safe_name

TYPE = "multipart/form-data; boundary=edge"


def part(name: str, value: bytes, file: str | None = None) -> bytes:
    named = f'; filename="{file}"' if file is not None else ""
    return b'--edge\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (
        name.encode(), named.encode(), value)  # fmt: skip


def read(body: bytes, folder: Path, most: int = 10**6, piece: int = 7, kind: str = TYPE) -> Form:
    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(body), piece):
            yield body[at : at + piece]

    return asyncio.run(read_form(chunks(), kind, folder, most))


@pytest.mark.parametrize("piece", [1, 7, 10**6])
def test_fields_and_files(tmp_path: Path, piece: int) -> None:
    text = b"a\r\n--edg\r\nb"
    body = b"".join([part("metric", b"chrf"), part("metric", "größe".encode()), part("hyp", text, "A.txt"),
                     part("hyp", b"", "B.txt"), part("ref", b"", ""), b"--edge--\r\n"])  # fmt: skip
    form = read(body, tmp_path, piece=piece)
    assert form.fields == {"metric": ["chrf", "größe"]}
    assert [(name, path.read_bytes()) for name, path in form.files["hyp"]] == [("A.txt", text), ("B.txt", b"")]
    assert "ref" not in form.files  # a field for files that was left empty


@pytest.mark.parametrize(("given", "made"), [
    ("../../etc/passwd", "passwd"), ("..\\..\\x.txt", "x.txt"), (".bashrc", "bashrc"), ("a b;c.txt", "a_b_c.txt"),
    ("...", "file"), ("/", "file"), ("x" * 200, "x" * 80), ("größe.txt", "größe.txt"), ("a\0b", "a_b"),
])  # fmt: skip
def test_names_of_files_are_no_paths(tmp_path: Path, given: str, made: str) -> None:
    assert safe_name(given) == made
    if '"' not in given and "\0" not in given and given != "/":
        form = read(part("hyp", b"text", given) + b"--edge--\r\n", tmp_path)
        for _, path in form.files.get("hyp", ()):
            assert path.resolve().is_relative_to(tmp_path.resolve()) and path.read_bytes() == b"text"
    assert all(path.is_relative_to(tmp_path) for path in tmp_path.rglob("*"))


def test_too_much_is_refused_while_it_arrives(tmp_path: Path) -> None:
    seen = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal seen
        yield b'--edge\r\nContent-Disposition: form-data; name="hyp"; filename="a"\r\n\r\n'
        while True:
            seen += 1000
            yield b"x" * 1000

    with pytest.raises(TooLarge, match="more than 50,000 bytes"):
        asyncio.run(read_form(endless(), TYPE, tmp_path, 50_000))
    assert seen <= 51_000
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= 50_000


@pytest.mark.parametrize(("body", "kind", "problem"), [
    (b"", "application/json", "no form with files"),
    (b"x", "multipart/form-data", "Missing boundary"),
    (b"nonsense", TYPE, "Invalid multipart"),
    (b"--edge\r\nno colon\r\n\r\n", TYPE, "Invalid multipart"),
    (part("a", b"b"), TYPE, "incomplete"),
    (b"", TYPE, "incomplete"),
    (part("title", b"x" * 100_001) + b"--edge--\r\n", TYPE, "exceeded maximum size"),
    (b"--edge\r\nX: " + b"x" * 20_000, TYPE, "Invalid multipart"),
    (part("a", b"") * 301 + b"--edge--\r\n", TYPE, "Too many fields"),
    (part("a", b"", "f") * 301 + b"--edge--\r\n", TYPE, "Too many files"),
])  # fmt: skip
def test_unusable_forms(tmp_path: Path, body: bytes, kind: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read(body, tmp_path, piece=5000, kind=kind)
