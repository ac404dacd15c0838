"""Rank systems by many metrics, with intervals and rank clusters from resampled documents.

A panel has the scores by metric, system and document; a method combines them into one value per
system.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import RunError, choices, known
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.storage import write_file
from wholetext.io.formats.published_scores import read_published
from wholetext.notebook.display import brief
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, run_file
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    Interval,
    Score,
    bootstrap_p,
    bootstrap_scores,
    cluster_ranks,
    few_documents,
    holm,
    interval,
)
from wholetext.types import FloatArray
from wholetext.version import __version__

RANKING = SharedFolder("folder of a ranking", RunError)
_SMALL = 1e-9  # of a spread: metrics under which all systems are equal are left out


def ranks(scores: FloatArray, tie: float = 0.0) -> FloatArray:
    """Rank (..., systems) scores, 1 for the highest; NaN has none.

    Tied systems share the best of their ranks, or with ``tie`` 0.5 the mean of them.
    """
    ours, theirs = scores[..., :, None], scores[..., None, :]
    ahead, tied = (ours < theirs).sum(axis=-1), (ours == theirs).sum(axis=-1) - 1
    return np.where(np.isnan(scores), np.nan, 1 + ahead + tie * tied)


def autorank(scores: FloatArray) -> FloatArray:
    """Compute AutoRank of the WMT25 general task (Kocmi et al. 2025): 1 is best, N worst.

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
    """Compute the Borda count: over all metrics, other systems beaten; a tie counts half."""
    ranked = np.isfinite(scores).sum(axis=-1, keepdims=True)
    return np.asarray(np.nansum(ranked - ranks(scores, tie=0.5), axis=-2))


def mean_rank(scores: FloatArray) -> FloatArray:
    """Average a system's ranks over metrics; tied systems share the mean of their ranks."""
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
        """Rank (..., systems) values, 1 for the best; equal values share the better rank."""
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
    spec: str = ""  # of a metric of a run, in full

    def observed(self) -> FloatArray:
        """Return (systems,) scores of the whole corpus."""
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
        """Combine the (..., systems) scores of each metric (default: corpus) to (..., systems) values."""
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
        known = {_bare(column.spec): column for column in self.columns}
        known |= {_bare(column.metric): column for column in self.columns}
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
                results.labels[spec],
                np.stack([by_system[system].totals() for system in results.systems]),
                partial(_main_output, first.reduce),
                first.higher_is_better,
                first.places,
                spec=spec,
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


# ---------------------------------------------------------------- rankings


@dataclass(frozen=True)
class RankedSystem:
    """A system's place in a ranking."""

    system: str
    value: float  # of the method: AutoRank, mean rank or Borda count
    interval: Interval  # of the value, over resampled documents
    places: tuple[int, int] | None  # the middle 95 % of its places over resampled documents
    cluster: int | None  # 1 for the first rank cluster; None where the value is undefined
    scores: Mapping[str, float]  # by metric
    domains: Mapping[str, float]  # the value within each domain


@dataclass(frozen=True)
class Ranking:
    """Systems, best first."""

    method: str
    metrics: tuple[str, ...]
    systems: tuple[RankedSystem, ...]
    decimals: Mapping[str, int]  # of each metric's scores
    lower_is_better: tuple[str, ...]  # metrics
    langs: str
    documents: int
    draws: int
    seed: int | None
    alpha: float
    notes: tuple[str, ...]
    specs: tuple[str, ...]  # of the metrics in full; their names where they are published ones
    __repr__ = brief

    @property
    def signature(self) -> str:
        """State everything that the ranking depends on beside the scores."""
        parts = {
            "rank": self.method,
            "metrics": ",".join(self.specs),
            **({"lower": ",".join(self.lower_is_better)} if self.lower_is_better else {}),
            "systems": len(self.systems),
            "langs": self.langs,
            "unit": "doc",
            "units": self.documents,
            "draws": self.draws,
            "seed": self.seed,
            "alpha": self.alpha,
            "correction": "holm",
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items())

    def as_json(self) -> dict[str, Any]:
        """Plain values, as in ``ranking.json`` (docs/ranking.md): undefined numbers are null."""
        return {
            "kind": "rank",
            "format": 1,
            "wholetext": __version__,
            "signature": self.signature,
            **plain(asdict(self)),
        }


