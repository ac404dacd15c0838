"""Ratings: who gave which score to which segment of which system. Averages, standardisation, and tables by rater."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wholetext.errors import InputError, did_you_mean
from wholetext.files.parsing import integer
from wholetext.files.parsing import number as parse_number
from wholetext.io.text import FilePath, at, opened
from wholetext.types import FloatArray, IntArray, Judgments

Segment = tuple[str, int]  # document, position in it from 0
Rated = tuple[str, Segment, str, float]  # system, segment, rater, score


@dataclass(frozen=True, eq=False)
class Ratings:
    """Scores by column; several raters may have scored the same segment, and none may have scored others."""

    scheme: str  # mqm, da, esa …
    systems: tuple[str, ...]
    raters: tuple[str, ...]
    segments: tuple[Segment, ...]  # in the order of the corpus
    system: IntArray  # (ratings,) index into systems
    item: IntArray  # (ratings,) index into segments
    rater: IntArray  # (ratings,) index into raters
    score: FloatArray  # (ratings,)
    higher_is_better: bool = True

    def __len__(self) -> int:
        return len(self.score)

    def judgments(self) -> Judgments:
        """The mean over raters of each system's segments; NaN if there are no ratings."""
        shape = (len(self.systems), len(self.segments))
        total, count = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (self.system, self.item), self.score)
        np.add.at(count, (self.system, self.item), 1.0)
        with np.errstate(invalid="ignore"):
            values = total / count
        return Judgments(self.scheme, "seg", self.systems, values, (), self.higher_is_better)

    def by_rater(self) -> FloatArray:
        """(raters, systems, segments); the mean where a rater scored the same thing twice, NaN where not at all."""
        shape = (len(self.raters), len(self.systems), len(self.segments))
        total, count = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (self.rater, self.system, self.item), self.score)
        np.add.at(count, (self.rater, self.system, self.item), 1.0)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count)

    def standardised(self, ddof: int = 1) -> Ratings:
        """Each rater's scores minus their mean, over their standard deviation (0 where that is 0), as WMT does for DA.
        """
        count = np.bincount(self.rater, minlength=len(self.raters))
        mean = np.bincount(self.rater, self.score, len(self.raters)) / np.maximum(count, 1)
        centred = self.score - mean[self.rater]
        squares = np.bincount(self.rater, centred**2, len(self.raters))
        spread = np.sqrt(squares / np.maximum(count - ddof, 1))[self.rater]
        with np.errstate(invalid="ignore", divide="ignore"):
            return replace(self, scheme=f"{self.scheme}-z", score=np.where(spread > 0, centred / spread, 0.0))


def gather(scheme: str, rows: Iterable[Rated], segments: Sequence[Segment] = ()) -> Ratings:
    """Ratings from rows. ``segments`` are those of the corpus; without them, those rated, document by document."""
    table = list(rows)
    systems, raters = tuple(dict.fromkeys(row[0] for row in table)), tuple(dict.fromkeys(row[2] for row in table))
    if not segments:
        docs = {doc: i for i, doc in enumerate(dict.fromkeys(row[1][0] for row in table))}
        segments = sorted({row[1] for row in table}, key=lambda segment: (docs[segment[0]], segment[1]))
    place = {segment: i for i, segment in enumerate(segments)}
    unknown = next((row[1] for row in table if row[1] not in place), None)
    if unknown is not None:
        raise InputError(f"segment {unknown[1] + 1} of document {unknown[0]!r} is rated, and is not in the corpus",
                         next="check that the ratings belong to this corpus")
    by_system, by_rater = ({name: i for i, name in enumerate(names)} for names in (systems, raters))
    return Ratings(
        scheme, systems, raters, tuple(segments),
        system=np.array([by_system[row[0]] for row in table], dtype=np.int64),
        item=np.array([place[row[1]] for row in table], dtype=np.int64),
        rater=np.array([by_rater[row[2]] for row in table], dtype=np.int64),
        score=np.array([row[3] for row in table], dtype=np.float64),
    )


def segments_of(docs: Sequence[str]) -> tuple[Segment, ...]:
    """Document of each line → (document, position in it) of each line."""
    seen: dict[str, int] = {}
    out = []
    for doc in docs:
        out.append((doc, seen.get(doc, 0)))
        seen[doc] = seen.get(doc, 0) + 1
    return tuple(out)


def read_ratings(path: FilePath, scheme: str, segments: Sequence[Segment], column: str = "score") -> Ratings:
    """A table with a header line: ``system``, ``seg`` (line of the corpus from 0), ``rater``, and the score's column.
    """
    return gather(scheme, _table(path, segments, column)[0], segments)


def read_da(
    path: FilePath, segments: Sequence[Segment], kinds: Sequence[str] = ("SYSTEM", "REPEAT"), ddof: int = 1
) -> tuple[Ratings, Ratings]:
    """Direct assessments (columns ``raw`` and ``type``): raw scores, and the same standardised by rater.

    A rater's mean and deviation are over everything they scored, quality controls (REF, BAD_REF) too; the controls are
    then left out. This gives the z-scores that WMT released.
    """
    rows, types = _table(path, segments, "raw", "type")
    every = gather("da", rows, segments)
    kept = np.isin(np.array(types), kinds)
    raw, z = (replace(one, system=one.system[kept], item=one.item[kept], rater=one.rater[kept], score=one.score[kept])
              for one in (every, every.standardised(ddof)))
    return raw, z


def _table(
    path: FilePath, segments: Sequence[Segment], column: str, further: str = ""
) -> tuple[list[Rated], list[str]]:
    """The rows of a table, and what they have in a further column."""
    with opened(path) as file:
        lines = enumerate(file.lines(), 1)
        header = next(lines, (0, ""))[1].split("\t")
        needed = ["system", "seg", "rater", column, *([further] if further else [])]
        for name in needed:
            if name not in header:
                raise InputError(f"there is no column {name!r}", where=file.name,
                                 next=did_you_mean(name, header) or f"the columns are {', '.join(header)}")
        places = [header.index(name) for name in needed]
        rows: list[Rated] = []
        more: list[str] = []
        for number, line in lines:
            cells = line.split("\t")
            if len(cells) != len(header):
                raise InputError(f"this line has {len(cells)} columns, the header has {len(header)}",
                                 where=at(file.name, number))
            system, seg, rater, score, *rest = (cells[place] for place in places)
            segment = segments[_line(seg, len(segments), at(file.name, number))]
            rows.append((system, segment, rater, parse_number(score, what="a score", where=at(file.name, number))))
            more += rest
    return rows, more


def _line(text: str, size: int, where: str) -> int:
    return integer(text, what=f"a segment of this corpus, which has {size}", low=0, high=size - 1, where=where)
