"""Static vectors: the embedded ones, files in three encodings, and files that are broken."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from wholetext.errors import InputError, MissingExtra
from wholetext.metrics.cohesion import vectors
from wholetext.metrics.cohesion.vectors import identity, load

LINES = b"cat 1 0\nCat 9 9\ndog 0.5 -2e-1\n"


@pytest.mark.parametrize("name, write", [("v.txt", lambda p, b: p.write_bytes(b)),
                                         ("v.bz2", lambda p, b: p.write_bytes(bz2.compress(b))),
                                         ("v.gz", lambda p, b: p.write_bytes(gzip.compress(b)))])
def test_files(tmp_path: Path, name: str, write: object) -> None:
    path = tmp_path / name
    write(path, b"2 2\n" + LINES)  # type: ignore[operator]
    found = load(str(path))
    assert list(found.index) == ["cat", "dog"]  # lower case, the first of two that differ in case
    assert found.unit(["cat"]).tolist() == [[1.0, 0.0]]
    assert found.matrix[1].tolist() == pytest.approx([0.5, -0.2])
    assert found.name == identity(str(path)) and found.name.startswith(f"{name}-sha256:")


def test_identity_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(LINES)
    before = identity(str(path))
    path.write_bytes(LINES + b"cow 1 1\n")
    assert identity(str(path)) != before


@pytest.mark.parametrize("content, message", [(b"cat one two\n", "txt:1: .*cannot be read"),
                                              (b"cat 1 2\ndog 1\n", "txt:2: .*not as many finite numbers"),
                                              (b"", "cannot be read")])
def test_broken_files_name_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load(str(path))


def test_unreadable_and_missing(tmp_path: Path) -> None:
    (tmp_path / "v.bz2").write_bytes(b"this is not bzip2")
    with pytest.raises(InputError, match="cannot be read"):
        load(str(tmp_path / "v.bz2"))
    with pytest.raises(InputError, match="no word vectors"):
        load(str(tmp_path / "absent.txt"))


def test_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_PACKAGE", "no-such-package-at-all")
    with pytest.raises(MissingExtra, match=r"wholetext\[cohesion\]"):
        identity("glove")