def rank(
    source: Results | Path | str | Sequence[Path | str],
    metrics: Sequence[str] = (),
    *,
    without: Sequence[str] = (),
    lower_is_better: Sequence[str] = (),
    method: str = "autorank",
    langs: str = "",
    draws: int | None = None,
    seed: int | None = SEED,
    alpha: float = 0.05,
    out: Path | str | None = None,
) -> Ranking:
    """Rank the systems of a run (its folder or ``Results``) or of published score files.

    ``metrics`` and ``without`` choose among the metrics (default: all). Published files do not say
    which metrics are better when lower: name those in ``lower_is_better``. Documents are resampled
    ``draws`` times (1,000, or as many as clusters of this many systems need; 0 for none); clusters
    rest on a paired bootstrap test of the value (Efron & Tibshirani 1993, ch. 16), Holm-corrected
    over all pairs. ``out``: a folder for ``ranking.json``, which reports show.
    """
    known("method", method, METHODS, error=RunError)
    if not 0 < alpha < 1:
        raise RunError(f"invalid alpha {alpha}", next="give a level between 0 and 1, such as 0.05")
    panel = _panel(source, langs).restrict(metrics, without, lower_is_better)
    count = len(panel.systems)
    pairs = count * (count - 1) // 2
    needed = math.ceil(pairs / alpha)  # a p-value is at least 1 / draws, times the number of pairs
    drawn = max(RESAMPLES, needed) if draws is None else draws
    notes = [*panel.notes, few_documents(len(panel.domains), alpha, pairs) if drawn else ""]
    if 0 < drawn < needed:
        notes.append(
            f"{drawn} draws are too few to cluster {count} systems: no corrected p-value can reach "
            f"{alpha}; give at least {needed}"
        )
    ranked = _ranked(panel, METHODS[method], _resampled(panel, METHODS[method], drawn, seed), alpha)
    notes.append(_apart_in_cluster(ranked, pairs))
    ranking = Ranking(
        method,
        tuple(column.metric for column in panel.columns),
        ranked,
        {column.metric: column.decimals for column in panel.columns},
        tuple(column.metric for column in panel.columns if not column.higher_is_better),
        panel.langs,
        len(panel.domains),
        drawn,
        seed,
        alpha,
        tuple(filter(None, notes)),
        tuple(column.spec or column.metric for column in panel.columns),
    )
    if out is not None:
        with changing(Path(out), RANKING) as staged:
            text = json.dumps(ranking.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
            write_file(staged / "ranking.json", text + "\n", RunError)
    return ranking


def _apart_in_cluster(systems: Sequence[RankedSystem], pairs: int) -> str:
    """Explain why systems whose ranks do not overlap are in one cluster; "" where none are."""
    for _, members in groupby((s for s in systems if s.cluster), key=lambda s: s.cluster):
        placed = [(s.places, s) for s in members if s.places]
        first = min(placed, key=lambda entry: entry[0][1], default=None)
        last = max(placed, key=lambda entry: entry[0][0], default=None)
        if first and last and first[0][1] < last[0][0]:
            names = [f"{s.system} ({low}–{high})" for (low, high), s in (first, last)]
            return (
                f"ranks of {' and '.join(names)} do not overlap and share cluster "
                f"#{first[1].cluster}: ranks are those of resamples, clusters rest on tests that "
                f"are corrected for all {pairs} pairs"
            )
    return ""


def _panel(source: Results | Path | str | Sequence[Path | str], langs: str) -> Panel:
    if isinstance(source, Results):
        return of_run(source)
    paths = [source] if isinstance(source, (str, Path)) else source
    if len(paths) == 1 and run_file(Path(paths[0]), "run.json").is_file():
        return of_run(open_run(paths[0]))
    return published([Path(path) for path in paths], langs)


def _resampled(panel: Panel, method: Method, draws: int, seed: int | None) -> FloatArray:
    """Draw (systems, draws) values of resampled corpora; all metrics see the same documents."""
    if not draws or len(panel.domains) < 2:
        return np.zeros((len(panel.systems), 0))
    samples = [
        np.transpose(bootstrap_scores(list(column.totals), column.score, draws, seed))
        for column in panel.columns
    ]
    return np.transpose(panel.values(method, samples))


def _ranked(
    panel: Panel, method: Method, samples: FloatArray, alpha: float
) -> tuple[RankedSystem, ...]:
    """Order the systems by value, with clusters and places where documents were resampled."""
    values = panel.values(method)
    order = np.argsort(method.ranks(values), kind="stable")  # undefined ones last
    drawn = samples.shape[1] > 0
    if drawn:
        clusters = _clusters(values, samples, order.tolist(), len(panel.domains), alpha)
        places = np.nanpercentile(method.ranks(samples.T), (2.5, 97.5), axis=0, method="nearest")
    scores = {column.metric: column.observed() for column in panel.columns}
    domains = {
        domain: panel.of_domain(domain).values(method)
        for domain in dict.fromkeys(panel.domains)
        if domain
    }
    return tuple(
        RankedSystem(
            panel.systems[i],
            float(values[i]),
            interval(samples[i]),
            (int(places[0, i]), int(places[1, i])) if drawn else None,
            clusters[position] if drawn and np.isfinite(values[i]) else None,
            {metric: float(row[i]) for metric, row in scores.items()},
            {domain: float(row[i]) for domain, row in domains.items()},
        )
        for position, i in enumerate(order)
    )


def _clusters(
    values: FloatArray, samples: FloatArray, order: Sequence[int], documents: int, alpha: float
) -> list[int]:
    """Return the rank cluster of each system in ``order``.

    Of few systems a rank takes few values, such as 1 and 2 of two: resamples in which both are
    equal would never reach the observed difference, and a centred test alone would call systems
    different that are mostly equal. So p is at least the share of resamples in which the better
    system is not ahead, and that of a paired test by document.
    """
    pairs = list(combinations(order, 2))
    ahead = [
        ((samples[a] - samples[b]) * np.sign(values[a] - values[b]) > 0).mean() for a, b in pairs
    ]
    p = np.maximum(bootstrap_p(samples, values, pairs, centred=True), 1 - np.array(ahead))
    corrected = np.full((len(order), len(order)), np.nan)
    corrected[np.triu_indices(len(order), 1)] = holm(np.maximum(p, 2.0 ** (1 - documents)))
    return cluster_ranks(corrected, alpha)
