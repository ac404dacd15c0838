"""Alignment of sentences of an output to segments of a document, by length and similarity.

The cheapest path in order (`beads`) comes first; long texts are cut at anchors before it, so that
memory grows with their length. Leftovers of both sides are then aligned once more (`leftovers`),
and misplaced sentences are exchanged (`exchanges`).
"""

from __future__ import annotations

from collections.abc import Sequence

from wholetext.alignment.anchors import Box, cut_at_anchors
from wholetext.alignment.beads import CELLS, AlignmentTask, Bead, Similarity
from wholetext.alignment.exchanges import exchanged
from wholetext.alignment.leftovers import absorbed, gains_of_halves, with_moved
from wholetext.alignment.similarity import Bag, Features
from wholetext.alignment.vectors import encode


def align(
    fixed: Sequence[str],
    free: Sequence[str],
    *,
    ratio: float | None = None,
    similarity: Similarity | None = None,
    vectors: Features | None = None,
    translations: Sequence[Bag] | None = None,
    boxes: Sequence[Box] | None = None,
    lines: Sequence[int] | None = None,
) -> tuple[Bead, ...]:
    """Return the cheapest beads, in the order of ``fixed``; they cover both texts.

    ``ratio`` is the expected length of ``free`` per character of ``fixed`` (by default estimated
    from the two). ``vectors`` are the sentence vectors of both; ``translations`` are the words of
    ``fixed`` in the language of ``free``; ``similarity`` replaces vectors and words. ``boxes`` are
    parts of both texts that are known to correspond; ``lines`` are the lines of the sentences of
    ``free``.
    """
    task = AlignmentTask(fixed, free, ratio, similarity, vectors, translations)
    whole = (slice(0, len(fixed)), slice(0, len(free)))
    smaller = [
        part for box in boxes or [whole] for part in cut_at_anchors(task.measures, box, CELLS)
    ]
    beads = [bead for box in smaller for bead in task.path(*box)[0]]
    beads = with_moved(task, beads)
    if lines is None or vectors is None:
        return tuple(beads)
    gains = gains_of_halves(fixed, free, vectors, encode)
    beads = exchanged(task, absorbed(task, beads, lines, gains))
    return tuple(absorbed(task, beads, lines, gains))
