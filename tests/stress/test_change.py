"""Sites, their replacements, the labels of what was changed, and changes by name."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from wholetext.errors import InputError
from wholetext.stress.change import (
    Replacement,
    applied,
    chosen_changes,
    list_changes,
    units_of,
    without,
)

SEGMENTS = st.lists(st.text("ab c.é", max_size=12), min_size=1, max_size=4)


@st.composite
def replaced(draw: st.DrawFn) -> tuple[list[str], list[tuple[Replacement, ...]]]:
    """Segments, and sites that do not touch each other."""
    segments, sites = draw(SEGMENTS), []
    for place, segment in enumerate(segments):
        cuts = sorted(draw(st.sets(st.integers(0, len(segment)), max_size=4)))
        sites += [(Replacement(place, a, b, draw(st.text("xyz", max_size=3))),) for a, b in zip(cuts[::2], cuts[1::2])]
    return segments, draw(st.permutations(sites))


@given(replaced())
def test_labels_point_at_the_change_and_all_else_stays(given: tuple[list[str], list[tuple[Replacement, ...]]]) -> None:
    segments, sites = given
    changed, edits = applied(segments, sites)
    assert len(edits) == len(sites) and len(changed) == len(segments)
    for edit in edits:
        assert segments[edit.segment][slice(*edit.was)] == edit.before
        assert changed[edit.segment][slice(*edit.now)] == edit.after
    back = [(Replacement(edit.segment, *edit.now, edit.before),) for edit in edits]
    assert list(applied(changed, back)[0]) == segments


def test_sentences_end_where_that_is_certain() -> None:
    segments = ["Mr. Smith met Dr. Jones. They spoke for an hour.", "Summary",
                "He said “It is late. We go home.” That was all."]
    units = list(units_of(segments))
    assert [unit.text for unit in units[:3]] == ["Mr. Smith met Dr. Jones.", "They spoke for an hour.", "Summary"]
    assert [unit.whole for unit in units] == [True, True, False, False, False, False]  # a heading; parts of a quotation
    assert all(segments[unit.segment][unit.start : unit.end] == unit.text for unit in units)
    chinese = list(units_of(["他昨天来到了北京。今天他回家了，很高兴。"], ""))
    assert [unit.whole for unit in chinese] == [True, True]


@pytest.mark.parametrize(("place", "left"), [(0, "Two is here. Three is."), (1, "One is here. Three is."),
                                             (2, "One is here. Two is here.")])
def test_a_sentence_is_taken_out_with_one_blank(place: int, left: str) -> None:
    segments = ("One is here. Two is here. Three is.",)
    unit = list(units_of(segments))[place]
    assert applied(segments, [(without(unit, segments),)])[0] == (left,)


def test_an_unknown_change_is_answered_with_a_suggestion() -> None:
    with pytest.raises(InputError, match="there is no change 'pronouns'") as caught:
        chosen_changes(["pronouns"])
    assert "pronoun" in caught.value.next


def test_every_change_says_what_it_is() -> None:
    changes = list_changes()
    for name, change in changes.items():
        assert change.name == name and change.summary and change.find.__doc__
        assert change.languages is None or change.languages <= {"en", "de", "fr", "ru", "es", "zh"}
    assert {change.kind for change in changes.values()} == {"document", "sentence", "harmless"}
