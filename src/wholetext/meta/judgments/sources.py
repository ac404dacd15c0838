"""Where an EvalSet keeps ratings by rater, and how each kind is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import InputError, count
from wholetext.io.formats import evalset
from wholetext.io.formats.scores import human_names, human_scores
from wholetext.meta.judgments.mqm import SeverityWeights, mqm_ratings, read_mqm, read_span_ratings
from wholetext.meta.judgments.ratings import (
    SCORES,
    Ratings,
    Segment,
    direct_assessments,
    gather,
    read_rater_table,
    segments_of,
    table_lines,
)
from wholetext.types import Judgments

Total = Literal["sum", "mean"]


@dataclass(frozen=True, eq=False)
class Source:
    """Ratings, how the sentences of a paragraph add up, and where they were found."""

    ratings: Ratings
    total: Total
    path: str
    note: str = ""


def corpus_segments(folder: str | Path, langs: str | None) -> tuple[Segment, ...]:
    """(document, position) of every segment of an EvalSet."""
    runs = evalset.documents(folder, langs)
    return segments_of([run.doc for run in runs for _ in range(run.start, run.stop)])


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Which human scores of which EvalSet are looked for."""

    folder: str | Path
    langs: str
    gold: str
    segments: tuple[Segment, ...]

    def released(self) -> Judgments | None:
        """The published score of each system's segments."""
        if (self.gold, "seg") not in human_names(self.folder, self.langs):
            return None
        return human_scores(self.folder, self.langs, self.gold, "seg")


def find_ratings(folder: str | Path, langs: str | None, gold: str) -> Source:
    """The ratings behind human scores of this name, by rater if known."""
    lp = evalset.language_pair(folder, langs)
    base = Path(folder) / "human-scores"
    wanted = _Wanted(folder, lp, gold, corpus_segments(folder, lp))
    path = _rater_file(base, lp, gold)
    if path is not None:
        found = _spans(path, wanted) if path.name.endswith(".rating") else _tabled(path, wanted)
        if path.name.startswith(f"{lp}.{gold}.") or gold in ("wmt-raw", "wmt-z", "da"):
            return found
        note = f"ratings of {gold} are those of {path.name}."
        return replace(found, note=f"{note} {found.note}".strip())
    judged = wanted.released()
    if judged is None:
        names = sorted({name for name, _ in human_names(folder, lp)})
        raise InputError(
            f"there are no ratings of segments called {gold!r}",
            where=str(base),
            next=f"there are {', '.join(names) or 'none'}",
        )
    rows = [
        (system, wanted.segments[item], "unknown", float(values[item]))
        for system, values in zip(judged.systems, judged.values)
        for item in np.flatnonzero(~np.isnan(values))
    ]
    ratings = gather(gold, rows, wanted.segments)
    return Source(
        ratings,
        _total(gold, ratings),
        f"{lp}.{gold}.seg.score",
        "the file has no rater ids: all ratings count as one rater's",
    )


def _rater_file(base: Path, lp: str, gold: str) -> Path | None:
    """The file of this gold, else of what its name begins with (``wmt`` for ``wmt-raw``)."""
    names = [gold, *(gold[:i] for i in reversed(range(len(gold))) if gold[i] in "-.")]
    for name in dict.fromkeys([*names, *(["wmt"] if gold == "da" else [])]):
        for ending in (
            "raters.tsv",
            "ratings.tsv",
            "raters.tsv.gz",
            "ratings.tsv.gz",
            "seg.rating",
        ):
            if (base / f"{lp}.{name}.{ending}").is_file():
                return base / f"{lp}.{name}.{ending}"
    return None


def raw_mqm(path: str | Path, weights: SeverityWeights | None = None) -> Source:
    """Ratings from a TSV of MQM annotations, with the documents and positions of that file."""
    return Source(mqm_ratings(read_mqm(path), weights), "sum", str(path))


def _total(gold: str, found: Ratings) -> Total:
    """Penalties (MQM: none is above 0) are summed over a paragraph, scores on a scale averaged."""
    return "sum" if not gold.startswith("esa") and bool((found.score <= 0).all()) else "mean"


def _tabled(path: Path, wanted: _Wanted) -> Source:
    """A table with a header: direct assessments, or scores under any of the usual names."""
    direct = {"raw", "type"} <= set(next(table_lines(path))[1])
    table = read_rater_table(path, wanted.segments, ("raw",) if direct else SCORES)
    if not table.rows:
        raise InputError("there are no ratings in this table", where=str(path))
    notes = [f"{count(table.unscored, 'line', 'have')} no score"] if table.unscored else []
    if direct:
        raw, z = direct_assessments(table, wanted.segments)
        return Source(
            raw if wanted.gold.endswith("raw") else z, "mean", str(path), "; ".join(notes)
        )
    found = gather(wanted.gold, table.rows, wanted.segments)
    released = wanted.released()
    if table.rebuilt and released is not None:
        found, rest = _released(found, released)
        notes += (
            [f"{count(rest, 'rating', 'have')} only a score computed from severities"]
            if rest
            else []
        )
    return Source(found, _total(wanted.gold, found), str(path), "; ".join(notes))


def _released(found: Ratings, released: Judgments) -> tuple[Ratings, int]:
    """Released scores instead of rebuilt ones where one person rated; how many are left."""
    index = np.array(
        [released.systems.index(s) if s in released.systems else -1 for s in found.systems]
    )
    raters = np.zeros((len(found.systems), len(found.segments)))
    np.add.at(raters, (found.system, found.item), 1.0)
    exact = released.values[index[found.system], found.item]
    use = (index[found.system] >= 0) & (raters[found.system, found.item] == 1) & ~np.isnan(exact)
    return replace(found, score=np.where(use, exact, found.score)), int((~use).sum())


def _spans(path: Path, wanted: _Wanted) -> Source:
    """Errors as JSON: MQM by their penalties; ESA by the overall or the released score."""
    rated = read_span_ratings(path, wanted.segments)
    if not wanted.gold.startswith("esa"):
        rows = [(one.system, one.segment, one.rater, 0.0 - one.penalty) for one in rated]
        return Source(gather(wanted.gold, rows, wanted.segments), "sum", str(path))
    rows = [
        (one.system, one.segment, one.rater, one.overall)
        for one in rated
        if one.overall is not None
    ]
    note = ""
    if len(rows) < len(rated):
        released = human_scores(wanted.folder, wanted.langs, wanted.gold, "seg")
        item = {segment: i for i, segment in enumerate(wanted.segments)}
        known = dict(zip(released.systems, released.values))
        every = [
            (one.system, one.segment, one.rater, float(known[one.system][item[one.segment]]))
            for one in rated
            if one.system in known
        ]
        rows = [row for row in every if not np.isnan(row[3])]
        note = "ratings have no overall score: the segment's released score is used instead"
    return Source(gather(wanted.gold, rows, wanted.segments), "mean", str(path), note)
