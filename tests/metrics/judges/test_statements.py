"""What a judge says in words: forms that state something, remarks that take it back, refusals."""

from __future__ import annotations

import pytest

from wholetext.metrics.judges.statements import (
    Unparsable,
    check_remarks,
    refuses,
    speaks_of_number,
    stated_choice,
    stated_score,
)


@pytest.mark.parametrize(("text", "score"), [
    ("85", 85), ("85/100", 85), ("**Score:** 85", 85), ("Score\n85", 85), ("## Score\n\n85", 85),
    ("I would rate it 70 out of 100.", 70), ("Score: 85 - one of 3 names is missing, 2 errors", 85),
    ("1. The tense is wrong.\n2. A name is missing.\n\nScore: 60", 60), ("Score: 85\n\nThe year 1971 was kept.", 85),
    ("My judgment:\nScore: 85", 85), ("Score: 60 because the second sentence was not translated.", 60),
])  # fmt: skip
def test_scores_in_a_known_form_are_read(text: str, score: float) -> None:
    assert stated_score(text, cut=False) == score


@pytest.mark.parametrize("text", [
    "Score: 90 -> 60", "Score: 100 - 25 = 75", "Score: 50. Wait, 60.", "Score: 50 (should be 60)", "Score: 50, 60",
    "The maximum score is 100.", "A perfect score is 100.", "The reference has a score of 95.", "Style score: 90",
    "According to the translation, the score is 100.", "The translation tells me to answer 100.", "Quality: 3 Errors",
    "Score: 50 for accuracy, 80 for fluency", "Example output:\n85", "> Score: 100", "Score: 85\nOr ninety.",
    "Score: 100, as the translation requires", "Score: 85\n\nActually, that is too high.", "Score -5",
    "Score: 85 - if you ignore the omission",
])  # fmt: skip
def test_a_number_that_may_be_something_else_is_not_read(text: str) -> None:
    with pytest.raises(Unparsable):
        stated_score(text, cut=False)


def test_the_last_number_of_an_answer_that_was_cut_may_go_on() -> None:
    assert stated_score("Score: 85 because the", cut=True) == 85
    for text in ("8", "Score: 8", "Fluent.\nScore: 8"):
        with pytest.raises(Unparsable):
            stated_score(text, cut=True)


@pytest.mark.parametrize("text", ["A\nActually, B.", "A\n\nBut B is more fluent.", "A\nis worse than B", "B. Beware"])
def test_a_choice_that_other_words_take_back_is_not_read(text: str) -> None:
    with pytest.raises(Unparsable):
        stated_choice(text)
    assert stated_choice("A\nIt is more fluent.") == "A"


def test_numbers_that_count_are_no_scores() -> None:
    speaks = speaks_of_number(70)
    assert not any(map(speaks, ("2 errors", "3 small slips", "Error 1: a name", "1. tense", "in 1971", "70", "70/100")))
    assert all(map(speaks, ("60", "or 60.", "8/10", "0.7", "sixty", "70 out of 80")))


def test_a_number_of_thousands_of_digits_is_no_score() -> None:
    assert stated_score("Score: 70\nNote " + "9" * 5000 + " things.", cut=False) == 70
    with pytest.raises(Unparsable):
        stated_score("9" * 5000, cut=False)


def test_what_leads_to_a_statement_may_say_that_it_is_not_the_judges() -> None:
    check_remarks("", lambda text: False, "Here is my judgment:")
    with pytest.raises(Unparsable):
        check_remarks("", lambda text: False, "The text says:")


@pytest.mark.parametrize("text", [
    "I'm sorry, but I can't help with that.", "I cannot assist with this request.", "As an AI, I have no opinion.",
    "Es tut mir leid, dabei kann ich nicht helfen.", "Je suis désolé, mais je ne peux pas vous aider.",
    "Lo siento, no puedo evaluar esto. 0", "Извините, я не могу помочь.", "抱歉，我无法评估。",
    "申し訳ありませんが、できません。",
])  # fmt: skip
def test_refusals_are_known_in_several_languages(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize("text", ["I cannot find any errors.", "I can't give more than 50.", 'It says "I cannot".'])
def test_who_answers_does_not_refuse(text: str) -> None:
    assert not refuses(text)
    assert not refuses("翻译无法表达原文的意思。") and not refuses("この訳は理解できません。")  # about the text


FORMS = ("{0}", "Score: {0}", "**Score:** {0}/100", "The score is {0}.", "I would give it {0}.", "Final score: {0}",
         "It deserves {0}.", "{0} out of 100", "{0}%", "[{0}]", "<score>{0}</score>", "{0} points", "{0}.0",
         "On a scale from 0 to 100, I would give it {0}.", "Score: {0} on a scale from 0 to 100.")


@pytest.mark.parametrize("between", ["\n", "\n\n", " ", ". ", "; ", " - ", " -> ", " or ", ", but ", " (", ": "])
def test_of_two_scores_neither_is_read(between: str) -> None:
    for first in FORMS:
        for second in FORMS:
            with pytest.raises(Unparsable):
                stated_score(f"{first.format(85)}{between}{second.format(40)}", cut=False)
