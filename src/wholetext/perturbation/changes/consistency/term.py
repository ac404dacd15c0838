"""A term is translated in two ways."""

from __future__ import annotations

import random
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, like
from wholetext.taggers.analysis import Analysis, Layer, Token

# Nouns that mean the same thing in nearly every text; plurals after the bar.
_SYNONYMS = {one: two for pair in (
    "company|companies firm|firms", "firm|firms company|companies", "doctor|doctors physician|physicians",
    "physician|physicians doctor|doctors", "lawyer|lawyers attorney|attorneys", "attorney|attorneys lawyer|lawyers",
    "film|films movie|movies", "movie|movies film|films", "country|countries nation|nations",
    "nation|nations country|countries", "car|cars automobile|automobiles", "plane|planes aircraft|aircraft",
    "airplane|airplanes aircraft|aircraft", "aircraft|aircraft airplane|airplanes", "ship|ships vessel|vessels",
    "journalist|journalists reporter|reporters", "reporter|reporters journalist|journalists",
    "scientist|scientists researcher|researchers", "researcher|researchers scientist|scientists",
    "customer|customers client|clients", "prison|prisons jail|jails",
    "jail|jails prison|prisons", "earthquake|earthquakes quake|quakes", "medicine|medicines medication|medications",
    "medication|medications medicine|medicines", "employee|employees worker|workers",
    "resident|residents inhabitant|inhabitants", "inhabitant|inhabitants resident|residents", "shop|shops store|stores",
    "store|stores shop|shops", "apartment|apartments flat|flats", "illness|illnesses disease|diseases",
    "disease|diseases illness|illnesses", "attack|attacks assault|assaults", "baby|babies infant|infants",
    "infant|infants baby|babies", "agreement|agreements accord|accords", "treaty|treaties pact|pacts",
    "expert|experts specialist|specialists", "author|authors writer|writers", "writer|writers author|authors",
    "photo|photos photograph|photographs", "photograph|photographs photo|photos", "engine|engines motor|motors",
    "bicycle|bicycles bike|bikes", "bike|bikes bicycle|bicycles", "victory|victories win|wins",
    "method|methods technique|techniques", "outcome|outcomes result|results", "award|awards prize|prizes",
    "prize|prizes award|awards", "mistake|mistakes error|errors", "error|errors mistake|mistakes",
    "pupil|pupils student|students", "spectator|spectators onlooker|onlookers", "salary|salaries wage|wages",
    "murder|murders killing|killings", "epidemic|epidemics outbreak|outbreaks", "vacation|vacations holiday|holidays",
    "violin|violins fiddle|fiddles", "letter|letters message|messages", "painting|paintings picture|pictures",
    "boat|boats vessel|vessels", "ferry|ferries boat|boats", "newspaper|newspapers paper|papers",
    "corporation|corporations company|companies", "enterprise|enterprises company|companies",
    "automobile|automobiles car|cars", "teacher|teachers instructor|instructors",
    "migrant|migrants immigrant|immigrants",
) for one, two in zip(pair.split()[0].split("|"), pair.split()[1].split("|"))}
_VOWELS = tuple("aeiou")


class Term(Change):
    """A noun of a list of synonyms, from the second mention on, is called by the other name.

    Sure only for a noun by itself: not beside another noun, a name or a hyphen, where it may be part of a fixed
    expression, and not where the article would change.
    """

    name = "term"
    summary = "a term is called by another name after the first mention"
    languages: ClassVar[frozenset[str] | None] = frozenset({"en"})
    layers: ClassVar[frozenset[Layer]] = frozenset({"tag", "lemma", "entity"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        words = {token.text.lower() for analysis in text.analyses for token in analysis.tokens}
        found: dict[str, list[tuple[int, int]]] = {}  # lemma → places
        for segment, analysis in enumerate(text.analyses):
            for at, token in enumerate(analysis.tokens):
                if token.text.lower() in _SYNONYMS and token.tag in ("NN", "NNS"):
                    found.setdefault(token.lemma.lower(), []).append((segment, at))
        sites: list[Site] = []
        for lemma in sorted(found, key=lambda lemma: -len(found[lemma])):
            other = _SYNONYMS.get(lemma, "")
            segment, at = found[lemma][0]
            first = text.analyses[segment].tokens[at]
            if not other or other in words or _SYNONYMS[first.text.lower()] in words:
                continue
            sites = [(Replacement(segment, token.start, token.end, like(_SYNONYMS[token.text.lower()], token.text)),)
                     for segment, at in found[lemma][1:]
                     if _alone(text.analyses[segment], at) and (token := text.analyses[segment].tokens[at])]
            if sites:
                return sites
        raise Refused("no noun of the list of synonyms is used twice" if not any(len(x) > 1 for x in found.values())
                      else "every later use of a noun is part of an expression, or its synonym is used too")


def _alone(analysis: Analysis, at: int) -> bool:
    token, tokens = analysis.tokens[at], analysis.tokens
    if any(one.start <= token.start < one.end for one in analysis.entities):
        return False
    before = tokens[at - 1] if at else None
    if before is not None and before.tag == "TO":  # a verb
        return False
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if any(one is not None and _joined(one) for one in (before, after)):
        return False
    new = _SYNONYMS[token.text.lower()]
    article = before is not None and before.text.lower() in ("a", "an")
    return not article or new.startswith(_VOWELS) == token.text.lower().startswith(_VOWELS)


def _joined(token: Token) -> bool:
    return token.tag in ("NN", "NNS", "NNP", "NNPS", "HYPH", "POS") or token.text in ("-", "’s", "'s", "of")
