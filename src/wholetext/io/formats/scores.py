"""Score files of EvalSets, ``NAME.LEVEL.score``: human judgments and metric scores.

A line is ``SYSTEM<tab>score`` (``DOMAIN<tab>SYSTEM<tab>score`` at the domain level), one block per
system in the order of segments or documents. ``None`` is a segment without a judgment: NaN here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError, count
from wholetext.files.parsing import number
from wholetext.io.text import FilePath, TextFile, at, opened, write_lines
from wholetext.types import FloatArray, Judgments, Level, Scores

ScoreLevel = Literal["seg", "doc", "domain", "sys"]
Names = tuple[tuple[str, ScoreLevel], ...]
_LEVELS: tuple[ScoreLevel, ...] = ("seg", "doc", "domain", "sys")


def score_names(files: Iterable[str]) -> Names:
    """Return (name, level) of every file name of the form ``NAME.LEVEL.score``."""
    parts = [name.rsplit(".", 2) for name in files]
    return tuple(
        (part[0], level)
        for part in parts
        for level in _LEVELS
        if len(part) == 3 and part[1:] == [level, "score"]
    )


def split_label(label: str) -> tuple[str, tuple[str, ...]]:
    """Split ``chrF-refA.refB`` into a metric's name and its references; ``-src`` means none."""
    name, dash, refs = label.rpartition("-")
    return (name, () if refs == "src" else tuple(refs.split("."))) if dash else (label, ())


def read_scores(
    path: FilePath,
    scheme: str,
    level: ScoreLevel,
    *,
    items: Sequence[str] | int = 0,
    gaps: bool = True,
) -> Judgments:
    """Read a score file.

    ``items`` are the names or the number of the scored items; ``gaps`` allows ``None``.
    """
    with opened(path) as file:
        rows = _rows(file, level, gaps)
    if not rows:
        raise InputError("there are no scores in this file", where=os.fspath(path))
    known = () if isinstance(items, int) else tuple(items)
    if level == "domain":
        known = known or tuple(domain for domain, _ in next(iter(rows.values())))
        for system, pairs in rows.items():
            scores = dict(pairs)
            if len(scores) != len(pairs) or set(scores) != set(known):
                raise AlignmentError(
                    f"system {system!r} has scores for the domains {', '.join(scores)}, "
                    f"expected one each for {', '.join(known)}",
                    where=os.fspath(path),
                )
            rows[system] = [(domain, scores[domain]) for domain in known]
    size = 1 if level == "sys" else items if isinstance(items, int) and items else len(known)
    size = size or len(next(iter(rows.values())))
    for system, pairs in rows.items():
        if len(pairs) != size:
            raise AlignmentError(
                f"system {system!r} has {len(pairs)} scores, expected {size}",
                where=os.fspath(path),
                next="write one block of scores per system, in the order of the texts",
            )
    # (systems, items)
    values = np.array([[score for _, score in pairs] for pairs in rows.values()], dtype=np.float64)
    return Judgments(
        scheme, level, tuple(rows), values, known if level in ("doc", "domain") else ()
    )


def write_scores(
    folder: FilePath, label: str, scores: Sequence[Scores], *, gaps: bool = False
) -> tuple[Path, ...]:
    """Write ``LABEL.seg.score``, ``.doc.score`` and ``.sys.score`` of one metric.

    mt-metrics-eval reads higher as better, so scores of which lower is better are written negated.
    An undefined score (NaN) is an error, or ``None`` with ``gaps``.
    """
    systems = [system.system for system in scores]
    levels: tuple[tuple[ScoreLevel, Level], ...] = (
        ("seg", "segment"),
        ("doc", "doc"),
        ("sys", "corpus"),
    )
    signs = [1 if system.higher_is_better else -1 for system in scores]
    return tuple(
        write_table(
            Path(folder) / f"{label}.{short}.score",
            systems,
            [system.at(level) * sign for system, sign in zip(scores, signs)],
            gaps=gaps,
        )
        for short, level in levels
    )


def write_table(
    path: FilePath,
    systems: Sequence[str],
    values: Sequence[FloatArray] | FloatArray,
    *,
    gaps: bool = False,
) -> Path:
    """Write (systems, items) scores to a score file; numbers read back exactly."""
    lines = []
    for system, row in zip(systems, values):
        if not system or system != system.strip() or "\t" in system or "\n" in system:
            raise InputError(
                f"the system name {system!r} cannot be written to a score file",
                where=os.fspath(path),
                next="leave out tabs, line breaks and blanks around it",
            )
        for i, score in enumerate(np.atleast_1d(row).tolist()):
            if not gaps and not math.isfinite(score):
                raise InputError(
                    f"score {i + 1} of system {system!r} is not a number",
                    where=os.fspath(path),
                    next="a view that leaves segments out has no scores for them: allow gaps",
                )
            lines.append(f"{system}\t{score!r}" if math.isfinite(score) else f"{system}\tNone")
    write_lines(path, lines)
    return Path(path)


def _rows(file: TextFile, level: ScoreLevel, gaps: bool) -> dict[str, list[tuple[str, float]]]:
    """Map system to (domain or "", score) in the order of the file."""
    columns = 3 if level == "domain" else 2
    remedy = "a score is a finite number" + (", or None without a judgment" if gaps else "")
    rows: dict[str, list[tuple[str, float]]] = {}
    for place, line in enumerate(file.lines(), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != columns:
            if not line.strip():
                continue
            raise InputError(
                f"this line has {count(len(cells), 'column')}, expected {columns}",
                where=at(file.name, place),
                next="write SYSTEM<tab>SCORE"
                if columns == 2
                else "write DOMAIN<tab>SYSTEM<tab>SCORE",
            )
        if gaps and cells[-1].strip() == "None":
            score = math.nan
        else:
            score = number(cells[-1], what="a score", where=at(file.name, place), next=remedy)
        rows.setdefault(cells[-2].strip(), []).append((cells[0] if columns == 3 else "", score))
    return rows
