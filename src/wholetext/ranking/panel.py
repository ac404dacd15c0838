"""The scores that a ranking starts from, by metric, system and document: of a run folder, or of published files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wholetext import languages
from wholetext.errors import InputError, RunError, did_you_mean
from wholetext.files.parsing import read_json
from wholetext.io.text import opened
from wholetext.scoring.results import Results
from wholetext.significance.resample import Score
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
        columns = tuple(replace(each, totals=each.totals[:, chosen]) for each in self.columns)
        return replace(self, columns=columns, domains=tuple(self.domains[i] for i in chosen))

    def choose(self, metrics: Sequence[str], without: Sequence[str] = ()) -> Panel:
        """The metrics that are named (all by default), less some."""
        known = [each.metric for each in self.columns]
        for name in (*metrics, *without):
            if name not in known:
                raise RunError(f"there are no scores of {name!r}",
                               next=did_you_mean(name, known) or f"there are some of {', '.join(known)}")
        wanted = [name for name in (metrics or known) if name not in without]
        if not wanted:
            raise RunError("no metric is left to rank by", next="exclude fewer metrics")
        return replace(self, columns=tuple(self.columns[known.index(name)] for name in dict.fromkeys(wanted)))


def of_run(results: Results) -> Panel:
    """The panel of a run folder: its metrics, systems and documents; domains are those of the documents."""
    systems = results.systems
    columns = []
    for spec, by_system in results.scores.items():
        first = next(iter(by_system.values()))
        missing = [system for system in systems if system not in by_system]
        if missing:
            raise RunError(f"{spec} has no scores of {', '.join(missing)}", next="score all systems with all metrics")
        totals = np.stack([by_system[system].totals() for system in systems])
        columns.append(Column(spec, totals, partial(_main_output, first.reduce), first.higher_is_better, first.places))
    domains = tuple(str(doc.meta.get("domain", "")) for doc in results.corpus.docs)
    return Panel(systems, tuple(columns), domains, "-".join(filter(None, results.corpus.langs)), results.notes)


def _main_output(reduce: Callable[[FloatArray], FloatArray], totals: FloatArray) -> FloatArray:
    return np.asarray(reduce(totals)[..., 0])


# ---------------------------------------------------------------- published scores


def published(paths: Sequence[Path], langs: str = "") -> Panel:
    """Scores as WMT25 published them, one ``SYSTEM.jsonl`` per system (or folders of them).

    A line is a document: ``language_pair``, ``domain``, ``document_id`` and ``metric_scores``, lists of numbers by
    metric, one per paragraph; null and NaN are missing scores and are left out of the mean over paragraphs.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    if not files:
        raise InputError("there are no score files (*.jsonl) in the folder", where=", ".join(map(str, paths)))
    records = {file.stem: list(_records(file)) for file in files}
    pair = _chosen_pair({record["language_pair"] for found in records.values() for record in found}, langs)
    kept = {}
    for system, lines in records.items():
        if of_pair := [record for record in lines if record["language_pair"] == pair]:
            kept[system] = of_pair
    documents = {(record["domain"], record["document_id"]): None for found in kept.values() for record in found}
    place = {document: i for i, document in enumerate(documents)}
    names = dict.fromkeys(name for found in kept.values() for record in found for name in record["metric_scores"])
    totals = {name: np.zeros((len(kept), len(place), 2)) for name in sorted(names)}
    for s, (system, found) in enumerate(kept.items()):
        seen: set[int] = set()
        for record in found:
            d = place[record["domain"], record["document_id"]]
            if d in seen:
                raise InputError(f"document {record['document_id']!r} of {pair} is there twice",
                                 where=f"{system}.jsonl")
            seen.add(d)
            for name, values in record["metric_scores"].items():
                known = [value for value in values if value is not None and not math.isnan(value)]
                totals[name][s, d] = sum(known), len(known)
    columns = tuple(
        Column(name, table, lambda sums: sums[..., 0] / sums[..., 1],
               decimals=2 if np.abs(table[..., 0]).sum() >= 10 * table[..., 1].sum() else 4)
        for name, table in totals.items()
    )
    return Panel(tuple(kept), columns, tuple(domain for domain, _ in place), pair, _gaps(columns, tuple(kept)))


def _records(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of a score file, checked: a field that is not text or a score that is not a number is an error."""
    fields = ("language_pair", "domain", "document_id")
    with opened(file) as text:
        for number, line in enumerate(text.lines(), 1):
            if not line.strip():
                continue
            where = f"{file}:{number}"
            record = read_json(line, where=where, constants=True)
            if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in fields):
                raise InputError(f"a line of scores needs the text fields {', '.join(fields)}", where=where)
            by_metric = record.get("metric_scores")
            if not isinstance(by_metric, dict):
                raise InputError("metric_scores must be an object: metric → list of scores", where=where)
            for name, values in by_metric.items():
                if not isinstance(values, list) or not all(map(_is_score, values)):
                    raise InputError(f"the scores of {name!r} must be a list of numbers or null", where=where)
            yield record


def _is_score(value: object) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isinf(value))


def _chosen_pair(found: set[str], wanted: str) -> str:
    """The language pair of the files that ``wanted`` names, however its codes are written."""
    if wanted in found:
        return wanted
    pairs = sorted(found)
    if not wanted:
        if len(pairs) == 1:
            return pairs[0]
        raise InputError(f"the files have scores of {len(pairs)} language pairs",
                         next=f"choose with -l: {' '.join(pairs)}")
    source, target = languages.pair_of(wanted)
    alike = [pair for pair in pairs if all(languages.same_language(*codes)
                                           for codes in zip(languages.pair_of(pair), (source, target)))]
    if len(alike) != 1:
        what = "several language pairs match" if alike else "no language pair matches"
        raise InputError(f"{what} {wanted!r}", next=f"choose with -l: {' '.join(alike or pairs)}")
    return alike[0]


def _gaps(columns: Sequence[Column], systems: Sequence[str]) -> tuple[str, ...]:
    """Systems that a metric scored on fewer paragraphs than others."""
    notes = []
    for column in columns:
        counts = column.totals[..., 1].sum(axis=1)
        fewer = {system: int(count) for system, count in zip(systems, counts) if count < counts.max()}
        if fewer:
            listed = ", ".join(f"{system} {count}" for system, count in fewer.items())
            notes.append(f"{column.metric}: scores of {int(counts.max())} paragraphs, but of {listed}; "
                         "means are over what is there")
    return tuple(notes)

