"""Human judgments: MQM, direct assessment, ESA; who gave which score to what.

Ratings are scores by rater, from tables, from MQM annotations (errors in a TSV or in JSON, whose
weights are those of Freitag et al. 2021, "Experts, Errors, and Context", table 12: a segment's
score is minus the sum of its errors' weights, averaged over raters), or from the files of an
EvalSet.

Tables differ between MQM, ESA and direct assessment: the score is called ``score``, ``sev_score``
(rebuilt from severities), ``esa``, ``mqm`` or ``raw``. EvalSet files ``LP.NAME.seg.rating`` hold
``SYSTEM<tab>JSON|None[<tab>RATER]``, a block per system. The JSON has ``errors`` (category,
severity, score) and, for ESA, the ``score`` of the segment.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError, choices, count
from wholetext.files.parsing import integer, number, read_json, reader, reading
from wholetext.io.formats.evalset import EvalSet
from wholetext.io.text import FilePath, at, opened, read_lines, shown
from wholetext.meta.agreement.correlation import BoolArray, ratio
from wholetext.meta.direct_assessments import published_files, read_assessments
from wholetext.types import FloatArray, IntArray, Judgments

Segment = tuple[str, int]  # document, position in it from 0
Rated = tuple[str, Segment, str, float]  # system, segment, rater, score

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

    def standardised(self, ddof: int = 1) -> Ratings:
        """Standardise the scores of each rater, as for WMT's direct assessments."""
        raters = len(self.raters)
        count = np.bincount(self.rater, minlength=raters)
        mean = ratio(np.bincount(self.rater, self.score, raters), count)
        centred = self.score - mean[self.rater]
        squares = np.bincount(self.rater, centred**2, raters)
        spread = np.sqrt(squares / np.maximum(count - ddof, 1))[self.rater]
        z = np.where(spread > 0, ratio(centred, spread), 0.0)
        return replace(self, scheme=f"{self.scheme}-z", score=z)


def mean_table(
    values: FloatArray, places: tuple[IntArray, ...], shape: tuple[int, ...]
) -> FloatArray:
    """The mean of the values at each place of a table; NaN where there are none."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, places, values)
    np.add.at(count, places, 1.0)
    return ratio(total, count)


def gather(scheme: str, rows: Iterable[Rated], segments: Sequence[Segment] = ()) -> Ratings:
    """Ratings from rows. Without ``segments`` (those of the corpus), those that are rated."""
    table = list(rows)
    systems, raters, docs = (
        {name: i for i, name in enumerate(dict.fromkeys(names))}
        for names in (
            [row[0] for row in table],
            [row[2] for row in table],
            [row[1][0] for row in table],
        )
    )
    if not segments:
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
    return Ratings(
        scheme,
        tuple(systems),
        tuple(raters),
        tuple(segments),
        system=np.array([systems[row[0]] for row in table], dtype=np.int64),
        item=np.array([place[row[1]] for row in table], dtype=np.int64),
        rater=np.array([raters[row[2]] for row in table], dtype=np.int64),
        score=np.array([row[3] for row in table], dtype=np.float64),
    )


def table_rows(
    path: FilePath, required: Sequence[str], names: Mapping[str, str] = {}
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place and the cells by column of each TSV line; quotes have no meaning.

    ``names`` are other names of columns.
    """
    with opened(path) as file:
        lines = enumerate(file.lines(), 1)
        header = [names.get(name, name) for name in next(lines, (1, ""))[1].split("\t")]
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


def read_rater_table(
    path: FilePath, segments: Sequence[Segment]
) -> tuple[list[Rated], list[str], Counter[str]]:
    """Read every rating of a table; several by one rater of one segment are kept.

    Returns:
        Ratings; the type of each if they are direct assessments; and how many lines have their
        score in each column ("": none has one; ``sev_score``: rebuilt from severities).
    """
    ratings, types, lines = list[Rated](), list[str](), Counter[str]()
    for where, row in table_rows(path, ("system", "seg")):
        columns = [name for name in SCORES if name in row]
        if not columns:
            raise InputError(
                "there is no column 'score'", where=where, next=f"write one of {', '.join(SCORES)}"
            )
        column = next((name for name in columns if row[name].strip() not in _NOTHING), "")
        lines[column] += 1
        if not column:
            continue
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
        ratings.append((row["system"].strip(), segments[line], rater, score))
        types += [row["type"]] if "type" in row and "raw" in row else []
    return ratings, types, lines


