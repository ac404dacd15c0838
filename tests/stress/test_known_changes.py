"""The list of changes."""

from __future__ import annotations

import pytest

from wholetext.errors import InputError
from wholetext.stress.known_changes import BUILTIN, chosen, list_changes


def test_every_change_says_what_it_is() -> None:
    changes = list_changes()
    assert [*changes] == [*BUILTIN]
    for name, change in changes.items():
        assert change.name == name and change.summary and change.__doc__
        assert change.kind in ("document", "sentence", "harmless")
        assert change.languages is None or change.languages <= {"en", "de", "fr", "ru", "es", "zh"}
    assert {change.kind for change in changes.values()} == {"document", "sentence", "harmless"}


def test_an_unknown_change_is_answered_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="there is no change 'pronouns'") as caught:
        chosen(["pronouns"])
    assert "pronoun" in caught.value.next
