"""What beads cost, and the cheapest path in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholetext.alignment.beads import (
    BEADS,
    BY_VECTORS,
    FARTHEST,
    GIVEN,
    LIKELY,
    AlignmentTask,
    Bead,
)
from wholetext.alignment.similarity import Features

sentence = st.text("ab 1中", max_size=12)


def cost(bead: tuple[int, int, int, int], table: np.ndarray, sizes: tuple[list[float], list[float]]) -> float:
    """The cost of a bead, written out once more."""
    i, k, j, m = bead
    a, b = k - i, m - j
    if 0 in (a, b):
        return GIVEN.skip * (a + b)
    expected, found = sum(sizes[0][i:k]), sum(sizes[1][j:m])
    length = (found - expected) ** 2 / (GIVEN.variance * (expected + found) / 2) / 2
    unlike = GIVEN.words * (a + b) / 2 * (1 - table[i:k, j:m].mean())
    return BEADS[a, b] * GIVEN.kinds + min(length, FARTHEST) + unlike


@settings(max_examples=60, deadline=None)
@given(
    st.lists(sentence, min_size=1, max_size=4), st.lists(sentence, min_size=1, max_size=4), st.integers(0, 2**32 - 1)
)
def test_no_other_path_in_order_is_cheaper(fixed: list[str], free: list[str], seed: int) -> None:
    """Against all paths, with a similarity given from outside."""
    table = np.random.default_rng(seed).random((len(fixed), len(free)))
    sizes = ([len(text) + 1.0 for text in fixed], [len(text) + 1.0 for text in free])
    kinds = [*BEADS, (1, 0), (0, 1)]

    def cheapest(i: int, j: int) -> float:
        if (i, j) == (len(fixed), len(free)):
            return 0.0
        steps = [(i, i + a, j, j + b) for a, b in kinds if i + a <= len(fixed) and j + b <= len(free)]
        return min(cost(step, table, sizes) + cheapest(step[1], step[3]) for step in steps)

    task = AlignmentTask(fixed, free, 1.0, lambda *_: table, None)
    found, total = task.path(slice(0, len(fixed)), slice(0, len(free)))
    assert total == pytest.approx(cheapest(0, 0), abs=1e-6)
    assert total == pytest.approx(sum(cost((*bead.fixed, *bead.free), table, sizes) for bead in found), abs=1e-6)
    assert task.bead(Bead((0, 1), (0, 1))) == pytest.approx(cost((0, 1, 0, 1), table, sizes), abs=1e-6)


def vectors(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def test_one_bead_costs_what_the_path_says() -> None:
    """A bead of more sentences than the path looks at has a cost too, by the same parts."""
    fixed, free = ["one sentence that is as long as three"], ["one sentence", "that is", "as long as three"]
    rows = vectors([1, 0], [1, 0.1], [0.9, 0], [1, 0.2])
    task = AlignmentTask(fixed, free, 1.0, None, Features(rows[:1], rows[1:]))
    tables = dict(zip(BEADS, task.tables(slice(0, 1), slice(0, 3))))
    assert task.rivals is not None
    lost = BY_VECTORS.rival * task.rivals.box(slice(0, 1), slice(0, 3)).table(1, 3)[0, 0]
    assert task.bead(Bead((0, 1), (0, 3))) == pytest.approx(tables[1, 3][0, 0] - lost, rel=1e-6)


def test_likely_pairs_of_a_sentence_are_few() -> None:
    """All sentences are equal: memory must not grow with the square of their number."""
    count = 300
    rows = np.ones((count, 4), dtype=np.float32)
    task = AlignmentTask(["the same"] * count, ["the same"] * count, 1.0, None, Features(rows, rows))
    i, j = task.likely(np.arange(count), np.arange(count))
    assert len(i) == len(j) == count * LIKELY
