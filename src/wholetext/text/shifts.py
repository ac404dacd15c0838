"""Edits with shifts of blocks of words, the search behind TER (Snover et al. 2006), for many pairs of texts at once.

As in Tercom, the shift that reduces the edit distance most is made, again and again, until none does. Which shifts are
tried, which of equally good ones is made and when the search gives up decide the score; all are as in sacrebleu.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.text.edits import (
    BEAM,
    Bits,
    BoolArray,
    Pairs,
    Table,
    advance,
    alignment,
    beam,
    ones,
    pairs,
    table,
)
from wholetext.text.overlap import blocks
from wholetext.types import IntArray

MAX_SIZE = 10  # words of a block
MAX_DISTANCE = 50  # words between the places of a block in hypothesis and reference
MAX_TRIED = 1000  # shifts of a pair; then the search gives up
_TOGETHER = 1 << 14  # shifts: their bits stay in the processor's cache
_LARGEST = 1 << 21  # machine words of a table: 16 MB, of which a search holds about ten


@dataclass(frozen=True)
class Shifts:
    """Shifts of ``size`` words of a hypothesis from ``place`` to ``to``: words [cut, stop) go before [start, cut)."""

    pair: IntArray
    size: IntArray
    place: IntArray
    to: IntArray
    start: IntArray
    cut: IntArray
    stop: IntArray

    def of(self, which: IntArray | BoolArray) -> Shifts:
        return Shifts(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


def edits(hyps: Sequence[Sequence[str]], refs: Sequence[tuple[str, ...]]) -> IntArray:
    """(n,) insertions, deletions, substitutions and shifts that turn each hypothesis into its reference."""
    sizes = np.array(
        [(len(hyp), len(ref)) for hyp, ref in zip(hyps, refs)], dtype=np.int64
    ).reshape(-1, 2)
    found = sizes.max(axis=1)  # as it is if one of them is empty
    # a path of d edits strays at most (d + difference of lengths) / 2 from the diagonal, and d is at most the longer
    short = found + np.abs(sizes[:, 0] - sizes[:, 1]) < 2 * BEAM - 3
    machine_words = np.frexp(np.maximum(sizes[:, 1] - 1, 0) // 64)[1]
    kind = np.where(
        short, 0, 1 + (machine_words + 1) // 2
    )  # beyond the short: 1, 2 … 4, 5 … 16 … machine words
    kind[sizes.min(axis=1) == 0] = -1
    for k in np.unique(kind[kind >= 0]):
        at = np.flatnonzero(kind == k)
        costs = sizes[at, 0] * (1 + int(sizes[at, 1].max()) // 64)  # machine words of a table
        for part in (at[one] for one in blocks(costs.tolist(), _LARGEST)):
            part = part[np.argsort(-sizes[part, 0], kind="stable")]
            found[part] = _search(
                pairs([hyps[int(i)] for i in part], [refs[int(i)] for i in part]), bool(k)
            )
    return np.asarray(found)


def _search(texts: Pairs, beamed: bool) -> IntArray:
    """(pairs,) edits; without the beam where it holds all paths."""
    found, tried = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
    at = np.arange(len(texts))  # pairs still searched
    while True:
        within = beam(texts) if beamed else None
        rows = table(texts, within)
        shifts, count = _candidates(texts, rows)
        tried[at] += count
        shifts = shifts.of((tried[at] < MAX_TRIED)[shifts.pair])
        gain = rows.distance[shifts.pair] - _distances(texts, rows, within, shifts)
        shifts = _best(shifts, gain)
        last = np.ones(len(texts), dtype=bool)
        last[shifts.pair] = False
        found[at[last]] += rows.distance[last]
        if not len(shifts.pair):
            return found
        at = at[shifts.pair]
        found[at] += 1
        texts = _shifted(texts, shifts)


def _matches(place: IntArray, match: Bits) -> tuple[IntArray, IntArray]:
    """Equal words that are near enough: the number of the word of the hypothesis, the place in the reference."""
    slot, word = np.nonzero(match)
    bits = match[slot, word]
    found = []
    while len(bits):  # the first bit of each that has one
        first = bits & -bits
        ref = np.frexp(first.astype(np.float64))[1] - 1 + 64 * slot
        near = np.abs(place[word] - ref) <= MAX_DISTANCE
        found.append((word[near], ref[near]))
        bits = bits ^ first
        more = bits > 0
        bits, slot, word = bits[more], slot[more], word[more]
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate([word for word, _ in found]), np.concatenate([ref for _, ref in found])


def _candidates(texts: Pairs, rows: Table) -> tuple[Shifts, IntArray]:
    """Shifts that change something, and how many each pair has with those that do not.

    A block that hypothesis and reference share is shifted if a word of it is wrong in the hypothesis and one in the
    reference, unless it is there already. It goes before the word that its first word is aligned with, or after the
    one that any of its words is.
    """
    places, ref_wrong, aligned = alignment(texts, rows)
    hyp_wrong = np.bitwise_or.reduce(aligned, axis=0) == 0
    owner, at = texts.owners()
    word, j = _matches(
        at, texts.match ^ aligned
    )  # a block that begins with an aligned word is there already
    pair, place = owner[word], at[word]
    ref = (np.cumsum(texts.ref_lengths + 1) - texts.ref_lengths)[pair] + j
    there, room = (
        places[ref],
        np.minimum(texts.hyp_lengths[pair] - place, texts.ref_lengths[pair] - j),
    )
    wrong = np.zeros((2, len(word)), dtype=bool)
    found = []
    for size in range(1, MAX_SIZE + 1):
        wrong[0] |= hyp_wrong[texts.firsts[place + size - 1] + pair]
        wrong[1] |= ref_wrong[ref + size - 1]
        block = np.flatnonzero(wrong[0] & wrong[1] & ((there < place) | (there >= place + size)))
        to = places[ref[block, None] + np.arange(-1, size)] + 1  # (blocks, size + 1)
        new = np.ones(to.shape, dtype=bool)
        np.not_equal(to[:, 1:], to[:, :-1], out=new[:, 1:])
        block = np.repeat(block, new.sum(axis=1))
        found.append((pair[block], np.full(len(block), size), place[block], to[new]))
        on = np.flatnonzero(room > size)
        bits = texts.match[(j[on] + size) >> 6, texts.firsts[place[on] + size] + pair[on]]
        on = on[(bits >> ((j[on] + size) & 63).astype(np.uint64)) & np.uint64(1) > 0]
        pair, place, j, ref, there, room, wrong = (
            x[..., on] for x in (pair, place, j, ref, there, room, wrong)
        )
    columns = [np.concatenate(column) for column in zip(*found)]
    return _moves(texts, *columns), np.bincount(columns[0], minlength=len(texts))


def _moves(texts: Pairs, pair: IntArray, size: IntArray, place: IntArray, to: IntArray) -> Shifts:
    before, end = to < place, place + size
    start, cut = np.where(before, to, place), np.where(before, place, end)
    within = np.minimum(
        to + size, texts.hyp_lengths[pair]
    )  # to one of its own words: as much further
    stop = np.where(before, end, np.where(to > end, to, within))
    return Shifts(pair, size, place, to, start, cut, stop).of(cut < stop)


def _distances(
    texts: Pairs, rows: Table, within: tuple[Bits, Bits] | None, shifts: Shifts
) -> IntArray:
    """(shifts,) edit distances after each of them."""
    longest = len(texts.counts) + 1
    key = ((shifts.pair * longest + shifts.start) * longest + shifts.cut) * longest + shifts.stop
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    different = shifts.of(first)
    order = np.argsort(different.start - texts.hyp_lengths[different.pair], kind="stable")
    found = np.empty(len(first), dtype=np.int64)
    step = max(_TOGETHER // len(texts.match), 1)
    match, near = texts.by_pair(texts.match), None if within is None else texts.by_pair(within[0])
    for part in (order[n : n + step] for n in range(0, len(order), step)):
        found[part] = _rest(texts, rows, match, near, different.of(part))
    return found[number]


def _rest(texts: Pairs, rows: Table, match: Bits, near: Bits | None, shifts: Shifts) -> IntArray:
    """Distances by the rows from the first word that moves, of shifts sorted by how many those are.

    ``match`` and ``near`` (the beam) are laid out by pair.
    """
    pair, start = shifts.pair, shifts.start
    left, begin = texts.hyp_lengths[pair] - start, texts.starts[pair] + start
    up, down = (bits.take(texts.firsts[start] + pair, axis=1) for bits in (rows.up, rows.down))
    # the words that follow each other: from the cut to the stop, then from the start, then from the stop
    jump = np.concatenate([shifts.stop - shifts.cut, shifts.stop - start])  # in rows
    order = np.argsort(jump, kind="stable")
    who, goal = order % len(pair), np.concatenate([begin, begin + shifts.stop - start])[order]
    ends = np.searchsorted(jump[order], np.arange(int(left.max(initial=0)) + 1))
    word = begin + shifts.cut - start
    for t, n in enumerate(np.searchsorted(-left, -np.arange(len(ends) - 1))):
        word[who[ends[t] : ends[t + 1]]] = goal[ends[t] : ends[t + 1]]
        equal = match.take(word[:n], axis=1)
        if near is not None:
            equal &= near.take(begin[:n] + t, axis=1)
        advance(equal, up[:, :n], down[:, :n])
        word[:n] += 1
    refs = texts.ref_lengths[pair]
    return texts.hyp_lengths[pair] + ones(up, refs) - ones(down, refs)


def _best(shifts: Shifts, gain: IntArray) -> Shifts:
    """The best shift of each pair that has a good one: the most gained, then the longest, first, to the first place."""
    shifts, gain = shifts.of(gain > 0), gain[gain > 0]
    order = np.lexsort((-shifts.to, -shifts.place, shifts.size, gain, shifts.pair))
    pair = shifts.pair[order]
    return shifts.of(order[np.flatnonzero(np.append(pair[1:] != pair[:-1], True)[: len(pair)])])


def _shifted(texts: Pairs, shifts: Shifts) -> Pairs:
    """The pairs that have a shift, after it."""
    empty = Pairs(
        texts.hyp_lengths[shifts.pair], texts.ref_lengths[shifts.pair], texts.match[:, :0]
    )
    pair, row = empty.owners()
    start, cut, stop = shifts.start[pair], shifts.cut[pair], shifts.stop[pair]
    moved = np.where(row + cut - start < stop, row + cut - start, row - (stop - cut))
    word = np.where((row < start) | (row >= stop), row, moved)
    match = texts.match.take(texts.firsts[word] + shifts.pair[pair], axis=1)
    return Pairs(empty.hyp_lengths, empty.ref_lengths, match)
