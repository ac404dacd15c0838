"""Maximal exclusive matching against brute force, and what counts as an occurrence."""

import random
from collections import Counter
from itertools import pairwise, product

import pytest

from wholetext.terms.matching import Matcher, TermOccurrence, exclusive, longest, overlapping
from wholetext.text.taggers.plain import PlainAnalyser
from wholetext.text.taggers.simplemma_lemmas import SimplemmaAnalyser

PLAIN = PlainAnalyser("en", frozenset())


def found(text, *renditions, analyser=PLAIN):
    matcher = Matcher([analyser.run(list(each)) for each in renditions])
    return matcher.find([analyser.analyse(text)], [0])


def brute_force(occurrences, required):
    """The most disjoint occurrences within what is required, by trying every subset."""
    best = 0
    for chosen in product((False, True), repeat=len(occurrences)):
        subset = [each for each, used in zip(occurrences, chosen) if used]
        disjoint = all(a.last <= b.first or b.last <= a.first for i, a in enumerate(subset) for b in subset[:i])
        counts = Counter(each.term for each in subset)
        if disjoint and all(counts[term] <= required.get(term, 0) for term in counts):
            best = max(best, len(subset))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_exclusive_matching_equals_brute_force(seed):
    """2,000 texts of few words, so that renditions nest, straddle and repeat."""
    random_ = random.Random(seed)
    words = "abc"
    for _ in range(100):
        text = " ".join(random_.choices(words, k=random_.randint(1, 9)))
        terms = [
            [" ".join(random_.choices(words, k=random_.randint(1, 3))) for _ in range(random_.randint(1, 2))]
            for _ in range(random_.randint(1, 4))
        ]
        occurrences = found(text, *terms)[:13]
        required = {term: random_.randint(0, 3) for term in range(len(terms))}
        chosen = exclusive(occurrences, required)
        assert len(chosen) == brute_force(occurrences, required), (text, terms, required)
        assert all(a.last <= b.first for a, b in pairwise(chosen))
        assert len(chosen) <= overlapping(occurrences, required)
        counts = Counter(each.term for each in chosen)
        assert all(counts[term] <= required[term] for term in counts)


def test_greedy_matching_would_lose_a_term():
    """From the left "a b" is taken first and "b c" has no text; the maximum uses "a" and "b c"."""
    occurrences = found("a b c", ["a b", "a"], ["b c"])
    assert len(exclusive(occurrences, {0: 1, 1: 1})) == 2


def test_words_match_as_wholes():
    assert not found("kojinete", ["te"])
    assert not found("therapist", ["the rapist"])


def test_short_terms_and_abbreviations_keep_their_case():
    assert not found("it is here", ["IT"])
    assert found("the IT department", ["IT"])
    assert not found("nasa", ["NASA"])
    assert found("Vibration Damper", ["vibration damper"])


def test_lemmas_match_inflected_forms():
    polish = SimplemmaAnalyser("pl", frozenset())
    assert found("Nie ma tłumika drgań.", ["tłumik drgań"], analyser=polish)
    assert not found("Nie ma tłumika drgań.", ["tłumik drgań"])


def test_a_term_inside_another_is_not_required():
    occurrences = found("torsional vibration damper", ["vibration damper"], ["torsional vibration damper"])
    assert [each.term for each in longest(occurrences)] == [1]


def test_places_are_characters_of_the_joined_text():
    matcher = Matcher([PLAIN.run(["damper"])])
    segments = ["A damper.", "No damper."]
    text = " ".join(segments)
    for each in matcher.find(PLAIN.run(segments), [0, len(segments[0]) + 1]):
        assert isinstance(each, TermOccurrence)
        assert text[each.start : each.end] == "damper"
