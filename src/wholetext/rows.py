"""What is scored and where it belongs: excerpts, requests, rows; import them from wholetext.types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from wholetext.errors import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
else:  # annotations are never evaluated for arrays, and numpy.typing costs a tenth of the start-up
    FloatArray = IntArray = np.ndarray


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text: ``parts[focus]`` is scored, the rest is context; ``glue`` joins parts."""

    parts: tuple[str, ...]
    focus: tuple[int, int]
    glue: str = " "

    @property
    def scored(self) -> tuple[str, ...]:
        return self.parts[self.focus[0] : self.focus[1]]

    @property
    def before(self) -> tuple[str, ...]:
        return self.parts[: self.focus[0]]

    @property
    def after(self) -> tuple[str, ...]:
        return self.parts[self.focus[1] :]

    @property
    def text(self) -> str:
        """The scored segments as one string, without context."""
        return self.glue.join(self.scored)

    def __reduce__(self) -> tuple[Any, ...]:  # several times as fast as what dataclasses do
        return Excerpt, (self.parts, self.focus, self.glue)


@dataclass(frozen=True, slots=True)
class Request:
    """What one number is computed from. Equal requests get equal scores.

    ``hyp`` holds one view, or one per reference where the hypothesis borrows each reference's
    context.
    """

    hyp: tuple[Excerpt, ...]
    src: Excerpt | None = None
    refs: tuple[Excerpt, ...] = ()

    def pairs(self) -> Iterator[tuple[Excerpt, Excerpt]]:
        """(hypothesis view, reference view) for each reference."""
        hyps = self.hyp if len(self.hyp) == len(self.refs) else self.hyp[:1] * len(self.refs)
        return zip(hyps, self.refs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Request, (self.hyp, self.src, self.refs)


@dataclass(frozen=True, slots=True)
class Row:
    """Where a number belongs: segments ``start:stop`` of a document, and its weight in averages."""

    doc: str
    start: int
    stop: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Row]):
    """All rows of a corpus under one view, by column, in the order of its documents."""

    docs: tuple[str, ...]  # document ids
    sizes: IntArray  # (docs,) segments per document
    doc: IntArray  # (rows,) index into docs
    start: IntArray  # (rows,)
    stop: IntArray  # (rows,)
    weight: FloatArray  # (rows,)
    unrequested: NDArray[np.bool_] | None = None  # (segments,) not to be scored

    def __len__(self) -> int:
        return len(self.doc)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        return Row(
            self.docs[int(self.doc[at])],
            int(self.start[at]),
            int(self.stop[at]),
            float(self.weight[at]),
        )

    def __repr__(self) -> str:
        return f"<{count(len(self), 'row')} of {count(self.segments, 'segment')}, {count(len(self.docs), 'document')}>"

    def of(self, doc: int) -> slice:
        """The rows of the ``doc``-th document."""
        return slice(
            int(np.searchsorted(self.doc, doc, "left")),
            int(np.searchsorted(self.doc, doc, "right")),
        )

    @property
    def segments(self) -> int:
        return int(self.sizes.sum())

    @property
    def covered(self) -> NDArray[np.bool_]:
        """(segments,) whether a row covers the segment or it was not requested; others were dropped."""
        covered = self.coverage() > 0
        return np.asarray(covered if self.unrequested is None else covered | self.unrequested)

    def coverage(self, values: FloatArray | None = None) -> FloatArray:
        """(segments,) sum of ``values`` (ones by default) over the rows that cover a segment."""
        offset = np.concatenate([[0], np.cumsum(self.sizes)])[self.doc]  # (rows,)
        edge = np.zeros(self.segments + 1)
        add = np.ones(len(self)) if values is None else values
        np.add.at(edge, offset + self.start, add)
        if np.all(self.stop - self.start == 1):  # the common case, and exact: no cancellation
            return edge[:-1]
        np.add.at(edge, offset + self.stop, -add)
        return np.cumsum(edge)[:-1]

    def by_segment(self, table: FloatArray) -> FloatArray:
        """(segments, outputs) the mean over the rows that cover a segment and have a score."""
        means = np.zeros((self.segments, table.shape[1]))
        for j, column in enumerate(table.T):
            count = self.coverage((~np.isnan(column)).astype(float))
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = self.coverage(np.where(np.isnan(column), 0.0, column)) / np.round(count)
            means[:, j] = np.where(count > 0.5, mean, np.nan)
        return means

    def places(self, level: str) -> dict[str, Any]:
        """Columns that locate the items of a level: document, and rows or segments in it."""
        names = np.array(self.docs, dtype=object)
        if level == "row":
            return {
                "doc": names[self.doc],
                "start": self.start,
                "stop": self.stop,
                "weight": self.weight,
            }
        if level == "segment":
            inside = [np.arange(size) for size in self.sizes] or [np.zeros(0, dtype=np.int64)]
            return {"doc": np.repeat(names, self.sizes), "segment": np.concatenate(inside)}
        return {"doc": names} if level == "doc" else {}


@dataclass(frozen=True)
class Nulls:
    """Omissions and additions in one document of an output, and how scores treat them.

    ``count``: as text like any other (left-out segments are empty, added text is part of a
    segment); ``worst``: each scores the metric's worst and stays in the mean; ``drop``: it is left
    out of the mean.
    """

    POLICIES: ClassVar = ("count", "worst", "drop")

    omitted: tuple[int, ...] = ()  # segments that nothing translates
    added: tuple[
        tuple[int, int, str], ...
    ] = ()  # segment, how many sentences it has more, its text without them
    policy: Literal["count", "worst", "drop"] = "count"

    def without_additions(self, segments: Sequence[str]) -> tuple[str, ...]:
        """The segments of the document without the sentences that translate nothing."""
        rest = {at: text for at, _, text in self.added}
        return tuple(rest.get(at, segment) for at, segment in enumerate(segments))
