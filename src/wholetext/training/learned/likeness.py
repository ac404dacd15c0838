"""What two texts have in common on the surface: n-grams, numbers, names, punctuation, length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from wholetext.text.overlap import Numbered, blocks, characters, overlap, words
from wholetext.types import FloatArray

_WORD = re.compile(r"\w+|[^\w\s]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN_ENDS = 0x24F  # last code of the Latin blocks
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


def likeness(hyps: Sequence[str], refs: Sequence[str]) -> FloatArray:
    """Compute (n, ``NAMES``) features of pairs; names are capitalised words after the first."""
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
    """Compute (pairs, 2·orders) n-gram precision and recall; ``texts`` alternate hyp and ref."""
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
    """Count numbers, names and punctuation marks."""
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
    """Compute the share of letters that are not Latin."""
    letters = [char for char in text if char.isalpha()]
    return sum(ord(char) > _LATIN_ENDS for char in letters) / len(letters) if letters else 0.0
