"""Arrays that grow and move to a temporary file."""

import mmap

import numpy as np
import pytest

from wholetext.errors import WriteError
from wholetext.files import large_arrays
from wholetext.files.large_arrays import GrowingArray, blocks


@pytest.mark.parametrize("spill", [1 << 30, 100])
def test_rows_are_the_same_in_memory_and_on_disk(monkeypatch: pytest.MonkeyPatch, spill: int) -> None:
    monkeypatch.setattr(large_arrays, "SPILL", spill)
    parts, grown = [np.random.default_rng(i).random((i + 1, 3)) for i in range(7)], GrowingArray()
    for part in parts:
        grown.append(part)
    found = grown.array()
    assert np.array_equal(found, np.concatenate(parts))
    assert isinstance(found.base, mmap.mmap) == (spill == 100)
    assert len(GrowingArray().array()) == 0


def test_blocks_cover_every_row_once_and_divide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_arrays, "BLOCK", 4)
    rows = np.arange(23)
    assert np.concatenate([rows[some] for some in blocks(rows)]).tolist() == rows.tolist()
    assert max(len(rows[some]) for some in blocks(rows)) == 4
    edges = np.array([0, 1, 7, 8, 12, 20])
    slices = list(blocks(rows, edges))
    assert np.concatenate([rows[some] for some in slices]).tolist() == rows.tolist() and len(slices) > 2
    assert {some.start for some in slices} <= set(edges.tolist())
    assert list(blocks(rows[:0], edges[:0])) == []


def test_a_full_disk_is_an_error_that_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(large_arrays, "SPILL", 1)
    monkeypatch.setattr(large_arrays.tempfile, "TemporaryFile", full)
    with pytest.raises(WriteError, match=r"TMPDIR.*disk is full"):
        GrowingArray().append(np.zeros((2, 2)))
