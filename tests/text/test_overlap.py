"""What two texts share on the surface: shares lie in 0 … 1, equal texts share everything, short texts stay sensible."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from wholetext.text import overlap as module
from wholetext.text.overlap import CHARACTERS, NAMES, WORDS, characters, compared, likeness, overlap

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


SHORT = st.text(alphabet="abc世", max_size=9)


def grams(text: str, order: int) -> Counter[str]:
    return Counter(text[i : i + order] for i in range(len(text) - order + 1))


@pytest.mark.parametrize("table", [module._TABLE, 0], ids=["table", "search"])
@given(refs=st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=4),
       chosen=st.lists(st.tuples(SHORT, st.integers(0, 3)), min_size=1, max_size=8))
def test_counts_of_n_grams_are_those_of_counters(
    table: int, refs: list[tuple[str, str]], chosen: list[tuple[str, int]]
) -> None:
    groups = [[hyp, *refs[which % len(refs)]] for hyp, which in chosen]
    texts, sets = compared(groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TABLE", table)
        found = overlap(characters(texts), sets, 3)
    for i, (hyp, *others) in enumerate(groups):
        for n in range(3):
            own, theirs = grams(hyp, n + 1), [grams(other, n + 1) for other in others]
            assert found.hyp[i, n] == own.total()
            assert list(found.ref[i, :, n]) == [ref.total() for ref in theirs]
            assert list(found.match[i, :, n]) == [(own & ref).total() for ref in theirs]
            assert found.match_any[i, n] == (own & (theirs[0] | theirs[1])).total()
