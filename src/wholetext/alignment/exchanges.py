"""Exchanges of counterparts between beads that lower the total cost.

The path in order may link a sentence to the second-best place before blocks out of order are
detected; a neighbour of such a block can take it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from wholetext.alignment.beads import AlignmentTask, Bead

ROUNDS = 10  # of exchanges: each may make others worth while
BREAKS = 3  # that a block out of order makes: before it, after it, and where it stands


def exchanged(task: AlignmentTask, beads: Sequence[Bead]) -> list[Bead]:
    """Return linked beads after exchanges that make them cheaper, largest gain first.

    A sentence without counterpart beside a bead takes the sentence that stands beside the same bead
    on the other side from another single counterpart, which then has none. Breaks in the order cost
    as much as the moved blocks that they make.
    """
    linked = {bead for bead in beads if bead.linked}
    cost = cache(task.bead)
    breaks = _breaks(linked)
    gone: set[Bead] = set()  # what has been handed over is not taken back
    for _ in range(ROUNDS):
        offers = [
            (cost(new) - cost(old), old, new)
            for old, new in _exchanges(task, linked)
            if new not in gone
        ]
        came: list[Bead] = []
        for more, old, new in sorted(offers, key=lambda offer: offer[0]):
            stale = old not in linked or any(
                bead.fixed == new.fixed or bead.free == new.free for bead in came
            )
            # no exchange makes more than one moved block fewer
            if stale or more >= task.costs.move:
                continue
            after = (linked - {old}) | {new}
            broken = _breaks(after)
            if more + task.costs.move * (broken - breaks) / BREAKS < 0:
                linked, breaks = after, broken
                gone.add(old)
                came.append(new)
        if not came:
            break
    return sorted(linked, key=lambda bead: bead.fixed)


def _exchanges(task: AlignmentTask, linked: set[Bead]) -> Iterator[tuple[Bead, Bead]]:
    """Yield (bead to remove, bead that replaces it)."""
    for free in (False, True):
        own, other = (
            {at: bead for bead in linked for at in range(*bead.side(side))}
            for side in (free, not free)
        )
        for at in set(range(len(task.free if free else task.fixed) - 1)) - own.keys():
            for near, end in ((own.get(at - 1), 1), (own.get(at + 1), 0)):
                target = near.side(not free)[end] - (not end) if near else -1
                old = other.get(target)
                if old and all(stop - start == 1 for start, stop in (old.fixed, old.free)):
                    spans = (at, at + 1), (target, target + 1)
                    yield old, Bead(*spans[::-1]) if free else Bead(*spans)


def _breaks(linked: set[Bead]) -> int:
    """Count beads whose successor in the document is not their successor in the output."""
    places = np.array([(bead.fixed[0], bead.free[0]) for bead in linked]).reshape(-1, 2)
    ranks = np.argsort(np.argsort(places[:, 1]))[np.argsort(places[:, 0])]
    return int((np.diff(ranks) != 1).sum())
