"""The text under test is never the reference it is scored against."""

from __future__ import annotations

import pytest

import wholetext as wt
from wholetext.errors import InputError
from wholetext.scoring.evaluate import Options
from wholetext.stress.evaluate import best, select
from wholetext.stress.perturbation import StressOptions
from wholetext.types import Corpus, Document, Output

ONE, TWO = ("A house burned.", "All got out."), ("A home was on fire.", "Everyone escaped.")


def corpus(**refs: tuple[str, ...]) -> Corpus:
    return Corpus("c", ("de", "en"), (Document("a", ("x", "y"), refs),))


def output(name: str, *segments: str) -> Output:
    return Output(name, {"a": segments})


BAD, GOOD = output("bad", "Fire house.", "Out."), output("good", "A house burned down.", "All got out.")


def test_a_second_reference_is_changed_and_the_others_are_scored_against() -> None:
    found = select(corpus(first=ONE, second=TWO), [BAD], StressOptions())
    assert found.text is not None and found.text.docs["a"] == TWO and found.refs == ("first",)
    named = select(corpus(first=ONE, second=TWO), [BAD], StressOptions(text="first"))
    assert named.text is not None and named.text.docs["a"] == ONE and named.refs == ("second",)
    assert "the text under test is the reference first, scored against second" in named.notes


def test_without_one_the_best_system_is_changed() -> None:
    found = select(corpus(first=ONE), [BAD, GOOD], StressOptions())
    assert found.text is None and found.refs == ("first",)
    scores = wt.score(wt.Loaded(corpus(first=ONE), [BAD, GOOD]), ["chrf", "ter"], options=Options(cache=False)).scores
    chosen, note = best(scores, found.systems)
    assert chosen is GOOD and "best mean rank of 2 systems" in note
    assert select(corpus(first=ONE), [BAD, GOOD], StressOptions(text="bad")).text is BAD


def test_a_copy_of_a_reference_is_no_system() -> None:
    found = select(corpus(first=ONE), [output("human", *ONE), BAD], StressOptions())
    assert found.systems == (BAD,) and found.text is BAD
    assert "human is a copy of the reference first and not counted among the systems" in found.notes
    with pytest.raises(InputError, match="no text human to change"):
        select(corpus(first=ONE), [output("human", *ONE), BAD], StressOptions(text="human"))
    with pytest.raises(InputError, match="no text but the reference"):
        select(corpus(first=ONE), [output("human", *ONE)], StressOptions())
