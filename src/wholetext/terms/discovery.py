"""Terms without a glossary: repeated names and word groups, and the words that go along with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from wholetext.text import code_of
from wholetext.text.identify import function_words
from wholetext.text.taggers.analysis import Analysis, Token

LONGEST = 3  # words of a term


def repeated_terms(segments: Sequence[Analysis], lang: str) -> dict[tuple[str, ...], set[int]]:
    """Find terms of two or more segments, with the segments: names, and groups of content words.

    A single word is a term where it is written with a capital (inside a sentence); groups are two
    or three words without function words. Of terms with the same segments the longest is kept.
    """
    places: dict[tuple[str, ...], set[int]] = {}
    for number, analysis in enumerate(segments):
        opening = {start for start, _ in analysis.sentences}
        for group in _groups(analysis.tokens, lang):
            name = group[0].text[:1].isupper() and group[0].start not in opening
            if len(group) > 1 or name:
                lemmas = tuple(token.lemma.casefold() for token in group)
                places.setdefault(lemmas, set()).add(number)
    repeated = {term: where for term, where in places.items() if len(where) > 1}
    return {
        term: where
        for term, where in repeated.items()
        if not any(
            len(other) > len(term) and same == where and set(term) < set(other)
            for other, same in repeated.items()
        )
    }


def renditions(
    terms: Sequence[set[int]], segments: Sequence[Analysis], lang: str
) -> Iterator[tuple[str, int]]:
    """Yield the likeliest rendition of each term, and in how many of its segments it occurs.

    The group of words whose segments overlap best with those of the term: Dice's coefficient,
    at equal values the longer group, then the first.
    """
    groups = [
        dict.fromkeys(tuple(token.lemma.casefold() for token in group) for group in listed)
        for listed in (_groups(analysis.tokens, lang) for analysis in segments)
    ]
    frequency = Counter(chain.from_iterable(groups))
    for where in terms:
        common = Counter(chain.from_iterable(groups[number] for number in sorted(where)))
        best = max(
            common,
            key=lambda group: (common[group] / (len(where) + frequency[group]), len(group)),
            default=(),
        )
        yield " ".join(best), common[best]


def _groups(tokens: Sequence[Token], lang: str) -> Iterator[tuple[Token, ...]]:
    """Consecutive words, up to three, none of which is a function word, a number or a sign."""
    common = function_words(code_of(lang))
    content = [token.text[:1].isalpha() and token.text.casefold() not in common for token in tokens]
    for first in range(len(tokens)):
        for last in range(first + 1, min(first + LONGEST, len(tokens)) + 1):
            if not all(content[first:last]):
                break
            yield tuple(tokens[first:last])
