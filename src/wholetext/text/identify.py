"""Language identification by function words, or by character trigrams of known text.

Function words suffice to notice a wrong or swapped pair; trigrams need no lists, and so work for
every language.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from wholetext.text.scripts import BLOCK, code_points, is_letter
from wholetext.types import FloatArray, IntArray

_WORD = re.compile(
    r"[^\W\d_]+(?:[\u0900-\u0903\u093a-\u094f]+[^\W\d_]*)*"
)  # Devanagari vowel signs belong to words
_ASCII_WORD = re.compile(r"[a-z]+")  # the same in ASCII text of lower case, four times as fast
_LIKE = {"no": "nb", "nn": "nb", "bs": "hr"}  # close enough to be judged by another list
_LISTS = json.loads(files("wholetext.text").joinpath("function_words.json").read_text("utf-8"))
_WORDS: dict[str, frozenset[str]] = {
    lang: frozenset(words.split()) for lang, words in _LISTS.items()
}
_ALL = frozenset[str]().union(*_WORDS.values())
_OWNERS = {word: [lang for lang, words in _WORDS.items() if word in words] for word in _ALL}

ENOUGH = 0.12  # the share of words that running text of a language has on its list, at the least
PLAIN, KINDS = 0.25, 4  # share and number of different function words of a short text
DISTINCT, TIMES = (
    0.04,
    3.0,
)  # the share of those that the other language lacks, and how many times its own


def listed(lang: str) -> str:
    """Return the name of a language's word list, or ""."""
    return lang if lang in _WORDS else _LIKE.get(lang, "")


def other_language(texts: Iterable[str], lang: str, least: int) -> str:
    """Name the language of texts of ``least`` words if it is clearly not ``lang``; else "".

    Related languages share words, so the two are compared by the words that only one of them has.
    """
    text = " ".join(texts).lower()
    counts = Counter((_ASCII_WORD if text.isascii() else _WORD).findall(text))
    if counts.total() < least:
        return ""
    found: dict[str, int] = {}
    own = listed(lang)
    for word in counts.keys() & _OWNERS.keys():
        many = counts[word]
        for each in _OWNERS[word]:
            found[each] = found.get(each, 0) + many
    if not found:
        return ""
    best, most = max(found.items(), key=itemgetter(1))
    if best == own or most < ENOUGH * counts.total():
        return ""
    mine, other = _WORDS.get(own, frozenset()), _WORDS[best]
    here, there = (sum(counts[word] for word in words) for words in (other - mine, mine - other))
    return best if here >= DISTINCT * counts.total() + TIMES * there else ""


def plainly_in(text: str, lang: str, least: int) -> bool:
    """Tell whether a short text is running text of a language: many of its function words.

    Words are separated by blanks, so that names-with-hyphens, addresses and tags are one word;
    single letters say nothing.
    """
    words = [word.strip(".,;:!?…()[]\"'“”„«»‘’") for word in text.lower().split()]
    known = [word for word in words if len(word) > 1 and word in _WORDS.get(listed(lang), ())]
    return len(words) >= least and len(known) >= PLAIN * len(words) and len(set(known)) >= KINDS


_BITS = 16
_UNSEEN = 0.05  # what a trigram that never occurred counts
_MOST = 20_000  # texts to learn from; more would not change the profile


class Profile:
    """Log-probabilities of character trigrams (after Cavnar & Trenkle 1994)."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = np.zeros(1 << _BITS)
        if len(texts) > _MOST:
            texts = [
                texts[i] for i in np.random.default_rng(0).choice(len(texts), _MOST, replace=False)
            ]
        for trigrams, _ in _trigrams(texts):
            counts += np.bincount(trigrams, minlength=1 << _BITS)
        self.types = int(np.count_nonzero(counts))  # different trigrams it knows
        self.logp: FloatArray = np.log((counts + _UNSEEN) / (counts + _UNSEEN).sum())


def likelihoods(texts: Sequence[str], profiles: Sequence[Profile]) -> tuple[IntArray, FloatArray]:
    """(texts,) trigrams of each text, and (profiles, texts) sums of their log-probabilities."""
    counts: list[IntArray] = []
    sums: list[FloatArray] = []
    for trigrams, owner in _trigrams(texts):
        size = min(BLOCK, len(texts) - BLOCK * len(counts))
        counts.append(np.bincount(owner, minlength=size))
        sums.append(
            np.stack(
                [np.bincount(owner, profile.logp[trigrams], minlength=size) for profile in profiles]
            )
        )
    if not counts:
        return np.zeros(0, dtype=np.int64), np.zeros((len(profiles), 0))
    return np.concatenate(counts), np.concatenate(sums, axis=1)


def _trigrams(texts: Sequence[str]) -> Iterator[tuple[NDArray[np.uint32], IntArray]]:
    """Yield blocks of (hashed trigrams, index of their text in the block).

    Whatever is no letter counts as a blank, and a trigram needs two letters: figures and marks are
    of no language.
    """
    for begin in range(0, len(texts), BLOCK):
        block = [f" {text} ".lower() for text in texts[begin : begin + BLOCK]]
        for codes, sizes in code_points(block):
            letter = is_letter(codes)
            codes = np.where(letter, codes, np.uint32(32))
            owner = np.repeat(np.arange(len(sizes)), sizes)
            kept = (owner[:-2] == owner[2:]) & (
                letter[:-2].astype(np.int8) + letter[1:-1] + letter[2:] >= 2
            )
            mixed = (codes[:-2] * np.uint32(0x9E3779B1)) ^ (codes[1:-1] * np.uint32(0x85EBCA77))
            mixed = (mixed ^ (codes[2:] * np.uint32(0xC2B2AE3D))) * np.uint32(
                0x9E3779B1
            )  # wraps around, as hashes do
            yield (mixed >> np.uint32(32 - _BITS))[kept], owner[:-2][kept]
