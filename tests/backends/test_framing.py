"""Ids from parts: nothing scored is lost to context, and every lost token is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wholetext.backends.framing import Frame
from wholetext.types import Fit

FRAME = Frame((0,), (2,), (2,), 12)


def test_all_fits() -> None:
    made = FRAME.build([[5], [6, 7]], [8, 9])
    assert made.ids == (0, 5, 2, 6, 7, 2, 8, 9, 2)
    assert made.ids[slice(*made.focus)] == (8, 9)
    assert made.fit == Fit(tokens=9, special=4) and made.dropped == 0


def test_the_oldest_segment_goes_first() -> None:
    made = FRAME.build([[5, 5, 5], [6, 7]], [8] * 6)
    assert made.ids == (0, 6, 7, 2, *[8] * 6, 2)
    assert (made.fit.lost_context, made.dropped) == (3, 1)


def test_the_last_segment_loses_its_beginning() -> None:
    made = FRAME.build([[5], [6, 7, 8]], [9] * 7)
    assert made.ids == (0, 7, 8, 2, *[9] * 7, 2)
    assert (made.fit.lost_context, made.dropped) == (2, 1)


def test_no_lone_separator_is_left() -> None:
    made = FRAME.build([[6, 7, 8]], [9] * 9)
    assert made.ids == (0, *[9] * 9, 2) and made.dropped == 1


def test_scored_text_is_cut_only_when_it_alone_is_too_long() -> None:
    made = FRAME.build([[5], [6]], list(range(20, 40)))
    assert made.ids == (0, *range(20, 30), 2)
    assert (made.fit.lost_context, made.fit.lost_focus) == (2, 10)


def test_following_context_goes_by_distance() -> None:
    made = Frame((0,), (2,), (2,), 10).build([[4]], [8, 8], [[5], [6, 6]])
    assert made.ids == (0, 4, 2, 8, 8, 2, 5, 2) and made.dropped == 1
    last = Frame((0,), (2,), (2,), 7).build([], [8, 8], [[5, 6, 7]])
    assert last.ids == (0, 8, 8, 2, 5, 6, 2)  # cut at its far end


Texts = list[list[int]]
texts = st.lists(st.lists(st.integers(10, 99), max_size=8), max_size=4)


@given(texts, st.lists(st.integers(100, 199), max_size=20), texts, st.integers(2, 40))
def test_nothing_is_lost_uncounted(before: Texts, scored: list[int], after: Texts, limit: int) -> None:
    made = Frame((0,), (2,), (2,), limit).build(before, scored, after)
    assert len(made.ids) == made.fit.tokens <= limit
    kept = made.ids[slice(*made.focus)]
    assert kept == tuple(scored[: limit - 2]) and len(scored) - len(kept) == made.fit.lost_focus
    context = sum(map(len, before)) + sum(map(len, after))
    assert made.fit.tokens == made.fit.special + len(kept) + context - made.fit.lost_context
    if made.fit.lost_focus:
        assert made.fit.lost_context == context
    elif made.fit.lost_context:  # whatever gave way, one more token or an empty segment's separator had no room
        assert made.fit.tokens >= limit - max(map(len, [*before, *after])) - 1
