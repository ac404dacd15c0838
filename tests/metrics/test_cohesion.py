"""Cohesion metrics: golden graphs, the micro-test, definitions by hand, what must hold of any text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.metrics.disco_given import (
    GOLD,
    HYP,
    NOUNS,
    REF,
    STATIC,
    WordListTagger,
    engine,
    reading,
    static_vectors,
    value,
)  # fmt: skip
from wholetext.errors import MetricError, SpecError
from wholetext.metrics.cohesion import grids
from wholetext.metrics.cohesion.grids import Grid, Weighting, grid, mentions, read
from wholetext.metrics.cohesion.metric import (
    Conn,
    EntityGraph,
    Freq,
    Lc,
    LexicalChain,
    LexicalGraph,
    Rc,
    chain_overlap,
    connectivity,
    frequency,
    lexical_items,
    reiteration,
    repetition,
)
from wholetext.registry import scorer
from wholetext.text.taggers.analysis import Analysis, Token
from wholetext.types import FloatArray

EXACT = 1e-9
def adjacency(foci: Grid, n: int, weighting: Weighting = "u") -> FloatArray:
    """(n, n) as a dense matrix."""
    return np.asarray(grids.adjacency(foci, n, weighting).todense())


# ---------------------------------------------------------------- numbers of the published code


def test_golden_graphs() -> None:
    run = engine(analyser=WordListTagger(GOLD["nouns"]), vectors=static_vectors(GOLD["static_vectors"]))
    for text in GOLD["documents"].values():
        for side in ("hyp", "ref"):
            expected, read_ = text["graphs"][side], reading(text[side], GOLD["nouns"])
            assert {lemma: list(places) for lemma, places in grid(read_).items()} == expected["grid"]
            assert len(read_.sentences) == expected["n_sentences"]
            links = adjacency(grid(read_), len(read_.sentences))
            assert links == pytest.approx(np.array(expected["adjacency_U"]), abs=EXACT)
            assert value(Rc(), run, text[side]) == pytest.approx(expected["RC"], abs=EXACT)
            assert value(Lc(), run, text[side]) == pytest.approx(expected["LC"], abs=EXACT)
            assert value(EntityGraph(), run, text[side]) == pytest.approx(expected["EntityGraph"], abs=EXACT)
            assert value(LexicalGraph(), run, text[side]) == pytest.approx(expected["LexicalGraph_07"], abs=EXACT)
        hyp, ref, ref2, graphs = text["hyp"], text["ref"], text["ref2"], text["graphs"]
        assert value(LexicalChain(), run, hyp, ref) == pytest.approx(graphs["LexicalChain"], abs=EXACT)
        best = value(LexicalChain(), run, hyp, ref, ref2)
        assert best == pytest.approx(graphs["LexicalChain_two_refs_max"], abs=EXACT)


def test_golden_sentences() -> None:
    for text in GOLD["documents"].values():
        for side in ("hyp", "ref"):
            found = reading(text[side], GOLD["nouns"])
            assert [" ".join(found.words[slice(*span)]) for span in found.sentences] == text[f"sentences_{side}"]


def test_micro_test_of_the_specification() -> None:
    run = engine(analyser=WordListTagger(NOUNS), vectors=STATIC)
    assert value(Rc(), run, HYP) == 0.5
    assert value(Lc(), run, HYP) == pytest.approx(0.1666667, abs=5e-8)
    assert value(EntityGraph(), run, HYP) == pytest.approx(0.4583333, abs=5e-8)
    assert value(EntityGraph(average="mean"), run, HYP) == pytest.approx(0.1145833, abs=5e-8)
    assert value(LexicalGraph(), run, HYP) == pytest.approx(0.4583333, abs=5e-8)
    assert value(LexicalChain(), run, HYP, REF) == 1.0
    links = adjacency(grid(reading(HYP, NOUNS)), 4)
    assert {(i, j): links[i, j] for i, j in np.argwhere(links)} == {(0, 1): 1, (0, 3): 1 / 3, (1, 3): 1 / 2}
    assert value(Freq(), run, HYP) == value(Rc(), run, HYP)
    assert value(Conn(), run, HYP) == value(EntityGraph(average="mean"), run, HYP)


# ---------------------------------------------------------------- definitions by hand


def test_features_and_chains() -> None:
    foci = {"cat": (0, 0, 2), "dog": (1,), "mat": (1, 2)}
    assert repetition(foci) == (5 / 3, 2 / 3)
    assert frequency(foci) == 5 / 3 and frequency(foci, "repeated") == 5 / 2
    assert frequency({}) == 0.0 and repetition({}) == (0.0, 0.0)
    two = {"cat": (0, 2, 3), "dog": (0, 1)}
    # cat is a chain of both: {0, 2} and {0, 2, 3}; mat of the first alone, dog of the second alone
    assert chain_overlap(foci, two) == pytest.approx(2 / 3)
    assert chain_overlap(foci, two, "precision") == 1.0
    assert chain_overlap(foci, two, "f") == pytest.approx(4 / 5)
    assert chain_overlap(foci, two, per_chain=True) == pytest.approx(1 / 3)
    assert chain_overlap({}, two) == 0.0


def test_weighted_links_count_shared_foci() -> None:
    foci = {"cat": (0, 2), "mat": (0, 2), "dog": (2, 3)}
    assert adjacency(foci, 4, "u")[0, 2] == 0.5 and adjacency(foci, 4, "w")[0, 2] == 1.0
    assert connectivity(foci, 4, "w") == pytest.approx((1.0 + 1.0) / 4)
    assert connectivity({}, 0) == 0.0


def tagged(*words: tuple[str, str, str]) -> Analysis:
    tokens, at = [], 0
    for text, lemma, pos in words:
        tokens.append(Token(text, lemma, "", pos, "", at, at + len(text)))
        at += len(text) + 1
    return Analysis(tuple(tokens), (), ((0, at),))


def test_wong_and_kit_count_content_words() -> None:
    analysis = tagged(("The", "the", "DET"), ("cat", "cat", "NOUN"), ("saw", "see", "VERB"), ("cats", "cat", "NOUN"),
                      ("and", "and", "CCONJ"), ("a", "a", "DET"), ("cat", "cat", "NOUN"), ("feline", "feline", "NOUN"))
    content = read(["x" * 60], [analysis]).content
    assert [form for form, _ in content] == ["cat", "saw", "cats", "cat", "feline"]
    assert reiteration([form for form, _ in content]) == 1 / 5  # only the second "cat" repeats a form
    lemmas = [lemma for _, lemma in content]
    assert reiteration(lexical_items(lemmas, "lemma")) == 2 / 5
    assert reiteration([]) == 0.0


@pytest.mark.parametrize("installed", ["", "3.0"])
def test_lc_means_the_same_whatever_is_installed(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "wordnet_version", lambda: installed)
    assert Lc(definition="wong-kit").resolve(("zh", "en")).items == "lemma"
    if not installed:
        with pytest.raises(MetricError, match="needs WordNet"):
            Lc(definition="wong-kit", items="wordnet").resolve(("zh", "en"))


class WordNet:
    """A WordNet of given synsets by word, and of relations by (synset, kind); it is its own reader."""

    def __init__(self, synsets: dict[str, list[str]], related: dict[tuple[str, str], str], word: str = "") -> None:
        self.given, self.word = (synsets, related), word

    def named(self, words: list[str]) -> list[WordNet]:
        return [WordNet(*self.given, word) for word in words]

    def synsets(self, lemma: str) -> list[WordNet]:
        return self.named(self.given[0].get(lemma, [lemma]))

    def name(self) -> str:
        return self.word

    def synset(self) -> WordNet:
        return self

    def lemmas(self) -> list[WordNet]:
        return [self]

    def __getattr__(self, kind: str) -> Any:
        return lambda: self.named([word for key, word in self.given[1].items() if key == (self.word, kind)])


def test_synonym_groups_join_over_synsets(monkeypatch: pytest.MonkeyPatch) -> None:
    synsets = {"car": ["car.1"], "auto": ["car.1", "machine.1"], "machine": ["machine.1"], "xyzzy": []}
    monkeypatch.setattr(grids, "_wordnet", lambda: WordNet(synsets, {}))
    groups = {frozenset(group) for group in grids.synonym_groups(["car", "dog", "auto", "machine", "xyzzy"])}
    assert groups == {frozenset({"car", "auto", "machine"}), frozenset({"dog"}), frozenset({"xyzzy"})}


def test_collocations_of_wong_and_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypernyms, wholes, antonyms and coordinate terms; a later word joins no two earlier ones."""
    related = {("dog", "hypernyms"): "canine", ("wolf", "hypernyms"): "canine", ("canine", "hypernyms"): "animal",
               ("wheel", "part_holonyms"): "car", ("good", "antonyms"): "bad", ("bad", "antonyms"): "good"}
    monkeypatch.setattr(grids, "_wordnet", lambda: WordNet({}, related))
    words = ["dog", "car", "good", "wolf", "stone", "wheel", "bad", "canine", "dog"]
    assert grids.collocated(words) == [("dog", "wolf", "canine"), ("car", "wheel"), ("good", "bad"), ("stone",)]
    assert reiteration(lexical_items(words, "collocations")) == 5 / 9
    monkeypatch.setattr(grids, "wordnet_version", lambda: "")
    with pytest.raises(MetricError, match="needs WordNet"):
        Lc(definition="wong-kit", items="collocations").resolve(("zh", "en"))


