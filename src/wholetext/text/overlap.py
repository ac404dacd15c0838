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


@dataclass
class _Grams:
    """N-grams of concatenated texts, of growing order; those that cannot match are dropped."""

    tokens: IntArray
    left: IntArray  # (tokens,) from here to the end of the text
    at: IntArray  # (n-grams,) where each begins
    code: IntArray  # (n-grams,) its number; at first that of the set of references
    owner: IntArray  # (n-grams,) the text

    @classmethod
    def of(cls, texts: Numbered, sets: IntArray) -> _Grams:
        """``sets``: which set each text belongs to."""
        tokens, lengths = texts
        owner = np.repeat(np.arange(len(lengths)), lengths)
        at = np.arange(len(tokens))
        return cls(tokens, np.cumsum(lengths)[owner] - at, at, sets[owner], owner)

    def only(self, which: IntArray) -> None:
        self.at, self.code, self.owner = self.at[which], self.code[which], self.owner[which]

    def longer(self, order: int, alphabet: int) -> IntArray:
        """A key for each n-gram with one token more, where the text has one."""
        self.only(np.flatnonzero(self.left[self.at] > order))
        return np.asarray(self.code * alphabet + self.tokens[self.at + order])


def overlap(texts: Numbered, sets: IntArray, orders: int) -> Overlap:
    """Count n-grams of hypotheses that are also in their references.

    ``texts`` are the hypotheses, then the references by set. ``sets`` (hypotheses,) is the set of
    each, all of the same size: what hypotheses have in common is counted once. Tokens are small
    non-negative integers. An n-gram of the references is coded by the code of its first n-1 tokens
    and its last token, the codes being renumbered at each order, so they stay small and equal codes
    mean equal n-grams of the same set: nothing is hashed, nothing collides.
    """
    (tokens, lengths), end = texts, int(texts[1][: len(sets)].sum())
    hyps, refs = (tokens[:end], lengths[: len(sets)]), (tokens[end:], lengths[len(sets) :])
    number = int(sets.max(initial=-1)) + 1  # of sets
    each = len(refs[1]) // max(number, 1)
    hyp_counts, ref_counts = (
        np.maximum(sizes[..., None] - np.arange(orders), 0).astype(np.float64)
        for sizes in (hyps[1], refs[1].reshape(number, each)[sets])
    )
    match, match_any = np.zeros(ref_counts.shape), np.zeros(hyp_counts.shape)
    theirs, ours = _Grams.of(refs, np.repeat(np.arange(number), each)), _Grams.of(hyps, sets)
    alphabet = 1 + max(int(side.tokens.max(initial=0)) for side in (theirs, ours))
    group = np.arange(number)  # (codes,) the set of each
    for order in range(orders):
        keys, theirs.code = np.unique(theirs.longer(order, alphabet), return_inverse=True)
        group = group[keys // alphabet]
        ours.code = find(keys, ours.longer(order, alphabet))
        ours.only(np.flatnonzero(ours.code >= 0))
        ref = np.bincount(theirs.owner % each * len(keys) + theirs.code, minlength=each * len(keys))
        ref = ref.reshape(each, len(keys))
        # a table per hypothesis with a cell for each n-gram of its set, one table after the other
        first, many = (
            np.searchsorted(group, np.arange(number)),
            np.bincount(group, minlength=number),
        )
        shift = np.cumsum(many[sets]) - many[sets] - first[sets]  # (hypotheses,) from code to cell
        owner = np.repeat(np.arange(len(sets)), many[sets])  # (cells,) hypothesis
        hyp = np.bincount(shift[ours.owner] + ours.code, minlength=len(owner))  # (cells,)
        code = np.arange(len(hyp)) - shift[owner]
        for i in range(each):
            match[:, i, order] = np.bincount(owner, np.minimum(hyp, ref[i][code]), len(sets))
        match_any[:, order] = match[:, 0, order]
        if each > 1:
            common = np.minimum(hyp, ref.max(axis=0)[code])
            match_any[:, order] = np.bincount(owner, common, len(sets))
        if order == 0:  # tokens by their number in the set, which keeps the next keys small
            # the last for tokens that the references do not have
            alphabet = int(many.max(initial=0)) + 1
            for side in (theirs, ours):
                side.tokens = np.full(len(side.tokens), alphabet - 1)
                side.tokens[side.at] = side.code - first[group[side.code]]
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
