"""Metric scores as WMT25 published them: ``SYSTEM.jsonl``, a line per document.

A line has ``language_pair``, ``domain``, ``document_id`` and ``metric_scores``, lists of numbers by
metric, one per paragraph; null and NaN are missing scores. Logged scores of an LLM judge
(GEMBA-ESA) are metrics like others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext import text as languages
from wholetext.errors import InputError
from wholetext.files.parsing import read_json
from wholetext.io.assembly import pair
from wholetext.io.text import opened, stem

FIELDS = ("language_pair", "domain", "document_id")
Place = tuple[str, str]  # domain and document


@dataclass(frozen=True)
class PublishedScores:
    """The scores of one language pair."""

    langs: str  # as the files write it
    documents: tuple[Place, ...]
    metrics: tuple[str, ...]
    # system → document → metric → paragraphs, NaN = missing
    systems: dict[str, dict[Place, dict[str, list[float]]]]


def score_files(paths: Sequence[Path]) -> list[Path]:
    """List score files: those named, and those in folders."""
    return [
        file
        for path in paths
        for file in (
            sorted((*path.glob("*.jsonl"), *path.glob("*.jsonl.gz"))) if path.is_dir() else [path]
        )
    ]


def read_published(paths: Sequence[Path], langs: str = "") -> PublishedScores:
    """Read the scores of a language pair; ``langs`` may use any style of codes."""
    files = score_files(paths)
    if not files:
        raise InputError(
            "there are no score files (*.jsonl) in the folder", where=", ".join(map(str, paths))
        )
    records = {file: list(_records(file)) for file in files}
    chosen = _chosen_pair(
        {record["language_pair"] for lines in records.values() for record in lines}, langs
    )
    systems: dict[str, dict[Place, dict[str, list[float]]]] = {}
    for file, lines in records.items():
        for record in lines:
            if record["language_pair"] != chosen:
                continue
            of_system = systems.setdefault(stem(file), {})
            place = record["domain"], record["document_id"]
            if place in of_system:
                raise InputError(
                    f"document {place[1]!r} of {chosen} is there twice",
                    where=str(file),
                    next="keep one of its lines",
                )
            of_system[place] = {
                name: [math.nan if value is None else float(value) for value in values]
                for name, values in record["metric_scores"].items()
            }
    documents = dict.fromkeys(place for docs in systems.values() for place in docs)
    metrics = {name for docs in systems.values() for scores in docs.values() for name in scores}
    return PublishedScores(chosen, tuple(documents), tuple(sorted(metrics)), systems)


def _records(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the checked lines of a score file."""
    with opened(file) as text:
        for number, line in enumerate(text.lines(), 1):
            if not line.strip():
                continue
            where = f"{file}:{number}"
            record = read_json(line, where=where, constants=True)
            if not isinstance(record, dict) or not all(
                isinstance(record.get(name), str) for name in FIELDS
            ):
                raise InputError(
                    f"a line of scores needs the text fields {', '.join(FIELDS)}", where=where
                )
            by_metric = record.get("metric_scores")
            if not isinstance(by_metric, dict):
                raise InputError(
                    "metric_scores must be an object: metric → list of scores", where=where
                )
            for name, values in by_metric.items():
                if not isinstance(values, list) or not all(map(_is_score, values)):
                    raise InputError(
                        f"the scores of {name!r} must be a list of numbers or null", where=where
                    )
            yield record


def _is_score(value: object) -> bool:
    return value is None or (
        isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isinf(value)
    )


def _chosen_pair(stated: set[str], requested: str) -> str:
    """Return the language pair of the files that is ``requested``, in any style of codes."""
    if requested in stated:
        return requested
    pairs = sorted(stated)
    if not requested:
        if len(pairs) == 1:
            return pairs[0]
        raise InputError(
            f"the files have scores of {len(pairs)} language pairs",
            next=f"choose with -l: {' '.join(pairs)}",
        )
    alike = [
        name for name in pairs if all(map(languages.same_language, pair(name), pair(requested)))
    ]
    if len(alike) != 1:
        what = "several language pairs match" if alike else "no language pair matches"
        raise InputError(
            f"{what} {requested!r}", next=f"choose with -l: {' '.join(alike or pairs)}"
        )
    return alike[0]
