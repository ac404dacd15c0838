"""Tables of ratings with a header line, as EvalSets come with them: who gave which score to which segment.

The columns differ between MQM, ESA and direct assessment: the score is called ``score``, ``sev_score`` (rebuilt from
severities), ``esa``, ``mqm`` or ``raw``; a side-by-side table has two systems and two scores per line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wholetext.errors import InputError
from wholetext.files.parsing import integer, number
from wholetext.io.text import FilePath, at, opened
from wholetext.meta.judgments.ratings import Rated, Segment

SCORES = ("score", "sev_score", "overall", "overall_score", "esa", "esa_score", "mqm", "mqm_score", "raw", "z")
_SYSTEM = ("system", "sys", "system_id")
_SEGMENT = ("seg", "segment", "item")  # a line of the corpus from 0
_RATER = ("rater", "rater_id", "annotator", "annotator_id", "user")
_SIDES = (("1", "2"), ("_1", "_2"), ("a", "b"), ("_a", "_b"), ("A", "B"), ("_left", "_right"), ("_x", "_y"))
_NOTHING = ("", "None", "nan", "NaN", "NA")


@dataclass
class RaterTable:
    """The rows of a table, and what is known of its scores."""

    rows: list[Rated] = field(default_factory=list)
    column: str = ""  # what the score was taken from
    unscored: int = 0  # lines without a score
    rebuilt: int = 0  # lines whose score was rebuilt from severities because there is no other


@dataclass(frozen=True)
class _Columns:
    """Places of a rating in a line: system, scores (the first that is given counts), segment, rater."""

    system: int
    scores: tuple[int, ...]
    segment: int
    rater: int | None


def read_rater_table(path: FilePath, segments: Sequence[Segment]) -> RaterTable:
    """Every rating of a table; several by one rater of one segment are kept. Errors name file and line."""
    found = RaterTable()
    with opened(path) as file:
        lines = enumerate(file.lines(), 1)
        header = next(lines, (0, ""))[1].split("\t")
        ratings = _columns(header, file.name)
        found.column = header[ratings[0].scores[0]]
        rebuilt = {place for place, title in enumerate(header) if title.startswith("sev_score")}
        for place, line in lines:
            cells = line.split("\t")
            if not line.strip():
                continue
            if len(cells) != len(header):
                raise InputError(f"this line has {len(cells)} columns, the header has {len(header)}",
                                 where=at(file.name, place))
            for one in ratings:
                _take(found, cells, one, segments, (at(file.name, place), rebuilt))
    return found


def _take(
    found: RaterTable, cells: Sequence[str], one: _Columns, segments: Sequence[Segment], about: tuple[str, set[int]]
) -> None:
    where, rebuilt = about
    used = next((column for column in one.scores if cells[column].strip() not in _NOTHING), None)
    if used is None:
        found.unscored += 1
        return
    found.rebuilt += used in rebuilt
    seg = integer(cells[one.segment], low=0, high=len(segments) - 1, where=where,
                  next=f"segments are lines of the corpus from 0; it has {len(segments)}")
    score = number(cells[used], where=where, next="a rating is a finite number")
    rater = cells[one.rater].strip() if one.rater is not None else ""
    found.rows.append((cells[one.system].strip(), segments[seg], rater or "unknown", score))


def _columns(header: Sequence[str], name: str) -> list[_Columns]:
    """Where the ratings of a line stand: one, or two of a side-by-side table."""
    segment = _place(header, _SEGMENT)
    rater = _place(header, _RATER)
    system, scores = _place(header, _SYSTEM), _places(header, SCORES)
    if segment is not None and system is not None and scores:
        return [_Columns(system, scores, segment, rater)]
    for ends in _SIDES:
        sides = []
        for end in ends:
            one = _place(header, [f"{name}{end}" for name in _SYSTEM])
            many = _places(header, [f"{name}{end}" for name in SCORES])
            if segment is not None and one is not None and many:
                sides.append(_Columns(one, many, segment, rater))
        if len(sides) == 2:
            return sides
    wanted = "seg" if segment is None else "score" if system is not None else "system"
    raise InputError(f"there is no column {wanted!r}", where=name,
                     next=f"a table of ratings has system, seg, rater and one of {', '.join(SCORES)} (side by side: "
                          f"system1, score1, system2, score2); the columns are {', '.join(header)}")


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _places(header: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    return tuple(header.index(name) for name in names if name in header)
