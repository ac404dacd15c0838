"""The segments that sentences become."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wholetext.alignment.alignment import align
from wholetext.alignment.beads import Bead
from wholetext.alignment.segments import Sentences, beads_of_segments, cut, moved, place
from wholetext.text.sentences import splitter

sentence = st.text("ab 1中", max_size=12)


def single(*texts: str) -> Sentences:
    return Sentences.of(texts, splitter("none"))


@given(st.lists(sentence, min_size=1, max_size=6), st.lists(sentence, max_size=6))
def test_no_letter_is_lost(fixed: list[str], free: list[str]) -> None:
    side, other = single(*fixed), [text for text in free if text.strip()]
    segments, spans, _ = place(side, other, align(side.texts, other), " ")
    assert len(segments) == len(spans) == len(fixed)
    if side.texts:
        assert sorted("".join("".join(segments).split())) == sorted("".join("".join(other).split()))


@pytest.mark.parametrize(
    ("text", "wanted", "parts"),
    [
        ("One two. Three four.", [10], ["One two.", "Three four."]),
        ("He came, and she left", [9], ["He came,", "and she left"]),
        ("alpha beta gamma delta", [11], ["alpha beta", "gamma delta"]),
        ("news on site.com Rain fell in Berlin", [15], ["news on site.com", "Rain fell in Berlin"]),  # a name
        ("他来了。她走了。", [4], ["他来了。", "她走了。"]),
        ("一二三四", [2], ["一二", "三四"]),
        ("word", [1, 3], ["w", "or", "d"]),
        ("", [0], ["", ""]),
    ],
)
def test_cutting(text: str, wanted: list[int], parts: list[str]) -> None:
    assert [text[a:b].strip() for a, b in cut(text, wanted)] == parts


def test_a_sentence_with_two_segments_is_cut_by_their_words() -> None:
    fixed = single("Flood in Chongqing", "Heavy rain fell on Sunday in 33 districts of the city, officials said")
    text = "Floods hit all of the city of Chongqing Heavy rain fell in 33 districts on Sunday"
    assert place(fixed, [text], [Bead((0, 2), (0, 1))], " ")[0] == [text[:39], text[40:]]


def test_a_sentence_broken_by_lines_is_mended() -> None:
    lines = ["One thing is", "that it rains. Two.", "Three,", "four.", "Title", "Five. six", "Seven.", "Eight."]
    rejoined = Sentences.of(lines, splitter("rules", "en")).rejoined()
    assert rejoined.texts[:4] == ("One thing is that it rains.", "Two.", "Three, four.", "Title")
    assert rejoined.owner == (0, 0, 2, 4, 5, 6, 7) and rejoined.parts == 8
    subtitles = Sentences.of(["and then", "we went", "to the sea", "where it", "was warm"], splitter("rules", "en"))
    assert subtitles.rejoined() == subtitles
    assert Sentences.of([], splitter("rules")).rejoined().texts == ()


def test_added_text_stands_apart() -> None:
    beads = [Bead((0, 0), (0, 1)), Bead((0, 1), (1, 2)), Bead((1, 1), (2, 3)), Bead((1, 2), (3, 3))]
    segments, spans, added = place(single("a", "b"), ["new", "A", "more"], beads, " ")
    assert segments == ["new A more", ""] and spans == [[(4, 5)], []] and added == [(0, 2, "A")]


def test_sentences_of_a_segment_are_one_bead() -> None:
    fixed = Sentences.of(["One. Two.", "", "Three."], splitter("rules", "en"))
    assert fixed.owner == (0, 0, 2)
    beads = [Bead((0, 1), (0, 1)), Bead((1, 2), (1, 2)), Bead((2, 3), (2, 2))]
    assert beads_of_segments(beads, fixed) == (Bead((0, 1), (0, 2)), Bead((1, 2), (0, 0)), Bead((2, 3), (0, 0)))
    partly = [Bead((0, 1), (0, 0)), Bead((1, 2), (0, 1)), Bead((2, 3), (1, 2))]  # half of a segment is not a segment
    assert beads_of_segments(partly, fixed)[0] == Bead((0, 1), (0, 1))


def test_what_is_out_of_order() -> None:
    beads = [Bead((0, 1), (2, 3)), Bead((1, 2), (0, 1)), Bead((2, 3), (1, 2)), Bead((3, 4), (3, 3))]
    assert moved(beads) == (beads[0],)
    assert moved(beads[1:]) == ()
