"""Lists of errors in the published format: entries, and lines that make a list unreadable."""

from __future__ import annotations

import pytest

from wholetext.judges.error_lists import Fault, Unparsable, listed_errors


def test_blocks_of_errors() -> None:
    text = 'Critical: no-error\nMajor:\naccuracy - "a" - should be "b"\n- style/awkward – “x”, “y”\nMinor: no-error'
    assert listed_errors(text.splitlines()) == [Fault("major", "accuracy", "a", "", 'should be "b"'),
                                                Fault("major", "style/awkward", "x"),
                                                Fault("major", "style/awkward", "y")]  # fmt: skip
    assert listed_errors(["no-error"]) == []


@pytest.mark.parametrize("text", [
    'Major:\naccuracy - "March", "May" would be right', 'Major:\nno-error, but style - "x"',
    'Major:\nno-error\nstyle - "y"', 'Major:\n- accuracy - "a"\n  - explanation: "b" is right',
    'Major: accuracy - "x"; style - "y"', 'Major:\nstyle - "x"\nMajor:\nno-error', 'Minor:\nstyle - "x" (not an error)',
    'no-error\nMajor:\nstyle - "x"', 'Minor:\nstyle - "x" - no-error', 'Minor:\nstyle - "x" and accuracy - "y"',
    'Minor:\nstyle - "x" - accuracy - "y"', 'Minor:\nstyle - "x" - not really an error', "",
    "Critical:\nMajor:\nMinor:",
    'Example:\nMajor:\nstyle - "x"', 'Kritisch:\nstyle - "x"\nMajor:\nno-error', 'style - "x"',
    "Major:\nno-error\n\nBut the date is mistranslated.", "Major:\nno-error\n\nOverall the date is wrong.",
])  # fmt: skip
def test_other_lines_make_a_list_unreadable(text: str) -> None:
    with pytest.raises(Unparsable):
        listed_errors(text.splitlines())
