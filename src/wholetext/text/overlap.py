"""Surface overlap of texts: n-grams; of pairs also numbers, names, punctuation, length.

N-grams are counted exactly for many texts at once, by sorting integer codes, without a dictionary
per text.
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
_TABLE = 1 << 22  # entries: larger ones do not stay in the processor's cache
_LONGEST = 3.0  # log ratios are clipped here
CHARACTERS, WORDS = (1, 2, 4, 6), (1, 2, 3)  # orders of n-grams
NAMES = (
    *(f"{side} of characters' {n}-grams" for n in CHARACTERS for side in ("precision", "recall")),
    *(f"{side} of words' {n}-grams" for n in WORDS for side in ("precision", "recall")),
    *(
        f"{side} of {kind}"
        for kind in ("numbers", "names", "punctuation")
        for side in ("precision", "recall")
    ),
    "log ratio of characters",
    "its size",
    "log words of the reference",
    "repetition in the hypothesis",
    "repetition in the reference",
    "foreign script in the hypothesis alone",
    "the reference has numbers",
    "the reference has names",
    "the same last character",
    "equal",
)


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
    size = number * alphabet  # how large keys can be
    for order in range(orders):
        keys, theirs.code = np.unique(theirs.longer(order, alphabet), return_inverse=True)
        group = group[keys // alphabet]
        ours.code = find(keys, ours.longer(order, alphabet), size).astype(np.int64)
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
            alphabet = (
                int(many.max(initial=0)) + 1
            )  # the last for tokens that the references do not have
            for side in (theirs, ours):
                side.tokens = np.full(len(side.tokens), alphabet - 1)
                side.tokens[side.at] = side.code - first[group[side.code]]
        size = len(keys) * alphabet
    return Overlap(hyp_counts, ref_counts, match, match_any)


def find(keys: IntArray, numbers: IntArray, size: int | None = None) -> IntArray:
    """Find numbers in sorted ``keys`` (all below ``size``, if known); -1 where absent."""
    if size is not None and size <= _TABLE:
        places = np.full(size, -1, dtype=np.int32)
        places[keys] = np.arange(len(keys), dtype=np.int32)
        return np.asarray(places[numbers])
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


def likeness(hyps: Sequence[str], refs: Sequence[str]) -> FloatArray:
    """Features of pairs, (n, ``NAMES``); names are capitalised words after the first."""
    cut = [(_WORD.findall(hyp), _WORD.findall(ref)) for hyp, ref in zip(hyps, refs)]
    solid = [("".join(hyp.split()), "".join(ref.split())) for hyp, ref in zip(hyps, refs)]
    lowered = [[word.lower() for word in side] for pair in cut for side in pair]
    grams = np.concatenate(
        [
            _shares([text for pair in solid for text in pair], characters, CHARACTERS),
            _shares(lowered, words, WORDS),
        ],
        axis=1,
    )
    rest = [_rest(hyp, ref, *pair) for hyp, ref, pair in zip(hyps, refs, cut)]
    return np.concatenate(
        [grams, np.array(rest).reshape(len(hyps), len(NAMES) - grams.shape[1])], axis=1
    )


def _shares(
    texts: Sequence[Sequence[str]], number: Callable[..., Numbered], orders: Sequence[int]
) -> FloatArray:
    """N-gram precision and recall, (pairs, 2·orders); ``texts`` alternate hyp and ref."""
    shares = []
    for block in blocks([len(a) + len(b) for a, b in zip(texts[::2], texts[1::2])]):
        hyps, refs = texts[::2][block], texts[1::2][block]
        counts = overlap(number([*hyps, *refs]), np.arange(len(hyps)), max(orders))
        at = [order - 1 for order in orders]
        hyp, ref, match = (
            counts.hyp[:, at],
            counts.ref[:, 0, at],
            counts.match[:, 0, at],
        )  # (pairs, orders)
        pair = np.stack(
            [match / np.maximum(hyp, 1), match / np.maximum(ref, 1)], axis=-1
        )  # (pairs, orders, 2)
        neither = (hyp == 0) & (ref == 0)  # (pairs, orders)
        pair[neither[:, 0], 0] = 1.0
        for i in range(1, len(orders)):  # texts too short for an order are judged by the one below
            pair[neither[:, i], i] = pair[neither[:, i], i - 1]
        shares.append(pair.reshape(len(hyp), -1))
    return np.concatenate(shares) if shares else np.zeros((0, 2 * len(orders)))


def _rest(hyp: str, ref: str, hyp_words: Sequence[str], ref_words: Sequence[str]) -> list[float]:
    numbers, names, marks = _counted(hyp, hyp_words)
    ref_numbers, ref_names, ref_marks = _counted(ref, ref_words)
    ratio = float(np.clip(np.log((len(hyp) + 1) / (len(ref) + 1)), -_LONGEST, _LONGEST))
    return [
        *_both(numbers, ref_numbers),
        *_both(names, ref_names),
        *_both(marks, ref_marks),
        ratio,
        abs(ratio),
        float(np.log1p(len(ref_words))),
        _repeated(hyp_words),
        _repeated(ref_words),
        foreign(hyp) - foreign(ref),
        float(bool(ref_numbers)),
        float(bool(ref_names)),
        float(hyp[-1:] == ref[-1:]),
        float(hyp == ref),
    ]


def _counted(text: str, cut: Sequence[str]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Numbers, names, punctuation marks."""
    names = Counter(word for word in cut[1:] if word[0].isupper())
    return (
        Counter(_NUMBER.findall(text)),
        names,
        Counter(word for word in cut if not word[0].isalnum()),
    )


def _both(hyp: Counter[str], ref: Counter[str]) -> tuple[float, float]:
    shared = (hyp & ref).total()
    nothing = float(not hyp and not ref)
    return (shared / hyp.total() if hyp else nothing), (shared / ref.total() if ref else nothing)


def _repeated(cut: Sequence[str]) -> float:
    return 1.0 - len({word.lower() for word in cut}) / len(cut) if cut else 0.0


def foreign(text: str) -> float:
    """Share of letters that are not Latin."""
    letters = [char for char in text if char.isalpha()]
    return sum(ord(char) > _LATIN_ENDS for char in letters) / len(letters) if letters else 0.0
