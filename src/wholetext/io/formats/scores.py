"""Score files of EvalSets: human judgments and metric scores in, ``NAME-REF.{seg,doc,sys}.score`` out.

A line is ``SYSTEM<tab>score`` (``DOMAIN<tab>SYSTEM<tab>score`` at the domain level), one block per system in the order
of segments or documents. ``None`` is a segment without a judgment: NaN here. Metrics must score everything.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from wholetext.errors import AlignmentError, InputError, choices, count
from wholetext.files.parsing import number, plain_number
from wholetext.io.assembly import Langs
from wholetext.io.formats import evalset
from wholetext.io.text import FilePath, TextFile, at, opened, write_lines
from wholetext.types import FloatArray, Judgments, Level, Scores

ScoreLevel = Literal["seg", "doc", "domain", "sys"]
Names = tuple[tuple[str, ScoreLevel], ...]
_LEVELS: tuple[ScoreLevel, ...] = ("seg", "doc", "domain", "sys")


def human_names(folder: FilePath, langs: Langs = None) -> Names:
    """(name, level) of every file of human scores, e.g. ``("mqm", "seg")``."""
    name = evalset.language_pair(folder, langs)
    return _names(Path(folder) / "human-scores", f"{name}.")


def metric_names(folder: FilePath, langs: Langs = None) -> Names:
    """(label, level) of every file of metric scores, e.g. ``("BLEU-refA", "sys")``."""
    return _names(Path(folder) / "metric-scores" / evalset.language_pair(folder, langs), "")


def split_label(label: str) -> tuple[str, tuple[str, ...]]:
    """``chrF-refA.refB`` → the metric's name and its references; ``-src`` means none."""
    name, dash, refs = label.rpartition("-")
    return (name, () if refs == "src" else tuple(refs.split("."))) if dash else (label, ())


def human_scores(folder: FilePath, langs: Langs, name: str, level: ScoreLevel) -> Judgments:
    """Human scores of every judged system, in the order of the file; NaN where a segment was not judged."""
    lp = evalset.language_pair(folder, langs)
    path = Path(folder) / "human-scores" / f"{lp}.{name}.{level}.score"
    return _scores(path, name, level, human_names(folder, lp), _items(folder, lp, level), gaps=True)


def metric_scores(
    folder: FilePath,
    langs: Langs,
    label: str,
    level: ScoreLevel,
    systems: Sequence[str] | None = None,
) -> Judgments:
    """Scores of a metric, in the order of the file or of ``systems``, which must all be there.

    Strict where mt-metrics-eval fills in zeros: a system without an output, an output (other than a reference's)
    without scores, a score that is not a finite number, or too few or too many of them are errors.
    """
    lp = evalset.language_pair(folder, langs)
    path = Path(folder) / "metric-scores" / lp / f"{label}.{level}.score"
    found = _scores(
        path, label, level, metric_names(folder, lp), _items(folder, lp, level), gaps=False
    )
    outputs = evalset.systems(folder, lp)
    extra = [system for system in found.systems if system not in outputs]
    if outputs and extra:
        raise AlignmentError(
            f"there are scores of {extra[0]!r}, which has no output here",
            where=str(path),
            next=choices(extra[0], outputs),
        )
    human = evalset.references(folder, lp)
    wanted = (
        list(systems) if systems is not None else [name for name in outputs if name not in human]
    )
    missing = [system for system in wanted if system not in found.systems]
    if missing:
        raise AlignmentError(
            f"there are no scores of {', '.join(map(repr, missing))}",
            where=str(path),
            next="score every system, or name those you want",
        )
    if systems is None:
        return found
    rows = [found.systems.index(system) for system in wanted]
    return Judgments(label, level, tuple(wanted), found.values[rows], found.items)


