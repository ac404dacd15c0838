"""A sentence of another document."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, units_of

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
        lent = [one.text for other in rng.sample(list(text.others), min(len(text.others), _TRIED))
                for one in units_of(other, text.glue) if one.whole and one.text not in own]
        found: list[Site] = []
        for at in sorted(rng.sample(range(len(units)), len(units) // 2)):
            tried = rng.sample(lent, min(len(lent), _TRIED))
            if tried:
                size = len(units[at].text)
                chosen = min(tried, key=lambda one: abs(len(one) - size))
                lent.remove(chosen)
                found.append((Replacement(*units[at][:3], chosen),))
        if not found:
            raise Refused("no whole sentence in the other documents")
        return found
