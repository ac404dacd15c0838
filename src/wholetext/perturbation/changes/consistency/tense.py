"""The tense of some sentences in a row is not that of the document."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, like
from wholetext.perturbation.changes.consistency.verbs import Count, past, present, subject_of
from wholetext.taggers.analysis import Analysis, Layer, Token

_PAST, _PRESENT = frozenset({"VBD"}), frozenset({"VBZ", "VBP"})
_LEAST = 4  # segments in the tense of the document
_SHARE = 0.8  # of the segments with one tense that are in it
# Words that fix a time, or ask for a tense inside the sentence
_TIMED = re.compile(r"\b(?:ago|yesterday|today|tonight|tomorrow|now|currently|once|already|yet|since|last|next|"
                    r"former\w*|recent\w*|when|while|until|after|before|if|wish|would|could|should|as|then|later|earlier|"
                    r"still|used to|19\d\d|20\d\d|century|always|never|ever|so that|to date|history|future|"
                    r"present|presently|so far|picture|photo|title)\b", re.I)
# Verbs of which news has the present and the past side by side
_VERBS = (
    "remain stay continue "
    "say report believe tell claim note add think state announce write show indicate suggest explain point stress "
    "emphasize emphasise mean"
)
_START = Token("", "", "", "", "", 0, 0)
_REPORTING = frozenset(_VERBS.split())


class Tense(Change):
    """Verbs of segments that follow each other go from past to present, or from present to past.

    Sure only where most segments have one tense, where all finite verbs of a segment and of its two neighbours have it
    and can be changed, and where nothing in the sentence (dates, adverbs of time, modal verbs, quotations) asks for a
    tense of its own. At least half of the segments in the tense of the document keep it.
    """

    name = "tense"
    summary = "sentences in a row change from past to present, or from present to past"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"tag", "lemma", "entity"})
    in_a_row = True

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        tenses = [_tense(one) for one in text.analyses]
        main = max(("past", "present"), key=tenses.count)
        known = [at for at, tense in enumerate(tenses) if tense == main]
        if len(known) < _LEAST or len(known) < _SHARE * sum(map(bool, tenses)):
            raise Refused("no tense that most of the document is in")
        between = [at for at in known[1:] if tenses[at - 1 : at + 2] == [main] * 3]  # else it may fit what is beside it
        found = [site for at in between if (site := _shifted(at, text, to_past=main == "present"))]
        if not found:
            raise Refused("no sentence whose verbs can all be changed with certainty")
        most = len(known) // 2
        start = rng.randrange(max(1, len(found) - most + 1))
        return found[start : start + most]


def _finite(analysis: Analysis) -> list[int]:
    return [at for at, token in enumerate(analysis.tokens) if token.tag in _PAST | _PRESENT | {"MD"}]


def _tense(analysis: Analysis) -> str:
    tags = {analysis.tokens[at].tag for at in _finite(analysis)}
    return "" if not tags or "MD" in tags else "past" if tags <= _PAST else "present" if tags <= _PRESENT else ""


def _shifted(segment: int, text: Text, to_past: bool) -> Site | None:
    analysis, words = text.analyses[segment], text.segments[segment]
    if _TIMED.search(words) or re.search("[\"“”„«»;:?]", words):
        return None
    if any(one.label in ("DATE", "TIME") for one in analysis.entities):
        return None
    made, subject, last = [], "", -1
    tokens = analysis.tokens
    first = next((at for at, one in enumerate(tokens) if one.tag in _PAST | _PRESENT), 0)
    if any(other.tag == "VB" and one.tag not in ("TO", "MD", "RB") and one.lemma != "do"
           for one, other in pairwise((_START, *tokens))):
        return None  # an infinitive that may be a finite verb or an imperative
    if any(one.tag == "VBN" for one in tokens[:first]):
        return None  # a participle that may be one
    for at in _finite(analysis):
        if tokens[at].lemma in _REPORTING or "'" in tokens[at].text or "’" in tokens[at].text:
            return None
        if last >= 0 and not _apart(tokens[last + 1 : at]):
            return None
        found = subject_of(tokens, at)
        coordinated = last >= 0 and at > 0 and tokens[at - 1].tag == "CC"
        subject = subject if coordinated and not found else found
        new = _past(tokens[at], subject) if to_past else _present(tokens, at, subject)
        if not new or new.lower() == tokens[at].text.lower():
            return None
        made.append(Replacement(segment, tokens[at].start, tokens[at].end, like(new, tokens[at].text)))
        last = at
    return tuple(made) or None


def _apart(between: Sequence[Token]) -> bool:
    """Whether something joins two finite verbs: if nothing does, one is a participle that was taken for a past form."""
    return any(token.tag in ("CC", "WDT", "WP", ",") or token.text.lower() in ("that", "because", "although")
               for token in between)


def _past(token: Token, subject: Count | str) -> str:
    if token.lemma == "be":
        return {"is": "was", "am": "was", "are": "were"}.get(token.text.lower(), "")
    if token.tag == "VBP" and not subject:  # may be a noun or an infinitive
        return ""
    return past(token.lemma)


def _present(tokens: Sequence[Token], at: int, subject: Count | str) -> str:
    word, after = tokens[at].text.lower(), tokens[at + 1] if at + 1 < len(tokens) else None
    if word in ("was", "were"):
        if subject == "I":
            return ""
        verbs = [one.tag for one in tokens[at + 1 : at + 4] if one.tag not in ("RB", "RBR")][:1]
        return "" if verbs not in (["VBN"], ["VBG"]) else "is" if word == "was" else "are"  # a state may well last
    if after is not None and after.text.lower() == "by":  # "the plan proposed by …": a participle
        return ""
    return present(tokens[at].lemma, subject) if past(tokens[at].lemma) == word else ""  # type: ignore[arg-type]
