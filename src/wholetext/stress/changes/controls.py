"""Controls: errors inside a sentence that every metric should penalise, and harmless changes that none should."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import ClassVar

from wholetext.stress.change import Change, Replacement, Site, Text, certain, like
from wholetext.text.taggers.analysis import Layer, Token

_NUMBER = re.compile(r"(?<![\w.,:/#'’–-])[1-9]\d*(?:[.,]\d+)*(?![\w/'’–-]|[.,]\d|\s*:\s*\d)")
_LISTED = re.compile(r"(?:^|(?<=\())\d+[.)]")  # 1), (1): the number of an item
_TIME = re.compile(r"\d\s*:\s*$")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NEAR = 40  # characters before a number in which the hour of a time may stand
_DAY = 31  # numbers up to this may be days of a month and stay possible ones


class Number(Change):
    """A number in digits is replaced by another of the same form; years keep their decade, 1 stays as it is, since the
    noun after it is in the singular."""

    name = "number"
    summary = "a number in digits is changed"
    kind = "sentence"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = []
        for place, segment in enumerate(text.segments):
            for match in _NUMBER.finditer(segment):
                before = segment[max(0, match.start() - _NEAR) : match.start()]
                if (
                    match[0] != "1"
                    and not _TIME.search(before)
                    and not _LISTED.match(segment, match.start())
                ):
                    sites.append((Replacement(place, *match.span(), _another(match[0], rng)),))
        return certain(sites, "no number in digits")


def _another(number: str, rng: random.Random) -> str:
    if _YEAR.fullmatch(number):
        return number[:3] + rng.choice([digit for digit in "0123456789" if digit != number[3]])
    if number.isdigit() and len(number) <= 2 and int(number) <= _DAY:
        return str(
            rng.choice(
                [one for one in range(2, 29) if len(str(one)) == len(number) and str(one) != number]
            )
        )
    return rng.choice([digit for digit in "23456789" if digit != number[0]]) + number[1:]


_BE = frozenset({"is", "are", "was", "were"})
_MODAL = frozenset({"will", "can", "could", "should", "would", "must"})
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|nobody|none|nothing|nor|neither|either|any\w*|without|hardly|barely|cannot|"
    r"yet|already|still|only|also|too|but|until|than|well|far)\b|n['’]t\b",
    re.I,
)
_FIXED = re.compile(
    r"\bnot (?:only|just|so|to|that|all|every\w*|yet|even|any\w*|until|unlike|least|surprising\w*|many|"
    r"much|enough|in|at|the|a|an|be|have|necessarily|really|too|very|simply|merely|because|for|as|by)\b|"
    r"\bbut\b|\beither\b|\bany\w*\b|\buntil\b|\byet\b|\?",
    re.I,
)


class Negation(Change):
    """*Not* is put after *is*, *are*, *was*, *were* or a modal verb, or taken away from there.

    Sure only in sentences with one finite verb, with no other negation, and without words that negation binds.
    """

    name = "negation"
    summary = "a sentence is negated, or a negation is left out"
    kind = "sentence"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"tag"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = []
        for unit in text.whole_units():
            tokens = [
                token
                for token in text.analyses[unit.segment].tokens
                if unit.start <= token.start < unit.end
            ]
            site = _negated(tokens, unit.segment, unit.text) or _affirmed(
                tokens, unit.segment, unit.text
            )
            if site:
                sites.append((site,))
        return certain(sites, "no sentence that can be negated with certainty")


def _verb(tokens: Sequence[Token]) -> int | None:
    """The place of the only finite verb, if it is one that takes *not* right after it and is not the first word."""
    finite = [at for at, token in enumerate(tokens) if token.tag in ("VBZ", "VBP", "VBD", "MD")]
    if len(finite) != 1 or finite[0] == 0 or finite[0] + 1 >= len(tokens):
        return None
    return finite[0] if tokens[finite[0]].text in _BE | _MODAL else None


def _negated(tokens: Sequence[Token], segment: int, sentence: str) -> Replacement | None:
    at = _verb(tokens)
    if at is None or _NEGATIVE.search(sentence) or re.search('[?"“”]', sentence):
        return None
    wanted = ("VB",) if tokens[at].tag == "MD" else ("VBN", "VBG", "JJ", "DT")
    if tokens[at + 1].tag not in wanted or tokens[at + 1].text.lower() in (
        "some",
        "all",
        "both",
        "such",
        "another",
    ):
        return None
    return Replacement(
        segment, tokens[at].end, tokens[at].end, "not" if tokens[at].text == "can" else " not"
    )


def _affirmed(tokens: Sequence[Token], segment: int, sentence: str) -> Replacement | None:
    at = _verb(tokens)
    if (
        at is None
        or at + 2 >= len(tokens)
        or tokens[at + 1].text != "not"
        or _FIXED.search(sentence)
    ):
        return None
    wanted = ("VB",) if tokens[at].tag == "MD" else ("VBN", "VBG", "JJ")
    if tokens[at + 2].tag not in wanted or sentence.count(" not ") != 1:
        return None
    return Replacement(segment, tokens[at].end, tokens[at + 1].end, "")


_SAME = {
    one: two
    for pair in (
        "for example|for instance",
        "however,|nevertheless,",
        "in addition,|additionally,",
        "moreover,|furthermore,",
        "as a result,|consequently,",
        "in order to|so as to",
        "nearly|almost",
        "often|frequently",
        "quickly|rapidly",
        "began to|started to",
        "perhaps|maybe",
        "mainly|primarily",
        "especially|particularly",
        "despite|in spite of",
        "approximately|roughly",
        "at the moment|at present",
        "therefore,|consequently,",
        "a lot of|a great deal of",
        "usually|normally",
        "because of|on account of",
        "every year|each year",
        "every day|each day",
        "many people|a lot of people",
        "a number of|several",
        "more than|over",
        "at least|no fewer than",
        "right away|immediately",
        "in the end|eventually",
    )
    for one, two in (pair.split("|"), pair.split("|")[::-1])
}
# where the two are not the same after all
_ONE_WAY = {
    "a great deal of",
    "over",
    "no fewer than",
    "several",
    "a lot of people",
    "consequently,",
    "eventually",
    "immediately",
    "a lot of",
    "more than",
    "at least",
    "started to",
}
_PATTERN = re.compile(
    r"\b(?:"
    + "|".join(
        sorted((re.escape(one) for one in _SAME if one not in _ONE_WAY), key=len, reverse=True)
    )
    + r")(?!\w)",
    re.I,
)
_BINDING = frozenset(
    {"a", "an", "more", "less", "most", "least", "as", "so", "too", "how", "very", "not"}
)


class Paraphrase(Change):
    """Expressions of a list replaced by others of the same sense; not after *a* or *an*, nor beside a comparison."""

    name = "paraphrase"
    summary = "an expression is replaced by another of the same sense"
    kind = "harmless"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = []
        for at, segment in enumerate(text.segments):
            for match in _PATTERN.finditer(segment):
                before = segment[: match.start()].rsplit(None, 1)[-1:]
                if not before or before[0].lower() not in _BINDING:
                    sites.append(
                        (Replacement(at, *match.span(), like(_SAME[match[0].lower()], match[0])),)
                    )
        return certain(sites, "no expression of the list")


_SHORT = re.compile(
    r"(?<=\w)(?:(?<=[Ww]o)n['’]t|(?<=[Cc]a)n['’]t|n['’]t|['’]re|['’]ll|['’]ve|(?<=\bI)['’]m)\b"
)
_LONG = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am"}
_NOT = re.compile(
    r"(?<=\w )(is|are|was|were|do|does|did|has|have|had|would|could|should) not(?= [a-z])"
)
_TAG = re.compile(r"[?]|\b(?:sha|ai)n['’]t|n['’]t (?:I|you|he|she|it|we|they)\b", re.I)


class Contraction(Change):
    """Contracted forms written out; in a text without any, *is not* and its like contracted. Questions are left alone,
    where the order of words would change."""

    name = "contraction"
    summary = "contractions are written out (don't, do not), or the other way round"
    kind = "harmless"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = []
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
                sites.append(
                    (Replacement(unit.segment, unit.start + start, unit.start + end, new),)
                )
        if not sites:
            sites = [
                (
                    Replacement(
                        unit.segment, unit.start + match.end(1), unit.start + match.end(), "n't"
                    ),
                )
                for unit in text.units
                if not _TAG.search(unit.text)
                for match in _NOT.finditer(unit.text)
            ]
        return certain(sites, "nothing to contract or to write out")


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
        sites: list[Site] = []
        for at, segment in enumerate(text.segments):
            straight = [place for place, mark in enumerate(segment) if mark == '"']
            curly = [place for place, mark in enumerate(segment) if mark in opening + closing]
            if straight and len(straight) % 2 == 0 and not curly and not re.search(r'\d"', segment):
                sites.append(
                    tuple(
                        Replacement(at, place, place + 1, (opening, closing)[number % 2])
                        for number, place in enumerate(straight)
                    )
                )
            elif curly and len(curly) % 2 == 0 and not straight:
                sites.append(tuple(Replacement(at, place, place + 1, '"') for place in curly))
        if not sites and text.lang == "en":
            sites = [
                (Replacement(at, match.start(), match.end(), "’" if match[0] == "'" else "'"),)
                for at, segment in enumerate(text.segments)
                for match in _APOSTROPHE.finditer(segment)
            ]
        return certain(sites, "no quotation marks in pairs")


_CLAUSE = re.compile(r"[,;，；]\s*(?=\S)")
_SHARE = 0.6  # of the segment that stays, at most: so that something worth moving is moved


class Resegment(Change):
    """The last clause of a segment begins the next one: joined, the text is the same character by character."""

    name = "resegment"
    summary = "the same text, with some segments cut elsewhere"
    kind = "harmless"

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        sites: list[Site] = []
        taken = -1
        for at in range(len(text.segments) - 1):
            segment, following = text.segments[at], text.segments[at + 1]
            cuts = [match.end() for match in _CLAUSE.finditer(segment)]
            tail = max(
                (segment[cut:] for cut in cuts if cut >= _SHARE * len(segment)), key=len, default=""
            )
            if not tail or at == taken or not following.strip() or following != following.lstrip():
                continue
            kept = segment[: len(segment) - len(tail)]
            if (kept[-1:] == " ") != (text.glue == " ") or tail != tail.rstrip():
                continue
            stop = len(kept.rstrip())
            sites.append(
                (
                    Replacement(at, stop, len(segment), ""),
                    Replacement(at + 1, 0, 0, tail + text.glue),
                )
            )
            taken = at + 1
        return certain(sites, "no segment ends with a clause that can begin the next one")
