"""BWB folders from anybody: pipes and devices in the place of chapters are never read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wholetext.errors import InputError
from wholetext.io import read


def book(folder: Path) -> Path:
    place = folder / "test" / "Book1"
    place.mkdir(parents=True)
    for name in ("1.chs_re.txt", "1.ref_re.txt", "1.mt_re.txt"):
        (place / name).write_text("a\nb\n", "utf-8")
    return place


@pytest.mark.parametrize(("name", "what"), [("1.chs_re.txt", "source"), ("1.ref_re.txt", "reference")])
def test_a_pipe_or_a_device_is_no_chapter(tmp_path: Path, name: str, what: str) -> None:
    for kind in ("pipe", "device"):
        path = book(tmp_path / kind) / name
        path.unlink()
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/null")
        with pytest.raises(InputError, match=f"a chapter has no {what}"):
            read(tmp_path / kind)


def test_a_pipe_is_no_output(tmp_path: Path) -> None:
    path = book(tmp_path) / "1.mt_re.txt"
    path.unlink()
    os.mkfifo(path)
    assert read(tmp_path).outputs == ()
