"""Ratings: who gave which score to which segment of which system; means, z-scores, agreement.

Tables differ between MQM, ESA and direct assessment: the score is called ``score``, ``sev_score``
(rebuilt from severities), ``esa``, ``mqm`` or ``raw``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

import numpy as np

from wholetext.errors import InputError, count
from wholetext.files.parsing import integer, number
from wholetext.io.text import FilePath, at, opened, shown
from wholetext.meta.agreement.correlation import BoolArray, both_known, count_pairs, pearson_rows
from wholetext.types import FloatArray, IntArray, Judgments

Segment = tuple[str, int]  # document, position in it from 0
Rated = tuple[str, Segment, str, float]  # system, segment, rater, score
Measurement = Literal["nominal", "ordinal", "interval", "ratio"]

SCORES = ("score", "sev_score", "esa", "mqm", "raw")  # columns; the first that has one counts
_NOTHING = ("", "None", "nan", "NaN", "NA")
_JUDGED = ("SYSTEM", "REPEAT")  # types of direct assessments other than quality controls


@dataclass(frozen=True, eq=False)
class Ratings:
    """Scores by column; a segment may have several raters, or none."""

    scheme: str  # mqm, da, esa …
    systems: tuple[str, ...]
    raters: tuple[str, ...]
    segments: tuple[Segment, ...]  # in the order of the corpus
    system: IntArray  # (ratings,) index into systems
    item: IntArray  # (ratings,) index into segments
    rater: IntArray  # (ratings,) index into raters
    score: FloatArray  # (ratings,)

    def __len__(self) -> int:
        return len(self.score)

    def take(self, kept: BoolArray) -> Ratings:
        """The ratings where ``kept``, (ratings,), is true."""
        return replace(
            self,
            system=self.system[kept],
            item=self.item[kept],
            rater=self.rater[kept],
            score=self.score[kept],
        )

    def judgments(self) -> Judgments:
        """The mean over raters of each system's segments; NaN if there are no ratings."""
        values = mean_table(
            self.score, (self.system, self.item), (len(self.systems), len(self.segments))
        )
        return Judgments(self.scheme, "seg", self.systems, values)

    def by_rater(self) -> FloatArray:
        """(raters, systems, segments): means of repeated ratings; NaN = not rated."""
        shape = (len(self.raters), len(self.systems), len(self.segments))
        return mean_table(self.score, (self.rater, self.system, self.item), shape)

    def standardised(self, ddof: int = 1) -> Ratings:
        """Each rater's scores minus their mean, over their standard deviation, as for WMT's DA."""
        count = np.bincount(self.rater, minlength=len(self.raters))
        mean = np.bincount(self.rater, self.score, len(self.raters)) / np.maximum(count, 1)
        centred = self.score - mean[self.rater]
        squares = np.bincount(self.rater, centred**2, len(self.raters))
        spread = np.sqrt(squares / np.maximum(count - ddof, 1))[self.rater]
        with np.errstate(invalid="ignore", divide="ignore"):
            return replace(
                self, scheme=f"{self.scheme}-z", score=np.where(spread > 0, centred / spread, 0.0)
            )


