"""What beads cost, and the cheapest path in order."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from wholetext.alignment.beads import BEADS, BY_VECTORS, FARTHEST, LIKELY, BeadTask
from wholetext.alignment.similarity import Features

sentence = st.text("ab 1中", max_size=12)


def cost(task: BeadTask, bead: tuple[int, int, int, int]) -> float:
    """The cost of a bead by vectors, lengths, words and rivals, written out once more."""
    i, k, j, m = bead
    a, b = k - i, m - j
    if 0 in (a, b):
        return BY_VECTORS.skip * (a + b)
    expected, length = task.fixed[k] - task.fixed[i], task.free[m] - task.free[j]
    lengths = (length - expected) ** 2 / (BY_VECTORS.variance * (expected + length) / 2) / 2
    unlike = sum(weight * (1 - measure.together((i, k), (j, m))) for weight, measure in task.measures)
    total = BEADS[a, b] * BY_VECTORS.kinds + min(lengths, FARTHEST) + (a + b) / 2 * unlike
    rivals = task.rivals.tables(slice(i, k), slice(j, m), [(a, b)])[a, b][0, 0]
    return min(total, 2 * BY_VECTORS.worst if a == b == 1 else np.inf) + BY_VECTORS.rival * rivals


@settings(max_examples=40, deadline=None)
@given(
    st.lists(sentence, min_size=1, max_size=4), st.lists(sentence, min_size=1, max_size=4), st.integers(0, 2**32 - 1)
)
def test_no_other_path_in_order_is_cheaper(fixed: list[str], free: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = BeadTask(fixed, free, 1.0, Features(rng.normal(size=(len(fixed), 5)), rng.normal(size=(len(free), 5))))
    kinds = [*BEADS, (1, 0), (0, 1)]

    @cache
    def cheapest(i: int, j: int) -> float:
        if (i, j) == (len(fixed), len(free)):
            return 0.0
        steps = [(i, i + a, j, j + b) for a, b in kinds if i + a <= len(fixed) and j + b <= len(free)]
        return min(cost(task, step) + cheapest(step[1], step[3]) for step in steps)

    beads, total = task.path(slice(0, len(fixed)), slice(0, len(free)))
    assert total == pytest.approx(cheapest(0, 0), abs=1e-6)
    assert total == pytest.approx(sum(cost(task, (*bead.fixed, *bead.free)) for bead in beads), abs=1e-6)


def test_likely_pairs_of_a_sentence_are_few() -> None:
    """All sentences are equal: memory must not grow with the square of their number."""
    count = 300
    rows = np.ones((count, 4), dtype=np.float32)
    task = BeadTask(["the same"] * count, ["the same"] * count, 1.0, Features(rows, rows))
    i, j = task.likely(np.arange(count), np.arange(count))
    assert len(i) == len(j) == count * LIKELY
