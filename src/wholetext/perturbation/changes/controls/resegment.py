"""Harmless: the same text, cut into segments elsewhere."""

from __future__ import annotations

import random
import re

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text

_CLAUSE = re.compile(r"[,;，；]\s*(?=\S)")
_SHARE = 0.6  # of the segment that stays, at most: so that something worth moving is moved


class Resegment(Change):
    """The last clause of a segment begins the next one: joined, the text is the same character by character."""

    name = "resegment"
    summary = "the same text, with some segments cut elsewhere"
    kind = "harmless"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found: list[Site] = []
        taken = -1
        for at in range(len(text.segments) - 1):
            segment, following = text.segments[at], text.segments[at + 1]
            cuts = [match.end() for match in _CLAUSE.finditer(segment)]
            tail = max((segment[cut:] for cut in cuts if cut >= _SHARE * len(segment)), key=len, default="")
            if not tail or at == taken or not following.strip() or following != following.lstrip():
                continue
            kept = segment[: len(segment) - len(tail)]
            if (kept[-1:] == " ") != (text.glue == " ") or tail != tail.rstrip():
                continue
            stop = len(kept.rstrip())
            found.append((Replacement(at, stop, len(segment), ""), Replacement(at + 1, 0, 0, tail + text.glue)))
            taken = at + 1
        if not found:
            raise Refused("no segment ends with a clause that can begin the next one")
        return found
