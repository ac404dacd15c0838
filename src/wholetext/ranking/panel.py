"""Scores by metric, system and document, and methods that combine them into one value per system."""

from __future__ import annotations

import math
import re
import warnings
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

_SMALL = 1e-9  # of a spread: metrics under which all systems are equal are left out


def ranks(scores: FloatArray, tie: float = 0.0) -> FloatArray:
    """(..., systems) rank of each score, 1 for the highest; NaN has none.

    Tied systems share the best of their ranks, or with ``tie`` 0.5 the mean of them.
    """
    ours, theirs = scores[..., :, None], scores[..., None, :]
    ahead, tied = (ours < theirs).sum(axis=-1), (ours == theirs).sum(axis=-1) - 1
    return np.where(np.isnan(scores), np.nan, 1 + ahead + tie * tied)


def autorank(scores: FloatArray) -> FloatArray:
    """AutoRank of the WMT25 general task (Kocmi et al. 2025): 1 is the best, N the worst.

    Each metric is scaled robustly, (x − median) / (max − 25th percentile); the mean over metrics is
    mapped linearly onto 1 … N. A metric that has no score of a system is left out of that system's
    mean.
    """
    middle = np.nanmedian(scores, axis=-1, keepdims=True)
    quartile = np.nanpercentile(scores, 25, axis=-1, keepdims=True)
    spread = np.maximum(_SMALL, np.nanmax(scores, axis=-1, keepdims=True) - quartile)
    mean = np.nanmean((scores - middle) / spread, axis=-2)
    best, worst = np.nanmax(mean, axis=-1, keepdims=True), np.nanmin(mean, axis=-1, keepdims=True)
    share = np.divide(best - mean, best - worst, out=np.zeros_like(mean), where=best > worst)
    return np.asarray(1 + (scores.shape[-1] - 1) * np.where(np.isnan(mean), np.nan, share))


def borda(scores: FloatArray) -> FloatArray:
    """Borda count: over all metrics, how many other systems are beaten; a tie counts half."""
    ranked = np.isfinite(scores).sum(axis=-1, keepdims=True)
    return np.asarray(np.nansum(ranked - ranks(scores, tie=0.5), axis=-2))


def mean_rank(scores: FloatArray) -> FloatArray:
    """The mean over metrics of a system's rank; tied systems share the mean of their ranks."""
    return np.asarray(np.nanmean(ranks(scores, tie=0.5), axis=-2))


@dataclass(frozen=True)
class Method:
    """How the scores of many metrics become one value per system.

    ``formula`` takes (..., metrics, systems) scores of which more is better and returns
    (..., systems) values, so that one call ranks the corpus and all its resamples.
    """

    label: str
    higher_is_better: bool
    decimals: int
    formula: Callable[[FloatArray], FloatArray]

    def combine(self, scores: FloatArray) -> FloatArray:
        """Apply the formula; NaN where a system has no score at all."""
        with warnings.catch_warnings():  # numpy warns of metrics and systems without a score
            warnings.simplefilter("ignore", RuntimeWarning)
            return self.formula(scores)

    def ranks(self, values: FloatArray) -> FloatArray:
        """(..., systems) rank of each value, 1 for the best; equal values share the better rank."""
        return ranks(values if self.higher_is_better else -values)


METHODS = {
    "autorank": Method("AutoRank", False, 1, autorank),
    "mean-rank": Method("mean rank", False, 2, mean_rank),
    "borda": Method("Borda", True, 1, borda),
}


