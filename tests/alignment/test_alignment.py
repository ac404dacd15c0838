"""Alignment of outputs with other sentence breaks: beads, the segments made of them, what is left out or added."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wholetext.alignment import alignment
from wholetext.alignment.alignment import BEADS, SHARED, SKIP, Bead, align, words
from wholetext.alignment.realign import AlignOptions, distribute, expected_ratio, realign, resegment
from wholetext.errors import InputError
from wholetext.types import Corpus, Document, Output

GERMAN = (
    "Anna kam um 7 Uhr in Berlin an.",
    "Sie war müde, aber glücklich.",
    "Der Zug hatte 20 Minuten Verspätung.",
    "Danach ging sie ins Hotel.",
)
ENGLISH = [
    "Anna arrived in Berlin at 7.",
    "She was tired, but happy.",
    "The train was 20 minutes late.",
    "Then she went to the hotel.",
]


def links(fixed: list[str] | tuple[str, ...], free: list[str]) -> list[tuple[int, int, int, int]]:
    return [(*bead.fixed, *bead.free) for bead in align(fixed, free, ratio=1.0)]


def test_equal_breaks() -> None:
    assert links(GERMAN, ENGLISH) == [(i, i + 1, i, i + 1) for i in range(4)]


def test_merged_split_dropped_added() -> None:
    assert links(GERMAN, [f"{ENGLISH[0]} {ENGLISH[1]}", *ENGLISH[2:]])[0] == (0, 2, 0, 1)
    assert (2, 3, 2, 4) in links(GERMAN, [*ENGLISH[:2], "The train was", "20 minutes late.", ENGLISH[3]])
    assert (2, 3, 2, 2) in links(GERMAN, [*ENGLISH[:2], ENGLISH[3]])
    assert (2, 2, 2, 3) in links(
        GERMAN, [*ENGLISH[:2], "An entirely new remark of the translator about 99 balloons!", *ENGLISH[2:]]
    )


def test_nothing_on_one_side() -> None:
    assert align([], []) == ()
    assert align(["a"], []) == (Bead((0, 1), (0, 0)),)
    assert align([], ["a", "b"]) == (Bead((0, 0), (0, 1)), Bead((0, 0), (1, 2)))


sentence = st.text("ab 1中", max_size=12)


@given(st.lists(sentence, max_size=7), st.lists(sentence, max_size=7))
def test_beads_cover_both_texts_in_order(fixed: list[str], free: list[str]) -> None:
    beads = align(fixed, free)
    for side, size in (("fixed", len(fixed)), ("free", len(free))):
        spans = [getattr(bead, side) for bead in beads]
        assert [at for start, stop in spans for at in range(start, stop)] == list(range(size))


def cost(bead: tuple[int, int, int, int], table: np.ndarray, sizes: tuple[list[float], list[float]]) -> float:
    """The cost of a bead, written out once more."""
    i, k, j, m = bead
    a, b = k - i, m - j
    if 0 in (a, b):
        return SKIP * (a + b)
    expected, found = sum(sizes[0][i:k]), sum(sizes[1][j:m])
    length = (found - expected) ** 2 / (alignment.VARIANCE * (expected + found) / 2) / 2
    return BEADS[a, b] + min(length, alignment.FARTHEST) + SHARED * (a + b) / 2 * (1 - table[i:k, j:m].mean())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(sentence, min_size=1, max_size=4), st.lists(sentence, min_size=1, max_size=4), st.integers(0, 2**32 - 1)
)
def test_no_other_path_is_cheaper(fixed: list[str], free: list[str], seed: int) -> None:
    """Against all paths, with a similarity given from outside."""
    table = np.random.default_rng(seed).random((len(fixed), len(free)))
    sizes = ([len(text) + 1.0 for text in fixed], [len(text) + 1.0 for text in free])
    kinds = [*BEADS, (1, 0), (0, 1)]

    def cheapest(i: int, j: int) -> float:
        if (i, j) == (len(fixed), len(free)):
            return 0.0
        steps = [(i, i + a, j, j + b) for a, b in kinds if i + a <= len(fixed) and j + b <= len(free)]
        return min(cost(step, table, sizes) + cheapest(step[1], step[3]) for step in steps)

    found = align(fixed, free, ratio=1.0, similarity=lambda *_: table)
    total = sum(cost((*bead.fixed, *bead.free), table, sizes) for bead in found)
    assert total == pytest.approx(cheapest(0, 0), abs=1e-6)


def test_shared_words_are_a_cosine() -> None:
    fixed, free = ["Anna 7 Berlin", "müde glücklich", "20"], ["Anna Berlin", "20 happy", "x"]
    shared = alignment._Shared.words(fixed, free)
    vocabulary = sorted({word for text in [*fixed, *free] for word in words(text)})
    df = {word: sum(word in words(text) for text in [*fixed, *free]) for word in vocabulary}
    vectors = [
        np.array([[words(text).count(w) * np.log(6 / df[w]) for w in vocabulary] for text in side])
        for side in (fixed, free)
    ]
    for a, b in itertools.product((1, 2, 3), (1, 2, 3)):
        for i in range(4 - a):
            left = vectors[0][i : i + a].sum(axis=0)
            rights = [vectors[1][j : j + b].sum(axis=0) for j in range(4 - b)]
            wanted = [left @ r / (np.linalg.norm(left) * np.linalg.norm(r)) for r in rights]
            np.testing.assert_allclose(shared.row(i, i + a, b), wanted, atol=1e-12)


def test_words_that_languages_share() -> None:
    assert words("Путин Ελλάδα Müller's 3,5 ％") == ["putin", "ellad", "mulle", "s", "3", "5", "%"]
    assert words("猫 Berlin？") == ["猫", "berli", "?"]


@given(st.lists(sentence, min_size=1, max_size=6), st.lists(sentence, max_size=6))
def test_resegmenting_keeps_every_letter(fixed: list[str], free: list[str]) -> None:
    parts = resegment(fixed, free, align(fixed, free), " ")
    assert len(parts) == len(fixed)
    assert "".join("".join(parts).split()) == "".join("".join(free).split())


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
def test_distributing(text: str, weights: list[float], parts: list[str]) -> None:
    assert distribute(text, weights) == parts


def test_realigning_an_output() -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", GERMAN), Document("e", GERMAN[:1])))
    output = Output("s", {"d": (" ".join([*ENGLISH[:2], ENGLISH[3]]),), "e": ("Anna came at 7.",)})
    realigned, (done,) = realign(corpus, output)
    assert realigned.docs["d"] == (ENGLISH[0], ENGLISH[1], "", ENGLISH[3])
    assert realigned.docs["e"] == ("Anna came at 7.",)  # has as many segments as the document
    assert done.doc == "d" and done.added == 0
    assert done.omitted == pytest.approx(len(GERMAN[2]) / sum(map(len, GERMAN)))
    assert done.kinds() == {"1–1": 3, "1–0": 1}
    assert len(realign(corpus, output, AlignOptions(every=True))[1]) == 2


def test_choosing_what_to_line_up_with() -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"A": tuple(ENGLISH)}),))
    output = Output("s", {"d": (" ".join(ENGLISH),)})
    for to in ("auto", "A"):
        assert realign(corpus, output, AlignOptions(to=to))[0].docs["d"] == tuple(ENGLISH)
    with pytest.raises(InputError, match="has no source") as caught:
        realign(corpus, output, AlignOptions(to="source"))
    assert "A" in caught.value.next
    with pytest.raises(InputError, match="no reference 'B'"):
        realign(corpus, output, AlignOptions(to="B"))
    empty = Output("s", {"d": ("",)})
    realigned, (done,) = realign(corpus, empty)
    assert realigned.docs["d"] == ("", "", "", "") and done.omitted == 1


def test_expected_ratio() -> None:
    assert expected_ratio([], [], ("de", "en")) == 1
    assert expected_ratio([], [], ("zh_CN", "en")) == 4
    assert expected_ratio([["x" * 99_999]], [["x" * 199_999]], ("de", "en")) == pytest.approx(2, abs=0.05)
