"""Where an EvalSet keeps ratings by rater, and how each kind is read: what paragraphs start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wholetext.errors import InputError
from wholetext.io.formats import evalset
from wholetext.io.formats.scores import human_names, human_scores
from wholetext.io.text import opened
from wholetext.meta.judgments.mqm import SeverityWeights, mqm_ratings, read_mqm
from wholetext.meta.judgments.rater_tables import read_rater_table
from wholetext.meta.judgments.ratings import Ratings, Segment, gather, read_da, segments_of
from wholetext.meta.judgments.spans import SpanRating, read_span_ratings, span_ratings
from wholetext.meta.paragraphs import Total


@dataclass(frozen=True, eq=False)
class Source:
    """Ratings, how the sentences of a paragraph add up under their scheme, and where they were found."""

    ratings: Ratings
    total: Total
    path: str
    note: str = ""


def corpus_segments(folder: str | Path, langs: str | None) -> tuple[Segment, ...]:
    """(document, position) of every segment of an EvalSet."""
    runs = evalset.documents(folder, langs)
    return segments_of([run.doc for run in runs for _ in range(run.start, run.stop)])


def find_ratings(folder: str | Path, langs: str | None, gold: str) -> Source:
    """The ratings behind human scores of this name: by rater where a file has rater ids, else as one rater's."""
    lp = evalset.language_pair(folder, langs)
    base = Path(folder) / "human-scores"
    segments = corpus_segments(folder, lp)
    path = _rater_file(base, lp, gold)
    if path is not None:
        found = (_spans if path.name.endswith(".rating") else _tabled)(path, (folder, lp, gold), segments)
        if not path.name.startswith(f"{lp}.{gold}.") and gold not in ("wmt-raw", "wmt-z", "da"):
            found = replace(found, note=" ".join(filter(None, (f"ratings of {gold} are those of {path.name}.",
                                                               found.note))))
        return found
    if (gold, "seg") not in human_names(folder, lp):
        raise InputError(f"there are no ratings of segments called {gold!r}", where=str(base),
                         next=f"there are {', '.join(sorted({name for name, _ in human_names(folder, lp)})) or 'none'}")
    return _anonymous(folder, lp, gold, segments)


def _rater_file(base: Path, lp: str, gold: str) -> Path | None:
    """The file of ratings by rater: of this gold, else of what its name begins with (``wmt`` for ``wmt-raw``)."""
    names = [gold, *(gold[:i] for i in reversed(range(len(gold))) if gold[i] in "-.")]
    for name in dict.fromkeys([*names, *(["wmt"] if gold == "da" else [])]):
        for ending in ("raters.tsv", "ratings.tsv", "raters.tsv.gz", "ratings.tsv.gz", "seg.rating"):
            if (base / f"{lp}.{name}.{ending}").is_file():
                return base / f"{lp}.{name}.{ending}"
    return None


def raw_mqm(path: str | Path, weights: SeverityWeights | None = None) -> Source:
    """Ratings from the TSV of MQM annotations itself; its documents and positions are its own."""
    return Source(mqm_ratings(read_mqm(path), weights), "sum", str(path))


Place = tuple["str | Path", str, str]  # folder, language pair, gold


def _tabled(path: Path, place: Place, segments: tuple[Segment, ...]) -> Source:
    """A table with a header: direct assessments with their controls, or scores under any of the usual names."""
    with opened(path) as file:
        header = next(iter(file.lines()), "").split("\t")
    if {"raw", "type"} <= set(header):
        raw, z = read_da(path, segments)
        return Source(raw if place[2].endswith("raw") else z, "mean", str(path))
    table = read_rater_table(path, segments)
    if not table.rows:
        raise InputError("there are no ratings in this table", where=str(path))
    found = gather(place[2], table.rows, segments)
    notes = [f"{table.unscored} lines have no score"] if table.unscored else []
    if table.rebuilt:
        found, rest = _released(found, place, segments)
        notes += [f"{rest} ratings have only a score computed from severities"] if rest else []
    return Source(found, _total(place[2], found), str(path), "; ".join(notes))


def _total(gold: str, found: Ratings) -> Total:
    """Penalties (MQM: none is above 0) are summed over a paragraph, scores on a scale averaged."""
    return "sum" if not gold.startswith("esa") and bool((found.score <= 0).all()) else "mean"


def _spans(path: Path, place: Place, segments: tuple[Segment, ...]) -> Source:
    rated = read_span_ratings(path, segments)
    if place[2].startswith("esa") and any(one.overall is None for one in rated):
        return _overall(path, place, segments, rated)
    found = span_ratings(rated, place[2], segments)
    return Source(found, "mean" if place[2].startswith("esa") else "sum", str(path))


def _overall(path: Path, place: Place, segments: tuple[Segment, ...], rated: Sequence[SpanRating]) -> Source:
    """ESA whose file has the marked errors only: who rated, with the released score of the segment."""
    released = human_scores(*place, "seg")
    row = {system: i for i, system in enumerate(released.systems)}
    item = {segment: i for i, segment in enumerate(segments)}
    rows = [(one.system, one.segment, one.rater, float(released.values[row[one.system], item[one.segment]]))
            for one in rated if one.system in row]
    known = [one for one in rows if not np.isnan(one[3])]
    return Source(gather(place[2], known, segments), "mean", str(path), "ratings have no overall score: the segment's "
                  "released score is used instead")


def _released(found: Ratings, place: Place, segments: tuple[Segment, ...]) -> tuple[Ratings, int]:
    """Scores rebuilt from severities; where one person rated, the released score stands in. How many are left."""
    if (place[2], "seg") not in human_names(place[0], place[1]):
        return found, 0
    released = human_scores(place[0], place[1], place[2], "seg")
    index = np.array([released.systems.index(s) if s in released.systems else -1 for s in found.systems])
    raters = np.zeros((len(found.systems), len(segments)))
    np.add.at(raters, (found.system, found.item), 1.0)
    exact = released.values[index[found.system], found.item]
    use = (index[found.system] >= 0) & (raters[found.system, found.item] == 1) & ~np.isnan(exact)
    return replace(found, score=np.where(use, exact, found.score)), int((~use).sum())


def _anonymous(folder: str | Path, lp: str, gold: str, segments: tuple[Segment, ...]) -> Source:
    judged = human_scores(folder, lp, gold, "seg")
    rows = [(system, segments[item], "unknown", float(judged.values[s, item]))
            for s, system in enumerate(judged.systems) for item in np.flatnonzero(~np.isnan(judged.values[s]))]
    found = gather(gold, rows, segments)
    return Source(found, _total(gold, found), f"{lp}.{gold}.seg.score",
                  "the file has no rater ids: all ratings count as one rater's")
