"""Errors in the relations between sentences: connectives."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping

from wholetext.stress.change import (
    Replacement,
    SentenceSpan,
    Site,
    TaggedText,
    capitalised,
    change,
)
from wholetext.stress.changes import WORDS

TURNED, LEFT_OUT = WORDS["turned"], WORDS["left_out"]

# Words beside which the relation is understood without the connective (English)
_UNDERSTOOD = re.compile(
    r"\b(?:then again|since|if|despite|although|though|while|whilst|whereas|even|also|still|yet|"
    r"again|now|in fact|actually|insist\w*|instead|rather|only|unlike|anyway|do believe|need|must|"
    r"should)\b",
    re.I,
)


def connectives(
    text: TaggedText, patterns: Mapping[str, str]
) -> Iterator[tuple[SentenceSpan, int, str]]:
    """Yield sentences that begin with a connective, its length and its replacement.

    The first sentence and questions, where most connectives fit, are left out.
    """
    marks = "".join(text.segments)
    straight = "'" in marks and "’" not in marks  # apostrophes of the text
    for unit in text.units[1:]:
        if not unit.whole or re.search("[?？]", unit.text):
            continue
        for pattern, turned in patterns.items():
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
        for unit, length, _ in connectives(text, {LEFT_OUT[text.lang]: ""})
        if not unit.text[length].isspace()
        and not (text.lang == "en" and _UNDERSTOOD.search(unit.text, length))
    ]
