"""All sentences in random order."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text

LEAST = 4  # sentences: the order of three is nearly kept by most permutations


def permuted(text: Text, order: list[int]) -> list[Site]:
    """One site: the whole sentences of a text in another order."""
    units = text.whole_units()
    return [tuple(Replacement(*units[at][:3], units[source].text) for at, source in enumerate(order)
                  if units[at].text != units[source].text)]


class Shuffle(Change):
    """A random permutation (Barzilay and Lapata 2008); one site, so that every dose is the same."""

    name = "shuffle"
    summary = "the sentences of the document in random order"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        size = len(text.whole_units())
        if size < LEAST:
            raise Refused(f"fewer than {LEAST} whole sentences")
        order = list(range(size))
        while sum(at != source for at, source in enumerate(order)) <= size // 2:
            rng.shuffle(order)
        return permuted(text, order)
