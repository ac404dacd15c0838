"""Neighbouring sentences change places."""

from __future__ import annotations

import random
from itertools import pairwise

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text


class Swap(Change):
    """Each site is a pair of neighbours; no sentence is in two pairs. Unlike Barzilay and Lapata (2008), who permute
    whole documents, one pair is the smallest error of order that there is."""

    name = "swap"
    summary = "neighbouring sentences change places"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.units
        pairs = [(one, other) for one, other in pairwise(units)
                 if one.whole and other.whole and one.text != other.text]
        found: list[Site] = []
        last = None
        for one, other in pairs[rng.randrange(2) if len(pairs) > 2 else 0 :]:
            if one == last:
                continue
            found.append((Replacement(*one[:3], other.text), Replacement(*other[:3], one.text)))
            last = other
        if not found:
            raise Refused("fewer than two whole sentences follow each other")
        return found
