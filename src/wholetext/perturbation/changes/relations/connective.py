"""A connective says the opposite: but becomes so."""

from __future__ import annotations

import random
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text
from wholetext.perturbation.changes.relations.connectives import TURNED, connectives


class ConnectiveSwap(Change):
    """The connective at the beginning of a sentence is replaced by one of another sense (contrast for result, result or
    addition for contrast: top-level senses of the Penn Discourse Treebank, Prasad et al. 2008)."""

    name = "connective"
    summary = "a connective at the beginning of a sentence gets another sense (but becomes so)"
    languages: ClassVar[frozenset[str] | None] = frozenset(TURNED)

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found = connectives(text, TURNED[text.lang])
        if not found:
            raise Refused("no connective of the table at the beginning of a sentence")
        return [(Replacement(one.unit.segment, one.unit.start, one.unit.start + one.length, one.turned),)
                for one in found]
