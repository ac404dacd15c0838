"""Where an EvalSet keeps ratings by rater, and how each kind is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import InputError, count
from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.judgments.mqm import SeverityWeights, mqm_ratings, read_mqm, read_span_ratings
from wholetext.meta.judgments.ratings import (
    Ratings,
    Segment,
    direct_assessments,
    gather,
    read_rater_table,
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


def corpus_segments(evalset: EvalSet) -> tuple[Segment, ...]:
    """(document, position) of every segment of an EvalSet."""
    return tuple(
        (run.doc, place) for run in evalset.documents for place in range(run.stop - run.start)
    )


def find_ratings(evalset: EvalSet, gold: str) -> Source:
    """Find the ratings behind human scores of this name, by rater if known."""
    lp, segments = evalset.langs, corpus_segments(evalset)
    released = evalset.human(gold, "seg") if (gold, "seg") in evalset.human_names else None
    path = _rater_file(evalset, gold)
    if path is not None:
        read = _span_ratings if path.name.endswith(".rating") else _tabled_ratings
        source = read(path, gold, segments, released)
        if path.name.startswith(f"{lp}.{gold}.") or gold in ("wmt-raw", "wmt-z", "da"):
            return source
        note = f"ratings of {gold} are those of {path.name}."
        return replace(source, note=f"{note} {source.note}".strip())
    if released is None:
        names = sorted({name for name, _ in evalset.human_names})
        raise InputError(
            f"there are no ratings of segments called {gold!r}",
            where=str(evalset.root / "human-scores"),
            next=f"there are {', '.join(names) or 'none'}",
        )
    rows = [
        (system, segments[item], "unknown", float(values[item]))
        for system, values in zip(released.systems, released.values)
        for item in np.flatnonzero(~np.isnan(values))
    ]
    ratings = gather(gold, rows, segments)
    return Source(
        ratings,
        _total(gold, ratings),
        f"{lp}.{gold}.seg.score",
        "the file has no rater ids: all ratings count as one rater's",
    )


def _rater_file(evalset: EvalSet, gold: str) -> Path | None:
    """The file of this gold, else of what its name begins with (``wmt`` for ``wmt-raw``)."""
    names = [gold, *(gold[:i] for i in reversed(range(len(gold))) if gold[i] in "-.")]
    endings = ("raters.tsv", "ratings.tsv", "raters.tsv.gz", "ratings.tsv.gz", "seg.rating")
    files = (
        evalset.human_files.get(f"{name}.{ending}")
        for name in dict.fromkeys([*names, *(["wmt"] if gold == "da" else [])])
        for ending in endings
    )
    return next((path for path in files if path), None)


def raw_mqm(path: str | Path, weights: SeverityWeights | None = None) -> Source:
    """Ratings from a TSV of MQM annotations, with the documents and positions of that file."""
    return Source(mqm_ratings(read_mqm(path), weights), "sum", str(path))


def _total(gold: str, ratings: Ratings) -> Total:
    """Penalties (MQM: none is above 0) are summed over a paragraph, scores on a scale averaged."""
    return "sum" if not gold.startswith("esa") and bool((ratings.score <= 0).all()) else "mean"


def _tabled_ratings(
    path: Path, gold: str, segments: tuple[Segment, ...], released: Judgments | None
) -> Source:
    """Read a table with a header: direct assessments, or scores under any of the usual names."""
    table = read_rater_table(path, segments)
    if not table.rows:
        raise InputError("there are no ratings in this table", where=str(path))
    notes = [f"{count(table.unscored, 'line', 'have')} no score"] if table.unscored else []
    if table.types:
        raw, z = direct_assessments(table, segments)
        return Source(raw if gold.endswith("raw") else z, "mean", str(path), "; ".join(notes))
    ratings = gather(gold, table.rows, segments)
    if table.rebuilt and released is not None:
        ratings, rest = _released(ratings, released)
        notes += (
            [f"{count(rest, 'rating', 'have')} only a score computed from severities"]
            if rest
            else []
        )
    return Source(ratings, _total(gold, ratings), str(path), "; ".join(notes))


def _released(ratings: Ratings, released: Judgments) -> tuple[Ratings, int]:
    """Prefer released scores to rebuilt ones where one person rated; count those left."""
    index = np.array(
        [released.systems.index(s) if s in released.systems else -1 for s in ratings.systems]
    )
    raters = np.zeros((len(ratings.systems), len(ratings.segments)))
    np.add.at(raters, (ratings.system, ratings.item), 1.0)
    exact = released.values[index[ratings.system], ratings.item]
    alone = raters[ratings.system, ratings.item] == 1
    use = (index[ratings.system] >= 0) & alone & ~np.isnan(exact)
    return replace(ratings, score=np.where(use, exact, ratings.score)), int((~use).sum())


def _span_ratings(
    path: Path, gold: str, segments: tuple[Segment, ...], released: Judgments | None
) -> Source:
    """Read errors as JSON: MQM by their penalties; ESA by the overall or the released score."""
    rated = read_span_ratings(path, segments)
    if not gold.startswith("esa"):
        rows = [
            (rating.system, rating.segment, rating.rater, 0.0 - rating.penalty) for rating in rated
        ]
        return Source(gather(gold, rows, segments), "sum", str(path))
    rows = [
        (rating.system, rating.segment, rating.rater, rating.overall)
        for rating in rated
        if rating.overall is not None
    ]
    note = ""
    if len(rows) < len(rated):
        if released is None:
            raise InputError(
                f"there are no scores '{gold}.seg' here, and ratings have no overall score",
                where=str(path),
            )
        item = {segment: i for i, segment in enumerate(segments)}
        known = dict(zip(released.systems, released.values))
        every = [
            (
                rating.system,
                rating.segment,
                rating.rater,
                float(known[rating.system][item[rating.segment]]),
            )
            for rating in rated
            if rating.system in known
        ]
        rows = [row for row in every if not np.isnan(row[3])]
        note = "ratings have no overall score: the segment's released score is used instead"
    return Source(gather(gold, rows, segments), "mean", str(path), note)
