"""Long texts in boxes: in order, small enough, and with the right cuts."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from wholetext.alignment.alignment import align
from wholetext.alignment.anchors import cut_at_anchors, longest_in_order
from wholetext.alignment.beads import Bead
from wholetext.alignment.similarity import Features


@given(st.lists(st.integers(0, 9), max_size=9))
def test_the_longest_chain_in_order(numbers: list[int]) -> None:
    chain = longest_in_order(list(enumerate(numbers)))
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(chain))
    longest = [1] * len(numbers)
    for i, number in enumerate(numbers):
        longest[i] = 1 + max((longest[j] for j in range(i) if numbers[j] < number), default=0)
    assert len(chain) == max(longest, default=0)


def boxes(table: np.ndarray, cells: int) -> list[tuple[slice, slice]]:
    measures = [(1.0, Features(table, np.eye(table.shape[1])))]
    parts = cut_at_anchors(measures, (slice(0, len(table)), slice(0, table.shape[1])), cells)
    assert all((a.stop - a.start) * (b.stop - b.start) <= cells for a, b in parts)
    for side, size in ((0, table.shape[0]), (1, table.shape[1])):
        assert [at for box in parts for at in range(box[side].start, box[side].stop)] == list(range(size))
    return parts


def test_cuts_are_where_sentences_correspond() -> None:
    table = np.eye(60, 70, k=10)  # ten were added before the first
    parts = boxes(table, 2000)
    assert len(parts) > 1
    assert all(box[1].start == box[0].start + 10 for box in parts[1:])


def test_nothing_alike_is_cut_in_the_middle() -> None:
    assert len(boxes(np.zeros((50, 50)), 700)) == 2
    assert boxes(np.eye(20), 400) == [(slice(0, 20), slice(0, 20))]


@pytest.mark.long
@pytest.mark.parametrize("moved", [0, 30])
def test_memory_grows_with_the_length(moved: int) -> None:
    """2,500 sentences; a table of all pairs would take 50 MB."""
    count = 2500
    rows = np.random.default_rng(1).normal(size=(count, 32)).astype(np.float32)
    order = [*range(100, 100 + moved), *range(100), *range(100 + moved, count)]
    fixed = [f"this is sentence {i}" for i in range(count)]
    tracemalloc.start()
    beads = align(fixed, [fixed[i] for i in order], vectors=Features(rows, rows[order]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert beads == tuple(Bead((i, i + 1), (at, at + 1)) for i, at in enumerate(np.argsort(order).tolist()))
    assert peak < 40_000_000