# ---------------------------------------------------------------- MQM and ESA annotations

_COLUMNS = ("system", "doc", "doc_id", "rater", "target", "category", "severity")
# as later files of google/wmt-mqm-human-evaluation call these columns
_OTHER_NAMES = {
    "system_id": "system",
    "document_id": "doc",
    "docSegId": "doc_id",
    "doc_segment_id": "doc_id",
    "globalSegId": "seg_id",
    "rater_id": "rater",
    "candidate": "target",
}
ATTENTION = "HOTW-test"  # severity of WMT22's checks of raters: marks nothing in the output
_EXAMPLE = 'write {"errors": [{"start": 0, "end": 4, "severity": "major"}]}'
Weights = Mapping[str, float]  # severity[/category[/subcategory]] → penalty
STANDARD: Weights = {
    "major": 5.0,
    "minor": 1.0,
    "neutral": 0.0,
    "major/non-translation!": 25.0,
    "minor/fluency/punctuation": 0.1,
}
#: as used by the organisers of WMT22: without the weight of 25 for non-translations
WMT22: Weights = {
    "major": 5.0,
    "minor": 1.0,
    "no-error": 0.0,
    "minor/fluency/punctuation": 0.1,
}


def penalty(severity: str, category: str, weights: Weights = STANDARD) -> float:
    """The weight of an error; the most specific rule wins, letter case does not matter."""
    parts = [severity, *category.split("/")[:2]]
    for length in range(len(parts), 0, -1):
        rule = "/".join(part.strip() for part in parts[:length]).lower()
        if rule in weights:
            return weights[rule]
    return 0.0


def read_weights(text: str) -> Weights:
    """``standard``, ``wmt22``, or rules such as ``major=5,minor=1,minor/Fluency/Punctuation=0.1``."""
    if text in ("standard", "wmt22"):
        return STANDARD if text == "standard" else WMT22
    weights: dict[str, float] = {}
    for rule in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = rule.rpartition("=")
        weight = value if name.strip() else rule
        step = "write standard, wmt22, or major=5,minor=1"
        weights[name.strip().lower()] = number(weight, what="an MQM weight", low=0, next=step)
    return weights


@dataclass(frozen=True, slots=True)
class MqmError:
    """One marked error, or the mark "No-error": where, who, what kind."""

    system: str
    segment: Segment
    seg_id: str
    rater: str
    category: str
    severity: str
    target: str = ""  # the output, its errors between <v> and </v>


@reader
def read_mqm(path: FilePath) -> list[MqmError]:
    """The TSV of annotations, one row per error."""
    errors = []
    for where, row in table_rows(path, _COLUMNS, _OTHER_NAMES):
        place = integer(row["doc_id"], what="a number from 1 (doc_id)", low=1, where=where) - 1
        errors.append(
            MqmError(
                row["system"],
                (row["doc"], place),
                row.get("seg_id", ""),
                row["rater"],
                row["category"],
                row["severity"],
                row["target"],
            )
        )
    return errors


def mqm_ratings(errors: Iterable[MqmError], weights: Weights = STANDARD) -> Ratings:
    """Scores per rater: minus the sum of the weights of what a rater marked in a segment."""
    totals: dict[tuple[str, Segment, str], float] = defaultdict(float)
    for error in errors:
        if error.severity != ATTENTION:
            weight = penalty(error.severity, error.category, weights)
            totals[error.system, error.segment, error.rater] += weight
    return gather("mqm", ((*key, 0.0 - total) for key, total in totals.items()))


