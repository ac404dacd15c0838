"""Metric scores as WMT25 published them: ``SYSTEM.jsonl``, a line per document.

A line has ``language_pair``, ``domain``, ``document_id`` and ``metric_scores``, lists of numbers by
metric, one per paragraph; null and NaN are missing scores. Logged scores of an LLM judge
(GEMBA-ESA) are metrics like others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wholetext.errors import InputError
from wholetext.io.assembly import chosen_pair
from wholetext.io.formats.jsonl import objects
from wholetext.io.text import at, opened, stem

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
        for file in (sorted(path.glob("*.jsonl*")) if path.is_dir() else [path])
    ]


def read_published(paths: Sequence[Path], langs: str = "") -> PublishedScores:
    """Read the scores of a language pair; ``langs`` may use any style of codes."""
    where = ", ".join(map(str, paths))
    records = {file: list(_records(file)) for file in score_files(paths)}
    if not records:
        raise InputError("there are no score files (*.jsonl) in the folder", where=where)
    pairs = sorted({record["language_pair"] for lines in records.values() for record in lines})
    chosen = chosen_pair(langs or None, pairs, where)
    systems: dict[str, dict[Place, dict[str, list[float]]]] = {}
    for file, lines in records.items():
        selected = [record for record in lines if record["language_pair"] == chosen]
        places = [(record["domain"], record["document_id"]) for record in selected]
        if twice := [place for place, number in Counter(places).items() if number > 1]:
            raise InputError(
                f"document {twice[0][1]!r} of {chosen} is there twice",
                where=str(file),
                next="keep one of its lines",
            )
        scores = [
            {
                name: [math.nan if value is None else float(value) for value in values]
                for name, values in record["metric_scores"].items()
            }
            for record in selected
        ]
        if scores:
            systems[stem(file)] = dict(zip(places, scores))
    documents = dict.fromkeys(place for docs in systems.values() for place in docs)
    metrics = {name for docs in systems.values() for scores in docs.values() for name in scores}
    return PublishedScores(chosen, tuple(documents), tuple(sorted(metrics)), systems)


def _records(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the checked lines of a score file."""
    with opened(file) as text:
        for number, record in objects(text, constants=True):
            scores = record.get("metric_scores")
            if (
                not isinstance(scores, dict)
                or not all(isinstance(record.get(name), str) for name in FIELDS)
                or not all(map(_is_scores, scores.values()))
            ):
                raise InputError(
                    f"a line of scores has the texts {', '.join(FIELDS)}, and metric_scores, "
                    "lists of numbers or null by metric",
                    where=at(text.name, number),
                )
            yield record


def _is_scores(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(v, (int, float, type(None))) for v in values)
