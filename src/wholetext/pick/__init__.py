"""Choosing among candidates: the best of N by a metric or by MBR, and the best share of bitext."""

from typing import TYPE_CHECKING

from wholetext.lazy import exports

if TYPE_CHECKING:
    from wholetext.pick.bitext import Filtered as Filtered, filter_bitext as filter_bitext
    from wholetext.pick.candidates import read_candidates as read_candidates
    from wholetext.pick.choose import Gain as Gain, Picks as Picks, pick as pick
else:
    __getattr__, __dir__, __all__ = exports(
        __name__,
        {
            "pick.bitext": ("Filtered", "filter_bitext"),
            "pick.candidates": ("read_candidates",),
            "pick.choose": ("Gain", "Picks", "pick"),
        },
    )
