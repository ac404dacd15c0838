"""N-grams are counted as counters count them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, strategies as st

from wholetext.text.overlap import characters, compared, overlap

SHORT = st.text(alphabet="abc世", max_size=9)


def grams(text: str, order: int) -> Counter[str]:
    return Counter(text[i : i + order] for i in range(len(text) - order + 1))


@given(refs=st.lists(st.tuples(SHORT, SHORT), min_size=1, max_size=4),
       chosen=st.lists(st.tuples(SHORT, st.integers(0, 3)), min_size=1, max_size=8))
def test_counts_of_n_grams_are_those_of_counters(
    refs: list[tuple[str, str]], chosen: list[tuple[str, int]]
) -> None:
    groups = [[hyp, *refs[which % len(refs)]] for hyp, which in chosen]
    texts, sets = compared(groups)
    found = overlap(characters(texts), sets, 3)
    for i, (hyp, *others) in enumerate(groups):
        for n in range(3):
            own, theirs = grams(hyp, n + 1), [grams(other, n + 1) for other in others]
            assert found.hyp[i, n] == own.total()
            assert list(found.ref[i, :, n]) == [ref.total() for ref in theirs]
            assert list(found.match[i, :, n]) == [(own & ref).total() for ref in theirs]
            assert found.match_any[i, n] == (own & (theirs[0] | theirs[1])).total()