@dataclass(frozen=True, eq=False)
class MetricColumn:
    """One metric: statistics of every system by document, and how their totals become a score."""

    metric: str
    totals: FloatArray  # (systems, documents, k)
    score: Score
    higher_is_better: bool = True
    decimals: int = 4
    note: str = ""  # on missing scores

    def observed(self) -> FloatArray:
        """(systems,) scores of the whole corpus."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.score(self.totals.sum(axis=1)))


@dataclass(frozen=True, eq=False)
class Panel:
    """Every metric on the same systems and documents."""

    systems: tuple[str, ...]
    columns: tuple[MetricColumn, ...]
    domains: tuple[str, ...]  # per document, "" where unknown
    langs: str = ""
    notes: tuple[str, ...] = ()

    def values(self, method: Method, scores: Sequence[FloatArray] | None = None) -> FloatArray:
        """(..., systems) values from the (..., systems) scores of each metric (default: corpus)."""
        scores = scores or [column.observed() for column in self.columns]
        signs = [1.0 if column.higher_is_better else -1.0 for column in self.columns]
        return method.combine(np.stack([sign * x for sign, x in zip(signs, scores)], axis=-2))

    def of_domain(self, domain: str) -> Panel:
        """Select the documents of a domain."""
        rows = np.array(self.domains) == domain
        columns = tuple(replace(column, totals=column.totals[:, rows]) for column in self.columns)
        return replace(self, columns=columns, domains=(domain,) * int(rows.sum()))

    def restrict(
        self, metrics: Sequence[str], without: Sequence[str], lower_is_better: Sequence[str]
    ) -> Panel:
        """Select the named metrics (default: all), less ``without``, that have a score.

        Notes name the metrics used where some are not, and systems that fewer metrics rank.
        """
        lower, excluded = self._named(lower_is_better), self._named(without)
        columns = [
            replace(column, higher_is_better=column.higher_is_better and column not in lower)
            for column in dict.fromkeys(self._named(metrics) or self.columns)
            if column not in excluded and not np.isnan(column.observed()).all()
        ]
        if not columns:
            raise RunError("no metric with a score is left to rank by", next="name others with -m")
        names = [column.metric for column in columns]
        unused = [column.metric for column in self.columns if column.metric not in names]
        notes = [*self.notes, *(column.note for column in columns)]
        if unused:
            notes.append(f"ranked by {', '.join(names)}; not used: {', '.join(unused)}")
        counts = np.sum([~np.isnan(column.observed()) for column in columns], axis=0)
        fewer = [
            f"{system} {number}"
            for system, number in zip(self.systems, counts)
            if 0 < number < len(columns)
        ]
        if fewer:
            notes.append(
                f"ranked by fewer than the {len(columns)} metrics, since others gave no score: "
                f"{', '.join(fewer)}"
            )
        return replace(self, columns=tuple(columns), notes=tuple(filter(None, notes)))

    def _named(self, metrics: Sequence[str]) -> list[MetricColumn]:
        """Find metrics by name, as a published table may write it: with arrows, in other case."""
        known = {_bare(column.metric): column for column in self.columns}
        for name in metrics:
            if _bare(name) not in known:
                names = [column.metric for column in self.columns]
                raise RunError(f"there are no scores of {name!r}", next=choices(name, names))
        return [known[_bare(name)] for name in metrics]


def _bare(name: str) -> str:
    return re.sub(r"[\s↑↓]", "", name).casefold()


def of_run(results: Results) -> Panel:
    """Collect the scores of a run; domains are those of its documents."""
    columns = []
    for spec, by_system in results.scores.items():
        missing = ", ".join(system for system in results.systems if system not in by_system)
        if missing:
            raise RunError(
                f"{spec} has no scores of {missing}", next="score all systems with all metrics"
            )
        first = by_system[results.systems[0]]
        columns.append(
            MetricColumn(
                spec,
                np.stack([by_system[system].totals() for system in results.systems]),
                partial(_main_output, first.reduce),
                first.higher_is_better,
                first.places,
            )
        )
    domains = tuple(str(doc.meta.get("domain", "")) for doc in results.corpus.docs)
    langs = "-".join(filter(None, results.corpus.langs))
    return Panel(results.systems, tuple(columns), domains, langs, results.notes)


def _main_output(reduce: Score, totals: FloatArray) -> FloatArray:
    return np.asarray(reduce(totals)[..., 0])


def published(paths: Sequence[Path], langs: str = "") -> Panel:
    """Read scores as WMT25 published them; missing ones are left out of means over paragraphs."""
    scored = read_published(paths, langs)
    systems = tuple(scored.systems)
    columns = []
    for name in scored.metrics:
        totals = np.zeros((len(systems), len(scored.documents), 2))
        for s, documents in enumerate(scored.systems.values()):
            for d, document in enumerate(scored.documents):
                values = documents.get(document, {}).get(name, ())
                known = [value for value in values if not math.isnan(value)]
                totals[s, d] = sum(known), len(known)
        decimals = 2 if np.abs(totals[..., 0]).sum() >= 10 * totals[..., 1].sum() else 4
        columns.append(
            MetricColumn(
                name,
                totals,
                lambda sums: sums[..., 0] / sums[..., 1],
                decimals=decimals,
                note=_gaps(name, systems, totals[..., 1].sum(axis=1)),
            )
        )
    domains = tuple(domain for domain, _ in scored.documents)
    return Panel(systems, tuple(columns), domains, scored.langs)


def _gaps(metric: str, systems: Sequence[str], counts: FloatArray) -> str:
    """Name the systems that a metric scored on fewer paragraphs than others."""
    fewer = [
        f"{system} {int(count)}" for system, count in zip(systems, counts) if count < counts.max()
    ]
    return (
        f"{metric}: scores of {int(counts.max())} paragraphs, but of {', '.join(fewer)}; "
        "means are over what is there"
        if fewer
        else ""
    )
