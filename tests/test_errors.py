"""The words of messages: numbers with their nouns."""

from __future__ import annotations

import pytest

from wholetext.errors import count


@pytest.mark.parametrize(("said", "wanted"), [
    (count(1, "document"), "1 document"), (count(0, "rater"), "0 raters"), (count(2, "segment"), "2 segments"),
    (count(1, "line", "have"), "1 line has"), (count(3, "line", "have"), "3 lines have"),
    (count(1, "system", "are"), "1 system is"), (count(1, "line", "state"), "1 line states"),
])  # fmt: skip
def test_a_number_goes_with_its_noun_and_verb(said: str, wanted: str) -> None:
    assert said == wanted
