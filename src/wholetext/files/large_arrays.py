"""Arrays that grow block by block and move to a temporary file when they are large; passes over them that hold little.

The file has no name (where the system allows that), so that it is deleted with the process. ``TMPDIR`` sets the disk.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from wholetext.errors import WriteError
from wholetext.files.storage import refusing

Array = np.ndarray[Any, Any]
SPILL = 1 << 24  # bytes of an array that are held in memory
BLOCK = 1 << 16  # rows looked at together


class GrowingArray:
    """Rows of numbers, appended block by block."""

    def __init__(self) -> None:
        self._held: list[Array] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._rows = 0

    def append(self, block: Array) -> None:
        """Blocks have the same columns and the same type."""
        self._held.append(block)
        self._bytes += block.nbytes
        if self._bytes >= SPILL:
            self._spill()

    def _spill(self) -> None:
        with refusing(tempfile.gettempdir(), WriteError, "a temporary file (TMPDIR chooses the folder)"):
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="wholetext-")  # noqa: SIM115 - it lives as long as the array
            for block in self._held:
                self._file.write(np.ascontiguousarray(block).data)
                self._rows += len(block)
            self._file.flush()
        self._held, self._bytes = [self._held[-1][:0].copy()], 0  # an array without rows keeps shape and type

    def array(self) -> Array:
        """All rows: in memory, or mapped from the file, which can only be read."""
        if self._file is None:
            return np.concatenate(self._held) if self._held else np.zeros((0, 0))
        self._spill()
        like = self._held[0]
        mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        found: Array = np.ndarray((self._rows, *like.shape[1:]), like.dtype, buffer=mapped)
        return found


def blocks(array: Array, edges: Array | None = None) -> Iterator[slice]:
    """Slices that cover the rows of an array in order; mapped memory of one is released before the next.

    With ``edges``, rows at which something begins, no slice divides what is between two of them.
    """
    rows = len(array)
    starts = range(0, rows, BLOCK) if edges is None else edges[:: max(1, BLOCK * len(edges) // max(1, rows))].tolist()
    for start, stop in zip(starts, [*starts[1:], rows]):
        yield slice(start, stop)
        base: Any = array.base
        if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)
