"""Errors in the order and the number of sentences."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from wholetext.stress.change import Replacement, Site, TaggedText, apart, change, units_of, without


@change(
    "swap",
    "neighbouring sentences change places",
    otherwise="fewer than two whole sentences follow each other",
)
def swap(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """Two neighbouring sentences change places; no sentence is in two pairs.

    Unlike Barzilay and Lapata (2008), who permute whole documents, one pair is the smallest error
    of order that there is.
    """
    pairs = [
        (first, second)
        for first, second in pairwise(text.units)
        if first.whole and second.whole and first.text != second.text
    ]
    last = None
    for first, second in pairs[rng.randrange(2) if len(pairs) > 2 else 0 :]:
        if first != last:
            yield (
                Replacement(*first[:3], second.text),
                Replacement(*second[:3], first.text),
            )
            last = second


LEAST = 4  # sentences: the order of three is nearly kept by most permutations


@change(
    "shuffle",
    "the sentences of the document in random order",
    otherwise=f"fewer than {LEAST} whole sentences",
)
def shuffle(text: TaggedText, rng: random.Random) -> list[Site]:
    """A random permutation (Barzilay and Lapata 2008); one site, so that every dose is the same."""
    units = text.whole_units()
    if len(units) < LEAST:
        return []
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


@change(
    "drop",
    "a sentence is left out",
    otherwise="fewer than two whole sentences",
)
def drop(text: TaggedText, rng: random.Random) -> list[Site]:
    """Sentences are left out, at most half of them.

    The segment of a lone sentence is then empty, as in an output whose segments are those of the
    source.
    """
    units = text.whole_units()
    chosen = rng.sample(range(len(units)), len(units) // 2)
    return [(without(units[at], text.segments),) for at in apart(units, chosen)]


@change(
    "double",
    "a sentence is repeated right after itself",
    otherwise="no whole sentence",
)
def double(text: TaggedText, rng: random.Random) -> list[Site]:
    """A sentence is repeated right after itself, in the same segment."""
    return [
        (Replacement(unit.segment, unit.end, unit.end, text.glue + unit.text),)
        for unit in text.whole_units()
    ]


_TRIED = 20  # sentences of other documents that are compared in length


@change(
    "foreign",
    "a sentence is replaced by one from another document",
    otherwise="fewer than two whole sentences, or none in other documents",
)
def foreign(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """A sentence is replaced by one of another document, about as long; at most half of them."""
    units, own = text.whole_units(), {unit.text for unit in text.units}
    lent = [
        unit.text
        for other in rng.sample(list(text.others), min(len(text.others), _TRIED))
        for unit in units_of(other, text.glue)
        if unit.whole and unit.text not in own
    ]
    for at in sorted(rng.sample(range(len(units)), len(units) // 2)):
        tried = rng.sample(lent, min(len(lent), _TRIED))
        if tried:
            size = len(units[at].text)
            chosen = min(tried, key=lambda sentence: abs(len(sentence) - size))
            lent.remove(chosen)
            yield (Replacement(*units[at][:3], chosen),)
