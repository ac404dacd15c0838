"""Lists of errors in words: what a block has, and what makes a list unclear."""

from __future__ import annotations

import pytest

from wholetext.metrics.judges.error_lists import Fault, listed_errors, quoted_errors, speaks_of_errors
from wholetext.metrics.judges.statements import Unparsable


def test_blocks_with_words_before_and_after() -> None:
    text = 'The errors are:\nMajor:\naccuracy - "a" (should be "b")\nMinor: no-error\n\nOverall a good text.'
    assert listed_errors(text, cut=False) == [Fault("major", "accuracy", "a", "", 'should be "b"')]


@pytest.mark.parametrize("text", [
    'Major:\naccuracy - "March", "May" would be right', 'Major:\nno-error, but style - "x"',
    'Major:\nno-error\nstyle - "y"',
    'Major:\n- accuracy - "a"\n  - explanation: "b" is right', 'Major:\n- accuracy - "a"\n  - accuracy - "b"',
    'Major: accuracy - "x"; style - "y"', 'Major:\nstyle - "x"\nMajor:\nno-error', 'Minor:\nstyle - "x" (not an error)',
    'no-error\nMajor:\nstyle - "x"', 'Minor:\nstyle - "x" - no-error', 'Minor:\nstyle - "x" and accuracy - "y"',
    'Example:\nMajor:\nstyle - "x"', 'Kritisch:\nstyle - "x"\nMajor:\nno-error',
    "Major:\nno-error\n\nBut the date is mistranslated.", "Major:\nno-error\n\nDas Datum ist falsch.",
    "Major:\nno-error\n\nOverall the date is wrong.", "Major:\n\nno-error\n\nOverall good.\nMinor:\nno-error",
])  # fmt: skip
def test_lists_that_can_be_read_in_two_ways_are_not_read(text: str) -> None:
    with pytest.raises(Unparsable):
        listed_errors(text, cut=False)


def test_a_list_that_was_cut_is_not_read() -> None:
    with pytest.raises(Unparsable):
        listed_errors("Major:\nno-error", cut=True)


def test_quotes_with_a_reason() -> None:
    assert quoted_errors("", "tense", '"went", "goes" - changes') == [Fault("", "tense", "went", "", "changes"),
                                                                      Fault("", "tense", "goes", "", "changes")]
    assert not quoted_errors("", "tense", "no quote")


def test_praise_lists_nothing() -> None:
    assert not speaks_of_errors("Great translation!") and not speaks_of_errors("These are the errors:")
    assert speaks_of_errors("Great, but the date is wrong.") and speaks_of_errors("Fehler im Datum")
