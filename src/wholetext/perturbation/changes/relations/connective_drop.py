"""A connective is missing."""

from __future__ import annotations

import random
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, capitalised
from wholetext.perturbation.changes.relations.connectives import LEFT_OUT, connectives


class ConnectiveDrop(Change):
    """The connective at the beginning of a sentence is left out, and the next word gets the capital letter."""

    name = "no-connective"
    summary = "a connective at the beginning of a sentence is left out"
    languages: ClassVar[frozenset[str] | None] = frozenset(LEFT_OUT)

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found = connectives(text, ((LEFT_OUT[text.lang], ""),))
        if not found:
            raise Refused("no connective of the table at the beginning of a sentence")
        sites: list[Site] = []
        for one in found:
            start = one.unit.start
            first = one.unit.text[one.length]
            sites.append((Replacement(one.unit.segment, start, start + one.length + 1, capitalised(first)),))
        return sites
