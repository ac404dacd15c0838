"""Where an EvalSet keeps ratings by rater, and how each kind is read: what paragraphs start from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wholetext.errors import InputError
from wholetext.io import evalset
from wholetext.io.scores import human_names, human_scores
from wholetext.meta.mqm import mqm_ratings, read_mqm
from wholetext.meta.paragraphs import Total
from wholetext.meta.ratings import Ratings, Segment, gather, read_da, read_ratings, segments_of
from wholetext.meta.spans import read_span_ratings, span_ratings


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
    """The ratings behind human scores of this name: by rater where a file says who rated, else as if one person had."""
    lp = evalset.language_pair(folder, langs)
    base = Path(folder) / "human-scores"
    segments = corpus_segments(folder, lp)
    for name, reader in ((f"{lp}.{gold}.raters.tsv", _scored), (f"{lp}.{gold}.ratings.tsv", _severities),
                         (f"{lp}.{gold}.seg.rating", _spans)):
        if (base / name).is_file():
            return reader(base / name, (folder, lp, gold), segments)
    direct = base / f"{lp}.wmt.ratings.tsv"
    if gold in ("wmt-raw", "wmt-z", "da", "wmt") and direct.is_file():
        raw, z = read_da(direct, segments)
        return Source(raw if gold == "wmt-raw" else z, "mean", str(direct))
    if (gold, "seg") not in human_names(folder, lp):
        raise InputError(f"there are no ratings of segments called {gold!r}", where=str(base),
                         next=f"there are {', '.join(sorted({name for name, _ in human_names(folder, lp)})) or 'none'}")
    return _anonymous(folder, lp, gold, segments)


def raw_mqm(path: str | Path) -> Source:
    """Ratings from the TSV of MQM annotations itself; its documents and positions are its own."""
    return Source(mqm_ratings(read_mqm(path)), "sum", str(path))


Place = tuple["str | Path", str, str]  # folder, language pair, gold


def _scored(path: Path, place: Place, segments: tuple[Segment, ...]) -> Source:
    return Source(read_ratings(path, place[2], segments, "score"), "sum", str(path))


def _spans(path: Path, place: Place, segments: tuple[Segment, ...]) -> Source:
    esa = place[2].startswith("esa")
    found = span_ratings(read_span_ratings(path, segments), place[2], segments)
    return Source(found, "mean" if esa else "sum", str(path))


def _severities(path: Path, place: Place, segments: tuple[Segment, ...]) -> Source:
    """Who rated, and scores rebuilt from severities; where one person rated, the released score stands in."""
    found = read_ratings(path, place[2], segments, "sev_score")
    if (place[2], "seg") not in human_names(place[0], place[1]):
        return Source(found, "sum", str(path))
    released = human_scores(place[0], place[1], place[2], "seg")
    index = np.array([released.systems.index(s) if s in released.systems else -1 for s in found.systems])
    raters = np.zeros((len(found.systems), len(segments)))
    np.add.at(raters, (found.system, found.item), 1.0)
    exact = released.values[index[found.system], found.item]
    use = (index[found.system] >= 0) & (raters[found.system, found.item] == 1) & ~np.isnan(exact)
    note = "" if use.all() else f"{int((~use).sum())} ratings have only a score rebuilt from severities"
    return Source(replace(found, score=np.where(use, exact, found.score)), "sum", str(path), note)


def _anonymous(folder: str | Path, lp: str, gold: str, segments: tuple[Segment, ...]) -> Source:
    judged = human_scores(folder, lp, gold, "seg")
    rows = [(system, segments[item], "unknown", float(judged.values[s, item]))
            for s, system in enumerate(judged.systems) for item in np.flatnonzero(~np.isnan(judged.values[s]))]
    total: Total = "sum" if gold.startswith("mqm") else "mean"
    return Source(gather(gold, rows, segments), total, f"{lp}.{gold}.seg.score",
                  "nobody says who rated: all ratings count as one person's")
