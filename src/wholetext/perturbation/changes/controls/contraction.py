"""Harmless: don't for do not, or the other way round."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text

_SHORT = re.compile(r"(?<=\w)(?:(?<=[Ww]o)n['’]t|(?<=[Cc]a)n['’]t|n['’]t|['’]re|['’]ll|['’]ve|(?<=\bI)['’]m)\b")
_LONG = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am"}
_NOT = re.compile(r"(?<=\w )(is|are|was|were|do|does|did|has|have|had|would|could|should) not(?= [a-z])")
_TAG = re.compile(r"[?]|\b(?:sha|ai)n['’]t|n['’]t (?:I|you|he|she|it|we|they)\b", re.I)


class Contraction(Change):
    """Contracted forms written out; in a text without any, *is not* and its like contracted. Questions are left alone,
    where the order of words would change."""

    name = "contraction"
    summary = "contractions are written out (don't, do not), or the other way round"
    kind = "harmless"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found: list[Site] = []
        for unit in text.units:
            if _TAG.search(unit.text):
                continue
            for match in _SHORT.finditer(unit.text):
                start, end, new = match.start(), match.end(), _LONG[match[0].replace("’", "'")]
                stem = unit.text[:start].lower()
                if match[0].startswith("n") and stem.endswith("wo"):
                    start, new = start - 1, "ill not"
                elif match[0].startswith("n") and stem.endswith("ca"):
                    new = "nnot"
                found.append((Replacement(unit.segment, unit.start + start, unit.start + end, new),))
        if not found:
            found = [(Replacement(unit.segment, unit.start + match.end(1), unit.start + match.end(), "n't"),)
                     for unit in text.units if not _TAG.search(unit.text) for match in _NOT.finditer(unit.text)]
        if not found:
            raise Refused("nothing to contract or to write out")
        return found
