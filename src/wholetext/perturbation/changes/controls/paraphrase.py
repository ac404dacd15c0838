"""Harmless: another expression for the same."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, like

_SAME = {one: two for pair in (
    "for example|for instance", "however,|nevertheless,", "in addition,|additionally,", "moreover,|furthermore,",
    "as a result,|consequently,", "in order to|so as to", "nearly|almost", "often|frequently", "quickly|rapidly",
    "began to|started to", "perhaps|maybe", "mainly|primarily", "especially|particularly", "despite|in spite of",
    "approximately|roughly", "at the moment|at present",
    "therefore,|consequently,", "a lot of|a great deal of", "usually|normally", "because of|on account of",
    "every year|each year", "every day|each day", "many people|a lot of people", "a number of|several",
    "more than|over", "at least|no fewer than", "right away|immediately", "in the end|eventually",
) for one, two in (pair.split("|"), pair.split("|")[::-1])}
# where the two are not the same after all
_ONE_WAY = {"a great deal of", "over", "no fewer than", "several", "a lot of people", "consequently,", "eventually",
            "immediately", "a lot of", "more than", "at least", "started to"}
_PATTERN = re.compile(r"\b(?:" + "|".join(sorted((re.escape(one) for one in _SAME if one not in _ONE_WAY),
                                                 key=len, reverse=True)) + r")(?!\w)", re.I)
_BINDING = frozenset({"a", "an", "more", "less", "most", "least", "as", "so", "too", "how", "very", "not"})


class Paraphrase(Change):
    """Expressions of a list replaced by others of the same sense; not after *a* or *an*, nor beside a comparison."""

    name = "paraphrase"
    summary = "an expression is replaced by another of the same sense"
    kind = "harmless"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found: list[Site] = []
        for at, segment in enumerate(text.segments):
            for match in _PATTERN.finditer(segment):
                before = segment[: match.start()].rsplit(None, 1)[-1:]
                if not before or before[0].lower() not in _BINDING:
                    found.append((Replacement(at, *match.span(), like(_SAME[match[0].lower()], match[0])),))
        if not found:
            raise Refused("no expression of the list")
        return found
