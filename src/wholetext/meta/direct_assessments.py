"""Direct assessments by rater, in the files that WMT published.

Files ``ad-deen-good-stnd-redup.csv`` … (WMT17-22, into English; WMT19-20, all pairs) have a line per
rating: HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time. ``stnd``
are standard scores by rater, ``raw`` scores from 0 to 100; ``redup`` has a line for each system that
produced the rated text, other files name all of them (``A+B``). ``sid`` is a line of the source from
1, or ``DOC_i`` with a position from 0.

Exports of Appraise (WMT19-22; DA+SQM) have no header: user, system, segment, type, source and target
language, score, document, whether the score is the document's, start, end; files without document
context lack the document and number the lines of the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wholetext.errors import InputError
from wholetext.files.parsing import integer, number
from wholetext.io.text import at, opened
from wholetext.text.codes import language

_HIT = [
    "hit",
    "rater",
    "source",
    "target",
    "item",
    "number",
    "system",
    "id",
    "type",
    "segment",
    "score",
    "time",
]
_APPRAISE = [
    "rater",
    "system",
    "segment",
    "type",
    "source",
    "target",
    "score",
    "doc",
    "whole",
    "start",
    "end",
]
_JUDGED = ("SYSTEM", "REPEAT", "TGT")  # other types are quality controls
_LAYOUT = "it should be as WMT published it: ad-deen-good-stnd-redup.csv, or an export of Appraise"


# place in the file, rater, systems, document ("": the segment is a line of the source from 1), segment, score
_Rating = tuple[str, str, Sequence[str], str, int, float]


@dataclass
class Assessments:
    """Ratings of systems in published files, and what was left out."""

    standardised: bool
    rows: list[tuple[str, tuple[str, int], str, float]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """Say what does not count, and why."""
        return [f"{number} {what} left out" for what, number in sorted(self.left_out.items())]


def published_files(folder: Path, langs: str, raw: bool = False) -> list[Path]:
    """Find the files of a language pair below a folder, e.g. of the unpacked archive of a year.

    A folder may have several kinds of one file: ratings of each system before those of texts that
    several systems share; standard before raw scores, unless ``raw``. Sets that were rated twice (WMT19 zh-en:
    sentences and documents) have a file in each of two folders.
    """
    pair = langs.replace("-", "")
    kinds = [f"ad-{pair}-good-stnd"] if not raw else []
    for kind in (*kinds, "ad-good-raw"):
        best: dict[Path, Path] = {}
        for end in ("-redup.csv", "-redup.csv.gz", ".csv", ".csv.gz"):
            for path in sorted(folder.rglob(kind + end)):
                best.setdefault(path.parent, path)
        if best:
            return list(best.values())
    return sorted(folder.rglob("*Appraise*.csv"))


def read_assessments(
    paths: Sequence[Path],
    langs: str,
    segments: Sequence[tuple[str, int]],
    systems: Sequence[str] = (),
) -> Assessments:
    """Read the ratings of a language pair.

    Args:
        paths: files as WMT published them.
        langs: language pair, e.g. ``de-en``.
        segments: (document, position) of every line of the source.
        systems: names of the outputs, which ratings write with a suffix (``Online-A.5``).
    """
    kinds = {".csv" in path.name and "-stnd" in path.name for path in paths}
    if len(kinds) > 1:
        raise InputError(
            "some of these files have standard scores, some raw ones",
            where=", ".join(map(str, paths)),
            next="name one file",
        )
    result = Assessments(kinds == {True})
    ratings = [rating for path in paths for rating in _ratings(path, langs, result.left_out)]
    if not ratings:
        raise InputError(
            f"there are no direct assessments of {langs} here",
            where=", ".join(map(str, paths)),
            next=_LAYOUT,
        )
    first = min((place for _, _, _, doc, place, _ in ratings if doc), default=0)
    outputs = {name: _system(name, systems) for rating in ratings for name in rating[2]}
    for where, rater, names, doc, place, score in ratings:
        if doc:  # positions of a file begin at 0 or at 1
            segment = doc, place - min(first, 1)
        elif 1 <= place <= len(segments):
            segment = segments[place - 1]
        else:
            raise InputError(
                f"segment {place} is rated, the corpus has {len(segments)}",
                where=where,
                next="check that the ratings belong to this test set",
            )
        result.rows += ((outputs[name], segment, rater, score) for name in names)
    return result


def _ratings(path: Path, langs: str, left_out: Counter[str]) -> Iterator[_Rating]:
    pair = tuple(language(code).code for code in langs.split("-"))
    for where, row in _rows(path):
        if (language(row["source"]).code, language(row["target"]).code) != pair:
            continue
        if row["type"] not in _JUDGED:
            left_out["quality controls"] += 1  # references and damaged texts
        elif row.get("whole", "False") == "True":
            left_out["scores of whole documents"] += 1
        else:
            doc, place = row.get("doc", ""), row["segment"]
            if not doc and not place.isdigit():
                doc, _, place = place.rpartition("_")
            doc, _, chunk = doc.partition("#")  # DOC#A-B: segments A to B, numbered from 0
            start = integer(chunk.split("-")[0], low=1, where=where) - 1 if chunk else 0
            segment = integer(place, what="a segment", low=0, where=where, next=_LAYOUT) + start
            score = number(row["score"], what="a score", where=where, next=_LAYOUT)
            yield where, row["rater"], row["system"].split("+"), doc, segment, score


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the place and the cells by column of each line."""
    with opened(path) as file:
        for line_number, line in enumerate(file.lines(), 1):
            where = at(file.name, line_number)
            if not line.strip() or line.startswith(("HITId", "username")):
                continue
            columns: Sequence[str] = _HIT
            cells = line.split("\t") if "\t" in line else line.split()
            if len(cells) != len(_HIT):
                cells = line.split(",")
                columns = _APPRAISE if len(cells) == len(_APPRAISE) else _APPRAISE[:7]
                if len(cells) not in (len(_APPRAISE), len(_APPRAISE) - 2):
                    raise InputError("this line is no direct assessment", where=where, next=_LAYOUT)
            yield where, dict(zip(columns, (cell.strip() for cell in cells)))


def _system(name: str, systems: Sequence[str]) -> str:
    """Find the output that a name means: ``Online-A.5``, ``newstest2021.en-de.hyp.Online-A``."""
    if name in systems:
        return name
    inside = [system for system in systems if f".{system}." in f".{name}."]
    return max(inside, key=len, default=name)
