"""How alike sentences are: shared words, sentence vectors, rivals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from wholetext.alignment.similarity import Features, Rivals, alike, shared_words, words


def given(table: np.ndarray) -> Features:
    """Features whose cosines are the table, of (n, m) similarities below 1."""
    n, m = table.shape
    rest = np.diag(np.sqrt(1 - (table**2).sum(axis=0)))
    return Features(np.eye(n, n + m), np.concatenate([table.T, rest], axis=1))


def test_shared_words_are_a_cosine() -> None:
    fixed, free = ["Anna 7 Berlin", "müde glücklich", "20"], ["Anna Berlin", "20 happy", "x"]
    kinds = list(itertools.product((1, 2, 3), (1, 2, 3)))
    shared = shared_words(fixed, free).tables(slice(0, 3), slice(0, 3), kinds)
    vocabulary = sorted({word for text in [*fixed, *free] for word in words(text)})
    df = {word: sum(word in words(text) for text in [*fixed, *free]) for word in vocabulary}
    vectors = [
        np.array([[words(text).count(w) * np.log(6 / df[w]) for w in vocabulary] for text in side])
        for side in (fixed, free)
    ]
    for a, b in kinds:
        for i in range(4 - a):
            left = vectors[0][i : i + a].sum(axis=0)
            rights = [vectors[1][j : j + b].sum(axis=0) for j in range(4 - b)]
            wanted = [left @ r / (np.linalg.norm(left) * np.linalg.norm(r)) for r in rights]
            np.testing.assert_allclose(shared[a, b][i], wanted, atol=1e-12)


def test_words_that_languages_share() -> None:
    assert words("Путин Ελλάδα Müller's 3,5 ％") == ["putin", "ellad", "mulle", "s", "3", "5", "%"]
    assert words("猫 Berlin？") == ["猫", "berli", "?"]


def test_rivals_are_anywhere_on_the_other_side() -> None:
    table = np.array([[0.9, 0.2, 0.1], [0.3, 0.4, 0.8], [0.1, 0.1, 0.5]])
    measures = [(2.0, given(table)), (1.0, given(table))]
    assert alike(measures, slice(0, 3), slice(0, 3)) == pytest.approx(table)
    kinds = [(1, 1), (1, 2), (2, 1), (2, 2)]
    rivals = Rivals(measures, 3, 3)
    tables = rivals.tables(slice(1, 3), slice(1, 3), kinds)  # without the first of both
    single = [[(0.8 - 0.4) + (0.4 - 0.4), 0.0], [(0.5 - 0.1) + (0.4 - 0.1), (0.5 - 0.5) + (0.8 - 0.5)]]
    assert tables[1, 1] == pytest.approx(np.array(single))
    assert tables[1, 2][:, 0] == pytest.approx([0.0, 0.3 + 0.3])  # one with two: what the two lose
    assert tables[2, 1][0] == pytest.approx([0.4 + 0.4, 0.0])
    assert tables[2, 2] == pytest.approx(np.array([[0.0]]))  # two with two: each compared with the nearer one
    assert rivals.tables(slice(0, 2), slice(1, 3), kinds)[2, 2] == pytest.approx(np.array([[0.9 - 0.2]]))
    rivals.only(np.array([1, 2]), np.array([0, 1]))  # the best of the second is taken
    assert rivals.fixed == pytest.approx([0.9, 0.4, 0.1])
    assert rivals.free == pytest.approx([0.3, 0.4, 0.8])
