"""Edit distances and alignments: those of sacrebleu's edit matrix, for any beam and any length."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

from wholetext.text import edits
from wholetext.text.edits import alignment, beam, ones, pairs, table

WORDS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=14)


def check(texts: list[tuple[list[str], list[str]]]) -> None:
    """Distances, places and errors of texts, by all at once and by sacrebleu's matrix of each."""
    texts = sorted(texts, key=lambda pair: -len(pair[0]))
    many = pairs([hyp for hyp, _ in texts], [tuple(ref) for _, ref in texts])
    rows = table(many, beam(many))
    places, ref_wrong, aligned = alignment(many, rows)
    hyp_wrong = ~aligned.any(axis=0)
    start = 0
    for n, (hyp, ref) in enumerate(texts):
        distance, trace = lib_ter.BeamEditDistance(ref)(hyp)
        align, ref_errors, hyp_errors = lib_ter.trace_to_alignment(lib_ter._flip_trace(trace))
        assert rows.distance[n] == distance
        assert list(places[start : start + len(ref) + 1]) == [-1, *(align[j] for j in range(len(ref)))]
        assert list(ref_wrong[start + 1 : start + len(ref) + 1]) == ref_errors
        assert [hyp_wrong[many.firsts[i] + n] for i in range(len(hyp))] == hyp_errors
        start += len(ref) + 1


@settings(max_examples=80)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5), st.integers(1, 5))
def test_distances_and_alignments_within_any_beam(texts: list[tuple[list[str], list[str]]], width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lib_ter, "_BEAM_WIDTH", width)
        patch.setattr(edits, "BEAM", width)
        check(texts)


@pytest.mark.parametrize("width", [1, 3, 25])
def test_texts_longer_than_a_machine_word(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lib_ter, "_BEAM_WIDTH", width)
    monkeypatch.setattr(edits, "BEAM", width)
    chance = random.Random(width)
    texts = [([chance.choice("abcdefgh") for _ in range(chance.randint(1, 150))],
              [chance.choice("abcdefgh") for _ in range(chance.randint(1, 200))]) for _ in range(20)]  # fmt: skip
    check(texts)
    check([([chance.choice("ab") for _ in range(length)], list("ab" * half)) for length, half in
           ((1, 90), (63, 32), (64, 32), (65, 32), (128, 64), (190, 3), (3, 64))])  # fmt: skip


def test_carries_run_through_all_machine_words() -> None:
    same = list("a" * 200)
    check([(same, same), (same[1:], ["b", *same[1:]]), (["a"], [*list("b" * 191), "a"])])


def test_ones_counts_the_first_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.array([[0, 2**64 - 1, 0b1011], [1, 2**64 - 1, 2**63]], dtype=np.uint64)  # (machine words, n)
    assert list(ones(bits, np.array([128, 100, 2]))) == [1, 100, 2]
    monkeypatch.delattr(np, "bitwise_count", raising=False)  # numpy 1 has none
    assert list(ones(bits, np.array([128, 100, 2]))) == [1, 100, 2]
