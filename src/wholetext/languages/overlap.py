"""What texts share on the surface: n-grams, and for pairs also numbers, names, punctuation and length.

N-grams are counted exactly for many texts at once, by sorting integer codes, without a dictionary per text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from wholetext.types import FloatArray, IntArray

Numbered = tuple[IntArray, IntArray]  # all tokens, lengths of texts
_WORD = re.compile(r"\w+|[^\w\s]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN_ENDS = 0x24F  # last code of the Latin blocks
_LONGEST = 3.0  # log ratios beyond this say nothing more
CHARACTERS, WORDS = (1, 2, 4, 6), (1, 2, 3)  # orders of n-grams
NAMES = (
    *(f"{side} of characters' {n}-grams" for n in CHARACTERS for side in ("precision", "recall")),
    *(f"{side} of words' {n}-grams" for n in WORDS for side in ("precision", "recall")),
    *(f"{side} of {kind}" for kind in ("numbers", "names", "punctuation") for side in ("precision", "recall")),
    "log ratio of characters", "its size", "log words of the reference", "repetition in the hypothesis",
    "repetition in the reference", "foreign script in the hypothesis alone", "the reference has numbers",
    "the reference has names", "the same last character", "equal",
)  # fmt: skip


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
    flat = list(chain.from_iterable(texts))
    number = {word: i for i, word in enumerate(dict.fromkeys(flat))}
    ids = np.fromiter(map(number.__getitem__, flat), np.int64, len(flat))
    return ids, np.array([len(text) for text in texts], dtype=np.int64)


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


def likeness(hyps: Sequence[str], refs: Sequence[str]) -> FloatArray:
    """(n, features) of pairs, in the order of ``NAMES``; names are capitalised words after the first."""
    cut = [(_WORD.findall(hyp), _WORD.findall(ref)) for hyp, ref in zip(hyps, refs)]
    solid = [("".join(hyp.split()), "".join(ref.split())) for hyp, ref in zip(hyps, refs)]
    lowered = [[word.lower() for word in side] for pair in cut for side in pair]
    grams = np.concatenate([
        _shares([text for pair in solid for text in pair], characters, CHARACTERS),
        _shares(lowered, words, WORDS),
    ], axis=1)  # fmt: skip
    rest = [_rest(hyp, ref, *pair) for hyp, ref, pair in zip(hyps, refs, cut)]
    return np.concatenate([grams, np.array(rest).reshape(len(hyps), len(NAMES) - grams.shape[1])], axis=1)


def _shares(texts: Sequence[Sequence[str]], number: Callable[..., Numbered], orders: Sequence[int]) -> FloatArray:
    """(pairs, 2 · orders) precision and recall of n-grams; ``texts`` alternate hypothesis and reference."""
    found = []
    for block in blocks([len(a) + len(b) for a, b in zip(texts[::2], texts[1::2])]):
        tokens, lengths = number(texts[2 * block.start : 2 * block.stop])
        counts = overlap(tokens, lengths, max(orders), 2)
        at = [order - 1 for order in orders]
        hyp, ref, match = counts.hyp[:, at], counts.ref[:, 0, at], counts.match[:, 0, at]  # (pairs, orders)
        pair = np.stack([match / np.maximum(hyp, 1), match / np.maximum(ref, 1)], axis=-1)  # (pairs, orders, 2)
        neither = (hyp == 0) & (ref == 0)  # (pairs, orders)
        pair[neither[:, 0], 0] = 1.0
        for i in range(1, len(orders)):  # texts too short for an order are judged by the one below
            pair[neither[:, i], i] = pair[neither[:, i], i - 1]
        found.append(pair.reshape(len(hyp), -1))
    return np.concatenate(found) if found else np.zeros((0, 2 * len(orders)))


def _rest(hyp: str, ref: str, hyp_words: Sequence[str], ref_words: Sequence[str]) -> list[float]:
    numbers, names, marks = _counted(hyp, hyp_words)
    ref_numbers, ref_names, ref_marks = _counted(ref, ref_words)
    ratio = float(np.clip(np.log((len(hyp) + 1) / (len(ref) + 1)), -_LONGEST, _LONGEST))
    return [
        *_both(numbers, ref_numbers), *_both(names, ref_names), *_both(marks, ref_marks),
        ratio, abs(ratio), float(np.log1p(len(ref_words))), _repeated(hyp_words), _repeated(ref_words),
        _foreign(hyp) - _foreign(ref), float(bool(ref_numbers)), float(bool(ref_names)),
        float(hyp[-1:] == ref[-1:]), float(hyp == ref),
    ]  # fmt: skip


def _counted(text: str, cut: Sequence[str]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Numbers, names, punctuation marks."""
    names = Counter(word for word in cut[1:] if word[0].isupper())
    return Counter(_NUMBER.findall(text)), names, Counter(word for word in cut if not word[0].isalnum())


def _both(hyp: Counter[str], ref: Counter[str]) -> tuple[float, float]:
    shared = (hyp & ref).total()
    nothing = float(not hyp and not ref)
    return (shared / hyp.total() if hyp else nothing), (shared / ref.total() if ref else nothing)


def _repeated(cut: Sequence[str]) -> float:
    return 1.0 - len({word.lower() for word in cut}) / len(cut) if cut else 0.0


def _foreign(text: str) -> float:
    """Share of letters that are not Latin."""
    letters = [char for char in text if char.isalpha()]
    return sum(ord(char) > _LATIN_ENDS for char in letters) / len(letters) if letters else 0.0
