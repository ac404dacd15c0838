"""Control: a sentence says the opposite."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text
from wholetext.taggers.analysis import Layer, Token

_BE = frozenset({"is", "are", "was", "were"})
_MODAL = frozenset({"will", "can", "could", "should", "would", "must"})
_NEGATIVE = re.compile(r"\b(?:no|not|never|nobody|none|nothing|nor|neither|either|any\w*|without|hardly|barely|cannot|"
                       r"yet|already|still|only|also|too|but|until|than|well|far)\b|n['’]t\b", re.I)
_FIXED = re.compile(r"\bnot (?:only|just|so|to|that|all|every\w*|yet|even|any\w*|until|unlike|least|surprising\w*|many|"
                    r"much|enough|in|at|the|a|an|be|have|necessarily|really|too|very|simply|merely|because|for|as|by)\b|"
                    r"\bbut\b|\beither\b|\bany\w*\b|\buntil\b|\byet\b|\?", re.I)


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
        found: list[Site] = []
        for unit in text.whole_units():
            tokens = [token for token in text.analyses[unit.segment].tokens if unit.start <= token.start < unit.end]
            site = _negated(tokens, unit.segment, unit.text) or _affirmed(tokens, unit.segment, unit.text)
            if site:
                found.append((site,))
        if not found:
            raise Refused("no sentence that can be negated with certainty")
        return found


def _verb(tokens: Sequence[Token]) -> int | None:
    """The place of the only finite verb, if it is one that takes *not* right after it and is not the first word."""
    finite = [at for at, token in enumerate(tokens) if token.tag in ("VBZ", "VBP", "VBD", "MD")]
    if len(finite) != 1 or finite[0] == 0 or finite[0] + 1 >= len(tokens):
        return None
    return finite[0] if tokens[finite[0]].text in _BE | _MODAL else None


def _negated(tokens: Sequence[Token], segment: int, sentence: str) -> Replacement | None:
    at = _verb(tokens)
    if at is None or _NEGATIVE.search(sentence) or re.search("[?\"“”]", sentence):
        return None
    wanted = ("VB",) if tokens[at].tag == "MD" else ("VBN", "VBG", "JJ", "DT")
    if tokens[at + 1].tag not in wanted or tokens[at + 1].text.lower() in ("some", "all", "both", "such", "another"):
        return None
    return Replacement(segment, tokens[at].end, tokens[at].end, "not" if tokens[at].text == "can" else " not")


def _affirmed(tokens: Sequence[Token], segment: int, sentence: str) -> Replacement | None:
    at = _verb(tokens)
    if at is None or at + 2 >= len(tokens) or tokens[at + 1].text != "not" or _FIXED.search(sentence):
        return None
    wanted = ("VB",) if tokens[at].tag == "MD" else ("VBN", "VBG", "JJ")
    if tokens[at + 2].tag not in wanted or sentence.count(" not ") != 1:
        return None
    return Replacement(segment, tokens[at].end, tokens[at + 1].end, "")
