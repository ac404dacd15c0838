"""Alignment of paragraphs first, then of the sentences inside.

Paragraphs are a document's segments and an output's lines, where these have several sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wholetext.alignment.alignment import align
from wholetext.alignment.beads import Bead, Similarity
from wholetext.alignment.segments import Sentences
from wholetext.alignment.similarity import Bag, Features, SimilarityTable, shared_words
from wholetext.alignment.vectors import sentence_vectors

SENTENCES = 1.5  # per paragraph and side on average: less is no paragraph structure


@dataclass(frozen=True)
class ParagraphMeasure:
    """The similarity for alignment: ``given``, or vectors unless ``name`` is "words"."""

    name: str
    given: Similarity | None = None

    def vectors(self, fixed: Sequence[str], free: Sequence[str]) -> Features | None:
        if self.given is not None or self.name in ("words", "lexicon"):
            return None
        return Features(sentence_vectors(fixed), sentence_vectors(free))

    def agreement(self, fixed: Sequence[str], free: Sequence[str]) -> float:
        """Return the mean similarity of segments, weighted by the length of ``free``."""
        alike = (
            SimilarityTable(self.given(fixed, free))
            if self.given
            else self.vectors(fixed, free) or shared_words(fixed, free)
        )
        similarities = [alike.together((at, at + 1), (at, at + 1)) for at in range(len(free))]
        return float(np.dot(similarities, list(map(len, free)))) / max(1, sum(map(len, free)))


def align_paragraphs(
    fixed: Sentences,
    free: Sentences,
    *,
    ratio: float,
    measure: ParagraphMeasure,
    translations: Sequence[Bag] | None = None,
) -> tuple[Bead, ...]:
    """Return beads of sentences, aligned within corresponding paragraphs if there are any.

    Leftovers are then looked for in the whole document.
    """
    vectors = measure.vectors(fixed.texts, free.texts)
    boxes = None
    if all(_has_paragraphs(side) for side in (fixed, free)) and measure.given is None:
        sums = vectors and Features(_sums(vectors.fixed, fixed), _sums(vectors.free, free))
        bags = None if translations is None else _bags(translations, fixed)
        beads = align(_joined(fixed), _joined(free), ratio=ratio, vectors=sums, translations=bags)
        boxes = [
            (_sentences(fixed, bead.fixed), _sentences(free, bead.free))
            for bead in beads
            if bead.linked
        ]
    return align(
        fixed.texts,
        free.texts,
        ratio=ratio,
        similarity=measure.given,
        vectors=vectors,
        translations=translations,
        boxes=boxes,
        lines=free.lines(),
    )


def _has_paragraphs(side: Sentences) -> bool:
    filled = len(set(side.owner))
    return filled > 1 and len(side.texts) >= SENTENCES * filled


def _joined(side: Sentences) -> list[str]:
    paragraphs = [list[str]() for _ in range(side.parts)]
    for text, at in zip(side.texts, side.owner):
        paragraphs[at].append(text)
    return [" ".join(texts) for texts in paragraphs]


def _bags(translations: Sequence[Bag], side: Sentences) -> list[Bag]:
    """Return the words of paragraphs."""
    bags: list[dict[str, float]] = [{} for _ in range(side.parts)]
    for bag, at in zip(translations, side.owner):
        for word, times in bag.items():
            bags[at][word] = bags[at].get(word, 0) + times
    return list(bags)


def _sums(rows: NDArray[np.float32], side: Sentences) -> NDArray[np.float32]:
    """Return (paragraphs, dims) sums of the vectors of their sentences."""
    sums = np.zeros((side.parts, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, list(side.owner), rows)
    return sums


def _sentences(side: Sentences, span: tuple[int, int]) -> slice:
    """Return the sentences of a stretch of paragraphs."""
    start, stop = np.searchsorted(side.owner, span)
    return slice(int(start), int(stop))