@reader
def read_span_ratings(
    path: FilePath, segments: Sequence[Segment]
) -> list[tuple[Rated, float | None]]:
    """Read a ``.seg.rating`` file of an EvalSet; a segment without a rating (None) is left out.

    Returns:
        Ratings by the sum of the errors' scores or, without these, weights, each with the rater's
        own score of the segment (ESA, 0-100), if any.
    """
    ratings = []
    for where, system, segment, rater, value in rating_lines(path, segments):
        with reading(where, _EXAMPLE, what="this rating cannot be read"):
            total, overall = 0.0, value.get("score")
            for mark in value["errors"]:
                weight = penalty(str(mark["severity"]), str(mark.get("category") or ""))
                score = mark.get("score")
                total += weight if score is None else abs(number(str(score), where=where))
            overall = None if overall is None else number(str(overall), where=where)
        ratings.append(((system, segment, rater, 0.0 - total), overall))
    return ratings


def rating_lines(
    path: FilePath, segments: Sequence[Segment]
) -> Iterator[tuple[str, str, Segment, str, dict[str, Any]]]:
    """Yield (place, system, segment, rater, content) of each rating of a ``.seg.rating`` file."""
    blocks: dict[str, list[tuple[str, list[str]]]] = {}  # system → place and cells of its lines
    for line_number, line in enumerate(read_lines(path), 1):
        if line.strip():
            where = at(shown(path), line_number)
            system, *cells = line.split("\t")
            if len(cells) not in (1, 2):
                raise InputError(
                    f"this line has {count(len(cells) + 1, 'column')}",
                    where=where,
                    next="write SYSTEM<tab>JSON or None, and the rater after another tab",
                )
            blocks.setdefault(system, []).append((where, cells))
    for system, lines in blocks.items():
        if len(lines) != len(segments):
            raise AlignmentError(
                f"system {system!r} has {count(len(lines), 'rating')}, expected {len(segments)}",
                where=shown(path),
                next="write None for segments that were not rated",
            )
        for segment, (where, (text, *rater)) in zip(segments, lines):
            if text.strip() != "None":
                value = read_json(text, where=where, next=_EXAMPLE)
                value = value if isinstance(value, dict) else {"errors": value}
                yield where, system, segment, rater[0] if rater else "unknown", value


# ---------------------------------------------------------------- ratings of an EvalSet

Total = Literal["sum", "mean"]


@dataclass(frozen=True, eq=False)
class Source:
    """Ratings, how the sentences of a paragraph add up, and where they were found."""

    ratings: Ratings
    total: Total
    path: str
    note: str = ""


def corpus_segments(evalset: EvalSet) -> tuple[Segment, ...]:
    """List (document, position) of every segment of an EvalSet."""
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
    folder = evalset.root / "human-scores"
    if gold in ("da", "wmt", "wmt-z", "wmt-raw") and published_files(folder, lp):
        return published_ratings(folder, evalset, gold)
    if released is None:
        raise InputError(
            f"there are no ratings of segments called {gold!r}",
            where=str(folder),
            next=choices(gold, sorted(name for name, _ in evalset.human_names)),
        )
    ratings = gather(gold, released_rows(released, segments), segments)
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


def raw_mqm(path: str | Path, weights: Weights = STANDARD) -> Source:
    """Ratings from a TSV of MQM annotations, with the documents and positions of that file."""
    errors = read_mqm(path)
    checks = sum(error.severity == ATTENTION for error in errors)
    note = f"{count(checks, 'check')} of raters' attention left out" if checks else ""
    return Source(mqm_ratings(errors, weights), "sum", str(path), note)


def published_ratings(
    path: str | Path, evalset: EvalSet, gold: str = "", weights: Weights = STANDARD
) -> Source:
    """Read ratings in a file that WMT published: MQM annotations or direct assessments.

    A folder is searched for the direct assessments of the language pair.
    """
    place = Path(path)
    raw = gold.endswith("raw")
    paths = published_files(place, evalset.langs, raw) if place.is_dir() else [place]
    if not paths:
        raise InputError(
            f"there are no direct assessments of {evalset.langs} in this folder",
            where=str(place),
            next="name a file, or unpack the archive of the human evaluation here",
        )
    if len(paths) == 1:
        with opened(paths[0]) as file:
            header = file.head().partition("\n")[0].split("\t")
        if {"category", "severity"} <= set(header):
            return raw_mqm(paths[0], weights)
    segments = corpus_segments(evalset)
    read = read_assessments(paths, evalset.langs, segments, evalset.systems)
    if raw and read.standardised:
        raise InputError(
            "these are standard scores, not raw ones", where=str(place), next="name wmt-z instead"
        )
    ratings = gather("wmt-raw", read.rows, segments)
    ratings = ratings if raw or read.standardised else ratings.standardised()
    ratings = replace(ratings, scheme="wmt-raw" if raw else "wmt-z")
    return Source(ratings, "mean", ", ".join(map(str, paths)), "; ".join(read.notes()))


