"""The segments that sentences become."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholetext.alignment.alignment import Bead, align
from wholetext.alignment.segments import Sentences, beads_of_segments, cut, moved, place
from wholetext.alignment.sentences import splitter

sentence = st.text("ab 1中", max_size=12)


def single(*texts: str) -> Sentences:
    return Sentences.of(texts, splitter("none"))


@given(st.lists(sentence, min_size=1, max_size=6), st.lists(sentence, max_size=6))
def test_no_letter_is_lost(fixed: list[str], free: list[str]) -> None:
    side, other = single(*fixed), [text for text in free if text.strip()]
    placed = place(side, other, align(side.texts, other), " ")
    assert len(placed.segments) == len(placed.spans) == len(fixed)
    if side.texts:
        assert sorted("".join("".join(placed.segments).split())) == sorted("".join("".join(other).split()))


@pytest.mark.parametrize(
    ("text", "weights", "parts"),
    [
        ("One two. Three four.", [1, 1], ["One two.", "Three four."]),
        ("He came, and she left", [1, 1.4], ["He came,", "and she left"]),
        ("alpha beta gamma delta", [1, 1], ["alpha beta", "gamma delta"]),
        ("他来了。她走了。", [1, 1], ["他来了。", "她走了。"]),
        ("一二三四", [1, 1], ["一二", "三四"]),
        ("word", [1, 1, 1], ["w", "or", "d"]),
        ("", [1, 1], ["", ""]),
    ],
)
def test_cutting(text: str, weights: list[float], parts: list[str]) -> None:
    assert [text[a:b].strip() for a, b in cut(text, weights)] == parts


def test_added_text_stands_apart() -> None:
    beads = [Bead((0, 0), (0, 1)), Bead((0, 1), (1, 2)), Bead((1, 1), (2, 3)), Bead((1, 2), (3, 3))]
    placed = place(single("a", "b"), ["new", "A", "more"], beads, " ")
    assert placed.segments == ("new A more", "")
    assert placed.spans == (((4, 5),), ())
    assert placed.added == ((0, 2, "A"),)


def test_sentences_of_a_segment_are_one_bead() -> None:
    fixed = Sentences.of(["One. Two.", "", "Three."], splitter("rules", "en"))
    assert fixed.owner == (0, 0, 2)
    beads = [Bead((0, 1), (0, 1)), Bead((1, 2), (1, 2)), Bead((2, 3), (2, 2))]
    assert beads_of_segments(beads, fixed) == (Bead((0, 1), (0, 2)), Bead((1, 2), (0, 0)), Bead((2, 3), (2, 2)))
    partly = [Bead((0, 1), (0, 0)), Bead((1, 2), (0, 1)), Bead((2, 3), (1, 2))]  # half of a segment is not a segment
    assert beads_of_segments(partly, fixed)[0] == Bead((0, 1), (0, 1))


def test_what_is_out_of_order() -> None:
    beads = [Bead((0, 1), (2, 3)), Bead((1, 2), (0, 1)), Bead((2, 3), (1, 2)), Bead((3, 4), (3, 3))]
    assert moved(beads) == (beads[0],)
    assert moved(beads[1:]) == ()
