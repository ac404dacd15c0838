"""Low-level reading: bytes → lines, and every way in which bytes can be wrong."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from wholetext.errors import InputError
from wholetext.io.text import clean, opened, read_lines, stem, write_lines


def lines_of(data: bytes, folder: Path) -> list[str]:
    (folder / "file.txt").write_bytes(data)
    return read_lines(folder / "file.txt")


@pytest.mark.parametrize(("data", "lines"), [
    (b"", []), (b"a", ["a"]), (b"a\n", ["a"]), (b"a\n\n", ["a", ""]), (b"a\r\nb\r\n", ["a", "b"]),
    (b"\xef\xbb\xbfa\nb", ["a", "b"]), (b"\xef\xbb\xbf", [""]),
    ("a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\n".encode(), ["a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"]),
    (b"a\rb\n", ["a\rb"]), ("ä 中 😀\n".encode(), ["ä 中 😀"]),
])  # fmt: skip
def test_lines(data: bytes, lines: list[str], tmp_path: Path) -> None:
    assert lines_of(data, tmp_path) == lines
    assert lines_of(gzip.compress(data), tmp_path) == lines


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"))))
def test_written_lines_read_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    for name in ("plain.txt", "zipped.txt.gz"):
        path = tmp_path_factory.getbasetemp() / name
        write_lines(path, lines)
        assert read_lines(path) == ([lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else [])


@pytest.mark.parametrize(("data", "line", "says"), [
    (b"good\nbad \xff here\n", 2, "0xff"), (b"cut \xe4\xb8", 1, "byte 5"), (b"one\ntwo\nnul \0\n", 3, "NUL"),
    (b"surrogate \xed\xa0\x80\n", 1, "0xed"), ("sechzehn".encode("utf-16"), 1, "not UTF-8"),
    ("Grüße".encode("latin-1"), 1, "not UTF-8"),
])  # fmt: skip
def test_what_is_not_clean_utf8_is_named_with_its_line(data: bytes, line: int, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says) as caught:
        lines_of(data, tmp_path)
    assert caught.value.where == f"{tmp_path / 'file.txt'}:{line}"
    assert caught.value.next


def test_broken_gzip(tmp_path: Path) -> None:
    whole = gzip.compress(b"some text\n" * 1000)
    for broken in (whole[:-20], whole[:20] + b"garbage" + whole[27:], whole[:2]):
        with pytest.raises(InputError, match="cannot read this file"):
            lines_of(broken, tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "reference.txt").touch()
    with pytest.raises(InputError, match="no such file") as caught:
        read_lines(tmp_path / "referense.txt")
    assert "reference.txt" in caught.value.next
    for path, says in ((tmp_path, "directory"), ("a\0b", "cannot read")):
        with pytest.raises(InputError, match=says):
            read_lines(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_looked_at_and_then_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"{\n" * 100_000))
    writer.start()
    with opened(pipe) as file:
        assert file.head().startswith("{")
        assert list(file.lines()) == ["{"] * 100_000
    writer.join()


@pytest.mark.parametrize(("path", "name"), [
    ("out/sysA.txt", "sysA"), ("sysA.txt.gz", "sysA"), ("GPT-4.1", "GPT-4.1"), ("GPT-4.1.jsonl", "GPT-4.1"),
    ("newstest.sysB.en", "newstest.sysB"), ("-", "stdin"), (".hidden", ".hidden"), ("noext", "noext"),
])  # fmt: skip
def test_names_from_files(path: str, name: str) -> None:
    assert stem(path) == name


def test_text_that_no_file_can_hold(tmp_path: Path) -> None:
    assert clean("fine 😀", "here") == "fine 😀"
    with pytest.raises(InputError, match="U\\+D83D"):
        clean("half \ud83d", "here")
    with pytest.raises(InputError, match="NUL"):
        clean("\0", "here")
    for bad in ("two\nlines", "ends with\r", "half \ud83d", "\0"):
        with pytest.raises(InputError):
            write_lines(tmp_path / "bad.txt", ["good", bad])
    assert list(tmp_path.iterdir()) == []  # nothing half-written is left


def test_writing_where_one_may_not(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_lines(tmp_path / "file" / "below.txt", ["x"])
