"""Which sentences of an output go with which segments of a document: alignment by length and similarity.

The cheapest path in order (`beads`) comes first; long texts are cut at anchors before it, so that memory grows with
their length. What the path leaves over on both sides is then aligned once more (`leftovers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from wholetext.alignment.anchors import Box, cut_at_anchors
from wholetext.alignment.beads import Bead, Similarity, Task
from wholetext.alignment.leftovers import absorbed, with_moved
from wholetext.alignment.similarity import Features

CELLS = 160_000  # of a box of sentences that is aligned at once


def align(fixed: Sequence[str], free: Sequence[str], *, ratio: float | None = None,
          similarity: Similarity | None = None, vectors: Features | None = None,
          boxes: Sequence[Box] | None = None, lines: Sequence[int] | None = None) -> tuple[Bead, ...]:  # fmt: skip
    """The cheapest beads, in the order of ``fixed``; together they cover both texts.

    ``ratio`` is the expected length of ``free`` per character of ``fixed`` (estimated from the two unless given).
    ``vectors`` are the sentence vectors of both; ``similarity`` stands in for vectors and shared words. ``boxes`` are
    parts of both texts that are known to correspond; ``lines`` say which line each sentence of ``free`` stands in.
    """
    task = Task(fixed, free, ratio, similarity, vectors)
    whole = (slice(0, len(fixed)), slice(0, len(free)))
    smaller = [part for box in boxes or [whole] for part in cut_at_anchors(task.measures, box, CELLS)]
    beads = [bead for box in smaller for bead in task.path(*box)[0]]
    beads = with_moved(task, beads)
    return tuple(absorbed(task, beads, lines) if lines and vectors is not None else beads)
