"""Parsers of judges' answers: right, or said to be unreadable."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from wholetext.judges.parsers import Fault, locate, parse, placed
from wholetext.types import Excerpt, Request


def test_the_text_of_an_answer_that_was_cut_is_not_believed() -> None:
    assert not parse("score", "Score: 8", cut=True).ok
    assert not parse("errors", 'Major:\naccuracy - "a"', cut=True).ok
    assert parse("score", '{"score": 85}', cut=True).score == 85


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
