"""Form ``matched``: match of two texts by tokens at every layer, by pooled vectors, on the surface.

Tokens are matched as in BERTScore (Zhang et al. 2020, eq. 1), also weighted by rarity; the cosine
of pooled vectors is that of Sentence-BERT (Reimers & Gurevych 2019, §3). Case affects a single
feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wholetext.text.overlap import FOLDED, likeness_folded
from wholetext.training.learned.aligned import PairForm, Texts, in_order, tail
from wholetext.types import Excerpt, FloatArray

PAIRS = 64  # whose token vectors are held at a time
POOR = 0.6  # a token that matches worse is not found
ROUNDING = 1e-4  # smaller differences of similarities depend on the processor
BELOW = (0.4, 0.6, 0.8)  # shares of tokens are counted whose match is worse
PER_LAYER, ONCE = 9, 29
MEANS = (0, 1, 2, 3, 8)  # of the features per layer: means over tokens, and the cosine of wholes
# order, 12 shares of poor tokens, counterparts, 2 omissions, 4 sums, use of context; length ratio, its size, 4 lengths
ONCE_SIGNS = np.array([1.0] * 2 + [0.0] * 12 + [1.0] * 2 + [0.0] * 7 + [0.0, -1.0] + [0.0] * 4)
# surface features for which higher, and lower, is better
SHARED = ("precision", "recall", "the same last character", "equal")
WORSE = (
    "its size",
    "foreign script in the hypothesis alone",
    "case differs in shared words",
    "more negations in the hypothesis",
    "fewer negations",
)
# of a pair one of which is empty: no order, all tokens poor, no counterparts
NOTHING = [0.0] * 2 + [1.0] * 12 + [0.0] * 9


class Encoded(NamedTuple):
    """An encoded text."""

    units: NDArray[np.float32]  # (layers, tokens, width) of the scored tokens, each of length 1
    pooled: NDArray[np.float32]  # (layers, width) mean over scored tokens and markers
    rarity: FloatArray  # (tokens,) weights


@dataclass(frozen=True)
class Layers:
    """Which layers are compared (negative: from the last one back)."""

    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    limit: int = 0  # tokens per sequence; 0: what the model takes


class Vectors(Texts):
    """Backend: view → Encoded."""

    def run(self, batch: Sequence[Excerpt]) -> list[Encoded]:
        layouts, plain, unit = self.stacked(batch)
        encoded = []
        for layout, states, units in zip(layouts, plain.cpu().numpy(), unit.cpu().numpy()):
            start, stop, pooled = layout.start, layout.stop, layout.kept(markers=True)
            encoded.append(
                Encoded(
                    units[:, start:stop].copy(),
                    states[:, pooled].mean(axis=1),
                    rarity(layout.ids[start:stop]),
                )
            )
        return encoded


def rarity(ids: Sequence[int]) -> FloatArray:
    """(tokens,) weights: WordPiece ids are ordered by frequency, so that ranks replace idf."""
    return np.log1p(np.asarray(ids, dtype=np.float64) / 1000.0)


class Matched(PairForm):
    """Matches of tokens at each layer, cosines of wholes, order, omissions, length, surface."""

    Settings, name, backend, held, version = Layers, "matched", Vectors, PAIRS, 2
    sizes = (PER_LAYER, ONCE, len(FOLDED))

    def compare(self, hyp: Encoded, ref: Encoded, texts: tuple[str, str]) -> FloatArray:
        return compared(hyp, ref, (len(texts[0].split()), len(texts[1].split())))

    def surface(self, hyps: Sequence[str], refs: Sequence[str]) -> FloatArray:
        return likeness_folded(hyps, refs)

    def untrained(self, features: FloatArray) -> FloatArray:
        """(n,) standardised sum of BERTScore's F at the middle layer and Sentence-BERT's cosine."""
        layers = len(self.body.layers)
        precision, recall = features[:, layers // 2], features[:, layers + layers // 2]
        f = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
        cosine = features[:, PER_LAYER * layers - 1]
        return np.asarray((f - f.mean()) / f.std() + (cosine - cosine.mean()) / cosine.std())

    @property
    def signs(self) -> FloatArray:
        """(width,) 1 if higher values are better, -1 if lower ones are, 0 if a linear head omits it.

        Omitted are features that grow with the length of a text, single worst tokens, and lengths.
        """
        deep = np.repeat(np.isin(np.arange(PER_LAYER), MEANS).astype(float), len(self.body.layers))
        surface = [
            1.0 if name.startswith(SHARED) else -1.0 if name in WORSE else 0.0 for name in FOLDED
        ]
        return np.concatenate([deep, ONCE_SIGNS, surface])


def compared(hyp: Encoded, ref: Encoded, words: tuple[int, int]) -> FloatArray:
    """(layers · PER_LAYER + ONCE,) features of two texts with these word counts, grouped by kind."""
    layers, size, ref_size = hyp.units.shape[0], hyp.units.shape[1], ref.units.shape[1]
    ratio = min(3.0, max(-3.0, float(np.log((size + 1) / (ref_size + 1)))))
    lengths = [
        ratio,
        abs(ratio),
        float(np.log1p(ref_size)),
        float(np.log1p(words[1])),
        *(min(5.0, tokens / max(1, of)) for tokens, of in zip((size, ref_size), words)),
    ]
    if not size or not ref_size:
        return np.array([0.0] * (layers * PER_LAYER) + NOTHING + lengths)
    similar = hyp.units @ ref.units.transpose(0, 2, 1)  # (layers, hyp tokens, ref tokens)
    sides = [
        (similar.max(axis=2), hyp.rarity),
        (similar.max(axis=1), ref.rarity),
    ]  # (layers, tokens of one side)
    parts = [side.mean(axis=1) for side, _ in sides]
    parts += [
        side @ (weights / weights.sum()) if weights.sum() else side.mean(axis=1)
        for side, weights in sides
    ]
    parts += [tail(side) for side, _ in sides] + [side.min(axis=1) for side, _ in sides]
    length = np.linalg.norm(hyp.pooled, axis=1) * np.linalg.norm(ref.pooled, axis=1)
    parts.append((hyp.pooled * ref.pooled).sum(axis=1) / np.maximum(length, 1e-12))
    middle = layers // 2
    places = [similar[middle].argmax(axis=axis) for axis in (1, 0)]
    missed = [side[middle] < POOR for side, _ in sides]
    once = [
        *(in_order(part) for part in places),
        *(
            float((side[at] < bound).mean())
            for side, _ in sides
            for at in (middle, -1)
            for bound in BELOW
        ),
        *(len(np.unique(part)) / of for part, of in zip(places, (ref_size, size))),
        *(float(np.log1p(longest(part))) for part in missed),
        *(float(np.log1p((1.0 - side[at]).sum())) for side, _ in sides for at in (middle, -1)),
        float((similar[-1].max(axis=1) > similar[0].max(axis=1) + ROUNDING).mean()),
    ]
    return np.array([*np.concatenate(parts), *once, *lengths], dtype=np.float64)


def longest(true: NDArray[np.bool_]) -> int:
    """Length of the longest run of true values."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], true.view(np.int8), [0]])))
    return int((ends[1::2] - ends[::2]).max(initial=0))
