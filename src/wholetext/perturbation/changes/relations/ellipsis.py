"""An ellipsis is resolved wrongly: yes, he did becomes yes, he was."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, like

_AUXILIARIES = ({"do": "am", "did": "was", "have": "am", "had": "was", "can": "am", "could": "was", "will": "do"},
                {"does": "is", "did": "was", "has": "is", "had": "was", "can": "has", "could": "was", "will": "does",
                 "is": "does", "was": "did"},
                {"do": "are", "did": "were", "have": "are", "had": "were", "can": "have", "could": "were", "will": "do",
                 "are": "do", "were": "did"})
_SUBJECTS = ({"i"}, {"he", "she", "it"}, {"you", "we", "they"})
# A short sentence of subject and auxiliary alone: its verb is in the sentence before.
_ELLIPTIC = re.compile(
    r"(?:(?:Yes|No|Yeah|And|But|So|Well|Of course|Indeed|Then|Maybe|Perhaps)[, ]+)*(I|you|he|she|it|we|they) "
    r"(do|does|did|have|has|had|can|could|will|is|are|was|were)( not)?(?: too| either| indeed)?[.!]", re.I)


class Ellipsis(Change):
    """The auxiliary of a sentence whose verb is left out is replaced by one that fits no verb before it (verb-phrase
    ellipsis, Voita et al. 2019)."""

    name = "ellipsis"
    summary = "the auxiliary of a short answer belongs to another verb (he did becomes he was)"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        found: list[Site] = []
        for unit in text.units[1:]:
            match = _ELLIPTIC.fullmatch(unit.text)
            if match is None:
                continue
            tables = [table for table, words in zip(_AUXILIARIES, _SUBJECTS) if match[1].lower() in words]
            new = tables[0].get(match[2].lower(), "")
            if new:
                start, end = (unit.start + at for at in match.span(2))
                found.append((Replacement(unit.segment, start, end, like(new, match[2])),))
        if not found:
            raise Refused("no sentence of a pronoun and an auxiliary alone")
        return found
