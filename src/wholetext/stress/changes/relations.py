"""Errors in the relations between sentences: connectives."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from wholetext.stress.change import (
    Replacement,
    SentenceSpan,
    Site,
    TaggedText,
    capitalised,
    change,
)

# language → pattern of the connective with the mark or blank after it → another sense in the same
# place of a sentence
TURNED: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("But (?!for|also|not|then|so|that|to)", "So "),
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
# language → pattern of connectives that can be left out with nothing else to change, and with a
# loss: contrast and result, as an addition or an example is understood without a word for it. In
# English, as read, so are most results and most sentences after *but*: contrast alone is left.
LEFT_OUT: dict[str, str] = {
    "en": "However, |Nevertheless, |Nonetheless, |On the other hand, |By contrast, |In contrast, |"
    "Despite this, |In spite of this, |And yet |Even so, |Otherwise, |Instead, ",
    "de": "Aber (?!nicht|auch|nur)|Denn ",
    "fr": "Mais (?!aussi|non|oui|pas|où|pour|si tu savais|si vous saviez|c['’]est )|Cependant, |"
    "Toutefois, |Néanmoins, |Par conséquent, ",
    "es": "Pero (?!no sólo|no solo|¿)|Sin embargo, |No obstante, |Por lo tanto, ",
    "ru": "Но (?!не|и)|Однако |Поэтому |Тем не менее, ",
    "zh": "但是，?|但(?![愿凡是])|然而，?|不过，|因此，?|所以，?",
}

# Words beside which the relation is understood without the connective (English)
_UNDERSTOOD = re.compile(
    r"\b(?:then again|since|if|despite|although|though|while|whilst|whereas|even|also|still|yet|"
    r"again|now|in fact|actually|insist\w*|instead|rather|only|unlike|anyway|do believe|need|must|"
    r"should)\b",
    re.I,
)


def connectives(
    text: TaggedText, patterns: tuple[tuple[str, str], ...]
) -> Iterator[tuple[SentenceSpan, int, str]]:
    """Yield sentences that begin with a connective, its length and its replacement.

    The first sentence and questions, where most connectives fit, are left out.
    """
    marks = "".join(text.segments)
    straight = "'" in marks and "’" not in marks  # apostrophes of the text
    for unit in text.units[1:]:
        if not unit.whole or re.search("[?？]", unit.text):
            continue
        for pattern, turned in patterns:
            match = re.match(pattern, unit.text)
            if match and match.end() < len(unit.text):
                yield unit, match.end(), turned.replace("’", "'") if straight else turned
                break


@change(
    "connective",
    "a connective at the beginning of a sentence gets another sense (but becomes so)",
    otherwise="no connective of the table at the beginning of a sentence",
    languages=frozenset(TURNED),
)
def connective(text: TaggedText, rng: random.Random) -> list[Site]:
    """The connective at the beginning of a sentence is replaced by one of another sense.

    Contrast for result, result or addition for contrast: top-level senses of the Penn Discourse
    Treebank (Prasad et al. 2008).
    """
    return [
        (Replacement(unit.segment, unit.start, unit.start + length, turned),)
        for unit, length, turned in connectives(text, TURNED[text.lang])
    ]


@change(
    "no-connective",
    "a connective at the beginning of a sentence is left out",
    otherwise="no connective of the table at the beginning of a sentence",
    languages=frozenset(LEFT_OUT),
)
def no_connective(text: TaggedText, rng: random.Random) -> list[Site]:
    """The connective at the beginning of a sentence is left out; the next word is capitalised.

    Not where another word of the sentence has the same sense.
    """
    return [
        (
            Replacement(
                unit.segment,
                unit.start,
                unit.start + length + 1,
                capitalised(unit.text[length]),
            ),
        )
        for unit, length, _ in connectives(text, ((LEFT_OUT[text.lang], ""),))
        if not unit.text[length].isspace()
        and not (text.lang == "en" and _UNDERSTOOD.search(unit.text, length))
    ]
