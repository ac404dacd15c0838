"""Harmless: other quotation marks."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text

_MARKS = {"en": ("“", "”"), "es": ("“", "”"), "zh": ("“", "”"), "de": ("„", "“"), "ru": ("«", "»")}
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")


class Typography(Change):
    """Straight quotation marks become those of the language, or the other way round, a segment at a time; only where
    they come in pairs. A text without quotations gets other apostrophes (English)."""

    name = "typography"
    summary = "other quotation marks or apostrophes"
    kind = "harmless"
    languages: ClassVar[frozenset[str] | None] = frozenset(_MARKS)

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        opening, closing = _MARKS[text.lang]
        found: list[Site] = []
        for at, segment in enumerate(text.segments):
            straight = [place for place, mark in enumerate(segment) if mark == '"']
            curly = [place for place, mark in enumerate(segment) if mark in opening + closing]
            if straight and len(straight) % 2 == 0 and not curly and not re.search(r'\d"', segment):
                found.append(tuple(Replacement(at, place, place + 1, (opening, closing)[number % 2])
                                   for number, place in enumerate(straight)))
            elif curly and len(curly) % 2 == 0 and not straight:
                found.append(tuple(Replacement(at, place, place + 1, '"') for place in curly))
        if not found and text.lang == "en":
            found = [(Replacement(at, match.start(), match.end(), "’" if match[0] == "'" else "'"),)
                     for at, segment in enumerate(text.segments) for match in _APOSTROPHE.finditer(segment)]
        if not found:
            raise Refused("no quotation marks in pairs")
        return found
