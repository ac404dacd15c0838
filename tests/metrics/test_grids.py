"""Readings: words, sentences and nouns of a text from the analyses of its segments."""

from __future__ import annotations

from wholetext.metrics.cohesion.grids import grid, mentions, read
from wholetext.text.taggers.analysis import Analysis, Token


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
    assert found.noun_words == ((1, "cat"), (7, "cat"))
    assert mentions(found, "lemma") == {"cat": (1, 7)} and mentions(found) == {}


def test_words_between_blanks() -> None:
    text = "Cats sat."
    tokens = (Token("Cats", "cat", "", "NOUN", "", 0, 4), Token("sat", "sit", "", "VERB", "", 5, 8),
              Token(".", ".", "", "PUNCT", "", 8, 9))
    found = read([text], [Analysis(tokens, (), ((0, 9),))], "spaces")
    assert found.words == ("cats", "sat.") and found.nouns == ((0, "cat"),) and found.noun_words == ()
    assert found.content == (("cats", "cat"), ("sat", "sit"))
