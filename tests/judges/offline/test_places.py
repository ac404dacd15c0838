"""Where the words of an error stand: found by the quote, the context of it, and what is taken."""

from __future__ import annotations

import unicodedata

import pytest

from wholetext.judges.parsers import Fault
from wholetext.judges.places import locate, placed
from wholetext.types import Excerpt, Request

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
