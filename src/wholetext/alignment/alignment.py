"""Alignment of sentences of an output to segments of a document, by length and similarity.

The cheapest path in order (`beads`) comes first; long texts are cut at anchors before it, so that
memory grows with their length. Leftovers of both sides are then aligned once more, and misplaced
sentences are exchanged (`leftovers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from wholetext.alignment.anchors import cut_at_anchors
from wholetext.alignment.beads import CELLS, Bead, Task
from wholetext.alignment.leftovers import absorbed, exchanged, gains_of_halves, with_moved
from wholetext.alignment.similarity import Bag, Features
from wholetext.alignment.vectors import encode


def align(
    fixed: Sequence[str],
    free: Sequence[str],
    *,
    ratio: float | None = None,
    vectors: Features | None = None,
    translations: Sequence[Bag] | None = None,
    lines: Sequence[int] | None = None,
) -> tuple[Bead, ...]:
    """Return the cheapest beads, in the order of ``fixed``; they cover both texts.

    ``ratio`` is the expected length of ``free`` per character of ``fixed`` (by default estimated
    from the two). ``vectors`` are the sentence vectors of both; ``translations`` are the words of
    ``fixed`` in the language of ``free``; ``lines`` are the lines of the sentences of ``free``.
    """
    task = Task(fixed, free, ratio, vectors, translations)
    whole = (slice(0, len(fixed)), slice(0, len(free)))
    boxes = cut_at_anchors(task.measures, whole, CELLS)
    beads = [bead for box in boxes for bead in task.path(*box)[0]]
    beads = with_moved(task, beads)
    if lines is None or vectors is None:
        return tuple(beads)
    gains = gains_of_halves(fixed, free, vectors, encode)
    beads = exchanged(task, absorbed(task, beads, lines, gains))
    return tuple(absorbed(task, beads, lines, gains))
