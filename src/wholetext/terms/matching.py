"""Occurrences of terms in texts, and how many requirements disjoint spans can meet at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wholetext.text.taggers.analysis import Analysis, Token

SHORT = 3  # letters: keys up to this length must be written exactly as in the glossary


class TermOccurrence(NamedTuple):
    """A term in a text: its number, its tokens, its characters, and the form that was used."""

    term: int
    first: int  # tokens of the text, counted through all segments
    last: int  # exclusive
    start: int  # characters of the text, its segments joined
    end: int
    segment: int
    form: tuple[str, ...]  # lemmas


class Matcher:
    """Finds terms on token boundaries, by form in any case or by lemma.

    Terms of at most three letters and abbreviations match exactly as they are written.
    """

    def __init__(self, analysed: Sequence[Sequence[Analysis]]) -> None:
        """Index the renditions of each term."""
        self._patterns: dict[str, list[tuple[int, tuple[frozenset[str], ...]]]] = {}
        for term, renditions in enumerate(analysed):
            for analysis in renditions:
                exact = _exact("".join(token.text for token in analysis.tokens))
                keys = tuple(
                    frozenset({"=" + token.text}) if exact else _keys(token)
                    for token in analysis.tokens
                )
                for key in keys[0] if keys else ():
                    self._patterns.setdefault(key, []).append((term, keys))

    def find(self, segments: Sequence[Analysis], offsets: Sequence[int]) -> list[TermOccurrence]:
        """List all occurrences, overlapping ones too, in the order of the text."""
        occurrences: dict[tuple[int, int, int], TermOccurrence] = {}
        before = 0
        for number, (analysis, offset) in enumerate(zip(segments, offsets)):
            tokens = analysis.tokens
            keys = [_keys(token) | {"=" + token.text} for token in tokens]
            for term, first, last in self._spans(keys):
                place = (term, before + first, before + last)
                start, end = offset + tokens[first].start, offset + tokens[last - 1].end
                form = tuple(token.lemma.casefold() for token in tokens[first:last])
                occurrences[place] = TermOccurrence(*place, start, end, number, form)
            before += len(tokens)
        return sorted(occurrences.values(), key=lambda each: each[1:3])

    def _spans(self, keys: Sequence[frozenset[str]]) -> Iterator[tuple[int, int, int]]:
        for first, here in enumerate(keys):
            for key in here & self._patterns.keys():
                for term, pattern in self._patterns[key]:
                    last = first + len(pattern)
                    if last <= len(keys) and all(a & b for a, b in zip(pattern, keys[first:last])):
                        yield term, first, last


def longest(occurrences: Sequence[TermOccurrence]) -> list[TermOccurrence]:
    """Keep disjoint occurrences, from the left, the longest first: a term inside another is not one."""
    kept: list[TermOccurrence] = []
    for each in sorted(occurrences, key=lambda each: (each.first, -each.last, each.term)):
        if not kept or each.first >= kept[-1].last:
            kept.append(each)
    return kept


def exclusive(
    occurrences: Sequence[TermOccurrence], required: Mapping[int, int]
) -> list[TermOccurrence]:
    """Choose as many disjoint occurrences as possible, of each term at most as many as required.

    Maximal, not greedy: nested and straddling renditions compete for text. Where none overlap
    the first ones are taken; else an integer programme decides (scipy's HiGHS).
    """
    candidates = [each for each in occurrences if required.get(each.term)]
    if all(a.last <= b.first for a, b in pairwise(candidates)):
        left = Counter(dict(required))
        chosen = []
        for each in candidates:
            if left[each.term]:
                left[each.term] -= 1
                chosen.append(each)
        return chosen
    from scipy.optimize import Bounds, LinearConstraint, milp

    places = sorted({each.first for each in candidates})  # a clique of intervals shares a beginning
    terms = sorted({each.term for each in candidates})
    rows = [[float(each.first <= at < each.last) for each in candidates] for at in places]
    rows += [[float(each.term == term) for each in candidates] for term in terms]
    most = [1.0] * len(places) + [float(required[term]) for term in terms]
    lengths = np.array([each.last - each.first for each in candidates])
    solved = milp(
        -(1 + lengths / (lengths.sum() + 1)),  # most spans; of equally many the longer ones
        constraints=LinearConstraint(np.array(rows), -np.inf, np.array(most)),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(candidates)),
        options={"mip_rel_gap": 0},
    )
    return [each for each, used in zip(candidates, solved.x) if used > 0.5]


def overlapping(occurrences: Sequence[TermOccurrence], required: Mapping[int, int]) -> int:
    """How many requirements are met if spans may overlap: an upper bound of ``exclusive``."""
    counts = Counter(each.term for each in occurrences)
    return sum(min(number, counts[term]) for term, number in required.items())


def _keys(token: Token) -> frozenset[str]:
    return frozenset({token.text.casefold(), token.lemma.casefold()})


def _exact(text: str) -> bool:
    return sum(map(str.isalpha, text)) <= SHORT or text.isupper()
