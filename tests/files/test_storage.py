"""Files are written whole or not at all, and every refusal says what to do."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from wholetext.errors import InputError, WriteError
from wholetext.files.storage import replacing, write_file, writing
from wholetext.io.text import read_lines, write_lines


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    write_file(path, "Grüße\n")
    assert path.read_bytes() == "Grüße\n".encode()
    with pytest.raises(RuntimeError), writing(path) as out:
        out.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == "Grüße\n".encode()
    with replacing(path) as beside:
        beside.write_bytes(b"other")
        assert path.read_bytes() == "Grüße\n".encode()
    assert path.read_bytes() == b"other" and names(path.parent) == ["file.txt"]


def test_links_permissions_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_file(link, "new")
    assert link.is_symlink() and real.read_text() == "new" and stat.S_IMODE(real.stat().st_mode) == 0o640
    write_file("/dev/null", "nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize(("target", "reason"), [
    ("/dev/full", "No space left"), ("folder", "directory"), ("file/below", "cannot be written"),
    ("x" * 300, "too long"), ("half\ud800", "surrogates not allowed"), ("/proc/new", "cannot be written"),
])  # fmt: skip
def test_what_cannot_be_written_is_an_error_with_a_reason(tmp_path: Path, target: str, reason: str) -> None:
    if target == "/dev/full" and not Path(target).is_char_device():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    where = target if target.startswith("/") else f"{tmp_path}/{target}"
    with pytest.raises(WriteError, match=reason) as caught:
        write_file(where, "content")
    assert caught.value.next and caught.value.where
    with pytest.raises(InputError, match=reason):
        write_lines(where, ["content"])
    assert names(tmp_path) == ["file", "folder"] and (tmp_path / "file").read_text() == "as it was"


def test_a_disk_that_fills_up_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    write_lines(path, ["older"])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(InputError, match="too large"):
            write_lines(path, ["much longer"] * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert read_lines(path) == ["older"] and names(tmp_path) == ["lines.txt"]


@contextmanager
def unprivileged() -> Iterator[None]:
    """Act as nobody where the tests run as root, who may write everywhere."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_without_permission() -> None:
    with TemporaryDirectory() as folder:  # not tmp_path, which only its owner may enter
        path = Path(folder, "file")
        write_file(path, "older")
        Path(folder).chmod(0o555)
        with unprivileged(), pytest.raises(WriteError, match="Permission denied"):
            write_file(path, "newer")
        assert path.read_text() == "older" and names(Path(folder)) == ["file"]
