"""Sentences swapped, shuffled, left out, doubled, borrowed."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from wholetext.stress.change import Change, NotApplicable, TaggedText, applied
from wholetext.stress.changes.structure import double, drop, foreign, shuffle, swap


def document(sizes: list[int], name: str = "this") -> TaggedText:
    """Segments of one or more sentences, all different; another document lends its own."""
    numbers = iter(range(100))
    segments = tuple(" ".join(f"Sentence {next(numbers)} is in {name} text." for _ in range(size)) for size in sizes)
    lent = ("A sentence that was lent is here.", "Another one is to be had too.")
    return TaggedText("doc", "en", segments, others=[lent])


def sentences(segments: tuple[str, ...]) -> list[str]:
    return [unit.text for unit in TaggedText("doc", "en", segments).units]


@given(st.lists(st.integers(1, 3), min_size=9, max_size=12), st.integers(0, 99))
def test_sentences_are_only_moved_never_changed(sizes: list[int], seed: int) -> None:
    text = document(sizes)
    for change in (swap, shuffle):
        made, _ = applied(text.segments, change.sites(text, random.Random(seed)))
        assert len(made) == len(sizes)
        assert sorted(sentences(made)) == sorted(sentences(text.segments))
        assert sentences(made) != sentences(text.segments)


@given(st.lists(st.integers(1, 3), min_size=3, max_size=6), st.integers(0, 99))
def test_sentences_are_left_out_doubled_and_borrowed(sizes: list[int], seed: int) -> None:
    text, rng = document(sizes), random.Random(seed)
    every = Counter(sentences(text.segments))
    dropped = Counter(sentences(applied(text.segments, drop.sites(text, rng))[0]))
    assert dropped < every and 2 * dropped.total() >= every.total()
    doubled = Counter(sentences(applied(text.segments, double.sites(text, rng))[0]))
    assert doubled == every + every
    lent = Counter(sentences(applied(text.segments, foreign.sites(text, rng))[0])) - every
    assert 0 < lent.total() <= 2 and {*lent} <= {*sentences(tuple(text.others[0]))}


@pytest.mark.parametrize("change", [swap, shuffle, drop, foreign])
def test_short_documents_are_refused(change: Change) -> None:
    for segments in (("Only one sentence is here.",), ("A heading", "Another heading", "A third one", "A fourth one")):
        with pytest.raises(NotApplicable):
            change.sites(TaggedText("doc", "en", segments, others=document([1]).others), random.Random(0))
    with pytest.raises(NotApplicable, match="no whole sentence"):
        double.sites(TaggedText("doc", "en", ("A heading",)), random.Random(0))


def test_nothing_can_be_borrowed_from_a_single_document() -> None:
    with pytest.raises(NotApplicable, match="none in other documents"):
        foreign.sites(TaggedText("doc", "en", document([1, 1]).segments), random.Random(0))
