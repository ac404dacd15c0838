"""Edit distances and alignments of many pairs of texts at once, with 64 words of a reference in a machine word.

A row of the edit matrix is kept as the signs of its steps, one bit for each word of the reference (Myers 1999, Hyyrö
2003), so that a row of all pairs costs a few operations on arrays. As in Tercom and sacrebleu, only a beam of cells
around the diagonal is used. Outside of it no words count as equal: a path that leaves the beam then pays for every step
and is never shorter than one within, so the cells of the beam have the values they have without the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from wholetext.text.overlap import find, words
from wholetext.types import IntArray

Bits = npt.NDArray[
    np.uint64
]  # (k, n): k machine words, the first bit of the first one is the first word of a text
BoolArray = npt.NDArray[np.bool_]
BEAM = 25  # half the width of the beam
_ONE, _LAST, _FULL = np.uint64(1), np.uint64(63), np.uint64(2**64 - 1)
_FIRST = np.array([2**n - 1 for n in range(65)], dtype=np.uint64)  # the first n bits


@dataclass(frozen=True)
class Pairs:
    """Hypotheses, longest first, and references; none is empty.

    What belongs to the words of hypotheses is laid out by place: all first words, then all second words and so on.
    """

    hyp_lengths: IntArray  # (pairs,) descending
    ref_lengths: IntArray  # (pairs,)
    match: Bits  # (k, words of hypotheses) positions of each word in the reference
    counts: IntArray = field(init=False)  # (longest,) pairs that have a word at each place
    firsts: IntArray = field(init=False)  # (longest,) where the words of each place begin
    starts: IntArray = field(
        init=False
    )  # (pairs,) where the words of each pair begin, laid out by pair

    def __post_init__(self) -> None:
        counts, firsts = _layout(self.hyp_lengths)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "firsts", firsts)
        object.__setattr__(self, "starts", np.cumsum(self.hyp_lengths) - self.hyp_lengths)

    def __len__(self) -> int:
        return len(self.hyp_lengths)

    def row(self, place: int) -> slice:
        """The words at a place."""
        return slice(int(self.firsts[place]), int(self.firsts[place] + self.counts[place]))

    def by_pair(self, bits: Bits) -> Bits:
        """(k, words) laid out by pair: all words of the first, then all of the second and so on."""
        pair = np.repeat(np.arange(len(self)), self.hyp_lengths)
        return np.asarray(
            bits.take(self.firsts[np.arange(len(pair)) - self.starts[pair]] + pair, axis=1)
        )

    def owners(self) -> tuple[IntArray, IntArray]:
        """(words,) the pair and the place of each."""
        place = np.repeat(np.arange(len(self.counts)), self.counts)
        return np.arange(len(place)) - self.firsts[place], place


def pairs(hyps: Sequence[Sequence[str]], refs: Sequence[tuple[str, ...]]) -> Pairs:
    """Pairs from texts, the longest hypothesis first."""
    k = (max(map(len, refs)) + 63) // 64
    numbers: dict[tuple[str, ...], int] = {}  # of the distinct references
    which = np.array([numbers.setdefault(ref, len(numbers)) for ref in refs], dtype=np.int64)
    ids, lengths = words([*hyps, *numbers])
    hyp_lengths, ref_lengths = lengths[: len(hyps)], lengths[len(hyps) :]
    owner = np.concatenate(
        [np.repeat(which, hyp_lengths), np.repeat(np.arange(len(numbers)), ref_lengths)]
    )
    keys = owner * (int(ids.max(initial=0)) + 1) + ids  # of a word in a reference
    end = int(hyp_lengths.sum())
    known, number = np.unique(keys[end:], return_inverse=True)
    place = np.arange(len(number)) - np.repeat(np.cumsum(ref_lengths) - ref_lengths, ref_lengths)
    masks = np.zeros(
        (k, len(known) + 1), dtype=np.uint64
    )  # the last for words that the reference does not have
    np.bitwise_or.at(masks, (place >> 6, number), _ONE << (place & 63).astype(np.uint64))
    at = find(known, keys[:end])
    ref_lengths = ref_lengths[which]
    firsts = _layout(hyp_lengths)[1]
    pair = np.repeat(np.arange(len(hyps)), hyp_lengths)
    place = np.arange(len(pair)) - (np.cumsum(hyp_lengths) - hyp_lengths)[pair]
    flat = np.empty(len(pair), dtype=np.int64)
    flat[firsts[place] + pair] = at
    return Pairs(hyp_lengths, ref_lengths, masks.take(flat, axis=1, mode="wrap"))


def _layout(lengths: IntArray) -> tuple[IntArray, IntArray]:
    """(longest,) how many texts have a word at each place, and where the words of that place begin."""
    counts = np.searchsorted(-lengths, -np.arange(int(lengths.max(initial=0))))
    return counts, np.cumsum(counts) - counts


def beam(texts: Pairs) -> tuple[Bits, Bits]:
    """(k, words) cells of each row within the beam, with the cell on the upper left, and with that above."""
    pair, place = texts.owners()
    ratio = (texts.ref_lengths / texts.hyp_lengths)[pair]
    half = np.where(ratio / 2 > BEAM, np.ceil(ratio / 2 + BEAM), BEAM)
    ends = texts.ref_lengths[pair] + 1.0

    def limits(row: IntArray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        middle = np.floor(row * ratio)
        return np.where(row, np.maximum(middle - half, 0), 0), np.where(
            row, np.minimum(middle + half, ends), ends
        )

    (low_above, high_above), (low, high) = limits(place), limits(place + 1)
    k = len(texts.match)
    # the cell after j words of the reference has bit j - 1; the first cell of a row has none
    corner = _below(np.minimum(high - 1, high_above), k) & ~_below(
        np.maximum(low - 1, low_above), k
    )
    return corner, _below(np.minimum(high, high_above) - 1, k) & ~_below(low - 1, k)


def _below(stop: IntArray | npt.NDArray[np.float64], k: int) -> Bits:
    """(k, n) the first ``stop`` bits."""
    bits = np.clip(stop - 64 * np.arange(k)[:, None], 0, 64).astype(np.intp)  # (k, n)
    return _FIRST[bits]


def advance(match: Bits, up: Bits, down: Bits) -> tuple[Bits, Bits]:
    """Turn ``up`` and ``down``, where a row rises and falls, into those of the next row, in place.

    Returns where the next row equals the cell on the upper left, and where it exceeds that above. Hyyrö 2003, figure 3,
    with the distance from the empty reference growing by one in each row.
    """
    common = match & up
    same = common + up  # (k, n)
    carried = None
    for i in range(1, len(up)):  # carries between machine words
        over = same[i - 1] < common[i - 1]
        if carried is not None:
            over |= (same[i - 1] == common[i - 1]) & carried
        carried = over
        same[i] += over
    same ^= up
    same |= match
    same |= down
    more = same | up
    np.invert(more, out=more)
    more |= down
    up &= same
    _next(up, up)
    left = _next(more, common)
    left[0] |= _ONE
    np.bitwise_and(left, same, out=down)
    left |= same
    np.invert(left, out=left)
    up |= left
    return same, more


def _next(bits: Bits, out: Bits) -> Bits:
    """Each bit one place further."""
    carried = bits[:-1] >> _LAST if len(bits) > 1 else None
    np.left_shift(bits, _ONE, out=out)
    if carried is not None:
        out[1:] |= carried
    return out


def ones(bits: Bits, stop: IntArray) -> IntArray:
    """(n,) how many of the first ``stop`` bits are set."""
    if hasattr(np, "bitwise_count"):  # from numpy 2.0 on
        return np.asarray(
            np.bitwise_count(bits & _below(stop, len(bits))).sum(axis=0, dtype=np.int64)
        )
    a, b, c, d = (
        np.uint64(x) for x in (2**64 // 3, 2**64 // 5, 2**64 // 17, 2**64 // 255)
    )  # 0101…, 0011…, 00001111…
    rest = bits & _below(stop, len(bits))
    rest = rest - ((rest >> _ONE) & a)
    rest = (rest & b) + ((rest >> np.uint64(2)) & b)
    rest = (rest + (rest >> np.uint64(4))) & c
    return np.asarray(((rest * d) >> np.uint64(56)).sum(axis=0).astype(np.int64))


def _up_to_last(bits: Bits) -> Bits:
    """All bits up to the last that is set."""
    full: Bits = bits.copy()
    for step in (1, 2, 4, 8, 16, 32):
        full |= full >> np.uint64(step)
    for i in range(len(bits) - 1, 0, -1):  # machine words before one that has a bit are full
        full[i - 1] |= np.negative(full[i] & _ONE)
    return full


@dataclass(frozen=True)
class Table:
    """The edit matrices, a row for each word of the hypotheses, and the distances."""

    up: Bits  # (k, words) where the row before the word rises
    down: Bits  # (k, words) and falls
    corner: (
        Bits  # (k, words) cells that the one on the upper left leads to: a match or a substitution
    )
    above: Bits  # (k, words) cells that the one above leads to: a word of the hypothesis alone
    distance: IntArray  # (pairs,)


def table(texts: Pairs, within: tuple[Bits, Bits] | None) -> Table:
    """Fill the matrices of all pairs, row by row; ``within`` is their beam, None if it holds all that matters."""
    match = texts.match if within is None else texts.match & within[0]
    up = np.full((len(match), len(texts)), _FULL)
    down = np.zeros_like(up)
    ups, downs, corners, aboves = (np.empty_like(match) for _ in range(4))
    for place, n in enumerate(texts.counts):
        at = texts.row(place)
        ups[:, at], downs[:, at] = up[:, :n], down[:, :n]
        same, aboves[:, at] = advance(match[:, at], up[:, :n], down[:, :n])
        np.invert(same, out=corners[:, at])
    corners |= match
    if within is not None:
        corners &= within[0]
        aboves &= within[1]
    distance = texts.hyp_lengths + ones(up, texts.ref_lengths) - ones(down, texts.ref_lengths)
    return Table(ups, downs, corners, aboves, distance)


def alignment(texts: Pairs, rows: Table) -> tuple[IntArray, BoolArray, Bits]:
    """Positions of the words of references in hypotheses, which of them are wrong, and (k, words) the matches.

    The first two have a place before each reference. A word only in the reference is placed where the word before
    it does. Of equally short paths, from the end, a match or substitution is preferred to a word of the hypothesis
    alone, and that to one of the reference alone.
    """
    left, matches = _path(texts, rows)
    match = np.bitwise_or.reduce(matches, axis=0) > 0
    pair, place = texts.owners()
    entered = texts.ref_lengths[
        pair
    ]  # (words,) words of the reference before the row of the next word
    entered[place + 1 < texts.hyp_lengths[pair]] = left[len(texts) :]
    starts = np.cumsum(texts.ref_lengths + 1) - texts.ref_lengths - 1  # (pairs,)
    longest = len(texts.counts) + 1
    reached = np.zeros(len(texts) + int(texts.ref_lengths.sum()), dtype=np.int64)
    reached[starts] = np.arange(len(texts)) * longest
    some = left < entered
    reached[(starts[pair] + left + 1)[some]] = (pair * longest + place + 1)[some]
    ref_wrong = np.ones(len(reached), dtype=bool)
    ref_wrong[(starts[pair] + left + 1)[match]] = False
    owner = np.repeat(np.arange(len(texts)), texts.ref_lengths + 1)
    return np.maximum.accumulate(reached) - owner * longest - 1, ref_wrong, matches


def _path(texts: Pairs, rows: Table) -> tuple[IntArray, Bits]:
    """(words of hypotheses,) how many words of the reference come before the row of each; (k, words) its match."""
    before = _below(
        texts.ref_lengths, len(rows.up)
    )  # (k, pairs) words of the reference that are not aligned yet
    lefts, matches = np.empty_like(rows.up), np.empty_like(rows.up)
    stops = rows.corner | rows.above
    for place in range(len(texts.counts) - 1, -1, -1):
        at, n = texts.row(place), int(texts.counts[place])
        full = _up_to_last(stops[:, at] & before[:, :n])  # the rest is in the reference alone
        less = full >> _ONE
        less[:-1] |= full[1:] << _LAST
        less ^= full
        less &= rows.corner[:, at]  # the last cell, if the one on its upper left leads there
        matches[:, at] = less
        full ^= less
        before[:, :n] = lefts[:, at] = full
    matches &= texts.match
    return ones(lefts, np.full(lefts.shape[1], 64 * len(lefts))), matches
