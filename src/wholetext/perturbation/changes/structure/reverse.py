"""All sentences in reverse order."""

from __future__ import annotations

import random

from wholetext.perturbation.change import Change, Refused, Site, Text
from wholetext.perturbation.changes.structure.shuffle import LEAST, permuted


class Reverse(Change):
    """The last sentence first; one site, so that every dose is the same."""

    name = "reverse"
    summary = "the sentences of the document in reverse order"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        size = len(text.whole_units())
        if size < LEAST:
            raise Refused(f"fewer than {LEAST} whole sentences")
        return permuted(text, list(reversed(range(size))))
