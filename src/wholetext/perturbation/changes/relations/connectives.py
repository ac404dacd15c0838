"""Connectives at the beginning of a sentence: what they become when their sense is turned, and how they are found."""

from __future__ import annotations

import re
from typing import NamedTuple

from wholetext.perturbation.change import Text, Unit

# language → pattern of the connective with the mark or blank after it → another sense in the same place of a sentence
TURNED: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("But (?!for|also|not|then|so|that)", "So "), ("However, ", "Therefore, "),
        ("Nevertheless, ", "Consequently, "),
        ("Nonetheless, ", "Consequently, "), ("Therefore, ", "However, "), ("Consequently, ", "Nevertheless, "),
        ("Thus, ", "However, "), ("As a result, ", "Nevertheless, "), ("Moreover, ", "Nevertheless, "),
        ("Furthermore, ", "Nevertheless, "), ("In addition, ", "Nevertheless, "), ("Besides, ", "Nevertheless, "),
        ("Additionally, ", "Nevertheless, "), ("For example, ", "However, "), ("For instance, ", "However, "),
        ("On the other hand, ", "For this reason, "), ("By contrast, ", "As a result, "),
        ("In contrast, ", "As a result, "), ("Instead, ", "As a result, "), ("That is why ", "And yet "),
        ("For this reason, ", "Nevertheless, "), ("Because of this, ", "In spite of this, "),
        ("Despite this, ", "Because of this, "), ("In spite of this, ", "Because of this, "),
        ("Still, ", "Therefore, "),
        ("Yet (?=the|he|she|it|they|we|this|these|there)", "So "), ("Similarly, ", "By contrast, "),
        ("Likewise, ", "By contrast, "), ("And yet ", "And so "),
    ),
    "de": (
        ("Aber (?!nicht|auch|nur)", "Denn "), ("Trotzdem ", "Deshalb "), ("Dennoch ", "Deshalb "),
        ("Allerdings ", "Deshalb "), ("Jedoch ", "Deshalb "), ("Deshalb ", "Trotzdem "), ("Daher ", "Trotzdem "),
        ("Deswegen ", "Trotzdem "), ("Außerdem ", "Trotzdem "), ("Zudem ", "Trotzdem "), ("Stattdessen ", "Deshalb "),
    ),
    "fr": (
        ("Mais (?!aussi|non|oui|pas|où|pour|si tu savais|si vous saviez|c['’]est )", "C’est pourquoi "),
        ("Cependant, ", "Par conséquent, "), ("Toutefois, ", "Par conséquent, "),
        ("Néanmoins, ", "Par conséquent, "), ("Par conséquent, ", "Cependant, "),
        ("De plus, ", "Cependant, "), ("En outre, ", "Cependant, "), ("Par exemple, ", "Cependant, "),
    ),
    "es": (
        ("Pero (?!no sólo|no solo|si|¿)", "Por eso "), ("Sin embargo, ", "Por lo tanto, "),
        ("No obstante, ", "Por lo tanto, "), ("Por lo tanto, ", "Sin embargo, "), ("Por eso, ", "Sin embargo, "),
        ("Además, ", "Sin embargo, "), ("Por ejemplo, ", "Sin embargo, "),
    ),
    "ru": (
        ("Но (?!не|и|если)", "Поэтому "), ("Однако (?!ж)", "Поэтому "), ("Поэтому ", "Однако "),
        ("Кроме того, ", "Однако "), ("Тем не менее, ", "Поэтому "), ("Например, ", "Однако "),
    ),
    "zh": (
        ("但是，?", "因此"), ("但(?![愿凡是])", "因此"), ("然而，?", "因此"), ("不过，", "因此，"), ("因此，?", "然而"),
        ("所以，?", "但是"), ("此外，", "然而，"), ("另外，", "然而，"), ("例如，", "然而，"),
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
    """A connective found at the beginning of a sentence that is not the first one."""

    unit: Unit
    length: int  # of the connective, with the blank after it
    turned: str  # with the other sense; "" where there is none


def connectives(text: Text, patterns: tuple[tuple[str, str], ...]) -> list[Connective]:
    """Those of a text; questions are left out, where most connectives fit."""
    found, marks = [], "".join(text.segments)
    straight = "'" in marks and "’" not in marks  # apostrophes of the text
    for unit in text.units[1:]:
        if not unit.whole or re.search("[?？]", unit.text):
            continue
        for pattern, turned in patterns:
            match = re.match(pattern, unit.text)
            if match and match.end() < len(unit.text):
                found.append(Connective(unit, match.end(), turned.replace("’", "'") if straight else turned))
                break
    return found
