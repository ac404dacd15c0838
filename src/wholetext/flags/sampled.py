"""Which documents flags and checks of the input look at: all of them, or a sample of a corpus larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wholetext.files.text_store import Stored
from wholetext.types import Corpus, Output

SEGMENTS, STRETCHES = 50_000, 50  # looked at, in so many stretches of documents that follow one another


def sampled(corpus: Corpus, outputs: Sequence[Output]) -> tuple[Corpus, Sequence[Output], str]:
    """Documents and outputs to look at, in memory, and a note where these are not all."""
    if not isinstance(corpus.docs, Stored):
        return corpus, outputs, ""
    each = max(1, round(SEGMENTS / STRETCHES / max(1.0, float(corpus.sizes.mean()))))  # documents of a stretch
    begins = np.linspace(0, max(0, len(corpus) - each), STRETCHES).astype(int).tolist()
    chosen = sorted({at for begin in begins for at in range(begin, min(begin + each, len(corpus)))})
    docs = tuple(corpus.docs[at] for at in chosen)
    some = [replace(output, docs={doc.id: output.docs[doc.id] for doc in docs}) for output in outputs]
    note = (f"flags and checks of the input looked at a sample of {len(chosen):,} of {len(corpus):,} documents, "
            "because the texts are read from disk")
    return replace(corpus, docs=docs), some, note if len(chosen) < len(corpus) else ""
