"""Results of one output under one view, gathered block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wholetext.scoring.engine import Measured
from wholetext.types import Corpus, FloatArray, IntArray, Rows
from wholetext.views import Span

_SPANS = 4096  # rows that are gathered as Python values


class Gathered:
    """Statistics, lost tokens, details and places of rows, in the order of the documents."""

    def __init__(self) -> None:
        self._stats, self._lost, self._spans = list[FloatArray](), list[IntArray](), list[FloatArray]()
        self.cut = np.zeros(2, dtype=np.int64)  # rows that lost context, and scored text
        self._new: list[tuple[float, ...]] = []  # document, start, stop, weight of rows
        self._documents = self._rows = 0
        self._details: dict[int, dict[str, Any]] = {}

    def add_document(self, spans: Sequence[Span]) -> None:
        """The rows of the next document, measured or not."""
        self._new += [(self._documents, *span) for span in spans]
        self._documents += 1
        if len(self._new) >= _SPANS:
            self._flush()

    def add(self, measured: Measured, mine: IntArray) -> None:
        """Some of the requests that were measured, which are the next rows."""
        if not len(mine):
            return
        self._stats.append(measured.stats[mine])
        self._lost.append(measured.lost[mine])
        self.cut += (measured.lost[mine] > 0).sum(axis=0)
        self._details |= {self._rows + at: facts for at, i in enumerate(mine.tolist())
                          if (facts := measured.details[i]) is not None}
        self._rows += len(mine)

    @property
    def stats(self) -> FloatArray:
        """(rows, statistics) of all rows."""
        return np.concatenate(self._stats) if self._stats else np.zeros((0, 0))

    @property
    def lost(self) -> IntArray:
        """(rows, 2) lost tokens of all rows."""
        return np.concatenate(self._lost) if self._lost else np.zeros((0, 2), dtype=np.int64)

    @property
    def details(self) -> tuple[dict[str, Any] | None, ...]:
        """Of every row, or none where there are none."""
        return tuple(map(self._details.get, range(self._rows))) if self._details else ()

    def rows(self, corpus: Corpus, only: Mapping[str, NDArray[np.bool_]] | None, known: Sequence[Rows]) -> Rows:
        """Where the rows are; those of another system if they are the same ones."""
        self._flush()
        columns: FloatArray = np.concatenate(self._spans) if self._spans else np.zeros((0, 4))
        for rows in known:
            same = (rows.doc, rows.start, rows.stop, rows.weight)
            if len(rows) == len(columns) and all(map(np.array_equal, columns.T, same)):
                return rows
        unasked = None if only is None else ~np.concatenate([only[doc] for doc in corpus.ids])
        doc, start, stop = (columns[:, column].astype(np.int64) for column in range(3))
        return Rows(corpus.ids, corpus.sizes, doc, start, stop, columns[:, 3].copy(), unasked)

    def _flush(self) -> None:
        if self._new:
            self._spans.append(np.array(self._new, dtype=np.float64))
            self._new = []
