"""A sentence is missing."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Refused, Site, Text, apart, without


class Drop(Change):
    """Sentences are left out, at most half of them; the segment of a lone sentence is then empty, as in an output whose
    segments are those of the source."""

    name = "drop"
    summary = "a sentence is left out"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.whole_units()
        if len(units) < 2:
            raise Refused("fewer than two whole sentences")
        chosen = rng.sample(range(len(units)), len(units) // 2)
        return [(without(units[at], text.segments),) for at in apart(units, chosen)]
