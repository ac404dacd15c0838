"""Language identification by function words: notices another language, or a swapped pair."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files

# Devanagari vowel signs belong to words
_WORD = re.compile(r"[^\W\d_]+(?:[\u0900-\u0903\u093a-\u094f]+[^\W\d_]*)*")
_LIKE = {"no": "nb", "nn": "nb", "bs": "hr"}  # close enough to be judged by another list
_LISTS = json.loads(files("wholetext.text").joinpath("function_words.json").read_text("utf-8"))
_WORDS: dict[str, frozenset[str]] = {
    lang: frozenset(words.split()) for lang, words in _LISTS.items()
}

ENOUGH = 0.12  # the share of words that running text of a language has on its list, at the least
KINDS = 2  # different words that the other language lacks
# the share of those words, and how many times those of the other language alone
DISTINCT, TIMES = 0.04, 3.0


def function_words(lang: str) -> frozenset[str]:
    """List the function words of a language; none where there is no list."""
    return _WORDS.get(_LIKE.get(lang, lang), frozenset())


def other_language(texts: Iterable[str], lang: str, least: int) -> str:
    """Name the language of texts of ``least`` words if it is clearly not ``lang``; else "".

    Languages without a list of function words are not judged. Related languages share words, so
    the two are compared by the words that only one of them has.
    """
    own = _LIKE.get(lang, lang)
    if own not in _WORDS:
        return ""
    text = " ".join(texts).lower()
    counts = Counter(_WORD.findall(text))
    if counts.total() < least:
        return ""
    most, best = max(
        (sum(counts[word] for word in words & counts.keys()), language)
        for language, words in _WORDS.items()
    )
    if best == own or most < ENOUGH * counts.total():
        return ""
    own_words, words = _WORDS[own], _WORDS[best]
    theirs = [counts[word] for word in (words - own_words) & counts.keys()]
    ours = sum(counts[word] for word in own_words - words)
    clear = sum(theirs) >= DISTINCT * counts.total() + TIMES * ours
    return best if clear and len(theirs) >= KINDS else ""
