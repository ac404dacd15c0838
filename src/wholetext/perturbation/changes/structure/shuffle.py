"""All sentences in random order."""

from __future__ import annotations

import random
from collections.abc import Callable

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text

LEAST = 4  # sentences: the order of three is nearly kept by most permutations


def permuted(text: Text, reorder: Callable[[list[int]], list[int]]) -> list[Site]:
    """One site: the whole sentences of a text in another order."""
    units = text.whole_units()
    if len(units) < LEAST:
        raise Refused(f"fewer than {LEAST} whole sentences")
    order = reorder(list(range(len(units))))
    return [tuple(Replacement(*units[at][:3], units[source].text) for at, source in enumerate(order)
                  if units[at].text != units[source].text)]


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
