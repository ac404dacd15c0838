"""Formal and informal address change in the middle of a document."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import ClassVar

from wholetext.perturbation.change import Change, Refused, Replacement, Site, Text, like

Found = list[tuple[int, int, str]]  # start, end, new word
_GERMAN = {"Ihnen": "dir", **{f"Ihr{end}": f"dein{end}" for end in ("e", "em", "en", "er", "es")}}
_RUSSIAN = {"вам": "тебе", "вас": "тебя", "вами": "тобой"} | {
    f"ваш{old}": f"тво{new}" for old, new in (
        ("", "й"), ("а", "я"), ("е", "ё"), ("и", "и"), ("его", "его"), ("ей", "ей"), ("ему", "ему"), ("им", "им"),
        ("ем", "ём"), ("у", "ю"), ("их", "их"), ("ими", "ими"))}
_CHINESE = {"您": "你", "你": "您"}


class Address(Change):
    """Segments after the first one that addresses the reader do so in the other form.

    Sure only where nothing has to agree with it: German and Russian pronouns and possessives in segments without the
    subject form (Sie, вы), whose verb would change too; Chinese 您 and 你, where the document has one of them.
    """

    name = "address"
    summary = "formal address becomes informal, or the other way round, after the first mention"
    languages: ClassVar[frozenset[str] | None] = frozenset({"de", "ru", "zh"})

    def sites(self, text: Text, rng: random.Random) -> list[Site]:
        find: Callable[[str], Found] = {"de": _german, "ru": _russian, "zh": _chinese}[text.lang]
        found = [(at, some) for at, segment in enumerate(text.segments) if (some := find(segment))]
        if text.lang == "zh" and len({segment[a:b] for at, some in found for segment in [text.segments[at]]
                                      for a, b, _ in some}) > 1:
            raise Refused("both forms of address")
        if len(found) < 2:
            raise Refused("no form of address, after the first one, that nothing has to agree with")
        return [tuple(Replacement(at, *one) for one in some) for at, some in found[1:]]


def _words(segment: str, table: dict[str, str], fold: bool) -> Found:
    found = []
    for match in re.finditer(r"[^\W\d_]+", segment):
        new = table.get(match[0].lower() if fold else match[0], "")
        if new:
            found.append((*match.span(), like(new, match[0]) if fold else new))
    return found


def _german(segment: str) -> Found:
    """Capital letters tell address from the third person, except at the beginning of a sentence."""
    if re.search(r"\b(?:Sie|Ihr|sich|Euch|euch|ihr)\b", segment) or re.search(r"(?:^|[.!?:“„\"»])\s*Ihr", segment):
        return []
    return _words(segment, _GERMAN, fold=False)


def _russian(segment: str) -> Found:
    return [] if re.search(r"\bвы\b|\b\w+те(?:сь)?\b", segment, re.I) else _words(segment, _RUSSIAN, fold=True)


def _chinese(segment: str) -> Found:
    """你们 has no formal form."""
    return [(match.start(), match.end(), _CHINESE[match[0]]) for match in re.finditer("[您你](?!们)", segment)]
