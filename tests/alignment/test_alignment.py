"""Which sentences go together, and blocks out of order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from wholetext.alignment.alignment import align
from wholetext.alignment.beads import Bead
from wholetext.alignment.similarity import Features

GERMAN = (
    "Anna kam um 7 Uhr in Berlin an.",
    "Sie war müde, aber glücklich.",
    "Der Zug hatte 20 Minuten Verspätung.",
    "Danach ging sie ins Hotel.",
)
ENGLISH = [
    "Anna arrived in Berlin at 7.",
    "She was tired, but happy.",
    "The train was 20 minutes late.",
    "Then she went to the hotel.",
]


def links(fixed: list[str] | tuple[str, ...], free: list[str]) -> list[tuple[int, int, int, int]]:
    return [(*bead.fixed, *bead.free) for bead in align(fixed, free, ratio=1.0)]


def test_merged_split_dropped_added() -> None:
    assert links(GERMAN, [f"{ENGLISH[0]} {ENGLISH[1]}", *ENGLISH[2:]])[0] == (0, 2, 0, 1)
    assert (2, 3, 2, 4) in links(GERMAN, [*ENGLISH[:2], "The train was", "20 minutes late.", ENGLISH[3]])
    assert (2, 3, 2, 2) in links(GERMAN, [*ENGLISH[:2], ENGLISH[3]])
    assert (2, 2, 2, 3) in links(
        GERMAN, [*ENGLISH[:2], "An entirely new remark of the translator about 99 balloons!", *ENGLISH[2:]]
    )


def test_nothing_on_one_side() -> None:
    assert align([], []) == ()
    assert align(["a"], []) == (Bead((0, 1), (0, 0)),)
    assert align([], ["a", "b"]) == (Bead((0, 0), (0, 1)), Bead((0, 0), (1, 2)))


sentence = st.text("ab 1中", max_size=12)


@given(st.lists(sentence, max_size=7), st.lists(sentence, max_size=7))
def test_beads_cover_both_texts_once(fixed: list[str], free: list[str]) -> None:
    beads = align(fixed, free)
    assert [at for bead in beads for at in range(*bead.fixed)] == list(range(len(fixed)))
    assert sorted(at for bead in beads for at in range(*bead.free)) == list(range(len(free)))


def vectors(*numbers: int) -> np.ndarray:
    """Sentences that are alike only if their numbers are equal."""
    return np.eye(40, dtype=np.float32)[list(numbers)]


def block(order: list[int], texts: int = 12) -> list[tuple[int, int]]:
    fixed, free = [f"sentence number {i:02}" for i in range(texts)], [f"sentence number {i:02}" for i in order]
    beads = align(fixed, free, ratio=1.0, vectors=Features(vectors(*range(texts)), vectors(*order)))
    return [(i, order[j]) for bead in beads for i in range(*bead.fixed) for j in range(*bead.free)]


@pytest.mark.parametrize("order", [
    [*range(8, 12), *range(8)],  # the end comes first
    [0, 1, 5, 6, 2, 3, 4, 7, 8, 9, 10, 11],
    [6, 7, 8, 0, 1, 2, 3, 4, 5, 11, 9, 10],  # two blocks
])  # fmt: skip
def test_blocks_that_were_moved_are_found(order: list[int]) -> None:
    assert block(order) == [(i, i) for i in range(12)]


def test_what_is_left_out_and_added_is_not_joined_by_force() -> None:
    assert block([0, 1, 2, 4, 5, 20, 6, 7, 9, 10, 11]) == [(i, i) for i in range(12) if i not in (3, 8)]