def test_a_tagger_without_parts_of_speech_is_refused() -> None:
    with pytest.raises(MetricError, match="parts of speech"):
        Rc(lang="en", tagger="plain").analyser()


# ---------------------------------------------------------------- any text

@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.integers(0, 9), min_size=1, max_size=6).map(tuple)))
def test_adjacency_by_definition(foci: dict[str, tuple[int, ...]]) -> None:
    u, w = adjacency(foci, 10, "u"), adjacency(foci, 10, "w")
    for i in range(10):
        for j in range(10):
            shared = sum(i in places and j in places for places in foci.values()) if i < j else 0
            assert w[i, j] == (shared / (j - i) if shared else 0.0)
            assert u[i, j] == (1 / (j - i) if shared else 0.0)


@pytest.mark.parametrize("spec", [
    "lc(items=wordnet)", "freq(vectors=mine.txt)", "conn(threshold=0.9)",
    "ds-sent(vectors=mine.txt)", "ds-focus(focus=nn,threshold=0.9)"])  # fmt: skip
def test_parameters_that_a_choice_does_not_read_are_refused(spec: str) -> None:
    """They would stand in the signature, and nothing would come of them."""
    name = spec.partition("(")[0]
    with pytest.raises(SpecError, match=rf"{name}\(\w+=\w+\) does not read (vectors|threshold|items)"):
        scorer(spec).metric.resolve(("de", "en"))


