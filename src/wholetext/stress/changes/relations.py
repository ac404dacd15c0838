"""Errors in the relations between sentences: connectives, ellipsis, antecedents."""

from __future__ import annotations

import random
import re
from typing import ClassVar, NamedTuple

from wholetext.stress.change import (
    Change,
    Replacement,
    Site,
    Text,
    Unit,
    capitalised,
    certain,
    like,
    without,
)
from wholetext.text.taggers.analysis import Entity, Layer

# language → pattern of the connective with the mark or blank after it → another sense in the same place of a sentence
TURNED: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("But (?!for|also|not|then|so|that)", "So "),
        ("However, ", "Therefore, "),
        ("Nevertheless, ", "Consequently, "),
        ("Nonetheless, ", "Consequently, "),
        ("Therefore, ", "However, "),
        ("Consequently, ", "Nevertheless, "),
        ("Thus, ", "However, "),
        ("As a result, ", "Nevertheless, "),
        ("Moreover, ", "Nevertheless, "),
        ("Furthermore, ", "Nevertheless, "),
        ("In addition, ", "Nevertheless, "),
        ("Besides, ", "Nevertheless, "),
        ("Additionally, ", "Nevertheless, "),
        ("For example, ", "However, "),
        ("For instance, ", "However, "),
        ("On the other hand, ", "For this reason, "),
        ("By contrast, ", "As a result, "),
        ("In contrast, ", "As a result, "),
        ("Instead, ", "As a result, "),
        ("That is why ", "And yet "),
        ("For this reason, ", "Nevertheless, "),
        ("Because of this, ", "In spite of this, "),
        ("Despite this, ", "Because of this, "),
        ("In spite of this, ", "Because of this, "),
        ("Still, ", "Therefore, "),
        ("Yet (?=the|he|she|it|they|we|this|these|there)", "So "),
        ("Similarly, ", "By contrast, "),
        ("Likewise, ", "By contrast, "),
        ("And yet ", "And so "),
    ),
    "de": (
        ("Aber (?!nicht|auch|nur)", "Denn "),
        ("Trotzdem ", "Deshalb "),
        ("Dennoch ", "Deshalb "),
        ("Allerdings ", "Deshalb "),
        ("Jedoch ", "Deshalb "),
        ("Deshalb ", "Trotzdem "),
        ("Daher ", "Trotzdem "),
        ("Deswegen ", "Trotzdem "),
        ("Außerdem ", "Trotzdem "),
        ("Zudem ", "Trotzdem "),
        ("Stattdessen ", "Deshalb "),
    ),
    "fr": (
        (
            "Mais (?!aussi|non|oui|pas|où|pour|si tu savais|si vous saviez|c['’]est )",
            "C’est pourquoi ",
        ),
        ("Cependant, ", "Par conséquent, "),
        ("Toutefois, ", "Par conséquent, "),
        ("Néanmoins, ", "Par conséquent, "),
        ("Par conséquent, ", "Cependant, "),
        ("De plus, ", "Cependant, "),
        ("En outre, ", "Cependant, "),
        ("Par exemple, ", "Cependant, "),
    ),
    "es": (
        ("Pero (?!no sólo|no solo|si|¿)", "Por eso "),
        ("Sin embargo, ", "Por lo tanto, "),
        ("No obstante, ", "Por lo tanto, "),
        ("Por lo tanto, ", "Sin embargo, "),
        ("Por eso, ", "Sin embargo, "),
        ("Además, ", "Sin embargo, "),
        ("Por ejemplo, ", "Sin embargo, "),
    ),
    "ru": (
        ("Но (?!не|и|если)", "Поэтому "),
        ("Однако (?!ж)", "Поэтому "),
        ("Поэтому ", "Однако "),
        ("Кроме того, ", "Однако "),
        ("Тем не менее, ", "Поэтому "),
        ("Например, ", "Однако "),
    ),
    "zh": (
        ("但是，?", "因此"),
        ("但(?![愿凡是])", "因此"),
        ("然而，?", "因此"),
        ("不过，", "因此，"),
        ("因此，?", "然而"),
        ("所以，?", "但是"),
        ("此外，", "然而，"),
        ("另外，", "然而，"),
        ("例如，", "然而，"),
    ),
}
# language → pattern of connectives that can be left out with nothing else to change
LEFT_OUT: dict[str, str] = {
    "en": "However, |Nevertheless, |Nonetheless, |Therefore, |Consequently, |Thus, |As a result, |Moreover, |Instead, |"
    "Furthermore, |In addition, |Additionally, |For example, |For instance, |On the other hand, |By contrast, |"
    "In contrast, |Similarly, |Likewise, |That is why |For this reason, |Because of this, |Despite this, |"
    "But (?!for|also|not|so)|Yet (?=the|he|she|it|they|we|this|these|there)",
    "de": "Aber (?!nicht|auch|nur)|Denn ",
    "fr": "Mais (?!aussi|non|oui|pas|où|pour|si tu savais|si vous saviez|c['’]est )|Cependant, |Toutefois, |"
    "Néanmoins, |Par conséquent, |De plus, |En outre, |Par exemple, ",
    "es": "Pero (?!no sólo|no solo|¿)|Sin embargo, |No obstante, |Por lo tanto, |Además, |Por ejemplo, ",
    "ru": "Но (?!не|и)|Однако |Поэтому |Кроме того, |Тем не менее, |Например, ",
    "zh": "但是，?|但(?![愿凡是])|然而，?|不过，|因此，?|所以，?|此外，|另外，|例如，",
}


