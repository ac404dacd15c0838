"""TER with sacrebleu's definitions, for many pairs of texts at once.

Edit matrices keep 64 reference words in one machine word: a row is stored as the signs of its
steps, one bit per reference word (Myers 1999, Hyyrö 2003), so that one row of all pairs costs a few
array operations. As in Tercom and sacrebleu, only a beam of cells around the diagonal is used.
Outside the beam no words count as equal: a path that leaves it pays for every step and is never
shorter than one inside, so the cells of the beam have the values they would have without the rest.

Shifts are searched as in Tercom: the shift that reduces the edit distance most is made, again and
again, until none reduces it. Which shifts are tried, how ties are broken and when the search gives
up all affect the score; all three are sacrebleu's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wholetext.metrics.surface import Auto, Surface
from wholetext.text import has_ideographs, is_unspaced
from wholetext.text.overlap import blocks, find, words
from wholetext.types import FloatArray, IntArray

# (k, n): k machine words; the first bit of the first one stands for the first word of a text
Bits = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]
BEAM = 25  # half the width of the beam
MAX_SIZE = 10  # words in a block
MAX_DISTANCE = 50  # words between the positions of a block in hypothesis and reference
MAX_TRIED = 1000  # shifts tried per pair before the search gives up
_ONE, _LAST, _FULL = np.uint64(1), np.uint64(63), np.uint64(2**64 - 1)
_FIRST = np.array([2**n - 1 for n in range(65)], dtype=np.uint64)  # the first n bits
_TOGETHER = 1 << 14  # shifts evaluated at a time: their bits fit the processor's cache
_LARGEST = 1 << 21  # machine words of a matrix: 16 MB, about ten of which a search holds


@dataclass(frozen=True)
class Ter(Surface):
    """Translation edit rate (Snover et al. 2006) as sacrebleu computes it; lower is better."""

    name = "ter"
    summary = "edits per reference word (sacrebleu)"
    higher_is_better = False
    range = (0.0, float("inf"))
    decimals = 2  # per cent, although more edits than words are possible
    block = 16384  # the search takes as many steps for few pairs as for many
    together = 1 << 62  # the search splits the pairs itself

    # auto: on for Chinese and Japanese, where asian_support has no effect without it
    normalized: Auto = "auto"
    no_punct: bool = False
    # auto: on for Chinese and Japanese, whose characters are then words
    asian_support: Auto = "auto"
    case_sensitive: bool = False

    def resolve(self, langs: tuple[str, str]) -> Ter:
        split = has_ideographs(langs[1])
        normalized = split if self.normalized == "auto" else self.normalized
        asian = split if self.asian_support == "auto" else self.asian_support
        return replace(self, normalized=normalized, asian_support=asian)

    def notes(self, langs: tuple[str, str]) -> tuple[str, ...]:
        split = self.normalized is True and self.asian_support is True
        if not is_unspaced(langs[1]) or (split and has_ideographs(langs[1])):
            return ()
        return (
            f"ter: words are found between blanks, and {langs[1]} has none between words: "
            "one character off counts as a whole phrase; prefer chrf",
        )

    def sacrebleu(self) -> Any:
        from sacrebleu.metrics.ter import TER

        return TER(
            normalized=self.normalized is True,
            no_punct=self.no_punct,
            asian_support=self.asian_support is True,
            case_sensitive=self.case_sensitive,
        )

    def prepare(self, texts: Sequence[str]) -> list[str]:
        return list(map(self.sacrebleu()._preprocess_segment, texts))

    def count(self, groups: Sequence[Sequence[str]]) -> FloatArray:
        """Count the edits to the nearest reference and the mean reference length: (n, 2)."""
        references = list({ref for _, *refs in groups for ref in refs})
        again = self.prepare(references)  # references are normalised twice, as in sacrebleu
        split = {ref: tuple(text.split()) for ref, text in zip(references, again)}
        hyps = [hyp.split() for hyp, *refs in groups for _ in refs]
        refs = [split[ref] for _, *refs in groups for ref in refs]
        least = edits(hyps, refs).reshape(len(groups), -1).min(axis=1)
        lengths = np.array([len(ref) for ref in refs]).reshape(len(groups), -1).mean(axis=1)
        return np.column_stack([least, lengths])

    @np.errstate(divide="ignore", invalid="ignore")
    def reduce(self, totals: FloatArray) -> FloatArray:
        edits, length = totals[..., 0], totals[..., 1]
        rate = np.where(length > 0, edits / length, np.where(edits > 0, 1.0, 0.0))
        return np.asarray(100 * rate[..., None])


# ---------------------------------------------------------------- edit matrices


class Pairs:
    """Hypotheses, longest first, and their references; none is empty.

    Arrays over hypothesis words are laid out by position: all first words, all second words, etc.
    """

    match: Bits  # (k, words) positions of each word in the reference

    def __init__(self, hyp_lengths: IntArray, ref_lengths: IntArray) -> None:
        """Lay out hypotheses of descending lengths (pairs,); their matches are set by the caller."""
        self.hyp_lengths, self.ref_lengths = hyp_lengths, ref_lengths
        places = np.arange(int(hyp_lengths.max(initial=0)))
        # (longest,) pairs that have a word at each position, and where these words begin
        self.counts = np.searchsorted(-hyp_lengths, -places)
        self.firsts = np.cumsum(self.counts) - self.counts
        # (words,) position and pair of each word
        self.place = np.repeat(places, self.counts)
        self.pair = np.arange(len(self.place)) - self.firsts[self.place]

    def __len__(self) -> int:
        return len(self.hyp_lengths)

    def row(self, place: int) -> slice:
        """Return the slice of the words at a position."""
        return slice(int(self.firsts[place]), int(self.firsts[place] + self.counts[place]))


def pairs(hyps: Sequence[Sequence[str]], refs: Sequence[tuple[str, ...]]) -> Pairs:
    """Build pairs from texts that are sorted by hypothesis length, longest first."""
    numbers: dict[tuple[str, ...], int] = {}  # distinct references
    which = np.array([numbers.setdefault(ref, len(numbers)) for ref in refs], dtype=np.int64)
    ids, lengths = words([*hyps, *numbers])
    texts = Pairs(lengths[: len(hyps)], lengths[len(hyps) :][which])
    owner = np.repeat([*which, *range(len(numbers))], lengths)
    keys = owner * (int(ids.max(initial=0)) + 1) + ids  # a key per (reference, word)
    starts = np.cumsum(lengths) - lengths
    end = int(texts.hyp_lengths.sum())
    known, number = np.unique(keys[end:], return_inverse=True)
    place = (np.arange(len(keys)) - np.repeat(starts, lengths))[end:]
    # the last mask is for words that the reference does not have
    masks = np.zeros(((int(texts.ref_lengths.max()) + 63) // 64, len(known) + 1), dtype=np.uint64)
    np.bitwise_or.at(masks, (place >> 6, number), _ONE << (place & 63).astype(np.uint64))
    at = find(known, keys[:end])[starts[texts.pair] + texts.place]
    texts.match = masks.take(at, axis=1, mode="wrap")
    return texts


def beam(texts: Pairs) -> tuple[Bits, Bits]:
    """Cells within the beam whose upper left neighbour, and whose upper one, is too: (k, words)."""
    pair, place = texts.pair, texts.place
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
    # the cell after j reference words has bit j - 1; the first cell of a row has none
    corner = _below(np.minimum(high - 1, high_above), k) & ~_below(
        np.maximum(low - 1, low_above), k
    )
    return corner, _below(np.minimum(high, high_above) - 1, k) & ~_below(low - 1, k)


def _below(stop: IntArray | npt.NDArray[np.float64], k: int) -> Bits:
    """Set the first ``stop`` bits: (k, n)."""
    bits = np.clip(stop - 64 * np.arange(k)[:, None], 0, 64).astype(np.intp)  # (k, n)
    return _FIRST[bits]


def advance(match: Bits, up: Bits, down: Bits) -> tuple[Bits, Bits]:
    """Replace ``up`` and ``down``, where a row rises and falls, by those of the next row.

    Returns where the next row equals its upper left neighbour, and where it exceeds its upper one.
    Hyyrö 2003, figure 3; the distance from the empty reference grows by one per row.
    """
    common = match & up
    total = common + up  # (k, n)
    carried = np.zeros(up.shape[1], dtype=np.bool_)
    for i in range(1, len(up)):  # carries between machine words
        full = total[i - 1] == common[i - 1]
        carried = (total[i - 1] < common[i - 1]) | (full & carried)
        total[i] += carried
    same = (total ^ up) | match | down
    more = down | ~(same | up)
    left = _next(more)
    left[0] |= _ONE
    up[:] = _next(up & same) | ~(left | same)
    down[:] = left & same
    return same, more


def _next(bits: Bits) -> Bits:
    """Move each bit to the next position."""
    moved: Bits = bits << _ONE
    moved[1:] |= bits[:-1] >> _LAST
    return moved


def ones(bits: Bits, stop: IntArray) -> IntArray:
    """Count how many of the first ``stop`` bits are set: (n,)."""
    rest = bits & _below(stop, len(bits))
    if hasattr(np, "bitwise_count"):  # numpy 2.0 or later
        return np.asarray(np.bitwise_count(rest).sum(axis=0, dtype=np.int64))
    octets = np.ascontiguousarray(rest.T).view(np.uint8)  # (n, 8·k)
    return np.asarray(np.unpackbits(octets, axis=1).sum(axis=1, dtype=np.int64))


def _up_to_last(bits: Bits) -> Bits:
    """Set all bits up to the last one that is set."""
    full: Bits = bits.copy()
    for step in (1, 2, 4, 8, 16, 32):
        full |= full >> np.uint64(step)
    for i in range(len(bits) - 1, 0, -1):  # machine words before one with a bit are full
        full[i - 1] |= np.negative(full[i] & _ONE)
    return full


@dataclass(frozen=True)
class ShiftTable:
    """Edit matrices, a row per hypothesis word, and distances."""

    up: Bits  # (k, words) where the row before the word rises
    down: Bits  # (k, words) and falls
    corner: Bits  # (k, words) cells reached from the upper left: a match or a substitution
    above: Bits  # (k, words) cells reached from above: a word of the hypothesis alone
    distance: IntArray  # (pairs,)


def table(texts: Pairs, within: tuple[Bits, Bits]) -> ShiftTable:
    """Fill the matrices of all pairs by row; ``within`` is the beam."""
    match = texts.match & within[0]
    up = np.full((len(match), len(texts)), _FULL)
    down = np.zeros_like(up)
    ups, downs, corners, aboves = (np.empty_like(match) for _ in range(4))
    for place, n in enumerate(texts.counts):
        at = texts.row(place)
        ups[:, at], downs[:, at] = up[:, :n], down[:, :n]
        same, aboves[:, at] = advance(match[:, at], up[:, :n], down[:, :n])
        np.invert(same, out=corners[:, at])
    corners |= match
    corners &= within[0]
    aboves &= within[1]
    distance = texts.hyp_lengths + ones(up, texts.ref_lengths) - ones(down, texts.ref_lengths)
    return ShiftTable(ups, downs, corners, aboves, distance)


def alignment(texts: Pairs, rows: ShiftTable) -> tuple[IntArray, BoolArray, Bits]:
    """Align references with hypotheses: positions, errors, and (k, words) matches.

    Positions and errors have an extra entry before each reference. A word of the reference alone is
    placed at the word before it. Among equally short paths, seen from the end, a match or
    substitution is preferred to a word of the hypothesis alone, and that to one of the reference.
    """
    left, moves = _path(texts, rows)
    matches = moves & texts.match
    moved, match = (np.bitwise_or.reduce(bits, axis=0) > 0 for bits in (moves, matches))
    starts = np.cumsum(texts.ref_lengths + 1) - texts.ref_lengths - 1  # (pairs,)
    at = starts[texts.pair] + left + 1  # (words,) the entry of the word in the reference
    longest = len(texts.counts) + 1
    reached = np.zeros(len(texts) + int(texts.ref_lengths.sum()), dtype=np.int64)
    reached[starts] = np.arange(len(texts)) * longest
    reached[at[moved]] = (texts.pair * longest + texts.place + 1)[moved]
    ref_wrong = np.ones(len(reached), dtype=bool)
    ref_wrong[at[match]] = False
    owner = np.repeat(np.arange(len(texts)), texts.ref_lengths + 1)
    return np.maximum.accumulate(reached) - owner * longest - 1, ref_wrong, matches


def _path(texts: Pairs, rows: ShiftTable) -> tuple[IntArray, Bits]:
    """Count the reference words before each hypothesis word's row; mark its own, (k, words).

    That is the one it matches or replaces; a word of the hypothesis alone has none.
    """
    before = _below(texts.ref_lengths, len(rows.up))  # (k, pairs) reference words not aligned yet
    lefts, moves = np.empty_like(rows.up), np.empty_like(rows.up)
    stops = rows.corner | rows.above
    for place in range(len(texts.counts) - 1, -1, -1):
        at, n = texts.row(place), int(texts.counts[place])
        full = _up_to_last(stops[:, at] & before[:, :n])  # the rest is in the reference alone
        less = full >> _ONE
        less[:-1] |= full[1:] << _LAST
        less ^= full
        less &= rows.corner[:, at]  # the last cell, if reached from the upper left
        moves[:, at] = less
        full ^= less
        before[:, :n] = lefts[:, at] = full
    return ones(lefts, np.full(lefts.shape[1], 64 * len(lefts))), moves


# ---------------------------------------------------------------- shifts


@dataclass(frozen=True)
class Shifts:
    """Shifts of ``size`` words from ``place`` to ``to``: [cut, stop) goes before [start, cut)."""

    pair: IntArray
    size: IntArray
    place: IntArray
    to: IntArray
    start: IntArray
    cut: IntArray
    stop: IntArray

    def of(self, which: IntArray | BoolArray | slice) -> Shifts:
        return Shifts(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def words(self, row: IntArray) -> IntArray:
        """Return the word that each row has after the shift of the same index."""
        moved = row + self.cut - self.start
        moved = np.where(moved < self.stop, moved, row - (self.stop - self.cut))
        return np.where((row < self.start) | (row >= self.stop), row, moved)


def edits(hyps: Sequence[Sequence[str]], refs: Sequence[tuple[str, ...]]) -> IntArray:
    """Count insertions, deletions, substitutions and shifts from hypothesis to reference: (n,)."""
    sizes = np.array(
        [(len(hyp), len(ref)) for hyp, ref in zip(hyps, refs)], dtype=np.int64
    ).reshape(-1, 2)
    total = sizes.max(axis=1)  # final where either text is empty
    full = np.flatnonzero(sizes.min(axis=1))
    # one kind each for 1, 2, 3 … 4, 5 … 8 … machine words
    kind = np.frexp((sizes[full, 1] - 1) // 64)[1]
    for at in (full[kind == k] for k in np.unique(kind)):
        costs = sizes[at, 0] * (1 + int(sizes[at, 1].max()) // 64)  # machine words of a matrix
        for part in (at[block] for block in blocks(costs.tolist(), _LARGEST)):
            part = part[np.argsort(-sizes[part, 0], kind="stable")]
            total[part] = _search(pairs([hyps[int(i)] for i in part], [refs[int(i)] for i in part]))
    return np.asarray(total)


def _search(texts: Pairs) -> IntArray:
    """Count the edits of each pair: (pairs,)."""
    total, tried = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.int64)
    at = np.arange(len(texts))  # pairs still being searched
    while True:
        within = beam(texts)
        rows = table(texts, within)
        shifts, count = _candidates(texts, rows)
        tried[at] += count
        shifts = shifts.of((tried[at] < MAX_TRIED)[shifts.pair])
        gain = rows.distance[shifts.pair] - _distances(texts, rows, within, shifts)
        shifts = _best(shifts, gain)
        last = np.ones(len(texts), dtype=bool)
        last[shifts.pair] = False
        total[at[last]] += rows.distance[last]
        if not len(shifts.pair):
            return total
        at = at[shifts.pair]
        total[at] += 1
        texts = _shifted(texts, shifts)


def _matches(place: IntArray, match: Bits) -> tuple[IntArray, IntArray]:
    """List nearby equal words: index of the hypothesis word, position in the reference."""
    slot, word = np.nonzero(match)
    octets = match[slot, word].astype("<u8").view(np.uint8)
    bits = np.flatnonzero(np.unpackbits(octets, bitorder="little").view(np.bool_))
    ref = 64 * slot[bits >> 6] + (bits & 63)
    word = word[bits >> 6]
    near = np.abs(place[word] - ref) <= MAX_DISTANCE
    return word[near], ref[near]


def _candidates(texts: Pairs, rows: ShiftTable) -> tuple[Shifts, IntArray]:
    """List the shifts that change the text, and count all shifts of each pair.

    A block shared by hypothesis and reference is shifted if one of its words is wrong in the
    hypothesis and one in the reference, unless it is in place already. It goes before the word that
    its first word is aligned with, or after the word that any of its words is aligned with.
    """
    places, ref_wrong, aligned = alignment(texts, rows)
    hyp_wrong = np.bitwise_or.reduce(aligned, axis=0) == 0
    # a block that begins with an aligned word is in place already
    word, j = _matches(texts.place, texts.match ^ aligned)
    pair, place = texts.pair[word], texts.place[word]
    ref = (np.cumsum(texts.ref_lengths + 1) - texts.ref_lengths)[pair] + j
    goal = places[ref]
    room = np.minimum(texts.hyp_lengths[pair] - place, texts.ref_lengths[pair] - j)
    wrong = np.zeros((2, len(word)), dtype=bool)
    shifts = []
    for size in range(1, MAX_SIZE + 1):
        wrong[0] |= hyp_wrong[texts.firsts[place + size - 1] + pair]
        wrong[1] |= ref_wrong[ref + size - 1]
        block = np.flatnonzero(wrong[0] & wrong[1] & ((goal < place) | (goal >= place + size)))
        to = places[ref[block, None] + np.arange(-1, size)] + 1  # (blocks, size + 1)
        new = np.ones(to.shape, dtype=bool)
        np.not_equal(to[:, 1:], to[:, :-1], out=new[:, 1:])
        block = np.repeat(block, new.sum(axis=1))
        shifts.append((pair[block], np.full(len(block), size), place[block], to[new]))
        on = np.flatnonzero(room > size)
        bits = texts.match[(j[on] + size) >> 6, texts.firsts[place[on] + size] + pair[on]]
        on = on[(bits >> ((j[on] + size) & 63).astype(np.uint64)) & np.uint64(1) > 0]
        pair, place, j, ref, goal, room, wrong = (
            x[..., on] for x in (pair, place, j, ref, goal, room, wrong)
        )
    columns = [np.concatenate(column) for column in zip(*shifts)]
    return _moves(texts, *columns), np.bincount(columns[0], minlength=len(texts))


def _moves(texts: Pairs, pair: IntArray, size: IntArray, place: IntArray, to: IntArray) -> Shifts:
    before, end = to < place, place + size
    start, cut = np.where(before, to, place), np.where(before, place, end)
    # a shift to one of the block's own words moves it as far to the right
    within = np.minimum(to + size, texts.hyp_lengths[pair])
    stop = np.where(before, end, np.where(to > end, to, within))
    return Shifts(pair, size, place, to, start, cut, stop).of(cut < stop)


def _distances(
    texts: Pairs, rows: ShiftTable, within: tuple[Bits, Bits], shifts: Shifts
) -> IntArray:
    """Compute the edit distance after each shift: (shifts,)."""
    order = np.argsort(shifts.start - texts.hyp_lengths[shifts.pair], kind="stable")
    distances = np.empty(len(order), dtype=np.int64)
    step = max(_TOGETHER // len(texts.match), 1)
    for part in (order[n : n + step] for n in range(0, len(order), step)):
        distances[part] = _rest(texts, rows, within, shifts.of(part))
    return distances


def _rest(texts: Pairs, rows: ShiftTable, within: tuple[Bits, Bits], shifts: Shifts) -> IntArray:
    """Compute distances from the first row that a shift changes; most rows come first."""
    pair, start = shifts.pair, shifts.start
    left = texts.hyp_lengths[pair] - start  # rows
    up, down = (bits.take(texts.firsts[start] + pair, axis=1) for bits in (rows.up, rows.down))
    for t, n in enumerate(np.searchsorted(-left, -np.arange(int(left.max(initial=0))))):
        row, some = start[:n] + t, shifts.of(slice(n))
        equal = texts.match.take(texts.firsts[some.words(row)] + some.pair, axis=1)
        equal &= within[0].take(texts.firsts[row] + some.pair, axis=1)
        advance(equal, up[:, :n], down[:, :n])
    refs = texts.ref_lengths[pair]
    return texts.hyp_lengths[pair] + ones(up, refs) - ones(down, refs)


def _best(shifts: Shifts, gain: IntArray) -> Shifts:
    """Choose a shift per pair: by gain, then size, then earliest position, then earliest target."""
    shifts, gain = shifts.of(gain > 0), gain[gain > 0]
    order = np.lexsort((-shifts.to, -shifts.place, shifts.size, gain, shifts.pair))
    pair = shifts.pair[order]
    return shifts.of(order[np.flatnonzero(np.append(pair[1:] != pair[:-1], True)[: len(pair)])])


def _shifted(texts: Pairs, shifts: Shifts) -> Pairs:
    """Apply the shifts; pairs without one are dropped."""
    shifted = Pairs(texts.hyp_lengths[shifts.pair], texts.ref_lengths[shifts.pair])
    word = shifts.of(shifted.pair).words(shifted.place)
    at = texts.firsts[word] + shifts.pair[shifted.pair]
    shifted.match = texts.match.take(at, axis=1)
    return shifted