def read_scores(
    path: FilePath,
    scheme: str,
    level: ScoreLevel,
    *,
    items: Sequence[str] | int = 0,
    gaps: bool = True,
) -> Judgments:
    """One score file; ``items`` are the names or the number of the scored items; ``gaps`` allows ``None``."""
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
    values = np.array(
        [[score for _, score in pairs] for pairs in rows.values()], dtype=np.float64
    )  # (systems, items)
    return Judgments(
        scheme, level, tuple(rows), values, known if level in ("doc", "domain") else ()
    )


def write_scores(
    folder: FilePath, label: str, scores: Sequence[Scores], *, gaps: bool = False
) -> tuple[Path, ...]:
    """``LABEL.seg.score``, ``.doc.score`` and ``.sys.score`` of one metric, a block per system.

    mt-metrics-eval reads higher as better, so scores of which lower is better are written negated. A score that is
    not defined (NaN) is an error, or ``None`` with ``gaps``.
    """
    systems = [system.system for system in scores]
    levels: tuple[tuple[ScoreLevel, Level], ...] = (
        ("seg", "segment"),
        ("doc", "doc"),
        ("sys", "corpus"),
    )
    made = []
    for short, level in levels:
        values = [system.at(level) * (1 if system.higher_is_better else -1) for system in scores]
        made.append(
            write_table(Path(folder) / f"{label}.{short}.score", systems, values, gaps=gaps)
        )
    return tuple(made)


def write_table(
    path: FilePath,
    systems: Sequence[str],
    values: Sequence[FloatArray] | FloatArray,
    *,
    gaps: bool = False,
) -> Path:
    """Scores (systems, items) as a score file; numbers read back exactly."""
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
    """system → (domain or "", score) in the order of the file."""
    wanted = 3 if level == "domain" else 2
    remedy = "a score is a finite number" + (", or None without a judgment" if gaps else "")
    rows: dict[str, list[tuple[str, float]]] = {}
    for place, line in enumerate(file.lines(), 1):
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != wanted:
            if not line.strip():
                continue
            raise InputError(
                f"this line has {count(len(cells), 'column')}, expected {wanted}",
                where=at(file.name, place),
                next="write SYSTEM<tab>SCORE"
                if wanted == 2
                else "write DOMAIN<tab>SYSTEM<tab>SCORE",
            )
        score = plain_number(cells[-1])
        if score is None:
            score = (
                math.nan
                if cells[-1].strip() == "None" and gaps
                else number(cells[-1], what="a score", where=at(file.name, place), next=remedy)
            )
        rows.setdefault(cells[-2].strip(), []).append((cells[0] if wanted == 3 else "", score))
    return rows


def _names(folder: Path, prefix: str) -> Names:
    found: list[tuple[str, ScoreLevel]] = []
    for entry in evalset.entries(folder):
        parts = entry.name.removeprefix(prefix).rsplit(".", 2)
        if entry.name.startswith(prefix) and len(parts) == 3 and parts[2] == "score":
            found += [(parts[0], level) for level in _LEVELS if level == parts[1]]
    return tuple(found)


def _scores(
    path: Path, name: str, level: ScoreLevel, there: Names, items: Sequence[str] | int, gaps: bool
) -> Judgments:
    if not os.path.isfile(path):  # noqa: PTH113 - pathlib raises where a name is too long
        wanted, known = f"{name}.{level}", [f"{each}.{at_level}" for each, at_level in there]
        raise InputError(
            f"there are no scores {wanted!r} here",
            where=str(path.parent),
            next=choices(wanted, known),
        )
    return read_scores(path, name, level, items=items, gaps=gaps)


def _items(folder: FilePath, lp: str, level: ScoreLevel) -> Sequence[str] | int:
    """The items scored at a level: documents, domains, or the number of segments; 0 if unknown."""
    if level == "sys" or not (Path(folder) / "documents" / f"{lp}.docs").is_file():
        return 0
    runs = evalset.documents(folder, lp)
    if level == "seg":
        return runs[-1].stop
    if level == "doc":
        return [run.doc for run in runs]
    return list(dict.fromkeys(run.meta.get("domain", "all") for run in runs))
