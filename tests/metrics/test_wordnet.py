"""Relations of words in the real WordNet 3.0: Wong and Kit's collocations, METEOR's synonyms.

Skipped where nltk finds no WordNet; `make test-integration` unpacks it (tools/install_wordnet.sh).
"""

from __future__ import annotations

from pathlib import Path

import pytest

import wholetext as wt
from tests.metrics.test_word_baselines import ORACLE, rows_of_demo, rows_of_wmt21
from wholetext.metrics import meteor
from wholetext.metrics.cohesion import grids
from wholetext.metrics.cohesion.grids import collocated, synonym_groups
from wholetext.metrics.cohesion.metric import lexical_items, reiteration

pytestmark = pytest.mark.skipif(not grids.wordnet_version(), reason="nltk finds no WordNet: make test-integration")


@pytest.mark.parametrize(("words", "why"), [
    (("stone", "rock"), "a synset in common"), (("dog", "canine"), "hypernym"), (("dog", "wolf"), "coordinate terms"),
    (("apple", "pear"), "coordinate terms"), (("finger", "hand"), "part and whole"), (("good", "bad"), "antonyms"),
    (("buy", "sell"), "antonyms")])
def test_related_words_are_collocations(words: tuple[str, str], why: str) -> None:
    assert collocated(words) == [words] and collocated(words[::-1]) == [words[::-1]], why


@pytest.mark.parametrize("words", [("dog", "philosophy"), ("river", "opinion"), ("xyzzy", "stone")])
def test_other_words_are_not(words: tuple[str, str]) -> None:
    assert collocated(words) == [(word,) for word in words]


def test_lc_of_related_words() -> None:
    """Eight content words in five groups of collocations, seven of synonyms (stone and rock)."""
    words = ["dog", "good", "stone", "wolf", "philosophy", "rock", "bad", "xyzzy"]
    assert collocated(words) == [("dog", "wolf"), ("good", "bad"), ("stone", "rock"), ("philosophy",), ("xyzzy",)]
    assert reiteration(lexical_items(words, "collocations")) == 3 / 8
    assert len(synonym_groups(words)) == 7 and reiteration(lexical_items(words, "wordnet")) == 1 / 8


def test_lc_by_its_name() -> None:
    """Of dog, see, wolf, wolf, see, philosophy two repeat a lemma, three something related."""
    text = "The dog saw the wolf. The wolf saw a philosophy."
    for items, related in (("lemma", 2), ("collocations", 3)):
        results = wt.score([text], f"lc(definition=wong-kit,items={items})", langs="de-en")
        assert results.score == pytest.approx(related / 6)


def test_meteor_matches_synonyms() -> None:
    assert meteor.Meteor().pair(["red", "automobile"], ["red", "car"]) == pytest.approx(0.9)  # (1 + 0.8) / 2
    assert meteor.Meteor().pair(["red", "philosophy"], ["red", "car"]) == pytest.approx(
        meteor.Meteor(synonyms=False).pair(["red", "philosophy"], ["red", "car"]))


def test_meteor_with_synonyms_equals_meteor_1_5_on_448_segments() -> None:
    assert rows_of_demo("meteor") == pytest.approx(ORACLE["meteor_synonyms"], abs=1e-9)


@pytest.mark.data
def test_meteor_with_synonyms_equals_meteor_1_5_on_segments_of_wmt21(data: Path) -> None:
    assert rows_of_wmt21(data, "meteor") == pytest.approx(ORACLE["wmt21"]["meteor_synonyms"], abs=1e-9)


@pytest.mark.parametrize(
    ("word", "base"), [("boxes", "box"), ("baking", "bake"), ("nicest", "nice"), ("geese", "goose")]
)
def test_inflected_words_have_the_synsets_of_their_base(word: str, base: str) -> None:
    assert meteor.synsets(base) <= meteor.synsets(word)
    assert meteor.synsets(base)
