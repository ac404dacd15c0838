"""Sentences that the path in order leaves over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wholetext.alignment.alignment import align
from wholetext.alignment.beads import AlignmentTask, Bead
from wholetext.alignment.leftovers import LIKELY, _gaps, _pairs, absorbed, with_moved
from wholetext.alignment.similarity import Features

LONG = "The company said on Monday that it would open two new offices next year. It is going to hire about 500 people."
SPLIT = [f"{text}." for text in LONG.rstrip(".").split(". ")]


def task(fixed: list[str], free: list[str], near: list[list[float]]) -> AlignmentTask:
    """Texts whose vectors have the products ``near``: sentences of the document by sentences of the output."""
    table = np.array(near)
    rows, n = np.eye(len(fixed), table.shape[1] + len(fixed), dtype=np.float32), len(fixed)
    other = np.zeros((len(free), rows.shape[1]), dtype=np.float32)
    other[:, :n] = table.T
    other[:, n:] = np.diag(np.sqrt(np.maximum(0, 1 - (table**2).sum(axis=0))))
    return AlignmentTask(fixed, free, 1.0, None, Features(rows, other))


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


def test_gaps_are_in_order_on_both_sides() -> None:
    some = task(["a"] * 5, ["b"] * 5, np.zeros((5, 5)).tolist())
    linked = [Bead((0, 1), (0, 1)), Bead((2, 3), (2, 3)), Bead((4, 5), (3, 4))]
    assert _gaps(some, linked) >= {((1, 2), (1, 2)), ((5, 5), (4, 5))}
    assert ((3, 4), (3, 4)) not in _gaps(some, linked)


def test_repetitions_are_not_all_tried() -> None:
    """Every stretch is like every other one: each is tried with some, not with all."""
    runs = [(at, at + 1) for at in range(0, 200, 2)]
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(0, 200, 2), np.arange(0, 200, 2)))
    pairs = _pairs((i, j), [runs, runs])
    assert len(runs) <= len(pairs) <= LIKELY * len(runs)


def test_a_text_that_repeats_itself_is_aligned_in_order() -> None:
    """60 sentences five times, some left out."""
    texts = [f"Sentence {i} is about {i * i} things." for i in range(60)] * 5
    rows = np.tile(np.random.default_rng(2).normal(size=(60, 24)).astype(np.float32), (5, 1))
    kept = [at for at in range(300) if at % 50 != 7]
    beads = align(texts, [texts[at] for at in kept], vectors=Features(rows, rows[kept]))
    linked = [(bead.fixed[0], kept[bead.free[0]]) for bead in beads if bead.free[0] < bead.free[1]]
    assert [i % 60 for i, _ in linked] == [j % 60 for _, j in linked]
    assert sum(i == j for i, j in linked) >= 280
