"""Edits with shifts are sacrebleu's, for any texts, beams and limits of the search."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.ter import TER

from wholetext.text import edits as matrices
from wholetext.text import shifts
from wholetext.text.shifts import edits

Texts = list[tuple[list[str], list[str]]]


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


@pytest.mark.parametrize("largest", [1, 40, 300])
def test_tables_of_any_size_give_the_same_edits(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are searched in parts where their tables would be too large."""
    monkeypatch.setattr(shifts, "_LARGEST", largest)
    chance = random.Random(3)
    refs = [[chance.choice("abcdefghijkl") for _ in range(size)] for size in (3, 70, 9, 20, 66, 12, 30)]
    check([(shuffled(chance, ref), ref) for ref in refs])


LIMITS = [("_MAX_SHIFT_SIZE", "MAX_SIZE"), ("_MAX_SHIFT_DIST", "MAX_DISTANCE"), ("_MAX_SHIFT_CANDIDATES", "MAX_TRIED")]


@pytest.mark.parametrize("width", [2, 5])
@pytest.mark.parametrize(("theirs", "ours", "limit"), [
    (theirs, ours, limit) for theirs, ours in LIMITS for limit in (2, 7)
])  # fmt: skip
def test_limits_of_the_search(theirs: str, ours: str, limit: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lib_ter, theirs, limit)
    monkeypatch.setattr(shifts, ours, limit)
    for module, name in ((lib_ter, "_BEAM_WIDTH"), (matrices, "BEAM"), (shifts, "BEAM")):
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


def test_no_texts() -> None:
    assert len(edits([], [])) == 0


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
