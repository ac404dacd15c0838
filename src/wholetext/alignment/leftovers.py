"""Sentences that the path in order leaves over: moved blocks, and parts of neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from wholetext.alignment.beads import CELLS, LIKELY, AlignmentTask, Bead, Span
from wholetext.alignment.similarity import Features
from wholetext.types import IntArray

ROUNDS = 20  # of looking for blocks: each finds what the one before left over
FULL = 0.6  # a text that has two segments in it has at least this share of their expected length
REACH = 1.2  # a segment that costs more than this beside its neighbour is left out without trial

# cuts that are tried, as shares of the text, from where lengths put the break
AROUND = (0.0, -0.08, 0.08, -0.16, 0.16)
_BLANK = re.compile(r"\s+")

Pair = tuple[Span, Span]
Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Gains = Callable[[Mapping[tuple[Bead, Bead], float]], list[float]]


def with_moved(task: AlignmentTask, beads: Sequence[Bead]) -> list[Bead]:
    """Join stretches that both sides leave over where that is cheaper than leaving them out.

    A paragraph that was moved is such a block. Sentences that are already linked are no longer
    candidates.
    """
    linked = [bead for bead in beads if bead.linked]
    rest = _rest(task, linked)
    if not all(map(len, rest)):
        return complete(task, linked)
    if task.rivals:
        task.rivals.only(*rest)
    points = task.likely(*rest)
    tried: dict[Pair, tuple[float, list[Bead]]] = {}
    for _ in range(ROUNDS):
        runs = [_runs(side) for side in rest]
        gaps = _gaps(task, linked)
        pairs = _pairs(points, runs)
        for pair in pairs - tried.keys():
            path, cost = task.path(slice(*pair[0]), slice(*pair[1]))
            alone = sum(stop - start for start, stop in pair) * task.costs.skip
            gain = alone - cost - (0 if pair in gaps else task.costs.move)
            tried[pair] = gain, [bead for bead in path if bead.linked]
        used: set[tuple[str, int, int]] = set()
        more: list[Bead] = []
        for pair in sorted(pairs, key=lambda pair: (-tried[pair][0], pair)):
            sides = {("fixed", *pair[0]), ("free", *pair[1])}
            if tried[pair][0] > 0 and not used & sides:  # the best first, each stretch once
                used |= sides
                more += tried[pair][1]
        if not more:
            break
        linked = [*linked, *more]
        rest = _rest(task, linked)
    return complete(task, linked)


def absorbed(
    task: AlignmentTask, beads: Sequence[Bead], lines: Sequence[int], gains: Gains
) -> list[Bead]:
    """Add sentences without counterpart to their neighbours where leaving them out costs more.

    A sentence of the output goes to a neighbour in its line (a sentence is broken in two more often
    than one is added beside it), one of the document to a neighbour that stands alone (two become
    one more often than one is left out), if the text there can be cut so that it has both
    (``gains``).
    """
    linked = {bead for bead in beads if bead.linked}
    cost = cache(task.bead)

    def uncut(old: Bead, new: Bead, free: bool) -> float:
        """Return the cost of adding the sentence beyond leaving it out, without cuts."""
        return (
            cost(new)
            - cost(old)
            - task.costs.skip
            - (task.costs.inside if free else task.costs.beside)
        )

    def thresholds(pairs: Iterable[tuple[Bead, Bead]]) -> dict[tuple[Bead, Bead], float]:
        """Map beads whose text is to be cut to the gain above which the price is negative."""
        prices = {
            (old, new): uncut(old, new, False) for old, new in pairs if task.fullness(new) >= FULL
        }
        return {pair: more / task.costs.halves for pair, more in prices.items() if more <= REACH}

    @cache
    def price(old: Bead, new: Bead, free: bool) -> float:
        if free or (more := uncut(old, new, free)) > REACH:
            return uncut(old, new, free)
        return more - task.costs.halves * max(gains(thresholds([(old, new)])), default=-np.inf)

    for _ in range(ROUNDS):
        before = set(linked)
        for free in (True, False):
            starts, stops = ({bead.side(free)[end]: bead for bead in linked} for end in (0, 1))
            rest = _rest(task, linked)[free].tolist()
            if not free:  # all texts at once: encoding them one by one takes three times as long
                gains(
                    thresholds(
                        pair for at in rest for pair in _grown(starts, stops, at, free, lines)
                    )
                )
            for at in rest:
                grown = [
                    (price(old, new, free), old, new)
                    for old, new in _grown(starts, stops, at, free, lines)
                ]
                if grown and (best := min(grown, key=lambda offer: offer[0]))[0] < 0:
                    linked.remove(best[1])
                    linked.add(new := best[2])
                    starts[new.side(free)[0]] = stops[new.side(free)[1]] = new
        if before == linked:
            break
    return complete(task, list(linked))


def _grown(
    starts: dict[int, Bead], stops: dict[int, Bead], at: int, free: bool, lines: Sequence[int]
) -> Iterator[tuple[Bead, Bead]]:
    """Yield the beads next to a sentence, without and with it."""
    for bead, near in ((stops.get(at), at - 1), (starts.get(at + 1), at + 1)):
        if bead is None:
            continue
        start, stop = bead.side(free)
        span = (min(start, at), max(stop, at + 1))
        if free and lines[near] == lines[at]:
            yield bead, Bead(bead.fixed, span)
        elif not free and stop - start == 1 and bead.free[1] - bead.free[0] <= 2:
            yield bead, Bead(span, bead.free)


def _rest(task: AlignmentTask, linked: Iterable[Bead]) -> tuple[IntArray, IntArray]:
    """Return the sentences of both sides that are in no bead."""
    free_of = [np.ones(len(side) - 1, dtype=bool) for side in (task.fixed, task.free)]
    for bead in linked:
        free_of[0][slice(*bead.fixed)] = free_of[1][slice(*bead.free)] = False
    return np.flatnonzero(free_of[0]), np.flatnonzero(free_of[1])


def _gaps(task: AlignmentTask, linked: Sequence[Bead]) -> set[Pair]:
    """Return pairs of stretches between beads that follow each other on both sides."""
    ends = [(len(task.fixed) - 1, len(task.free) - 1)]
    before = {0: 0, **{bead.fixed[1]: bead.free[1] for bead in linked}}
    ordered = sorted([(bead.fixed[0], bead.free[0]) for bead in linked] + ends)
    last, gaps = 0, set()
    stops = {bead.fixed[0]: bead.fixed[1] for bead in linked}
    for i, j in ordered:
        gaps.add(((last, i), (before[last], j)))
        last = stops.get(i, i)
    return gaps


def _pairs(points: tuple[IntArray, IntArray], runs: Sequence[Sequence[Span]]) -> set[Pair]:
    """Return pairs of stretches with likely pairs of sentences, small enough to be aligned.

    Each stretch takes part with the partners that have most such pairs.
    """
    at = []
    for side, spans in zip(points, runs):
        starts, stops = np.array([(0, 0), *spans]).T  # an empty one, so that the array has rows
        index = np.searchsorted(starts[1:], side, "right")
        at.append(np.where(side < stops[index], index, 0))
    counts = Counter(
        (runs[0][i - 1], runs[1][j - 1]) for i, j in zip(*map(np.ndarray.tolist, at)) if i and j
    )
    seen: Counter[tuple[int, Span]] = Counter()
    pairs = set()
    for pair, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        (i, k), (j, m) = pair
        if (k - i) * (m - j) <= CELLS and max(seen[0, pair[0]], seen[1, pair[1]]) < LIKELY:
            seen.update([(0, pair[0]), (1, pair[1])])
            pairs.add(pair)
    return pairs


def _runs(numbers: IntArray) -> list[Span]:
    """Merge neighbours among ascending numbers into stretches."""
    runs: list[Span] = []
    for at in numbers.tolist():
        if runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
    return runs


def complete(task: AlignmentTask, linked: Sequence[Bead]) -> list[Bead]:
    """Add beads without counterpart, each after its predecessor; order by the fixed side."""
    fixed, free = map(_runs, _rest(task, linked))
    after_fixed = {at: bead.free[1] for bead in linked for at in range(*bead.fixed)}
    after_free = {at: bead.fixed[1] for bead in linked for at in range(*bead.free)}
    alone = [
        Bead((i, i + 1), (at, at))
        for start, stop in fixed
        for at in [after_fixed.get(start - 1, 0)]
        for i in range(start, stop)
    ]
    alone += [
        Bead((at, at), (j, j + 1))
        for start, stop in free
        for at in [after_free.get(start - 1, 0)]
        for j in range(start, stop)
    ]
    return sorted([*linked, *alone], key=lambda bead: (bead.fixed, bead.free))


def gains_of_halves(
    fixed: Sequence[str], free: Sequence[str], vectors: Features, encode: Encode
) -> Gains:
    """Return a function: beads before and after adding a segment → gain of cutting the text.

    The gain of similarity by vectors if the text is cut in two is from -2 to 2; -inf where it
    cannot be cut, or where the gain does not exceed the threshold. A headline and the sentence
    after it, on one line without a full stop, are more similar to their two segments when cut than
    the whole is to one of them.
    """
    known: dict[tuple[Bead, Bead], float] = {}

    def halves(old: Bead, new: Bead) -> list[tuple[str, str]]:
        sides = fixed[slice(*new.fixed)]
        return (
            _halves(len(sides[0]), len(sides[1]), " ".join(free[slice(*old.free)]))
            if len(sides) == 2
            else []
        )

    def alike(texts: Iterable[tuple[int, str]]) -> dict[tuple[int, str], float]:
        """Return the similarity of texts to segments."""
        pairs = list(dict.fromkeys(texts))
        every = {text: at for at, text in enumerate(dict.fromkeys(text for _, text in pairs))}
        rows = encode(list(every)) if every else ()
        return {(at, text): float(vectors.fixed[at] @ rows[every[text]]) for at, text in pairs}

    def gains(thresholds: Mapping[tuple[Bead, Bead], float]) -> list[float]:
        todo = [
            (pair, pair[1].fixed[0], cut)
            for pair in thresholds
            if pair not in known
            for cut in halves(*pair)
        ]
        known.update({pair: -np.inf for pair in thresholds if pair not in known})
        # first the half of the segment without counterpart: if it is too unlike, the other is moot
        lone = {pair: int(pair[0].fixed[0] == pair[1].fixed[0]) for pair, _, _ in todo}
        whole = {pair: vectors.together(pair[0].fixed, pair[0].free) for pair in lone}
        scores = alike((first + lone[pair], cut[lone[pair]]) for pair, first, cut in todo)
        todo = [
            (pair, first, cut)
            for pair, first, cut in todo
            if (scores[first + lone[pair], cut[lone[pair]]] + 1) / 2 - whole[pair]
            > thresholds[pair]
        ]
        scores |= alike((first + 1 - lone[pair], cut[1 - lone[pair]]) for pair, first, cut in todo)
        for pair, first, (left, right) in todo:
            gain = (scores[first, left] + scores[first + 1, right]) / 2 - whole[pair]
            known[pair] = max(known[pair], gain if gain > thresholds[pair] else -np.inf)
        return [known[pair] for pair in thresholds]

    return gains


def _halves(left: int, right: int, text: str) -> list[tuple[str, str]]:
    """Cut a text in two between words, near where segments of these lengths put the break."""
    places = [blank.end() for blank in _BLANK.finditer(text)]
    share = left / max(1, left + right)
    cuts = (
        {min((abs(at - (share + by) * len(text)), at) for at in places)[1] for by in AROUND}
        if places
        else ()
    )
    return [(text[:at].rstrip(), text[at:]) for at in sorted(cuts)]
