"""Controls: errors inside a sentence, which metrics should penalise, and harmless changes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from wholetext.stress.change import Replacement, Site, TaggedText, change, like
from wholetext.stress.changes import WORDS
from wholetext.text.taggers.analysis import Token

_NUMBER = re.compile(r"(?<![\w.,:/#'’–-])[1-9]\d*(?:[.,]\d+)*(?![\w/'’–-]|[.,]\d|\s*:\s*\d)")
_LISTED = re.compile(r"(?:^|(?<=\())\d+[.)]")  # 1), (1): the number of an item
_TIME = re.compile(r"\d\s*:\s*$")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_NEAR = 40  # characters before a number in which the hour of a time may stand
_DAY = 31  # numbers up to this may be days of a month and stay possible ones


@change(
    "number",
    "a number in digits is changed",
    otherwise="no number in digits",
    kind="sentence",
)
def number(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """A number in digits is replaced by another of the same form.

    Years keep their decade; 1 stays as it is, since the noun after it is in the singular.
    """
    for place, segment in enumerate(text.segments):
        for match in _NUMBER.finditer(segment):
            before = segment[max(0, match.start() - _NEAR) : match.start()]
            if (
                match[0] != "1"
                and not _TIME.search(before)
                and not _LISTED.match(segment, match.start())
            ):
                yield (Replacement(place, *match.span(), _another(match[0], rng)),)


def _another(number: str, rng: random.Random) -> str:
    if _YEAR.fullmatch(number):
        return number[:3] + rng.choice([digit for digit in "0123456789" if digit != number[3]])
    if number.isdigit() and len(number) <= 2 and int(number) <= _DAY:
        return str(
            rng.choice(
                [day for day in range(2, 29) if len(str(day)) == len(number) and str(day) != number]
            )
        )
    return rng.choice([digit for digit in "23456789" if digit != number[0]]) + number[1:]


# verbs after which *not* stands
_VERBS = frozenset({"is", "are", "was", "were", "will", "can", "could", "should", "would", "must"})
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|nobody|none|nothing|nor|neither|either|any\w*|without|hardly|barely|cannot|"
    r"yet|already|still|only|also|too|but|until|than|well|far|"
    r"here|some\w*|all|both|many|few|every\w*)\b|n['’]t\b|[?\"“”]",
    re.I,
)


@change(
    "negation",
    "a sentence is negated",
    otherwise="no sentence that can be negated with certainty",
    kind="sentence",
    languages=frozenset({"en"}),
    layers=frozenset({"tag"}),
)
def negation(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """*Not* is put after *is*, *are*, *was*, *were* or a modal verb.

    Sure only in sentences with one finite verb, without negation or words that negation binds.
    """
    for unit in text.whole_units():
        tokens = [
            token
            for token in text.analyses[unit.segment].tokens
            if unit.start <= token.start < unit.end
        ]
        if site := _negated(tokens, unit.segment, unit.text):
            yield (site,)


def _negated(tokens: Sequence[Token], segment: int, sentence: str) -> Replacement | None:
    """Negate the only finite verb, if it takes *not* right after it and is not the first word."""
    finite = [at for at, token in enumerate(tokens) if token.tag in ("VBZ", "VBP", "VBD", "MD")]
    if len(finite) != 1 or not 0 < finite[0] < len(tokens) - 1 or _NEGATIVE.search(sentence):
        return None
    verb, following = tokens[finite[0] : finite[0] + 2]
    complements = ("VB",) if verb.tag == "MD" else ("VBN", "VBG", "JJ", "DT")
    if (
        verb.text not in _VERBS
        or following.tag not in complements
        or following.text.lower() in ("some", "all", "both", "such", "another")
    ):
        return None
    return Replacement(segment, verb.end, verb.end, "not" if verb.text == "can" else " not")


_PATTERN = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, sorted(WORDS['same_sense'], key=len, reverse=True)))})(?!\w)"
    r"(?<!a number of(?= the| th[eo]se| h[ie][rs]| my| our| their| its| us| them))",
    re.I,
)
_BINDING = frozenset(
    {"a", "an", "more", "less", "most", "least", "as", "so", "too", "how", "very", "not"}
)


@change(
    "paraphrase",
    "an expression is replaced by another of the same sense",
    otherwise="no expression of the list",
    kind="harmless",
    languages=frozenset({"en"}),
)
def paraphrase(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """Expressions of a list are replaced by others of the same sense.

    Not after *a* or *an*, nor beside a comparison.
    """
    for at, segment in enumerate(text.segments):
        for match in _PATTERN.finditer(segment):
            before = segment[: match.start()].rsplit(None, 1)[-1:]
            if not before or before[0].lower() not in _BINDING:
                synonym = like(WORDS["same_sense"][match[0].lower()], match[0])
                yield (Replacement(at, *match.span(), synonym),)


_SHORT = re.compile(
    r"(?<=\w)(?:(?<=[Ww]o)n['’]t|(?<=[Cc]a)n['’]t|n['’]t|['’]re|['’]ll|['’]ve|(?<=\bI)['’]m)\b"
)
_LONG = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am"}
_TAG = re.compile(r"[?]|\b(?:sha|ai)n['’]t|n['’]t (?:I|you|he|she|it|we|they)\b", re.I)


@change(
    "contraction",
    "contractions are written out (don't, do not)",
    otherwise="no contraction",
    kind="harmless",
    languages=frozenset({"en"}),
)
def contraction(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """Contracted forms written out; not in questions, where the order of words would change."""
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
            yield (Replacement(unit.segment, unit.start + start, unit.start + end, new),)


_MARKS = {"en": ("“", "”"), "es": ("“", "”"), "zh": ("“", "”"), "de": ("„", "“"), "ru": ("«", "»")}


@change(
    "typography",
    "other quotation marks",
    otherwise="no quotation marks in pairs",
    kind="harmless",
    languages=frozenset(_MARKS),
)
def typography(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """Straight quotation marks become those of the language, or the other way round.

    A segment at a time, and only where they come in pairs.
    """
    opening, closing = _MARKS[text.lang]
    for at, segment in enumerate(text.segments):
        straight = [place for place, mark in enumerate(segment) if mark == '"']
        curly = [place for place, mark in enumerate(segment) if mark in opening + closing]
        if straight and len(straight) % 2 == 0 and not curly and not re.search(r'\d"', segment):
            yield tuple(
                Replacement(at, place, place + 1, (opening, closing)[number % 2])
                for number, place in enumerate(straight)
            )
        elif curly and len(curly) % 2 == 0 and not straight:
            yield tuple(Replacement(at, place, place + 1, '"') for place in curly)


_CLAUSE = re.compile(r"[,;，；]\s*(?=\S)")
_SHARE = 0.6  # of the segment that stays, at most: so that something worth moving is moved


@change(
    "resegment",
    "the same text, with some segments cut elsewhere",
    otherwise="no segment ends with a clause that can begin the next one",
    kind="harmless",
)
def resegment(text: TaggedText, rng: random.Random) -> Iterator[Site]:
    """The last clause of a segment begins the next one: joined, the text stays the same."""
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
        yield (
            Replacement(at, stop, len(segment), ""),
            Replacement(at + 1, 0, 0, tail + text.glue),
        )
        taken = at + 1
