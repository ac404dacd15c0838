"""Sequences built from parts: what is kept, what is counted as lost, where the scored tokens lie."""

from __future__ import annotations

from hypothesis import given, strategies as st

from wholetext.models.layout import Layout, Markers, Parts, lay_out
from wholetext.types import Fit

BERT = Markers(opening=(1,), closing=(2,), between=(2,), pair=(2,))
ids = st.lists(st.integers(10, 99), max_size=12).map(tuple)
contexts = st.lists(ids, max_size=4).map(tuple)
parts = st.builds(Parts, before=contexts, scored=ids, after=contexts)


def scored(layout: Layout) -> tuple[int, ...]:
    return layout.ids[layout.start : layout.stop]


def test_nothing_is_lost_where_everything_fits() -> None:
    layout = lay_out(Parts(((10, 11), (12,)), (20, 21), ((30,),)), BERT, 512)
    assert layout.ids == (1, 10, 11, 2, 12, 2, 20, 21, 2, 30, 2)
    assert scored(layout) == (20, 21)
    assert layout.fit == Fit(tokens=11, special=5)
    assert layout.kept(markers=True) == [0, 6, 7, 8]  # opening, scored tokens, the marker that closes them
    assert layout.kept(markers=False) == [6, 7]


def test_oldest_context_goes_first_then_its_leading_tokens() -> None:
    text = Parts(((10, 11, 12), (13, 14, 15)), (20, 21), ())
    assert lay_out(text, BERT, 9).ids == (1, 13, 14, 15, 2, 20, 21, 2)
    assert lay_out(text, BERT, 7).ids == (1, 14, 15, 2, 20, 21, 2)
    assert lay_out(text, BERT, 7).fit == Fit(tokens=7, special=3, lost_context=4)
    assert lay_out(text, BERT, 5).ids == (1, 20, 21, 2)  # no room for a separator and a token
    assert lay_out(text, BERT, 3).ids == (1, 20, 2)
    assert lay_out(text, BERT, 3).fit == Fit(tokens=3, special=2, lost_context=6, lost_focus=1)


@given(parts, st.integers(2, 60))
def test_scored_tokens_outlive_context(text: Parts, limit: int) -> None:
    layout = lay_out(text, BERT, limit)
    assert len(layout.ids) == layout.fit.tokens <= limit
    assert scored(layout) == text.scored[: limit - 2]
    assert layout.fit.lost_focus == max(0, len(text.scored) - (limit - 2))
    shown = layout.fit.tokens - layout.fit.special
    assert shown + layout.fit.lost_context + layout.fit.lost_focus == len(text.scored) + text.context
    if layout.fit.lost_focus:
        assert layout.ids == (1, *text.scored[: limit - 2], 2)


@given(parts, st.integers(2, 60))
def test_the_published_rule_cuts_on_the_right(text: Parts, limit: int) -> None:
    full = lay_out(text, BERT, 10_000)
    layout = lay_out(text, BERT, limit, "reference")
    assert layout.ids == (*full.ids[:-1][: limit - 1], 2)
    counted = layout.fit.tokens - layout.fit.special + layout.fit.lost_context + layout.fit.lost_focus
    assert counted == len(text.scored) + text.context
    if len(full.ids) <= limit and not text.after:
        assert scored(layout) == text.scored


def test_a_separator_in_the_text_moves_the_boundary_only_under_the_published_rule() -> None:
    text = Parts((), (10, 2, 11), ())
    assert scored(lay_out(text, BERT, 512)) == (10, 2, 11)
    assert scored(lay_out(text, BERT, 512, "reference")) == (11,)
