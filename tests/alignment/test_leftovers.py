"""Sentences that the path in order leaves over: moved blocks, parts of neighbours, exchanges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from wholetext.alignment import alignment
from wholetext.alignment.alignment import absorbed, align, exchanged, gains_of_halves, with_moved
from wholetext.alignment.beads import Bead, BeadTask
from wholetext.alignment.similarity import Features

LONG = "The company said on Monday that it would open two new offices next year. It is going to hire about 500 people."
SPLIT = [f"{text}." for text in LONG.rstrip(".").split(". ")]


def task(fixed: list[str], free: list[str], near: list[list[float]]) -> BeadTask:
    """Texts whose vectors have the products ``near``: sentences of the document by sentences of the output."""
    table = np.array(near)
    rows, n = np.eye(len(fixed), table.shape[1] + len(fixed), dtype=np.float32), len(fixed)
    other = np.zeros((len(free), rows.shape[1]), dtype=np.float32)
    other[:, :n] = table.T
    other[:, n:] = np.diag(np.sqrt(np.maximum(0, 1 - (table**2).sum(axis=0))))
    return BeadTask(fixed, free, 1.0, Features(rows, other))


def never(pairs: Sequence[tuple[Bead, Bead]]) -> list[float]:
    assert not pairs, "lengths and vectors settle this"
    return []


def test_the_second_half_of_a_sentence_is_not_added_text() -> None:
    free = [*SPLIT, "Shares rose by 3 percent."]
    some = task([LONG, "The share rose 3 percent."], free, [[0.7, 0.3, 0.0], [0.0, 0.0, 0.8]])
    beads = [Bead((0, 1), (0, 1)), Bead((1, 1), (1, 2)), Bead((1, 2), (2, 3))]
    joined = [Bead((0, 1), (0, 2)), Bead((1, 2), (2, 3))]
    assert absorbed(some, beads, [0, 0, 1], never) == joined
    assert absorbed(some, joined, [0, 0, 1], never) == joined
    far = [Bead((0, 0), (0, 1)), Bead((0, 1), (1, 2)), Bead((1, 2), (2, 3))]
    unlike = task([SPLIT[1], "The share rose 3 percent."], free, [[0.0, 0.9, 0.0], [0.0, 0.0, 0.8]])
    assert absorbed(unlike, far, [0, 1, 2], never) == far  # in a line of its own: added


def test_two_segments_in_one_sentence() -> None:
    title, first = "Company opens two new offices", "The company said on Monday that it opens two new offices"
    some = task([title, first], [f"{title} {first}"], [[0.6], [0.7]])
    left_out = [Bead((0, 1), (0, 0)), Bead((1, 2), (0, 1))]
    both = [Bead((0, 2), (0, 1))]
    assert absorbed(some, left_out, [0], lambda pairs: [0.0] * len(pairs)) == both
    # its parts are like neither segment
    assert absorbed(some, left_out, [0], lambda pairs: [-0.6] * len(pairs)) == left_out
    short = task(["Rain at the weekend, sun on Monday", first], [first], [[0.1], [0.9]])
    assert absorbed(short, left_out, [0], never) == left_out  # the length says that the title is missing


def test_rivals_that_have_a_counterpart_do_not_count() -> None:
    """The sentence in the middle is most like the first of the other side, which is taken."""
    fixed = ["alpha one two three.", "beta four five six.", "gamma seven eight."]
    free = ["alpha one two three.", "delta nine ten six.", "gamma seven eight."]
    some = task(fixed, free, [[0.8, 0.6, 0.0], [0.0, 0.35, 0.0], [0.0, 0.0, 1.0]])
    path = [Bead((0, 1), (0, 1)), Bead((1, 2), (1, 1)), Bead((2, 2), (1, 2)), Bead((2, 3), (2, 3))]
    assert with_moved(some, path) == [Bead((i, i + 1), (i, i + 1)) for i in range(3)]


def test_a_text_that_repeats_itself_is_aligned_in_order() -> None:
    """60 sentences five times, some left out."""
    texts = [f"Sentence {i} is about {i * i} things." for i in range(60)] * 5
    rows = np.tile(np.random.default_rng(2).normal(size=(60, 24)).astype(np.float32), (5, 1))
    kept = [at for at in range(300) if at % 50 != 7]
    beads = align(texts, [texts[at] for at in kept], vectors=Features(rows, rows[kept]))
    linked = [(bead.fixed[0], kept[bead.free[0]]) for bead in beads if bead.free[0] < bead.free[1]]
    assert [i % 60 for i, _ in linked] == [j % 60 for _, j in linked]
    assert sum(i == j for i, j in linked) >= 280


# ---------------------------------------------------------------- exchanges

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
    pairs = [(0, 0, 0.8), (4, 1, 0.8), (5, 2, 0.8), (1, 3, 0.8), (3, 5, 0.8), (2, 4, 0.5)]
    free = [SENTENCES[i] for i in (0, 4, 5, 1, 2, 3)]
    free[4] = free[4].replace(" c ", " x ")
    wrong = [one(0, 0), one(1, 3), one(3, 5), one(4, 1), one(5, 2), one(6, 4)]
    right = sorted([*(bead for bead in wrong if bead != one(6, 4)), one(2, 4)], key=lambda bead: bead.fixed)
    assert exchanged(task(SENTENCES, free, near(7, 6, *pairs, (6, 4, 0.53))), wrong) == right
    assert exchanged(task(SENTENCES, free, near(7, 6, *pairs, (6, 4, 0.8))), wrong) == wrong  # far more like it
    assert exchanged(task(SENTENCES, free, near(7, 6, *pairs, (6, 4, 0.53))), right) == right


# ---------------------------------------------------------------- two segments in one sentence

TITLE, FIRST = "Company opens two offices", "On Monday a company said that two offices open"
WORDS = {word: at for at, word in enumerate(dict.fromkeys(f"{TITLE} {FIRST} rain".lower().split()))}


def bags(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of unit length: which words a text has."""
    rows = np.zeros((len(texts), len(WORDS)), dtype=np.float32)
    for row, text in zip(rows, texts):
        row[[WORDS[word] for word in text.lower().split()]] = 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def gain(fixed: list[str], text: str, old: tuple[int, int] = (1, 2)) -> float:
    beads = Bead(old, (0, 1)), Bead((0, len(fixed)), (0, 1))
    return gains_of_halves(fixed, [text], Features(bags(fixed), bags([text])))([beads])[0]


def test_what_cutting_a_sentence_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "encode", bags)
    both = gain([TITLE, FIRST], f"{TITLE} {FIRST}")
    assert both == pytest.approx(1 - float(bags([FIRST])[0] @ bags([f"{TITLE} {FIRST}"])[0]), abs=1e-6)
    assert gain([FIRST, TITLE], f"{FIRST} {TITLE}", (0, 1)) == pytest.approx(both, abs=1e-6)
    one, two = "Company opens", "rain on Monday"
    assert gain([one, two], f"{one} {two}") == pytest.approx(1 - (3 / 5) ** 0.5, abs=1e-6)
    assert gain([two, one], f"{one} {two}") < 0  # in the wrong order
    assert max(gain([TITLE, FIRST], FIRST), gain(["Rain", FIRST], FIRST)) < -0.1  # it has one of them only
    assert gain([TITLE, FIRST], "Rain") == gain([TITLE, FIRST, "Rain"], FIRST, (1, 3)) == -np.inf  # cannot be cut
