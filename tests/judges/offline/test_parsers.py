"""Parsers of judges' answers: right, or said to be unreadable."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given, strategies as st

from wholetext.judges.parsers import ASPECTS, Fault, locate, parse, placed
from wholetext.types import Excerpt, Request


@pytest.mark.parametrize(("text", "score"), [
    ("85", 85), (" 85\n", 85), ("85.", 85), ("**85**", 85), ("85/100", 85), ("85 out of 100", 85), ("Score: 85", 85),
    ("Score (0-100): 85", 85), ("**Score:** 85/100", 85), ("Score\n85", 85), ("Rating = 100", 100), ("0", 0),
    ('{"score": 85}', 85), ('{"score": 85.0}', 85), ('{"score": 85, "reason": "3 errors"}', 85),
    ('```json\n{"score": 85}\n```', 85),
    ("<think>maybe 20, or 30</think>\n85", 85),
])  # fmt: skip
def test_scores_are_read(text: str, score: float) -> None:
    found = parse("score", text)
    assert found.ok and found.score == score


@pytest.mark.parametrize("text", [
    "", "   ", "good", "0.50", "85.5", "Score: 85.5", "185", "-5", "85%", "Score: 85%", "I found 3 errors.",
    "between 70 and 80", "Score: 70-80", "Score: 70, no: score: 80", '{"score": 85.5}', '{"score": true}',
    '{"score": null}', '{"score": 101}', '{"points": 85}', '{"score": 85', "70\n80", "1,000", "A: 70, B: 80",
    '{"score": 1, "score": 2}', "[85]x", "8 5", "Score: 7/10", "Rating: 4/5", "Score: 2023",
    "I would rate it 70 out of 100.", "The text is fluent.\n\n85", "Score: 85\n\nActually, that is too high.", "> 85",
    '{"score": "85"}', '{"score": 85, "final_score": 60}', "I'm sorry, but I can't help with that. 0",
    "Example output:\n85", 'The format is:\n{"score": 85}', '{"score": 85}\nOr ninety.', "9" * 5000,
])  # fmt: skip
def test_what_is_no_score_is_said_to_be_none(text: str) -> None:
    found = parse("score", text)
    assert found.problem and found.score is None


def test_the_text_of_an_answer_that_was_cut_is_not_believed() -> None:
    assert not parse("score", "Score: 8", cut=True).ok
    assert not parse("errors", 'Major:\naccuracy - "a"', cut=True).ok
    assert parse("score", '{"score": 85}', cut=True).score == 85


def test_errors_are_read_from_blocks() -> None:
    text = '''Critical:
no-error
Major:
accuracy/addition - "not the account holder"
- **accuracy/omission** - “the year” - left out
Minor:
style/awkward - "a" - should be "b"
1. fluency/grammar – 'isn't' – should be plural
fluency/register - "dir", "du"'''
    assert parse("errors", text).faults == (
        Fault("major", "accuracy/addition", "not the account holder"),
        Fault("major", "accuracy/omission", "the year", "", "left out"),
        Fault("minor", "style/awkward", "a", "", 'should be "b"'),
        Fault("minor", "fluency/grammar", "isn't", "", "should be plural"),
        Fault("minor", "fluency/register", "dir"), Fault("minor", "fluency/register", "du"),
    )


def test_errors_are_read_from_json() -> None:
    one = {"severity": "Major", "category": "style", "span": "x", "context": "a x b", "reason": "odd"}
    assert parse("errors", json.dumps({"errors": [one]})).faults == (Fault("major", "style", "x", "a x b", "odd"),)


@pytest.mark.parametrize("text", [
    "", "The translation is good.", "Major:\nthe word is wrong", 'Major:\naccuracy - "open', '{"errors": [1]}',
    '{"errors": {}}', '{"errors": [{"severity": "huge"}]}', '{"errors": [{"severity": "major", "span": 3}]}', "85",
    '{"errors": [{"severity": "major"', 'accuracy - "x"', "Major:\n\nthe word is wrong",
    'Major:\naccuracy - "March", "May" would be right', 'Major:\nno-error, but style - "x"',
    'Major:\nno-error\nstyle - "y"', 'Major:\n- accuracy - "a"\n  - explanation: "b" is right',
    'Major: accuracy - "x"; style - "y"', 'Major:\nstyle - "x"\nMajor:\nno-error', 'Minor:\nstyle - "x" (not an error)',
    'no-error\nMajor:\nstyle - "x"', 'Minor:\nstyle - "x" - no-error', 'Minor:\nstyle - "x" and accuracy - "y"',
    'Minor:\nstyle - "x" - accuracy - "y"', 'Minor:\nstyle - "x" - not really an error', "",
    "Critical:\nMajor:\nMinor:",
    'Example:\nMajor:\nstyle - "x"', 'Kritisch:\nstyle - "x"\nMajor:\nno-error', 'style - "x"',
    "Major:\nno-error\n\nBut the date is mistranslated.", "Major:\nno-error\n\nOverall the date is wrong.",
    'Major:\nno-error\n\n"x" is odd',
])  # fmt: skip
def test_lists_of_errors_that_cannot_be_read_are_not_taken_for_empty(text: str) -> None:
    found = parse("errors", text)
    assert found.problem and not found.faults


def test_rubrics_are_read_from_json() -> None:
    evidence = {"quote": "he", "reason": "the bridge"}
    scores = dict(zip(ASPECTS, (80, 100, 60, -1, 100)))
    value = {name: {"score": score, "evidence": [evidence] if score == 80 else []} for name, score in scores.items()}
    parsed = parse("rubric", json.dumps(value))
    assert parsed.score == 85
    assert parsed.aspects == {name: score for name, score in scores.items() if score >= 0}
    assert parsed.faults == (Fault("", "reference", "he", "", "the bridge"),)


@given(st.text(alphabet='{}[]":,-0189 \n*`<think>/AaBbsScoretjmid', max_size=60))
def test_no_parser_raises_and_whatever_it_reads_is_in_range(text: str) -> None:
    for schema in ("score", "errors", "choice", "rubric"):
        found = parse(schema, text)
        assert found.ok or (not found.faults and found.score is None and not found.choice)
        assert found.score is None or 0 <= found.score <= 100


def test_other_keys_of_json_may_explain_but_not_say_something_else() -> None:
    fault = '{"severity": "minor", "category": "style", "span": "x"}'
    for more, ok in ((', "errors_reason": "one"', True), (', "error_count": 2', False), (', "critical": ["y"]', False)):
        assert parse("errors", f'{{"errors": [{fault}]{more}}}').ok == ok, more


TEXT = 'They found a crack. It has a "leak".'


@pytest.mark.parametrize(("quote", "context", "place"), [
    ("crack", "", "crack"), ("CRACK", "", "crack"), ("found a\ncrack", "", "found a crack"), ("…crack…", "", "crack"),
    ("“leak”", "", '"leak"'), ("a — “leak”", "", None), ("gap", "", None), ("", "", None), ("  ", "", None),
])  # fmt: skip
def test_words_are_found_by_their_quote(quote: str, context: str, place: str | None) -> None:
    found = locate(Fault("", "", quote, context), TEXT)
    assert (found and TEXT[slice(*found)]) == place


def test_of_several_places_the_context_decides_else_the_first() -> None:
    assert locate(Fault("", "", "a", "has a leak"), TEXT.replace('"', "")) == (27, 28)
    assert locate(Fault("", "", "a"), TEXT) == (11, 12)
    assert locate(Fault("", "", "a", "not there"), TEXT) == (11, 12)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_are_found_in_either_form_and_dashes_of_any_length(form: str) -> None:
    text = unicodedata.normalize(form, "Le café – fermé.")
    for quote in ("café – fermé", "CAFE\u0301 - fermé", "caf\u00e9 — ferme\u0301"):
        found = locate(Fault("", "", quote), text)
        assert found and text[slice(*found)] == unicodedata.normalize(form, "café – fermé")


def test_words_that_are_reported_twice_are_marked_at_two_places_where_there_are_two() -> None:
    text = "He left. He came back, and he slept."
    request = Request((Excerpt((text,), (0, 1)),))
    faults = [Fault("minor", "grammar", "He"), Fault("minor", "grammar", "He"), Fault("major", "x", "slept"),
              Fault("minor", "style", "slept")]  # fmt: skip
    spans, errors = placed(faults, request)
    assert [(span["start"], span["end"]) for span in spans] == [(0, 2), (9, 11), (30, 35), (30, 35)]
    assert all(error["located"] for error in errors)
