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


def gain(fixed: list[str], free: list[str], old: Bead = OLD, new: Bead = NEW, wanted: float = -np.inf) -> float:
    return gains_of_halves(fixed, free, Features(bags(fixed), bags(free)), bags)({(old, new): wanted})[0]


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


@pytest.mark.parametrize("order", [1, -1])
def test_a_gain_counts_if_it_is_above_what_is_wanted(order: int) -> None:
    """The segment without counterpart is the first or the last."""
    parts = [TITLE, FIRST][::order]
    old = Bead((0, 1), (0, 1)) if order < 0 else OLD
    whole = gain(parts, [" ".join(parts)], old)
    assert gain(parts, [" ".join(parts)], old, wanted=whole - 1e-6) == whole
    assert gain(parts, [" ".join(parts)], old, wanted=whole + 1e-6) == -np.inf


def test_the_other_half_is_encoded_only_if_it_can_matter() -> None:
    texts: list[str] = []

    def encode(some: Sequence[str]) -> NDArray[np.float32]:
        texts.extend(some)
        return bags(some)

    fixed, free = ["Rain", FIRST], [FIRST]
    gains = gains_of_halves(fixed, free, Features(bags(fixed), bags(free)), encode)
    assert gains({(OLD, NEW): 0.0}) == [-np.inf]
    assert texts and all(FIRST.startswith(text) for text in texts)


def test_what_cannot_be_cut_gains_nothing() -> None:
    assert gain([TITLE, FIRST], ["Rain"]) == -np.inf
    assert gain([TITLE, FIRST, "Rain"], [FIRST], Bead((1, 3), (0, 1)), Bead((0, 3), (0, 1))) == -np.inf