def mean_table(
    values: FloatArray, places: tuple[IntArray, ...], shape: tuple[int, ...]
) -> FloatArray:
    """The mean of the values at each place of a table; NaN where there are none."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, places, values)
    np.add.at(count, places, 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count)


def gather(scheme: str, rows: Iterable[Rated], segments: Sequence[Segment] = ()) -> Ratings:
    """Ratings from rows. Without ``segments`` (those of the corpus), those that are rated."""
    table = list(rows)
    systems = tuple(dict.fromkeys(row[0] for row in table))
    raters = tuple(dict.fromkeys(row[2] for row in table))
    if not segments:
        docs = {doc: i for i, doc in enumerate(dict.fromkeys(row[1][0] for row in table))}
        segments = sorted(
            {row[1] for row in table}, key=lambda segment: (docs[segment[0]], segment[1])
        )
    place = {segment: i for i, segment in enumerate(segments)}
    unknown = next((row[1] for row in table if row[1] not in place), None)
    if unknown is not None:
        raise InputError(
            f"segment {unknown[1] + 1} of document {unknown[0]!r} is rated, and is not in the "
            "corpus",
            next="check that the ratings belong to this corpus",
        )
    by_system, by_rater = ({name: i for i, name in enumerate(names)} for names in (systems, raters))
    return Ratings(
        scheme,
        systems,
        raters,
        tuple(segments),
        system=np.array([by_system[row[0]] for row in table], dtype=np.int64),
        item=np.array([place[row[1]] for row in table], dtype=np.int64),
        rater=np.array([by_rater[row[2]] for row in table], dtype=np.int64),
        score=np.array([row[3] for row in table], dtype=np.float64),
    )


@dataclass
class RaterTable:
    """The ratings of a table, with counts of missing and rebuilt scores."""

    rows: list[Rated] = field(default_factory=list)
    types: list[str] = field(default_factory=list)  # of each row of direct assessments
    unscored: int = 0  # lines without a score
    rebuilt: int = 0  # lines whose score was rebuilt from severities because there is no other


def table_rows(path: FilePath, required: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """(place, column → cell) of each line of a TSV that is not blank; quotes have no meaning."""
    with opened(path) as file:
        lines = enumerate(file.lines(), 1)
        header = next(lines, (1, ""))[1].split("\t")
        missing = [column for column in required if column not in header]
        if missing:
            raise InputError(
                f"there is no column {missing[0]!r}",
                where=shown(path),
                next=f"the table should have {', '.join(required)}; it has {', '.join(header)}",
            )
        for place, line in lines:
            cells = line.split("\t")
            if line.strip() and len(cells) != len(header):
                raise InputError(
                    f"this line has {count(len(cells), 'column')}, the header has {len(header)}",
                    where=at(file.name, place),
                )
            if line.strip():
                yield at(file.name, place), dict(zip(header, cells))


def read_rater_table(path: FilePath, segments: Sequence[Segment]) -> RaterTable:
    """Every rating of a table; several by one rater of one segment are kept."""
    table = RaterTable()
    for where, row in table_rows(path, ("system", "seg")):
        columns = [name for name in SCORES if name in row]
        column = next((name for name in columns if row[name].strip() not in _NOTHING), None)
        if not columns:
            raise InputError(
                "there is no column 'score'", where=where, next=f"write one of {', '.join(SCORES)}"
            )
        if column is None:
            table.unscored += 1
            continue
        table.rebuilt += column == "sev_score"
        line = integer(
            row["seg"],
            what="a segment of this corpus",
            low=0,
            high=len(segments) - 1,
            where=where,
            next=f"segments are lines of the corpus from 0; it has {len(segments)}",
        )
        score = number(row[column], what="a score", where=where, next="a rating is a finite number")
        rater = row.get("rater", "").strip() or "unknown"
        table.rows.append((row["system"].strip(), segments[line], rater, score))
        table.types += [row["type"]] if "type" in row and "raw" in row else []
    return table


def direct_assessments(table: RaterTable, segments: Sequence[Segment]) -> tuple[Ratings, Ratings]:
    """Raw scores of a table with a column ``type``, and the same standardised by rater.

    Quality controls (REF, BAD_REF) count for a rater's mean and deviation, and are then left out.
    This gives the z-scores that WMT released.
    """
    every = gather("da", table.rows, segments)
    kept = np.isin(np.array(table.types), _JUDGED)
    return every.take(kept), every.standardised().take(kept)


# ---------------------------------------------------------------- do raters agree with one another?


def cohen_kappa(x: FloatArray, y: FloatArray) -> float:
    """Cohen's kappa (1960) of two raters over the items both rated; NaN where it is undefined."""
    known = both_known(x, y)
    x, y = x[known], y[known]
    labels = np.unique(np.concatenate([x, y]))[:, None]
    shares = [(side == labels).mean(axis=1) for side in (x, y)] if known.any() else [x, y]
    expected = 1 - float(shares[0] @ shares[1])
    defined = known.any() and expected > 0
    return 1 - float((x != y).mean()) / expected if defined else float("nan")


def krippendorff_alpha(values: FloatArray, scale: Measurement = "interval") -> float:
    """Krippendorff's alpha (2011, "Computing …") of (raters, items); NaN = not rated."""
    values = values[
        :, (~np.isnan(values)).sum(axis=0) >= 2
    ].T  # items with a single rater show no agreement
    item = np.nonzero(~np.isnan(values))[0]  # (ratings,) in ascending order
    size = np.bincount(item)[item]
    labels, codes, margin = np.unique(
        values[~np.isnan(values)], return_inverse=True, return_counts=True
    )
    if scale == "ordinal":  # number of ratings in between, the ends counted half
        labels = np.cumsum(margin) - margin / 2
    score = labels[codes]
    observed = expected = 0.0
    for lag in range(1, int(size.max(initial=0))):  # each pair of ratings of an item, twice
        same = item[lag:] == item[:-lag]
        gaps = _distance(score[lag:][same], score[:-lag][same], scale)
        observed += 2 * float((gaps / (size[lag:][same] - 1)).sum())
    for label, frequency in zip(labels, margin):
        expected += float(frequency * (margin @ _distance(label, labels, scale)))
    return 1 - observed * (len(score) - 1) / expected if expected > 0 else float("nan")


def _distance(x: FloatArray, y: FloatArray, scale: Measurement) -> FloatArray:
    gap = x - y
    if scale == "nominal":
        return np.asarray(gap != 0, dtype=np.float64)
    if scale == "ratio":
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(x + y != 0, (gap / (x + y)) ** 2, 0.0)
    return np.asarray(gap**2)


@dataclass(frozen=True)
class RaterPair:
    """Two raters on what both rated; pairs are pairs of outputs of the same segment."""

    first: str
    second: str
    items: int
    pearson: float
    kappa: float
    pairs: int
    pair_agreement: float  # share of pairs ordered alike, ties included


def rater_pairs(ratings: Ratings) -> list[RaterPair]:
    """Every two raters with at least two items in common."""
    table = ratings.by_rater()  # (raters, systems, segments)
    pairs = []
    for i, j in combinations(range(len(ratings.raters)), 2):
        first, second = table[i], table[j]
        items = int(both_known(first, second).sum())
        if items < 2:
            continue
        counts = count_pairs(np.ascontiguousarray(first.T), np.ascontiguousarray(second.T))
        right, total = int((counts.concordant + counts.ties_both).sum()), int(counts.total.sum())
        pairs.append(
            RaterPair(
                ratings.raters[i],
                ratings.raters[j],
                items,
                float(pearson_rows(first.ravel(), second.ravel())),
                cohen_kappa(first.ravel(), second.ravel()),
                total,
                right / total if total else float("nan"),
            )
        )
    return pairs


def reliability(ratings: Ratings, scale: Measurement = "interval") -> float:
    """Krippendorff's alpha over all systems' segments."""
    table = ratings.by_rater()
    return (
        krippendorff_alpha(table.reshape(len(table), table[0].size), scale)
        if len(table)
        else float("nan")
    )
