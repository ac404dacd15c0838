"""The sentence that says who is meant is missing."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Site, Text, Unit, without
from wholetext.taggers.analysis import Entity, Layer

_PRONOUN = {"en": re.compile(r"(?:He|She|His|Her)\b"), "zh": re.compile("[他她](?!们)")}
_REFERRING = {"en": re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.I), "zh": re.compile("[他她]")}
_PERSON = frozenset({"PERSON", "PER", "nr"})


class Antecedent(Change):
    """The sentence that first names a person is left out where the next one begins with a pronoun for them.

    Sure only where that sentence names one person, whom no sentence before it names, the next one names nobody, and
    no pronoun before stands for another person.
    """

    name = "antecedent"
    summary = "the sentence that first names a person is left out before one that says he or she"
    languages: ClassVar[frozenset[str] | None] = frozenset(_PRONOUN)
    layers: ClassVar[frozenset[Layer]] = frozenset({"entity"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        persons = [_persons(unit, text) for unit in text.units]
        found: list[Site] = []
        last = -1
        for at in range(len(text.units) - 1):
            unit, after = text.units[at], text.units[at + 1]
            names = {one.text for one in persons[at]}
            if not (unit.whole and after.whole and len(names) == 1 and not persons[at + 1] and at != last + 1):
                continue
            before = [earlier.text for earlier in text.units[:at]]
            known = any(name.split()[-1] in earlier for earlier in before for name in names)
            known = known or any(_REFERRING[text.lang].search(earlier) for earlier in (*before, unit.text))
            if _PRONOUN[text.lang].match(after.text) and not known:
                found.append((without(unit, text.segments),))
                last = at
        if not found:
            raise Refused("no person is first named right before a sentence that begins with a pronoun")
        return found


def _persons(unit: Unit, text: Text) -> list[Entity]:
    return [one for one in text.analyses[unit.segment].entities
            if one.label in _PERSON and unit.start <= one.start < unit.end]
