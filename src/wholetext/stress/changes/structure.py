"""Errors in the order and the number of sentences."""

from __future__ import annotations

import random
from itertools import pairwise

from wholetext.stress.change import (
    Change,
    NotApplicable,
    Replacement,
    Site,
    Text,
    apart,
    certain,
    units_of,
    without,
)


class Swap(Change):
    """Two neighbouring sentences change places; no sentence is in two pairs.

    Unlike Barzilay and Lapata (2008), who permute whole documents, one pair is the smallest error
    of order that there is.
    """

    name = "swap"
    summary = "neighbouring sentences change places"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        pairs = [
            (first, second)
            for first, second in pairwise(text.units)
            if first.whole and second.whole and first.text != second.text
        ]
        sites: list[Site] = []
        last = None
        for first, second in pairs[rng.randrange(2) if len(pairs) > 2 else 0 :]:
            if first != last:
                swapped = (
                    Replacement(*first[:3], second.text),
                    Replacement(*second[:3], first.text),
                )
                sites.append(swapped)
                last = second
        return certain(sites, "fewer than two whole sentences follow each other")


LEAST = 4  # sentences: the order of three is nearly kept by most permutations


class Shuffle(Change):
    """A random permutation (Barzilay and Lapata 2008); one site, so that every dose is the same."""

    name = "shuffle"
    summary = "the sentences of the document in random order"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.whole_units()
        if len(units) < LEAST:
            raise NotApplicable(f"fewer than {LEAST} whole sentences")
        order = list(range(len(units)))
        while sum(at != source for at, source in enumerate(order)) <= len(order) // 2:
            rng.shuffle(order)
        return [
            tuple(
                Replacement(*units[at][:3], units[source].text)
                for at, source in enumerate(order)
                if units[at].text != units[source].text
            )
        ]


class Drop(Change):
    """Sentences are left out, at most half of them.

    The segment of a lone sentence is then empty, as in an output whose segments are those of the
    source.
    """

    name = "drop"
    summary = "a sentence is left out"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.whole_units()
        chosen = rng.sample(range(len(units)), len(units) // 2)
        sites: list[Site] = [(without(units[at], text.segments),) for at in apart(units, chosen)]
        return certain(sites, "fewer than two whole sentences")


class Double(Change):
    """A sentence is repeated right after itself, in the same segment."""

    name = "double"
    summary = "a sentence is repeated right after itself"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = [
            (Replacement(unit.segment, unit.end, unit.end, text.glue + unit.text),)
            for unit in text.whole_units()
        ]
        return certain(sites, "no whole sentence")


_TRIED = 20  # sentences of other documents that are compared in length


class Foreign(Change):
    """A sentence is replaced by one of another document, about as long; at most half of them."""

    name = "foreign"
    summary = "a sentence is replaced by one from another document"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units, own = text.whole_units(), {unit.text for unit in text.units}
        lent = [
            unit.text
            for other in rng.sample(list(text.others), min(len(text.others), _TRIED))
            for unit in units_of(other, text.glue)
            if unit.whole and unit.text not in own
        ]
        sites: list[Site] = []
        for at in sorted(rng.sample(range(len(units)), len(units) // 2)):
            tried = rng.sample(lent, min(len(lent), _TRIED))
            if tried:
                size = len(units[at].text)
                chosen = min(tried, key=lambda sentence: abs(len(sentence) - size))
                lent.remove(chosen)
                sites.append((Replacement(*units[at][:3], chosen),))
        return certain(sites, "fewer than two whole sentences, or none in other documents")
