"""A sentence is repeated."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text


class Double(Change):
    """A sentence is repeated right after itself, in the same segment."""

    name = "double"
    summary = "a sentence is repeated right after itself"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.whole_units()
        if not units:
            raise Refused("no whole sentence")
        return [(Replacement(one.segment, one.end, one.end, text.glue + one.text),) for one in units]
