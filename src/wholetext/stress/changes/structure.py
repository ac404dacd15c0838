"""Errors in the order and the number of sentences."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

from wholetext.stress.change import (
    Change,
    Refused,
    Replacement,
    Site,
    Text,
    apart,
    certain,
    units_of,
    without,
)


class Swap(Change):
    """Each site is a pair of neighbours; no sentence is in two pairs. Unlike Barzilay and Lapata (2008), who permute
    whole documents, one pair is the smallest error of order that there is."""

    name = "swap"
    summary = "neighbouring sentences change places"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.units
        pairs = [
            (one, other)
            for one, other in pairwise(units)
            if one.whole and other.whole and one.text != other.text
        ]
        sites: list[Site] = []
        last = None
        for one, other in pairs[rng.randrange(2) if len(pairs) > 2 else 0 :]:
            if one == last:
                continue
            sites.append((Replacement(*one[:3], other.text), Replacement(*other[:3], one.text)))
            last = other
        return certain(sites, "fewer than two whole sentences follow each other")


LEAST = 4  # sentences: the order of three is nearly kept by most permutations


def permuted(text: Text, reorder: Callable[[list[int]], list[int]]) -> list[Site]:
    """One site: the whole sentences of a text in another order."""
    units = text.whole_units()
    if len(units) < LEAST:
        raise Refused(f"fewer than {LEAST} whole sentences")
    order = reorder(list(range(len(units))))
    return [
        tuple(
            Replacement(*units[at][:3], units[source].text)
            for at, source in enumerate(order)
            if units[at].text != units[source].text
        )
    ]


class Shuffle(Change):
    """A random permutation (Barzilay and Lapata 2008); one site, so that every dose is the same."""

    name = "shuffle"
    summary = "the sentences of the document in random order"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        def reorder(order: list[int]) -> list[int]:
            while sum(at != source for at, source in enumerate(order)) <= len(order) // 2:
                rng.shuffle(order)
            return order

        return permuted(text, reorder)


class Reverse(Change):
    """The last sentence first; one site, so that every dose is the same."""

    name = "reverse"
    summary = "the sentences of the document in reverse order"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        return permuted(text, lambda order: order[::-1])


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


class Double(Change):
    """A sentence is repeated right after itself, in the same segment."""

    name = "double"
    summary = "a sentence is repeated right after itself"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.whole_units()
        if not units:
            raise Refused("no whole sentence")
        return [
            (Replacement(one.segment, one.end, one.end, text.glue + one.text),) for one in units
        ]


DISTANCE = 3  # sentences between the old place and the new one, at least


class Move(Change):
    """A sentence is taken out and put after another one, three sentences away or more, in another segment.

    At most a third of the sentences move, and none is put next to one that moves.
    """

    name = "move"
    summary = "a sentence is moved to another part of the document"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units = text.whole_units()
        moved = apart(units, rng.sample(range(len(units)), len(units) // 3))
        stay = [at for at in range(len(units)) if at not in moved and at + 1 not in moved]
        sites: list[Site] = []
        for at in moved:
            places = [
                to
                for to in stay
                if abs(to - at) > DISTANCE and units[to].segment != units[at].segment
            ]
            if places:
                to = rng.choice(places)
                stay.remove(to)
                after = Replacement(
                    units[to].segment, units[to].end, units[to].end, text.glue + units[at].text
                )
                sites.append((without(units[at], text.segments), after))
        return certain(sites, "no two places that are far enough apart")


_TRIED = 20  # sentences of other documents that are compared in length


class Foreign(Change):
    """A sentence is replaced by one of another document that is about as long; at most half of them."""

    name = "foreign"
    summary = "a sentence is replaced by one from another document"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        units, own = text.whole_units(), {unit.text for unit in text.units}
        if len(units) < 2:
            raise Refused("fewer than two whole sentences")
        if not text.others:
            raise Refused("there is no other document")
        lent = [
            one.text
            for other in rng.sample(list(text.others), min(len(text.others), _TRIED))
            for one in units_of(other, text.glue)
            if one.whole and one.text not in own
        ]
        sites: list[Site] = []
        for at in sorted(rng.sample(range(len(units)), len(units) // 2)):
            tried = rng.sample(lent, min(len(lent), _TRIED))
            if tried:
                size = len(units[at].text)
                chosen = min(tried, key=lambda one: abs(len(one) - size))
                lent.remove(chosen)
                sites.append((Replacement(*units[at][:3], chosen),))
        return certain(sites, "no whole sentence in the other documents")
