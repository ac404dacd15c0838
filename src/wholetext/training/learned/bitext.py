"""Form ``bitext``: match of a text and its source in a shared space of 16 languages.

Both are encoded by the multilingual Universal Sentence Encoder (Yang et al. 2020). Windows of
neighbouring pieces are matched as BERTScore matches tokens (Zhang et al. 2020, eq. 1), at several
widths: whatever has no counterpart was omitted or added. Needs neither a reference nor torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.alignment.vectors import LANGUAGES
from wholetext.errors import MetricError
from wholetext.models.layout import together
from wholetext.text.overlap import NAMES, foreign, likeness
from wholetext.training.learned.aligned import both_read, in_order, reads_only, tail
from wholetext.training.learned.body import Opening, texts_of
from wholetext.training.learned.matched import longest
from wholetext.training.learned.windows import Array, Windows, pieces, windows
from wholetext.types import Excerpt, Fit, FloatArray, IntArray, Request, Runtime

SIZES = (1, 4, 8)  # pieces of a window
PAIRS = 64  # whose vectors are held at a time
ROWS = 1024  # windows compared at a time
PER_SIZE, ONCE = 9, 14
POOR = 0.5  # a window that matches worse has no counterpart
LEAST = -20.0  # log-probability of the rarest pieces
# how well the source is covered: mean, worst fifth
KIND_SIGNS = (0.0, 1.0, 0.0, 1.0) + (0.0,) * 5
ONCE_SIGNS = (1.0,) + (0.0,) * 4 + (1.0,) + (0.0,) * 8  # the cosine, counterparts
KEPT = ("precision of numbers", "recall of numbers")
COPIED = ("precision of words' 3-grams", "equal")  # of a text that is longer than a name
WORSE = (*COPIED, "repetition in the hypothesis", "foreign script in the hypothesis alone")
NAME = 4  # words: shorter texts may stay as they are


@dataclass(frozen=True)
class Settings:
    """No settings."""


class Texts:
    """Backend: view → Windows."""

    def __init__(self, id: str) -> None:
        self.id = f"{id}/bitext"

    def fit(self, x: Excerpt) -> Fit:
        if x.before or x.after:
            raise MetricError(
                "this metric reads a text as a whole, so a segment cannot be separated from its context",
                next="use a view without context: sentence, slide, paragraph, whole",
            )
        return Fit(len(pieces().encode(x.text)) + 2, 2)

    def run(self, batch: Sequence[Excerpt]) -> list[Windows]:
        return [windows(view.text, SIZES) for view in batch]


class Bitext:
    """Matches of windows in both directions, cosine of texts, frequency of pieces, length, surface."""

    Settings = Settings
    reads = ("hyp", "src")
    languages = LANGUAGES

    def __init__(self, opening: Opening) -> None:
        reads_only(opening, "bitext", self.reads)
        self.texts = Texts(opening.base.id)
        self.id = f"{self.texts.id}/2"
        self.width = len(SIZES) * PER_SIZE + ONCE + len(NAMES)

    def fit(self, pair: Request) -> Fit:
        return together(self.texts.fit(view) for view in texts_of(pair, self.reads).values())

    def shows(self, pair: Request) -> list[tuple[str, str]]:
        return [
            (side, f"«{' '.join(pieces().encode(view.text, out_type=str))}»")
            for side, view in texts_of(pair, self.reads).items()
        ]

    def seen(self, pair: Request) -> int | None:
        return len(pair.hyp[0].text)

    def features(self, pairs: Sequence[Request], run: Runtime) -> FloatArray:
        """(n, width)"""
        sides = [tuple(texts_of(pair, self.reads).values()) for pair in pairs]
        deep = np.zeros((len(pairs), self.width - len(NAMES)))
        for i, hyp, src in both_read(sides, self.texts, run, PAIRS):
            deep[i] = compared(hyp, src, empty=not all(view.text.strip() for view in sides[i]))
        surface = likeness([hyp.text for hyp, _ in sides], [src.text for _, src in sides])
        untranslated = [may_be_kept(hyp.text) for hyp, _ in sides]
        surface[np.ix_(untranslated, [NAMES.index(name) for name in COPIED])] = 0.0
        return np.concatenate([deep, surface], axis=1)

    def untrained(self, features: FloatArray) -> FloatArray:
        """(n,) standardised sum of the cosine of texts and the mean match of the widest windows."""
        match = features[:, len(SIZES) - 1] + features[:, 2 * len(SIZES) - 1]  # of both directions
        cosine = features[:, len(SIZES) * PER_SIZE]
        return np.asarray(
            (match - match.mean()) / match.std() + (cosine - cosine.mean()) / cosine.std()
        )

    @property
    def signs(self) -> FloatArray:
        """(width,) 1 if higher values are better, -1 if lower ones are, 0 if a linear head omits it.

        Omitted are features that grow with the length of a text, single worst windows, matches of
        the hypothesis in the source (part of a translation matches better than the whole), and
        what is not quality: lengths, frequency of pieces, shared letters.
        """
        surface = [1.0 if name in KEPT else -1.0 if name in WORSE else 0.0 for name in NAMES]
        return np.array([*np.repeat(KIND_SIGNS, len(SIZES)), *ONCE_SIGNS, *surface])


def compared(hyp: Windows, src: Windows, empty: bool = False) -> FloatArray:
    """(sizes · PER_SIZE + ONCE,) features of two texts, grouped by kind."""
    sizes = (len(hyp.ids), len(src.ids))
    ratio = float(np.clip(np.log((sizes[0] + 1) / (sizes[1] + 1)), -3.0, 3.0))
    lengths = [ratio, abs(ratio), float(np.log1p(sizes[0])), float(np.log1p(sizes[1]))]
    common = [_common(hyp.ids), _common(src.ids)]
    rare = [common[0].mean(), common[1].mean(), tail(common[0][None])[0], tail(common[1][None])[0]]
    if empty:
        return np.array([0.0] * (len(SIZES) * PER_SIZE + 6) + rare + lengths, dtype=np.float64)
    kinds: list[list[float]] = [[] for _ in range(PER_SIZE)]
    matches = [
        (_best(ours, theirs), _best(theirs, ours)) for ours, theirs in zip(hyp.parts, src.parts)
    ]
    for (best, where), (covered, _) in matches:
        row = [side.mean() for side in (best, covered)]
        row += [tail(side[None])[0] for side in (best, covered)] + [
            side.min() for side in (best, covered)
        ]
        row += [in_order(where), *(np.log1p((1.0 - side).sum()) for side in (best, covered))]
        for kind, value in zip(kinds, row):
            kind.append(float(value))
    middle = matches[len(SIZES) // 2]
    once = [
        float(hyp.whole @ src.whole),
        *(float(np.log1p(longest(match < POOR))) for match, _ in middle),
        *(float((match < POOR).mean()) for match, _ in middle),
        len(np.unique(middle[0][1])) / len(middle[1][0]),
    ]
    return np.array(
        [*(value for kind in kinds for value in kind), *once, *rare, *lengths], dtype=np.float64
    )


def may_be_kept(text: str) -> bool:
    """Whether a translation may equal its source: names, numbers, addresses in Latin letters."""
    return len(text.split()) < NAME and not foreign(text)


def _best(ours: Array, theirs: Array) -> tuple[FloatArray, IntArray]:
    """(n,) the best match of each row of one side among the rows of the other, and its index."""
    best, where = np.empty(len(ours)), np.empty(len(ours), dtype=np.int64)
    for at in range(0, len(ours), ROWS):
        similar = ours[at : at + ROWS] @ theirs.T
        where[at : at + ROWS] = similar.argmax(axis=1)
        best[at : at + ROWS] = similar.max(axis=1)
    return best, where


def _common(ids: IntArray) -> FloatArray:
    """(pieces,) log-probabilities of pieces, as the vocabulary has them."""
    return np.maximum(np.array(pieces().get_score(ids.tolist()), dtype=np.float64), LEAST)
