"""All sentences in reverse order."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Site, Text
from wholetext.perturbation.changes.structure.shuffle import permuted


class Reverse(Change):
    """The last sentence first; one site, so that every dose is the same."""

    name = "reverse"
    summary = "the sentences of the document in reverse order"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        return permuted(text, lambda order: order[::-1])
