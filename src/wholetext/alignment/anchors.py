"""Long texts cut where both sides surely correspond, so that no table of all pairs is held."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from wholetext.alignment.similarity import ROWS, Measures, alike

Box = tuple[slice, slice]
Pair = tuple[int, int]
SURE = 3  # neighbouring pairs in a row, each the best of both its sentences, make an anchor
SMALLER = 25  # boxes are at least this part of the largest ones: cutting more often saves nothing


def cut_at_anchors(measures: Measures, box: Box, cells: int) -> list[Box]:
    """Cut a box into boxes of at most ``cells`` pairs of sentences, in order.

    Cuts are between pairs that are each other's best counterpart, as are their neighbours, in the
    longest chain of such pairs that is in order. A box that is too large without any is halved.
    """
    start, stop = (box[0].start, box[1].start), (box[0].stop, box[1].stop)
    if (stop[0] - start[0]) * (stop[1] - start[1]) <= cells:
        return [box]
    chain = set(longest_in_order(_mutual(measures, box)))
    near = range(-(SURE // 2), SURE - SURE // 2)
    cuts = sorted((i, j) for i, j in chain if all((i + k, j + k) in chain for k in near))
    boxes: list[Box] = []
    for cut, following in pairwise([*cuts, stop, stop]):
        if cut == stop or (following[0] - start[0]) * (following[1] - start[1]) > cells // SMALLER:
            boxes += _halved(start, cut, cells)
            start = cut
    return boxes


def _halved(start: Pair, stop: Pair, cells: int) -> list[Box]:
    (i, j), (k, m) = start, stop
    if (k - i) * (m - j) <= cells:
        return [(slice(i, k), slice(j, m))]
    middle = (i + k) // 2, (j + m) // 2
    return [*_halved(start, middle, cells), *_halved(middle, stop, cells)]


def _mutual(measures: Measures, box: Box) -> list[Pair]:
    """List pairs of sentences that are each other's best counterpart."""
    rows = np.concatenate([alike(measures, part, box[1]).argmax(axis=1) for part in _parts(box[0])])
    columns = np.concatenate(
        [alike(measures, box[0], part).argmax(axis=0) for part in _parts(box[1])]
    )
    mutual = np.flatnonzero(columns[rows] == np.arange(len(rows)))
    return [(box[0].start + int(i), box[1].start + int(rows[i])) for i in mutual]


def _parts(side: slice) -> list[slice]:
    return [slice(at, min(at + ROWS, side.stop)) for at in range(side.start, side.stop, ROWS)]


def longest_in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the longest increasing subsequence of the second numbers (Fredman 1975)."""
    ends: list[int] = []  # the smallest last number of a subsequence of each length
    at: list[int] = []  # and which pair that is
    before = [-1] * len(pairs)
    for index, (_, number) in enumerate(pairs):
        place = bisect_left(ends, number)
        ends[place : place + 1] = [number]
        at[place : place + 1] = [index]
        before[index] = at[place - 1] if place else -1
    chain, index = [], at[-1] if at else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]
