"""Whether a sentence of the output has two segments of the document in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from wholetext.alignment.beads import Bead
from wholetext.alignment.leftovers import gains_of_halves
from wholetext.alignment.similarity import Features

TITLE, FIRST = "Company opens two offices", "On Monday a company said that two offices open"
WORDS = {word: at for at, word in enumerate(dict.fromkeys(f"{TITLE} {FIRST} rain".lower().split()))}
OLD, NEW = Bead((1, 2), (0, 1)), Bead((0, 2), (0, 1))


def bags(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of unit length: which words a text has."""
    rows = np.zeros((len(texts), len(WORDS)), dtype=np.float32)
    for row, text in zip(rows, texts):
        row[[WORDS[word] for word in text.lower().split()]] = 1
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def gain(fixed: list[str], free: list[str], old: Bead = OLD, new: Bead = NEW) -> float:
    return gains_of_halves(fixed, free, Features(bags(fixed), bags(free)), bags)([(old, new)])[0]


def test_both_segments_are_found_in_their_order() -> None:
    both = gain([TITLE, FIRST], [f"{TITLE} {FIRST}"])
    assert both == pytest.approx(1 - float(bags([FIRST])[0] @ bags([f"{TITLE} {FIRST}"])[0]), abs=1e-6)
    assert both > 0
    one, two = "Company opens", "rain on Monday"
    assert gain([one, two], [f"{one} {two}"]) == pytest.approx(1 - (3 / 5) ** 0.5, abs=1e-6)
    assert gain([two, one], [f"{one} {two}"]) < 0


def test_cutting_a_sentence_that_has_one_segment_only_loses() -> None:
    assert gain([TITLE, FIRST], [FIRST]) < -0.1
    assert gain(["Rain", FIRST], [FIRST]) < -0.1


def test_what_cannot_be_cut_gains_nothing() -> None:
    assert gain([TITLE, FIRST], ["Rain"]) == -np.inf
    assert gain([TITLE, FIRST, "Rain"], [FIRST], Bead((1, 3), (0, 1)), Bead((0, 3), (0, 1))) == -np.inf
