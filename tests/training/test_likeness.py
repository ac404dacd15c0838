"""What two texts share on the surface: shares lie in 0 … 1, equal texts share everything, short texts stay sensible."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from wholetext.training.learned.likeness import CHARACTERS, NAMES, WORDS, likeness

SHARES = 2 * (len(CHARACTERS) + len(WORDS)) + 6
TEXT = st.text(max_size=40)


def feature(hyp: str, ref: str, name: str) -> float:
    return float(likeness([hyp], [ref])[0, NAMES.index(name)])


@given(TEXT, TEXT)
def test_every_share_is_one(hyp: str, ref: str) -> None:
    found = likeness([hyp], [ref])
    assert found.shape == (1, len(NAMES)) and np.isfinite(found).all()
    assert (found[0, :SHARES] >= 0).all() and (found[0, :SHARES] <= 1).all()


@given(TEXT)
def test_equal_texts_share_everything(text: str) -> None:
    assert (likeness([text], [text])[0, :SHARES] == 1).all()
    assert feature(text, text, "equal") == 1


@given(st.lists(st.tuples(TEXT, TEXT), max_size=6))
def test_pairs_do_not_touch_each_other(pairs: list[tuple[str, str]]) -> None:
    together = likeness([hyp for hyp, _ in pairs], [ref for _, ref in pairs])
    for row, (hyp, ref) in zip(together, pairs):
        np.testing.assert_array_equal(row, likeness([hyp], [ref])[0])


def test_counts_by_hand() -> None:
    hyp, ref = "On 12 May Ann met Bob.", "On 13 May Ann saw Bob!"
    assert feature(hyp, ref, "precision of numbers") == 0
    assert feature(hyp, ref, "recall of names") == 1  # May, Ann, Bob
    assert feature(hyp, ref, "precision of words' 1-grams") == 4 / 7
    assert feature(hyp, ref, "recall of words' 2-grams") == 1 / 6  # May Ann
    assert feature(hyp, ref, "the same last character") == 0


def test_short_texts_repetition_and_foreign_script() -> None:
    assert feature("abc", "abd", "precision of characters' 6-grams") == 0.5  # as of 2-grams: ab of ab, bc
    assert feature("", "abd", "recall of characters' 1-grams") == 0
    assert feature("no no no no", "no", "repetition in the hypothesis") == 0.75
    assert feature("он ran", "he ran", "foreign script in the hypothesis alone") == 2 / 5