def _total(gold: str, ratings: Ratings) -> Total:
    """Penalties (MQM: none is above 0) are summed over a paragraph, scores on a scale averaged."""
    return "sum" if not gold.startswith("esa") and bool((ratings.score <= 0).all()) else "mean"


def _tabled_ratings(
    path: Path, gold: str, segments: tuple[Segment, ...], released: Judgments | None
) -> Source:
    """Read a table with a header: direct assessments, or scores under any of the usual names."""
    rows, types, lines = read_rater_table(path, segments)
    if not rows:
        raise InputError("there are no ratings in this table", where=str(path))
    notes = [f"{count(lines[''], 'line', 'have')} no score"] if lines[""] else []
    ratings = gather("da" if types else gold, rows, segments)
    if types:  # quality controls (REF, BAD_REF) count for a rater's mean and deviation only
        ratings = ratings if gold.endswith("raw") else ratings.standardised()
        ratings = ratings.take(np.isin(np.array(types), _JUDGED))
    elif lines["sev_score"] and released is not None:
        ratings, rest = _released(ratings, released)
        if rest:
            notes.append(f"{count(rest, 'rating', 'have')} only a score computed from severities")
    total: Total = "mean" if types else _total(gold, ratings)
    return Source(ratings, total, str(path), "; ".join(notes))


def _released(ratings: Ratings, released: Judgments) -> tuple[Ratings, int]:
    """Prefer released scores to rebuilt ones where one person rated; count those left."""
    exact = rows_of(released, ratings.systems)
    raters = np.zeros(exact.shape)
    np.add.at(raters, (ratings.system, ratings.item), 1.0)
    own = np.where(raters == 1, exact, np.nan)[ratings.system, ratings.item]
    score = np.where(np.isnan(own), ratings.score, own)
    return replace(ratings, score=score), int(np.isnan(own).sum())


def rows_of(scores: Judgments, systems: Sequence[str], missing: float = np.nan) -> FloatArray:
    """Return (systems, items) scores of these systems; ``missing`` where there are none."""
    rows = dict(zip(scores.systems, scores.values))
    empty = np.full(scores.values.shape[1], missing)
    return np.stack([rows.get(system, empty) for system in systems])


def _span_ratings(
    path: Path, gold: str, segments: tuple[Segment, ...], released: Judgments | None
) -> Source:
    """Read errors as JSON: MQM by their penalties; ESA by the overall or the released score."""
    rated = read_span_ratings(path, segments)
    esa, note = gold.startswith("esa"), ""
    scores = [overall if esa else rating[3] for rating, overall in rated]
    if None in scores:
        if released is None:
            raise InputError(
                f"there are no scores '{gold}.seg' here, and ratings have no overall score",
                where=str(path),
            )
        known = {row[:2]: row[3] for row in released_rows(released, segments)}
        scores = [known.get(rating[:2]) for rating, _ in rated]
        note = "ratings have no overall score: the segment's released score is used instead"
    rows = [(*rating[:3], score) for (rating, _), score in zip(rated, scores) if score is not None]
    return Source(gather(gold, rows, segments), "mean" if esa else "sum", str(path), note)


def released_rows(released: Judgments, segments: Sequence[Segment]) -> list[Rated]:
    """Released scores as ratings of one rater."""
    return [
        (system, segments[int(item)], "unknown", float(values[item]))
        for system, values in zip(released.systems, released.values)
        for item in np.flatnonzero(~np.isnan(values))
    ]