def analysis(text: str, nouns: dict[str, str], cuts: tuple[tuple[int, int], ...] = ()) -> Analysis:
    tokens, at = [], 0
    for word in text.split(" "):
        pos = "NOUN" if word in nouns else "PUNCT" if word == "." else "X"
        tokens.append(Token(word, nouns.get(word, word), "", pos, "", at, at + len(word)))
        at += len(word) + 1
    return Analysis(tuple(t for t in tokens if t.text), (), cuts)


def test_sentences_run_on_over_segments() -> None:
    one, two = "The Cats sat . It rained .", "Cats left ."
    found = read([one, "", two], [analysis(one, {"Cats": "cat"}, ((0, 14), (15, 26))), Analysis(()),
                                  analysis(two, {"Cats": "Cat"}, ((0, 11),))])
    assert found.words == ("the", "cats", "sat", ".", "it", "rained", ".", "cats", "left", ".")
    assert found.sentences == ((0, 4), (4, 7), (7, 10))
    assert grid(found) == {"cat": (0, 2)}
    assert mentions(found, "lemma") == {"cat": (1, 7)} and mentions(found) == {}


def test_words_between_blanks() -> None:
    text = "Cats sat."
    tokens = (Token("Cats", "cat", "", "NOUN", "", 0, 4), Token("sat", "sit", "", "VERB", "", 5, 8),
              Token(".", ".", "", "PUNCT", "", 8, 9))
    found = read([text], [Analysis(tokens, (), ((0, 9),))], "spaces")
    assert found.words == ("cats", "sat.") and found.nouns == ((0, 0, "cat"),)
    assert found.content == (("cats", "cat"), ("sat", "sit"))
