"""Token ids of a view, built from its parts: the scored text is known by position, and context gives way first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wholetext.types import Fit

Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Framed:
    """One model input: ids, where the scored text lies in them, and what did not fit."""

    ids: tuple[int, ...]
    focus: tuple[int, int]  # ids[focus[0]:focus[1]] is the scored text
    fit: Fit
    dropped: int = 0  # context segments of which nothing is left


@dataclass(frozen=True, slots=True)
class Frame:
    """What a model puts around and between texts, and how many ids it takes in all."""

    prefix: tuple[int, ...]
    separator: tuple[int, ...]
    suffix: tuple[int, ...]
    limit: int

    def build(self, before: Sequence[Ids], scored: Ids, after: Sequence[Ids] = ()) -> Framed:
        """``prefix c1 sep c2 sep scored sep c3 suffix``, cut to the limit (Vernikos et al. 2022, §3, with fair cuts).

        The segment farthest from the scored text goes first (the oldest, where context only precedes); the last one
        left loses tokens at its far end before it goes; the scored text is cut at its end only if it alone is too long.
        """
        head, tail = [list(ids) for ids in before], [list(ids) for ids in after]
        room = self.limit - len(self.prefix) - len(self.suffix)
        kept = list(scored[: max(room, 0)])
        room -= len(kept)
        while head or tail:
            over = sum(len(ids) + len(self.separator) for ids in (*head, *tail)) - room
            if over <= 0:
                break
            side, end = (tail, -1) if len(tail) >= len(head) else (head, 0)
            if len(head) + len(tail) == 1 and over < len(side[end]):
                side[end] = side[end][over:] if side is head else side[end][:-over]
                break
            side.pop(end)
        return self._join(head, kept, tail, (before, scored, after))

    def _join(
        self,
        head: list[list[int]],
        kept: list[int],
        tail: list[list[int]],
        whole: tuple[Sequence[Ids], Ids, Sequence[Ids]],
    ) -> Framed:
        ids = list(self.prefix)
        for part in head:
            ids += [*part, *self.separator]
        start = len(ids)
        ids += kept
        stop = len(ids)
        for part in tail:
            ids += [*self.separator, *part]
        ids += self.suffix
        before, scored, after = whole
        context = sum(map(len, head)) + sum(map(len, tail))
        fit = Fit(
            tokens=len(ids),
            special=len(ids) - len(kept) - context,
            lost_context=sum(map(len, before)) + sum(map(len, after)) - context,
            lost_focus=len(scored) - len(kept),
        )
        gone = len(before) + len(after) - len(head) - len(tail)
        return Framed(tuple(ids), (start, stop), fit, gone)
