"""A new cache that several processes or threads open at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from wholetext.files.cache import Cache


def test_a_new_file_opened_at_once(tmp_path: Path) -> None:
    """The change to a write-ahead log does not wait by itself: without our wait about 1 in 70 fails here."""
    start = Barrier(4)

    def open_and_close(path: Path) -> None:
        start.wait()
        Cache(path).close()

    with ThreadPoolExecutor(4) as threads:
        for number in range(100):
            list(threads.map(open_and_close, [tmp_path / f"{number}.sqlite"] * 4))
