"""TER: edit matrices, alignments and edits with shifts equal sacrebleu's, for any texts, beams and limits."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.ter import TER

from wholetext.metrics import ter
from wholetext.metrics.ter import alignment, beam, edits, ones, pairs, table

Texts = list[tuple[list[str], list[str]]]


LETTERS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=14)


def check_matrices(texts: Texts) -> None:
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
@given(st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=5), st.integers(1, 5))
def test_distances_and_alignments_within_any_beam(texts: Texts, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lib_ter, "_BEAM_WIDTH", width)
        patch.setattr(ter, "BEAM", width)
        check_matrices(texts)


@pytest.mark.parametrize("width", [1, 3, 25])
def test_texts_longer_than_a_machine_word(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lib_ter, "_BEAM_WIDTH", width)
    monkeypatch.setattr(ter, "BEAM", width)
    chance = random.Random(width)
    texts = [([chance.choice("abcdefgh") for _ in range(chance.randint(1, 150))],
              [chance.choice("abcdefgh") for _ in range(chance.randint(1, 200))]) for _ in range(20)]  # fmt: skip
    check_matrices(texts)
    check_matrices([([chance.choice("ab") for _ in range(length)], list("ab" * half)) for length, half in
           ((1, 90), (63, 32), (64, 32), (65, 32), (128, 64), (190, 3), (3, 64))])  # fmt: skip


def test_carries_run_through_all_machine_words() -> None:
    same = list("a" * 200)
    check_matrices([(same, same), (same[1:], ["b", *same[1:]]), (["a"], [*list("b" * 191), "a"])])


def check(texts: Texts) -> None:
    expected = [lib_ter.translation_edit_rate(hyp, ref)[0] for hyp, ref in texts]
    assert list(edits([hyp for hyp, _ in texts], [tuple(ref) for _, ref in texts])) == expected


def shuffled(chance: random.Random, words: list[str]) -> list[str]:
    """Blocks of the words in another order, some words changed."""
    cuts = sorted(chance.randint(0, len(words)) for _ in range(chance.randint(0, 6)))
    blocks = [words[a:b] for a, b in zip([0, *cuts], [*cuts, len(words)])]
    chance.shuffle(blocks)
    return [word if chance.random() > 0.15 else chance.choice("xyz") for block in blocks for word in block]


WORDS = st.lists(st.sampled_from("abcdefg"), max_size=16)


@settings(max_examples=60)
@given(st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_any_texts(texts: Texts) -> None:
    check(texts)


@settings(max_examples=40)
@given(st.lists(st.tuples(WORDS, st.randoms(use_true_random=False)), max_size=6))
def test_references_in_another_order(drawn: list[tuple[list[str], random.Random]]) -> None:
    check([(shuffled(chance, words), words) for words, chance in drawn])


LIMITS = [("_MAX_SHIFT_SIZE", "MAX_SIZE"), ("_MAX_SHIFT_DIST", "MAX_DISTANCE"), ("_MAX_SHIFT_CANDIDATES", "MAX_TRIED")]


@pytest.mark.parametrize("width", [2, 5])
@pytest.mark.parametrize(("theirs", "ours", "limit"), [
    (theirs, ours, limit) for theirs, ours in LIMITS for limit in (2, 7)
])  # fmt: skip
def test_limits_of_the_search(theirs: str, ours: str, limit: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lib_ter, theirs, limit)
    monkeypatch.setattr(ter, ours, limit)
    for module, name in ((lib_ter, "_BEAM_WIDTH"), (ter, "BEAM")):
        monkeypatch.setattr(module, name, width)
    chance = random.Random(limit)
    refs = [[chance.choice("abcdefghijkl") for _ in range(chance.randint(1, 30))] for _ in range(40)]
    check([(shuffled(chance, ref), ref) for ref in refs])


def test_long_texts() -> None:
    chance = random.Random(0)
    vocabulary = [f"w{n}" for n in range(60)]
    refs = [[chance.choice(vocabulary) for _ in range(length)] for length in (40, 64, 65, 80)]
    check([(shuffled(chance, ref), ref) for ref in refs])


@pytest.mark.long
def test_the_search_gives_up_after_many_shifts() -> None:
    chance = random.Random(1)
    ref = [chance.choice("ab") for _ in range(60)]
    hyp = shuffled(chance, ref)
    check([(hyp, ref), (list(reversed(ref)), ref)])
    assert edits([hyp], [tuple(ref)])[0] == lib_ter.BeamEditDistance(ref)(hyp)[0]  # no shift was made


@pytest.mark.parametrize(("hyp", "ref", "number"), [("", "", 0), ("a b", "", 2), ("", "a b c", 3), ("a", "a", 0)])
def test_empty_texts(hyp: str, ref: str, number: int) -> None:
    check([(hyp.split(), ref.split())])
    assert list(edits([hyp.split()], [tuple(ref.split())])) == [number]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("options", [{}, {"normalized": True, "no_punct": True, "case_sensitive": True},
                                     {"normalized": True, "asian_support": True}], ids=str)  # fmt: skip
def test_wmt21_every_pair(data: Path, options: dict[str, bool]) -> None:
    """Every 10th segment of three systems of every language pair."""
    root, peer = data / "evalsets" / "wmt21.news", TER(**options)
    for folder in sorted((root / "system-outputs").iterdir()):
        reference = min((root / "references").glob(f"{folder.name}.*"))
        refs = [peer._preprocess_segment(line).split() for line in reference.read_text("utf-8").split("\n")[:-1]]
        for path in sorted(folder.iterdir())[:3]:
            hyps = [peer._preprocess_segment(line).split() for line in path.read_text("utf-8").split("\n")[:-1]]
            check(list(zip(hyps, refs))[::10])


def test_ones_counts_the_first_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.array([[0, 2**64 - 1, 0b1011], [1, 2**64 - 1, 2**63]], dtype=np.uint64)  # (machine words, n)
    assert list(ones(bits, np.array([128, 100, 2]))) == [1, 100, 2]
    monkeypatch.delattr(np, "bitwise_count", raising=False)  # numpy 1 has none
    assert list(ones(bits, np.array([128, 100, 2]))) == [1, 100, 2]