class Connective(NamedTuple):
    """A connective at the beginning of a sentence that is not the first one."""

    unit: Unit
    length: int  # of the connective, with the blank after it
    turned: str  # with the other sense; "" where there is none


def connectives(text: Text, patterns: tuple[tuple[str, str], ...]) -> list[Connective]:
    """List the connectives of a text; questions are left out, where most connectives fit."""
    matches, marks = [], "".join(text.segments)
    straight = "'" in marks and "’" not in marks  # apostrophes of the text
    for unit in text.units[1:]:
        if not unit.whole or re.search("[?？]", unit.text):
            continue
        for pattern, turned in patterns:
            match = re.match(pattern, unit.text)
            if match and match.end() < len(unit.text):
                matches.append(
                    Connective(unit, match.end(), turned.replace("’", "'") if straight else turned)
                )
                break
    return matches


class ConnectiveSwap(Change):
    """The connective at the beginning of a sentence is replaced by one of another sense (contrast for result, result or
    addition for contrast: top-level senses of the Penn Discourse Treebank, Prasad et al. 2008)."""

    name = "connective"
    summary = "a connective at the beginning of a sentence gets another sense (but becomes so)"
    languages: ClassVar[frozenset[str] | None] = frozenset(TURNED)

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = [
            (Replacement(unit.segment, unit.start, unit.start + length, turned),)
            for unit, length, turned in connectives(text, TURNED[text.lang])
        ]
        return certain(sites, "no connective of the table at the beginning of a sentence")


class ConnectiveDrop(Change):
    """The connective at the beginning of a sentence is left out, and the next word gets the capital letter."""

    name = "no-connective"
    summary = "a connective at the beginning of a sentence is left out"
    languages: ClassVar[frozenset[str] | None] = frozenset(LEFT_OUT)

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = [
            (
                Replacement(
                    unit.segment,
                    unit.start,
                    unit.start + length + 1,
                    capitalised(unit.text[length]),
                ),
            )
            for unit, length, _ in connectives(text, ((LEFT_OUT[text.lang], ""),))
        ]
        return certain(sites, "no connective of the table at the beginning of a sentence")


_AUXILIARIES = (
    {
        "do": "am",
        "did": "was",
        "have": "am",
        "had": "was",
        "can": "am",
        "could": "was",
        "will": "do",
    },
    {
        "does": "is",
        "did": "was",
        "has": "is",
        "had": "was",
        "can": "has",
        "could": "was",
        "will": "does",
        "is": "does",
        "was": "did",
    },
    {
        "do": "are",
        "did": "were",
        "have": "are",
        "had": "were",
        "can": "have",
        "could": "were",
        "will": "do",
        "are": "do",
        "were": "did",
    },
)
_SUBJECTS = ({"i"}, {"he", "she", "it"}, {"you", "we", "they"})
# A short sentence of subject and auxiliary alone: its verb is in the sentence before.
_ELLIPTIC = re.compile(
    r"(?:(?:Yes|No|Yeah|And|But|So|Well|Of course|Indeed|Then|Maybe|Perhaps)[, ]+)*(I|you|he|she|it|we|they) "
    r"(do|does|did|have|has|had|can|could|will|is|are|was|were)( not)?(?: too| either| indeed)?[.!]",
    re.I,
)


class Ellipsis(Change):
    """The auxiliary of a sentence whose verb is left out is replaced by one that fits no verb before it (verb-phrase
    ellipsis, Voita et al. 2019)."""

    name = "ellipsis"
    summary = "the auxiliary of a short answer belongs to another verb (he did becomes he was)"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = []
        for unit in text.units[1:]:
            match = _ELLIPTIC.fullmatch(unit.text)
            if match is None:
                continue
            tables = [
                table for table, words in zip(_AUXILIARIES, _SUBJECTS) if match[1].lower() in words
            ]
            new = tables[0].get(match[2].lower(), "")
            if new:
                start, end = (unit.start + at for at in match.span(2))
                sites.append((Replacement(unit.segment, start, end, like(new, match[2])),))
        return certain(sites, "no sentence of a pronoun and an auxiliary alone")


_PRONOUN = {"en": re.compile(r"(?:He|She|His|Her)\b"), "zh": re.compile("[他她](?!们)")}
_REFERRING = {
    "en": re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.I),
    "zh": re.compile("[他她]"),
}
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
        sites: list[Site] = []
        last = -1
        for at in range(len(text.units) - 1):
            unit, after = text.units[at], text.units[at + 1]
            names = {one.text for one in persons[at]}
            if not (
                unit.whole
                and after.whole
                and len(names) == 1
                and not persons[at + 1]
                and at != last + 1
            ):
                continue
            before = [earlier.text for earlier in text.units[:at]]
            known = any(name.split()[-1] in earlier for earlier in before for name in names)
            known = known or any(
                _REFERRING[text.lang].search(earlier) for earlier in (*before, unit.text)
            )
            if _PRONOUN[text.lang].match(after.text) and not known:
                sites.append((without(unit, text.segments),))
                last = at
        return certain(
            sites, "no person is first named right before a sentence that begins with a pronoun"
        )


def _persons(unit: Unit, text: Text) -> list[Entity]:
    return [
        one
        for one in text.analyses[unit.segment].entities
        if one.label in _PERSON and unit.start <= one.start < unit.end
    ]
