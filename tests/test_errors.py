"""The words of messages: numbers with their nouns, suggestions."""

from __future__ import annotations

import pytest

from wholetext.errors import choices, count, did_you_mean


@pytest.mark.parametrize(("said", "wanted"), [
    (count(1, "document"), "1 document"), (count(0, "rater"), "0 raters"), (count(2, "segment"), "2 segments"),
    (count(1, "line", "have"), "1 line has"), (count(3, "line", "have"), "3 lines have"),
    (count(1, "system", "are"), "1 system is"), (count(1, "line", "state"), "1 line states"),
])  # fmt: skip
def test_a_number_goes_with_its_noun_and_verb(said: str, wanted: str) -> None:
    assert said == wanted


def test_suggestions_ignore_case() -> None:
    assert did_you_mean("ONLINE-a", ["Online-A", "other"]) == "did you mean Online-A?"
    assert did_you_mean("chrF", ["chrf", "d-chrf", "chrf++"]) == "did you mean chrf?"  # only the case is wrong
    assert did_you_mean("BLEU", ["bleu"]) == "did you mean bleu?" and did_you_mean("x", ["bleu"]) == ""


def test_without_a_suggestion_all_names_are_listed_once() -> None:
    assert choices("blue", ["bleu", "chrf"]) == "did you mean bleu?"
    assert choices("x", ["bleu", "chrf", "bleu"]) == "choose one of bleu, chrf"
