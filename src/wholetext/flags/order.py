"""Whether an output stands in the order of its reference or source: reversed, shifted by some lines, or other texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from wholetext.alignment.alignment import words
from wholetext.errors import count
from wholetext.types import FloatArray, IntArray

FEWEST = 12  # segments, below which nothing is said
WINDOW = 40  # segments looked at together
SHIFTS = tuple(shift for size in range(1, 6) for shift in (size, -size))
PAIRS = 60  # pairs of segments whose words are compared
CLEARER, CLEAR = 0.25, 0.5  # how much better, and how well, lengths must correlate before words are compared
LOOSE = 0.4  # correlation of lengths below which words are compared in any case
CHANCE = 1.5  # times what any two segments share: below that, segments do not belong together
LONGER = 4.0  # added to lengths in characters


def order_note(hyp: Sequence[str], guide: Sequence[str], places: Sequence[str]) -> str:
    """What is wrong with the order of an output beside its guide, or ""; ``{against}`` stands for the guide's name.

    Correlations of lengths pick the places to look at, words that segments share (names, numbers, cognates) decide.
    """
    size = len(hyp)
    if size < FEWEST:
        return ""
    lengths = [np.log(np.fromiter(map(len, side), dtype=np.float64, count=size) + LONGER) for side in (hyp, guide)]
    compare = _Words(hyp, guide)
    here = np.arange(size)
    straight = _correlation(*lengths)
    if _better(lengths, here, here[::-1], straight) and compare.belongs(here, here[::-1]):
        return "the segments look reversed: the last goes with the first of {against}"
    shifted = _shifted(lengths, compare)
    if shifted is not None:
        start, length, shift = shifted
        many = count(abs(shift), "segment")
        return (f"{length} segments look shifted, from about {places[start]} on: they go with {{against}} "
                f"{many} {'further on' if shift > 0 else 'before'}; is a line missing or too many?")
    if straight < LOOSE and size >= WINDOW and not compare.related(here, here):
        return "the segments do not look like translations of these: neither lengths nor words go with {against}"
    return ""


def _shifted(lengths: Sequence[FloatArray], compare: _Words) -> tuple[int, int, int] | None:
    """(first segment, number of segments, shift) of the longest stretch of an output that goes with other lines."""
    size = len(lengths[0])
    stretches: Counter[int] = Counter()
    starts: dict[int, int] = {}
    for begin in range(0, max(1, size - WINDOW // 2), WINDOW):
        here = np.arange(begin, min(begin + WINDOW, size))
        own = _correlation(lengths[0][here], lengths[1][here])
        for shift in SHIFTS:
            kept = here[(here + shift >= 0) & (here + shift < size)]
            there = kept + shift
            if len(kept) >= FEWEST / 2 and _better(lengths, kept, there, own) and compare.belongs(kept, there):
                stretches[shift] += len(here)
                starts.setdefault(shift, begin)
                break
    if not stretches:
        return None
    shift, count = stretches.most_common(1)[0]
    return (starts[shift], count, shift) if count >= min(size, WINDOW) / 2 else None


def _better(lengths: Sequence[FloatArray], here: IntArray, there: IntArray, own: float) -> bool:
    return own + CLEARER < 1 and _correlation(lengths[0][here], lengths[1][there]) > max(own + CLEARER, CLEAR)


def _correlation(first: FloatArray, second: FloatArray) -> float:
    """Pearson's; 0 where one side does not vary."""
    a, b = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else 0.0


class _Words:
    """Shares of rare words that segments of an output have in common with segments of its guide."""

    def __init__(self, hyp: Sequence[str], guide: Sequence[str]) -> None:
        self.sides = (hyp, guide)
        self.bags: tuple[dict[int, frozenset[str]], dict[int, frozenset[str]]] = ({}, {})
        self.rarity: dict[str, float] = {}

    def belongs(self, here: IntArray, there: IntArray) -> bool:
        """Whether segments ``here`` go better with segments ``there`` of the guide than with their own."""
        own, other, chance = self._shared(here, here), self._shared(here, there), self._chance(here)
        return other > 2 * own and other > CHANCE * chance

    def related(self, here: IntArray, there: IntArray) -> bool:
        """Whether segments share more words than any two do."""
        return self._shared(here, there) > CHANCE * self._chance(here)

    def _chance(self, here: IntArray) -> float:
        size = len(self.sides[1])
        return self._shared(here, (here + size // 2 + 7) % size)

    def _shared(self, here: IntArray, there: IntArray) -> float:
        step = max(1, len(here) // PAIRS)
        values = [self._pair(int(i), int(j)) for i, j in zip(here[::step], there[::step])]
        return float(np.mean(values)) + 1e-3

    def _pair(self, i: int, j: int) -> float:
        """Of the rare words of both segments, the share that both have."""
        mine, other = self._bag(0, i), self._bag(1, j)
        weight = self._weights()
        both = sum(weight.get(word, 5.0) for word in mine & other)
        return both / max(1e-9, sum(weight.get(word, 5.0) for word in mine | other))

    def _bag(self, side: int, at: int) -> frozenset[str]:
        bags = self.bags[side]
        if at not in bags:
            bags[at] = frozenset(words(self.sides[side][at]))
        return bags[at]

    def _weights(self) -> dict[str, float]:
        """Inverse document frequency of words in a sample of the guide."""
        if not self.rarity:
            size = len(self.sides[1])
            sample = range(0, size, max(1, size // 200))
            counts = Counter(word for at in sample for word in self._bag(1, at))
            self.rarity = {word: float(np.log(len(sample) / many)) for word, many in counts.items()}
        return self.rarity
