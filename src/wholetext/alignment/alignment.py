"""Alignment of sentences of an output to segments of a document, by length and similarity.

The cheapest path in order (`beads`) comes first; long texts are cut at anchors before it, so that
memory grows with their length. What it leaves over is then aligned once more: moved blocks, and
parts of neighbours. The path may link a sentence to the second-best place before moved blocks are
detected; a neighbour of such a block can take it back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from wholetext.alignment.anchors import cut_at_anchors
from wholetext.alignment.beads import CELLS, LIKELY, Bead, BeadTask
from wholetext.alignment.similarity import Bag, Features, Span
from wholetext.alignment.vectors import encode
from wholetext.types import IntArray

ROUNDS = 20  # of looking for blocks: each finds what the one before left over
EXCHANGES = 50  # at most
BREAKS = 3  # that a block out of order makes: before it, after it, and where it stands
FULL = 0.6  # a text that has two segments in it has at least this share of their expected length
REACH = 1.2  # a segment that costs more than this beside its neighbour is left out without trial

# cuts that are tried, as shares of the text, from where lengths put the break
AROUND = (0.0, -0.08, 0.08, -0.16, 0.16)
_BLANK = re.compile(r"\s+")

Pair = tuple[Span, Span]
# beads before and after adding a segment → gains of cutting their text
Gains = Callable[[Sequence[tuple[Bead, Bead]]], list[float]]


def align(
    fixed: Sequence[str],
    free: Sequence[str],
    *,
    ratio: float | None = None,
    vectors: Features | None = None,
    translations: Sequence[Bag] | None = None,
    lines: Sequence[int] | None = None,
) -> tuple[Bead, ...]:
    """Return the cheapest beads, in the order of ``fixed``; they cover both texts.

    ``ratio`` is the expected length of ``free`` per character of ``fixed`` (by default estimated
    from the two). ``vectors`` are the sentence vectors of both; ``translations`` are the words of
    ``fixed`` in the language of ``free``; ``lines`` are the lines of the sentences of ``free``.
    """
    task = BeadTask(fixed, free, ratio, vectors, translations)
    whole = (slice(0, len(fixed)), slice(0, len(free)))
    boxes = cut_at_anchors(task.measures, whole, CELLS)
    beads = [bead for box in boxes for bead in task.path(*box)[0]]
    beads = with_moved(task, beads)
    if lines is None or vectors is None:
        return tuple(beads)
    gains = gains_of_halves(fixed, free, vectors)
    beads = exchanged(task, absorbed(task, beads, lines, gains))
    return tuple(absorbed(task, beads, lines, gains))


def with_moved(task: BeadTask, beads: Sequence[Bead]) -> list[Bead]:
    """Join stretches that both sides leave over where that is cheaper than leaving them out.

    A paragraph that was moved is such a block. Sentences that are already linked are no longer
    candidates.
    """
    linked = [bead for bead in beads if bead.linked]
    rest = _rest(task, linked)
    if not all(map(len, rest)):
        return complete(task, linked)
    task.rivals.only(*rest)
    points = task.likely(*rest)
    tried: dict[Pair, tuple[float, list[Bead]]] = {}
    for _ in range(ROUNDS):
        gaps = _gaps(task, linked)
        pairs = _pairs(points, [_runs(side) for side in _rest(task, linked)])
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
        linked += more
    return complete(task, linked)


def absorbed(
    task: BeadTask, beads: Sequence[Bead], lines: Sequence[int], gains: Gains
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
        beside = task.costs.inside if free else task.costs.beside
        return cost(new) - cost(old) - task.costs.skip - beside

    def worth_cutting(old: Bead, new: Bead) -> bool:
        return task.fullness(new) >= FULL and uncut(old, new, False) <= REACH

    def price(old: Bead, new: Bead, free: bool) -> float:
        if free:
            return uncut(old, new, free)
        if not worth_cutting(old, new):
            return np.inf
        return uncut(old, new, free) - task.costs.halves * gains([(old, new)])[0]

    for _ in range(ROUNDS):
        before = set(linked)
        for free in (True, False):
            starts, stops = ({bead.side(free)[end]: bead for bead in linked} for end in (0, 1))
            rest = _rest(task, linked)[free].tolist()
            if not free:  # all texts at once: encoding them one by one takes three times as long
                grown = [pair for at in rest for pair in _grown(starts, stops, at, free, lines)]
                gains([pair for pair in grown if worth_cutting(*pair)])
            for at in rest:
                offers = [
                    (price(old, new, free), old, new)
                    for old, new in _grown(starts, stops, at, free, lines)
                ]
                if offers and (best := min(offers, key=lambda offer: offer[0]))[0] < 0:
                    _, old, new = best
                    linked.remove(old)
                    linked.add(new)
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


def _rest(task: BeadTask, linked: Iterable[Bead]) -> tuple[IntArray, IntArray]:
    """Return the sentences of both sides that are in no bead."""
    free_of = [np.ones(len(side) - 1, dtype=bool) for side in (task.fixed, task.free)]
    for bead in linked:
        free_of[0][slice(*bead.fixed)] = free_of[1][slice(*bead.free)] = False
    return np.flatnonzero(free_of[0]), np.flatnonzero(free_of[1])


def _gaps(task: BeadTask, linked: Sequence[Bead]) -> set[Pair]:
    """Return pairs of stretches between beads that follow each other on both sides."""
    ordered = sorted(linked, key=lambda bead: bead.fixed)
    stops = [(0, 0), *((bead.fixed[1], bead.free[1]) for bead in ordered)]
    starts = [(bead.fixed[0], bead.free[0]) for bead in ordered]
    starts.append((len(task.fixed) - 1, len(task.free) - 1))
    return {((a, i), (b, j)) for (a, b), (i, j) in zip(stops, starts)}


def _pairs(points: tuple[IntArray, IntArray], runs: Sequence[Sequence[Span]]) -> set[Pair]:
    """Return pairs of stretches with likely pairs of sentences, small enough to be aligned.

    Each stretch takes part with the partners that have most such pairs.
    """
    run_of = [{at: run for run in spans for at in range(*run)} for spans in runs]
    points_in_runs = (
        (run_of[0].get(i), run_of[1].get(j)) for i, j in zip(*map(np.ndarray.tolist, points))
    )
    counts = Counter((left, right) for left, right in points_in_runs if left and right)
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
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
    return [(int(run[0]), int(run[-1]) + 1) for run in runs if len(run)]


def complete(task: BeadTask, linked: Sequence[Bead]) -> list[Bead]:
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


def exchanged(task: BeadTask, beads: Sequence[Bead]) -> list[Bead]:
    """Return linked beads after exchanges that make them cheaper, largest gain first.

    A sentence without counterpart beside a bead takes the sentence that stands beside the same bead
    on the other side from another single counterpart, which then has none. Breaks in the order cost
    as much as the moved blocks that they make.
    """
    linked = {bead for bead in beads if bead.linked}
    cost = cache(task.bead)
    gone: set[Bead] = set()  # what has been handed over is not taken back
    for _ in range(EXCHANGES):
        breaks, offers = _breaks(linked), []
        for old, new in _exchanges(task, linked):
            more = cost(new) - cost(old)
            # no exchange makes more than one moved block fewer
            if new not in gone and more < task.costs.move:
                broken = _breaks((linked - {old}) | {new}) - breaks
                offers.append((more + task.costs.move * broken / BREAKS, old, new))
        if not offers or (best := min(offers, key=lambda offer: offer[0]))[0] >= 0:
            break
        _, old, new = best
        linked = (linked - {old}) | {new}
        gone.add(old)
    return sorted(linked, key=lambda bead: bead.fixed)


def _exchanges(task: BeadTask, linked: set[Bead]) -> Iterator[tuple[Bead, Bead]]:
    """Yield (bead to remove, bead that replaces it)."""
    for free in (False, True):
        own, other = (
            {at: bead for bead in linked for at in range(*bead.side(side))}
            for side in (free, not free)
        )
        for at in set(range(len(task.free if free else task.fixed) - 1)) - own.keys():
            for near, end in ((own.get(at - 1), 1), (own.get(at + 1), 0)):
                target = near.side(not free)[end] - (not end) if near else -1
                old = other.get(target)
                if old and all(stop - start == 1 for start, stop in (old.fixed, old.free)):
                    spans = (at, at + 1), (target, target + 1)
                    yield old, Bead(*spans[::-1]) if free else Bead(*spans)


def _breaks(linked: set[Bead]) -> int:
    """Count beads whose successor in the document is not their successor in the output."""
    places = np.array([(bead.fixed[0], bead.free[0]) for bead in linked]).reshape(-1, 2)
    ranks = np.argsort(np.argsort(places[:, 1]))[np.argsort(places[:, 0])]
    return int((np.diff(ranks) != 1).sum())


def gains_of_halves(fixed: Sequence[str], free: Sequence[str], vectors: Features) -> Gains:
    """Return a function that computes the gains of cutting texts in two.

    The gain of similarity by vectors is from -2 to 2; -inf where a text cannot be cut. A headline
    and the sentence after it, on one line without a full stop, are more similar to their two
    segments when cut than the whole is to one of them.
    """
    known: dict[tuple[Bead, Bead], float] = {}

    def gains(pairs: Sequence[tuple[Bead, Bead]]) -> list[float]:
        cuts = []
        for old, new in pairs:
            sides = fixed[slice(*new.fixed)]
            if (old, new) not in known and len(sides) == 2:
                text = " ".join(free[slice(*old.free)])
                cuts += [(old, new, cut) for cut in _halves(len(sides[0]), len(sides[1]), text)]
            known.setdefault((old, new), -np.inf)
        texts = list(dict.fromkeys(half for _, _, halves in cuts for half in halves))
        rows = dict(zip(texts, encode(texts))) if texts else {}
        for old, new, (left, right) in cuts:
            first, second = vectors.fixed[slice(*new.fixed)]
            gain = (first @ rows[left] + second @ rows[right]) / 2
            gain -= vectors.together(old.fixed, old.free)
            known[old, new] = max(known[old, new], float(gain))
        return [known[pair] for pair in pairs]

    return gains


def _halves(left: int, right: int, text: str) -> list[tuple[str, str]]:
    """Cut a text in two between words, near where segments of these lengths put the break."""
    places = [blank.end() for blank in _BLANK.finditer(text)]
    share = left / max(1, left + right)
    nearest = {
        min(places, key=lambda at: abs(at - (share + by) * len(text)), default=0) for by in AROUND
    }
    return [(text[:at].rstrip(), text[at:]) for at in sorted(nearest) if places]
