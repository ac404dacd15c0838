"""Token lengths of rated paragraphs (Deutsch et al. 2023, Tables 1 and 4, Figures 2 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.io.assembly import Loaded
from wholetext.meta.paragraphs import RatedParagraph
from wholetext.text import joiner as joiner_of
from wholetext.types import IntArray
from wholetext.views import Joiner

LIMIT = 1024  # tokens of output and reference that the paper's metrics read


@dataclass(frozen=True, eq=False)
class TokenLengths:
    """Tokens of each paragraph: of the output, and of output and reference together."""

    outputs: IntArray  # (paragraphs,)
    combined: IntArray

    def quartiles(self) -> tuple[float, float, float]:
        """25th, 50th and 75th percentile of the outputs."""
        low, middle, high = np.percentile(self.outputs, (25, 50, 75)).tolist()
        return low, middle, high

    def over(self, limit: int = LIMIT) -> int:
        """Paragraphs that are cut because output and reference do not fit together."""
        return int((self.combined > limit).sum())


def token_lengths(
    loaded: Loaded,
    rated: Sequence[RatedParagraph],
    counter: Callable[[str], int],
    joiner: Joiner = "auto",
) -> TokenLengths:
    """Count the tokens of paragraphs; without a reference, the combined length is the output's."""
    glue = joiner_of(loaded.corpus.langs[1], joiner)
    docs = {doc.id: doc for doc in loaded.corpus.docs}
    outputs = {output.system: output.docs for output in loaded.outputs}
    known: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in known:
            known[text] = counter(text)
        return known[text]

    lengths = []
    for paragraph in rated:
        span = slice(paragraph.start, paragraph.start + paragraph.k)
        reference = next(iter(docs[paragraph.doc].refs.values()), ())[span]
        length = count(glue.join(outputs[paragraph.system][paragraph.doc][span]))
        lengths.append((length, length + count(glue.join(reference))))
    table = np.array(lengths, dtype=np.int64).reshape(-1, 2)
    return TokenLengths(table[:, 0], table[:, 1])
