"""The scores that a ranking starts from, by metric, system and document: of a run folder, or of
published files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from wholetext.errors import RunError, choices
from wholetext.io.formats.published_scores import read_published
from wholetext.scoring.results import Results
from wholetext.scoring.significance.resample import Score
from wholetext.types import FloatArray


@dataclass(frozen=True, eq=False)
class Column:
    """One metric: statistics of every system by document, and how their totals become a score."""

    metric: str
    totals: FloatArray  # (systems, documents, k)
    score: Score
    higher_is_better: bool = True
    decimals: int = 4

    def observed(self) -> FloatArray:
        """(systems,) scores of the whole corpus."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.score(self.totals.sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Panel:
    """Every metric on the same systems and documents."""

    systems: tuple[str, ...]
    columns: tuple[Column, ...]
    domains: tuple[str, ...]  # per document, "" where unknown
    langs: str = ""
    notes: tuple[str, ...] = ()

    def of_domain(self, domain: str) -> Panel:
        """The documents of one domain."""
        chosen = np.flatnonzero(np.array(self.domains) == domain)
        columns = tuple(replace(column, totals=column.totals[:, chosen]) for column in self.columns)
        return replace(self, columns=columns, domains=tuple(self.domains[i] for i in chosen))

    def choose(self, metrics: Sequence[str], without: Sequence[str] = ()) -> Panel:
        """The metrics that are named (all by default), less some."""
        known = [column.metric for column in self.columns]
        for name in (*metrics, *without):
            if name not in known:
                raise RunError(f"there are no scores of {name!r}", next=choices(name, known))
        names = [name for name in (metrics or known) if name not in without]
        if not names:
            raise RunError("no metric is left to rank by", next="exclude fewer metrics")
        return replace(
            self, columns=tuple(self.columns[known.index(name)] for name in dict.fromkeys(names))
        )

    def scored(self) -> Panel:
        """The metrics that have a score of some system.

        Notes name the others, and systems that fewer metrics rank.
        """
        empty = [column.metric for column in self.columns if np.isnan(column.observed()).all()]
        if len(empty) == len(self.columns):
            raise RunError(f"there is no score of {', '.join(empty)}", next="rank by other metrics")
        note = (f"left out, as there is no score at all: {', '.join(empty)}",) if empty else ()
        kept = tuple(column for column in self.columns if column.metric not in empty)
        counts = np.sum([~np.isnan(column.observed()) for column in kept], axis=0)
        fewer = [
            f"{system} {number}"
            for system, number in zip(self.systems, counts)
            if 0 < number < len(kept)
        ]
        lacking = (
            f"ranked by fewer than the {len(kept)} metrics, since others gave no score: "
            f"{', '.join(fewer)}",
        )
        return replace(self, columns=kept, notes=(*self.notes, *note, *(lacking if fewer else ())))


def of_run(results: Results) -> Panel:
    """The panel of a run folder: its metrics, systems and documents.

    Domains are those of the documents.
    """
    systems = results.systems
    columns = []
    for spec, by_system in results.scores.items():
        first = next(iter(by_system.values()))
        missing = [system for system in systems if system not in by_system]
        if missing:
            raise RunError(
                f"{spec} has no scores of {', '.join(missing)}",
                next="score all systems with all metrics",
            )
        totals = np.stack([by_system[system].totals() for system in systems])
        columns.append(
            Column(
                spec,
                totals,
                partial(_main_output, first.reduce),
                first.higher_is_better,
                first.places,
            )
        )
    domains = tuple(str(doc.meta.get("domain", "")) for doc in results.corpus.docs)
    return Panel(
        systems,
        tuple(columns),
        domains,
        "-".join(filter(None, results.corpus.langs)),
        results.notes,
    )


def _main_output(reduce: Callable[[FloatArray], FloatArray], totals: FloatArray) -> FloatArray:
    return np.asarray(reduce(totals)[..., 0])


# ---------------------------------------------------------------- published scores


def published(paths: Sequence[Path], langs: str = "") -> Panel:
    """Scores as WMT25 published them; missing ones are left out of the mean over paragraphs."""
    scored = read_published(paths, langs)
    totals = {
        name: np.zeros((len(scored.systems), len(scored.documents), 2)) for name in scored.metrics
    }
    place = {document: d for d, document in enumerate(scored.documents)}
    for s, documents in enumerate(scored.systems.values()):
        for document, scores in documents.items():
            for name, values in scores.items():
                known = [value for value in values if not math.isnan(value)]
                totals[name][s, place[document]] = sum(known), len(known)
    columns = tuple(
        Column(
            name,
            table,
            lambda sums: sums[..., 0] / sums[..., 1],
            decimals=2 if np.abs(table[..., 0]).sum() >= 10 * table[..., 1].sum() else 4,
        )
        for name, table in totals.items()
    )
    systems = tuple(scored.systems)
    return Panel(
        systems,
        columns,
        tuple(domain for domain, _ in place),
        scored.langs,
        _gaps(columns, systems),
    )


def _gaps(columns: Sequence[Column], systems: Sequence[str]) -> tuple[str, ...]:
    """Systems that a metric scored on fewer paragraphs than others."""
    notes = []
    for column in columns:
        counts = column.totals[..., 1].sum(axis=1)
        fewer = {
            system: int(count) for system, count in zip(systems, counts) if count < counts.max()
        }
        if fewer:
            listed = ", ".join(f"{system} {count}" for system, count in fewer.items())
            notes.append(
                f"{column.metric}: scores of {int(counts.max())} paragraphs, but of {listed}; "
                "means are over what is there"
            )
    return tuple(notes)
