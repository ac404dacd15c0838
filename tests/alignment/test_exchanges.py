"""Counterparts that are handed over once moved blocks are known."""

from __future__ import annotations

from tests.alignment.test_leftovers import task
from wholetext.alignment.beads import Bead
from wholetext.alignment.exchanges import _breaks, exchanged
from wholetext.alignment.leftovers import absorbed

SENTENCES = [f"Sentence number {name} tells of something else." for name in "abcdefg"]


def one(i: int, j: int) -> Bead:
    return Bead((i, i + 1), (j, j + 1))


def near(rows: int, columns: int, *pairs: tuple[int, int, float]) -> list[list[float]]:
    table = [[0.0] * columns for _ in range(rows)]
    for i, j, value in pairs:
        table[i][j] = value
    return table


def test_a_sentence_amid_a_moved_block_belongs_to_it() -> None:
    """Sentences 1 to 3 stand at the end, 6 is left out; the path in order gave the text of 2 to 6."""
    found = [(0, 0, 0.8), (4, 1, 0.8), (5, 2, 0.8), (1, 3, 0.8), (3, 5, 0.8), (2, 4, 0.5)]
    free = [SENTENCES[i] for i in (0, 4, 5, 1, 2, 3)]
    free[4] = free[4].replace(" c ", " x ")
    wrong = [one(0, 0), one(1, 3), one(3, 5), one(4, 1), one(5, 2), one(6, 4)]
    right = sorted([*(bead for bead in wrong if bead != one(6, 4)), one(2, 4)], key=lambda bead: bead.fixed)
    assert exchanged(task(SENTENCES, free, near(7, 6, *found, (6, 4, 0.53))), wrong) == right
    assert exchanged(task(SENTENCES, free, near(7, 6, *found, (6, 4, 0.8))), wrong) == wrong  # far more like it
    assert exchanged(task(SENTENCES, free, near(7, 6, *found, (6, 4, 0.53))), right) == right


def test_text_that_stands_beside_its_block_takes_its_segment_back() -> None:
    """Segments 1 and 2 stand at the end; half of segment 3 was taken for 1, whose text looked added."""
    half = "Sentence number d tells", "of something else."
    free = [SENTENCES[0], *half, SENTENCES[4], SENTENCES[1], SENTENCES[2]]
    pairs = (0, 0, 0.8), (1, 1, 0.3), (3, 1, 0.5), (3, 2, 0.5), (4, 3, 0.8), (1, 4, 0.8), (2, 5, 0.8)
    some = task(SENTENCES[:5], free, near(5, 6, *pairs))
    wrong = [one(0, 0), one(1, 1), one(2, 5), one(3, 2), one(4, 3)]
    freed = exchanged(some, wrong)
    assert freed == [one(0, 0), one(1, 4), one(2, 5), one(3, 2), one(4, 3)]
    assert Bead((3, 4), (1, 3)) in absorbed(some, freed, [0, 1, 1, 3, 4, 5], lambda pairs: [0.0] * len(pairs))


def test_a_moved_block_makes_three_breaks() -> None:
    assert _breaks(set()) == _breaks({one(0, 0)}) == _breaks({one(i, i + i) for i in range(4)}) == 0
    assert _breaks({one(i, j) for i, j in enumerate([0, 3, 4, 1, 2, 5])}) == 3
