"""N-gram overlap of many texts at once: exact counts by sorting integer codes, without a dictionary per text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.types import FloatArray, IntArray


@dataclass(frozen=True)
class Overlap:
    """Counts of n-grams, for each group of a hypothesis and its references and each order 1…orders."""

    hyp: FloatArray  # (groups, orders)
    ref: FloatArray  # (groups, references, orders)
    match: FloatArray  # (groups, references, orders) clipped by each reference alone
    match_any: FloatArray  # (groups, orders) clipped by the most any reference has


def overlap(tokens: IntArray, lengths: IntArray, orders: int, texts: int) -> Overlap:
    """Count n-grams of groups of ``texts`` texts (a hypothesis, then its references) laid end to end.

    ``tokens`` (all tokens) are small non-negative integers, ``lengths`` (groups · texts) those of the texts. An n-gram
    is coded by the rank of its first n-1 tokens and its last token, the rank being taken anew at each order, so codes
    stay small and equal codes mean equal n-grams of the same group: nothing is hashed, nothing collides.
    """
    groups = len(lengths) // texts
    alphabet = int(tokens.max(initial=0)) + 1
    owner = np.repeat(np.arange(len(lengths)), lengths)  # (tokens,) which text
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))  # tokens from here to the end of the text
    count = np.maximum(lengths.reshape(groups, texts, 1) - np.arange(orders), 0).astype(np.float64)
    match = np.zeros((groups, texts - 1, orders))
    match_any = np.zeros((groups, orders))
    at, code, side = np.arange(len(tokens)), owner // texts, owner % texts
    shared = np.ones(groups, dtype=bool)
    for order in range(orders):
        # an n-gram that hypothesis and references do not share has no longer n-gram that they share
        keep = np.flatnonzero((left[at] > order) & shared[code])
        at, side = at[keep], side[keep]
        key = code[keep] * alphabet + tokens[at + order]
        sort = np.argsort(key)
        ranked = key[sort]
        first = np.ones(len(key), dtype=bool)  # where a new n-gram begins
        np.not_equal(ranked[1:], ranked[:-1], out=first[1:])
        code = np.empty_like(key)
        code[sort] = np.cumsum(first) - 1
        group = owner[at[sort[first]]] // texts  # (distinct n-grams,) the group of each
        refs = [np.bincount(code[side == i], minlength=len(group)) for i in range(1, texts)]
        hyp = np.bincount(code, minlength=len(group)) - sum(refs)
        for i, ref in enumerate(refs):
            match[:, i, order] = np.bincount(group, np.minimum(hyp, ref), groups)
        most = np.minimum(hyp, np.max(refs, axis=0)) if texts > 2 else np.minimum(hyp, refs[0])
        match_any[:, order] = np.bincount(group, most, groups)
        shared = most > 0
    return Overlap(count[:, 0], count[:, 1:], match, match_any)


def characters(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Texts as (all characters, lengths), characters numbered by those that occur."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    there = np.zeros(int(codes.max(initial=0)) + 1, dtype=bool)
    there[codes] = True
    number = np.cumsum(there) - 1
    return number[codes], np.array([len(text) for text in texts], dtype=np.int64)


def words(texts: Sequence[Sequence[str]]) -> tuple[IntArray, IntArray]:
    """Lists of words as (all words, lengths), words numbered in order of appearance."""
    number: dict[str, int] = {}
    ids = [number.setdefault(word, len(number)) for text in texts for word in text]
    return np.array(ids, dtype=np.int64), np.array([len(text) for text in texts], dtype=np.int64)


def blocks(sizes: Sequence[int], most: int = 200_000) -> Iterator[slice]:
    """Consecutive slices of about ``most`` tokens: fits the processor's cache, worth vectorising."""
    begin, total = 0, 0
    for i, size in enumerate(sizes):
        if total and total + size > most:
            yield slice(begin, i)
            begin, total = i, 0
        total += size
    if begin < len(sizes):
        yield slice(begin, len(sizes))
