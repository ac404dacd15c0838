"""Flag outputs that are not a translation of their source, where no reference shows it."""

from __future__ import annotations

import numpy as np

from wholetext.alignment.vectors import covered, encode, identity, sentence_vectors
from wholetext.flags.degenerate import Notes, SideBySide

COSINE = 0.15  # of sentence vectors; docs/degenerate.md has the rates
SHORTEST = 12  # characters of an output that is judged
MOST = 1000  # segments of a system that are judged, evenly spread: 3 ms each


def unrelated(texts: SideBySide) -> Notes:
    """Compare outputs with their sources in 16 languages, if the sentence vectors are installed."""
    if texts.src is None or not covered(*texts.langs) or not identity():
        return {}
    long = [at for at, text in enumerate(texts.hyp) if len(text) >= SHORTEST and texts.src[at]]
    if not long:
        return {}
    judged = long[:: -(-len(long) // MOST)]
    sources = sentence_vectors([texts.src[at] for at in judged])  # the same for all systems
    cosine = np.einsum("ij,ij->i", encode([texts.hyp[at] for at in judged]), sources)
    return {
        judged[i]: f"no relation to the source (cosine {cosine[i]:.2f})"
        for i in np.flatnonzero(cosine < COSINE)
    }
