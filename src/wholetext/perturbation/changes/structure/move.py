"""A sentence is moved to another part of the document."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, apart, without

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
        found: list[Site] = []
        for at in moved:
            places = [to for to in stay if abs(to - at) > DISTANCE and units[to].segment != units[at].segment]
            if places:
                to = rng.choice(places)
                stay.remove(to)
                after = Replacement(units[to].segment, units[to].end, units[to].end, text.glue + units[at].text)
                found.append((without(units[at], text.segments), after))
        if not found:
            raise Refused("no two places that are far enough apart")
        return found
