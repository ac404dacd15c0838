"""N-grams that texts have in common.

They are counted exactly for many texts at once, by sorting integer codes, without a dictionary per
text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from wholetext.types import FloatArray, IntArray

Numbered = tuple[IntArray, IntArray]  # all tokens, lengths of texts


@dataclass(frozen=True)
class Overlap:
    """Counts of n-grams, for each hypothesis with its references and each order 1…orders."""

    hyp: FloatArray  # (hypotheses, orders)
    ref: FloatArray  # (hypotheses, references, orders)
    match: FloatArray  # (hypotheses, references, orders) clipped by each reference alone
    match_any: FloatArray  # (hypotheses, orders) clipped by the most any reference has


def overlap(texts: Numbered, sets: IntArray, orders: int) -> Overlap:
    """Count n-grams of hypotheses that are also in their references.

    ``texts`` are the hypotheses, then the references by set. ``sets`` (hypotheses,) is the set of
    each, all of the same size: what hypotheses have in common is counted once. Tokens are small
    non-negative integers. An n-gram of the references is coded by the code of its first n-1 tokens
    and its last token, the codes being renumbered at each order, so they stay small and equal codes
    mean equal n-grams of the same set: nothing is hashed, nothing collides. N-grams of hypotheses
    that the references lack are dropped.
    """
    tokens, lengths = texts
    hyps, number = len(sets), int(sets.max(initial=-1)) + 1  # hypotheses, sets
    each = (len(lengths) - hyps) // max(number, 1)  # references of a set
    hyp_counts, ref_counts = (
        np.maximum(sizes[..., None] - np.arange(orders), 0).astype(np.float64)
        for sizes in (lengths[:hyps], lengths[hyps:].reshape(number, each)[sets])
    )
    match, match_any = np.zeros(ref_counts.shape), np.zeros(hyp_counts.shape)
    # (n-grams,) the text of each, where it begins, its number; at first that of the set
    owner, at = np.repeat(np.arange(len(lengths)), lengths), np.arange(len(tokens))
    code = np.concatenate([sets, np.repeat(np.arange(number), each)])[owner]
    left = np.cumsum(lengths)[owner] - at  # (tokens,) from here to the end of the text
    alphabet = 1 + int(tokens.max(initial=0))
    group = np.arange(number)  # (codes,) the set of each
    for order in range(orders):
        longer = np.flatnonzero(left[at] > order)
        owner, at = owner[longer], at[longer]
        numbers = code[longer] * alphabet + tokens[at + order]
        split = np.searchsorted(owner, hyps)
        keys, theirs = np.unique(numbers[split:], return_inverse=True)
        group = group[keys // alphabet]
        code = np.concatenate([find(keys, numbers[:split]), theirs])
        known = np.flatnonzero(code >= 0)
        owner, at, code = owner[known], at[known], code[known]
        split = np.searchsorted(owner, hyps)
        which = (owner[split:] - hyps) % max(each, 1)  # of the references of its set
        ref = np.bincount(which * len(keys) + code[split:], minlength=each * len(keys))
        ref = ref.reshape(each, len(keys))
        # a table per hypothesis with a cell for each n-gram of its set, one table after the other
        first, many = (
            np.searchsorted(group, np.arange(number)),
            np.bincount(group, minlength=number),
        )
        shift = np.cumsum(many[sets]) - many[sets] - first[sets]  # (hypotheses,) from code to cell
        table = np.repeat(np.arange(hyps), many[sets])  # (cells,) hypothesis
        hyp = np.bincount(shift[owner[:split]] + code[:split], minlength=len(table))  # (cells,)
        cell = np.arange(len(hyp)) - shift[table]  # (cells,) code
        for i in range(each):
            match[:, i, order] = np.bincount(table, np.minimum(hyp, ref[i][cell]), hyps)
        match_any[:, order] = match[:, 0, order]
        if each > 1:
            match_any[:, order] = np.bincount(table, np.minimum(hyp, ref.max(axis=0)[cell]), hyps)
        if order == 0:  # tokens by their number in the set, which keeps the next keys small
            # the last for tokens that the references do not have
            alphabet = int(many.max(initial=0)) + 1
            tokens = np.full(len(tokens), alphabet - 1)
            tokens[at] = code - first[group[code]]
    return Overlap(hyp_counts, ref_counts, match, match_any)


def find(keys: IntArray, numbers: IntArray) -> IntArray:
    """Find numbers in sorted ``keys``; -1 where absent."""
    at = np.searchsorted(keys, numbers)
    return np.where(np.append(keys, -2)[at] == numbers, at, -1)


def compared(groups: Sequence[Sequence[str]]) -> tuple[list[str], IntArray]:
    """List hypotheses, then distinct sets of references; and the set of each hypothesis."""
    sets: dict[tuple[str, ...], int] = {}
    chosen = [sets.setdefault(tuple(refs), len(sets)) for _, *refs in groups]
    return [*(hyp for hyp, *_ in groups), *(ref for refs in sets for ref in refs)], np.array(
        chosen, dtype=np.int64
    )


def characters(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Texts as (all characters, lengths), characters numbered by those that occur."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    occurs = np.zeros(int(codes.max(initial=0)) + 1, dtype=bool)
    occurs[codes] = True
    number = np.cumsum(occurs) - 1
    return number[codes], np.array([len(text) for text in texts], dtype=np.int64)


def words(texts: Sequence[Sequence[str]]) -> tuple[IntArray, IntArray]:
    """Lists of words as (all words, lengths), words numbered in order of appearance."""
    flat = list(chain.from_iterable(texts))
    number = {word: i for i, word in enumerate(dict.fromkeys(flat))}
    ids = np.fromiter(map(number.__getitem__, flat), np.int64, len(flat))
    return ids, np.array([len(text) for text in texts], dtype=np.int64)


def blocks(sizes: Sequence[int], most: int = 200_000) -> Iterator[slice]:
    """Yield consecutive slices of about ``most`` tokens, which fit the processor's cache."""
    begin, total = 0, 0
    for i, size in enumerate(sizes):
        if total and total + size > most:
            yield slice(begin, i)
            begin, total = i, 0
        total += size
    if begin < len(sizes):
        yield slice(begin, len(sizes))
