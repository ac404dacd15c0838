"""Rank systems by many metrics at once, with intervals from resampled documents and rank
clusters.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import RunError, choices
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.storage import write_file
from wholetext.notebook.display import brief
from wholetext.ranking.aggregate import METHODS, positions
from wholetext.ranking.panel import Panel, of_run, published
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, run_file
from wholetext.scoring.significance.clusters import cluster_ranks, holm
from wholetext.scoring.significance.power import few_documents
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    Interval,
    bootstrap_p,
    bootstrap_scores,
    interval,
)
from wholetext.types import FloatArray
from wholetext.version import __version__

FORMAT = 1
FILE = "ranking.json"
RANKING = SharedFolder("folder of a ranking", RunError)


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
    __repr__ = brief

    @property
    def signature(self) -> str:
        """Everything that the ranking depends on beside the scores."""
        parts = {
            "rank": self.method,
            "metrics": ",".join(self.metrics),
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
        about = {
            "kind": "rank",
            "format": FORMAT,
            "wholetext": __version__,
            "signature": self.signature,
        }
        return {**about, **plain(asdict(self))}


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
    """One ranking from many metrics: of a run (its folder or ``Results``), or of published score
    files.

    ``metrics`` and ``without`` choose among the metrics (default: all). Published files do not say
    which metrics are better when lower: name those in ``lower_is_better``. Documents are resampled
    ``draws`` times (1,000, or as many as clusters of this many systems need; 0 for none); clusters
    rest on a paired bootstrap test of the value (Efron & Tibshirani 1993, ch. 16), Holm-corrected
    over all pairs. ``out``: a folder for ``ranking.json``, which reports show.
    """
    if method not in METHODS:
        raise RunError(f"unknown method {method!r}", next=choices(method, METHODS))
    if not 0 < alpha < 1:
        raise RunError(f"invalid alpha {alpha}", next="give a level between 0 and 1, such as 0.05")
    panel = _lower(_panel(source, langs), lower_is_better).choose(metrics, without).scored()
    ranking = _ranking(panel, method, draws, seed, alpha)
    if out is not None:
        with changing(Path(out), RANKING) as staged:
            text = json.dumps(ranking.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
            write_file(staged / FILE, text + "\n", RunError)
    return ranking


def _ranking(
    panel: Panel, method: str, draws: int | None, seed: int | None, alpha: float
) -> Ranking:
    count = len(panel.systems)
    needed = math.ceil(
        count * (count - 1) / 2 / alpha
    )  # a p-value is at least 1 / draws, times the number of pairs
    drawn = max(RESAMPLES, needed) if draws is None else draws
    values = _observed(panel, method)
    higher = METHODS[method].higher_is_better
    order = sorted(
        range(count), key=lambda i: (np.isnan(values[i]), -values[i] if higher else values[i], i)
    )
    samples = _resampled(panel, method, drawn, seed)
    domains = {
        name: _observed(panel.of_domain(name), method)
        for name in dict.fromkeys(panel.domains)
        if name
    }
    notes = [few_documents(len(panel.domains), alpha, count * (count - 1) // 2)] if drawn else []
    if 0 < drawn < needed:
        notes.append(
            f"{drawn} draws are too few to cluster {count} systems: no corrected p-value can reach "
            f"{alpha}; "
            f"give at least {needed}"
        )
    return Ranking(
        method,
        tuple(column.metric for column in panel.columns),
        _ranked(panel, order, values, samples, higher, alpha, domains),
        {column.metric: column.decimals for column in panel.columns},
        tuple(column.metric for column in panel.columns if not column.higher_is_better),
        panel.langs,
        len(panel.domains),
        drawn,
        seed,
        alpha,
        (*panel.notes, *filter(None, notes)),
    )


def _panel(source: Results | Path | str | Sequence[Path | str], langs: str) -> Panel:
    if isinstance(source, Results):
        return of_run(source)
    paths = [Path(source)] if isinstance(source, (str, Path)) else [Path(path) for path in source]
    if len(paths) == 1 and run_file(paths[0], "run.json").is_file():
        return of_run(open_run(paths[0]))
    return published(paths, langs)


def _lower(panel: Panel, names: Sequence[str]) -> Panel:
    panel.choose(names)  # an unknown name is an error
    columns = [
        replace(column, higher_is_better=False) if column.metric in names else column
        for column in panel.columns
    ]
    return replace(panel, columns=tuple(columns))


def _values(panel: Panel, scores: FloatArray, method: str) -> FloatArray:
    """(..., systems) values from (metrics, ..., systems) scores.

    Metrics without scores are left out.
    """
    signs = np.array([1.0 if column.higher_is_better else -1.0 for column in panel.columns])
    table = np.moveaxis(scores * signs.reshape(-1, *[1] * (scores.ndim - 1)), 0, -2)
    return METHODS[method].combine(table)


def _resampled(panel: Panel, method: str, draws: int, seed: int | None) -> FloatArray:
    """(systems, draws) values of resampled corpora: every metric sees the same documents in a
    draw.
    """
    if not draws or len(panel.domains) < 2:
        return np.zeros((len(panel.systems), 0))
    samples = [
        bootstrap_scores(list(column.totals), column.score, draws, seed) for column in panel.columns
    ]
    return np.transpose(_values(panel, np.swapaxes(np.array(samples), 1, 2), method))


def _not_ahead(
    samples: FloatArray, values: FloatArray, pairs: Sequence[tuple[int, int]]
) -> FloatArray:
    """(pairs,) share of resamples in which the better system is not ahead, a lower bound of p.

    Of few systems a rank takes few values, such as 1 and 2 of two: resamples in which both are
    equal would never reach the observed difference, and a centred test alone would call systems
    different that are mostly equal.
    """
    ahead = [
        ((samples[a] - samples[b]) * np.sign(values[a] - values[b]) > 0).mean() for a, b in pairs
    ]
    return 1 - np.array(ahead)


def _observed(panel: Panel, method: str) -> FloatArray:
    return _values(panel, np.array([column.observed() for column in panel.columns]), method)


def _ranked(
    panel: Panel,
    order: Sequence[int],
    values: FloatArray,
    samples: FloatArray,
    higher: bool,
    alpha: float,
    domains: Mapping[str, FloatArray],
) -> tuple[RankedSystem, ...]:
    clusters: list[int] | None = None
    places = np.zeros((2, len(order)))
    if samples.shape[1]:
        pairs = list(combinations(order, 2))
        corrected = np.full((len(order), len(order)), np.nan)
        least = 2.0 ** (
            1 - len(panel.domains)
        )  # of a paired test by document, which resamples of few may go below
        p = np.maximum(
            bootstrap_p(samples, values, pairs, centred=True), _not_ahead(samples, values, pairs)
        )
        p = np.maximum(p, least)
        corrected[np.triu_indices(len(order), 1)] = holm(p)
        clusters = cluster_ranks(corrected, alpha)
        places = np.nanpercentile(
            positions(samples.T, higher), (2.5, 97.5), axis=0, method="nearest"
        )
    scores = [column.observed() for column in panel.columns]
    return tuple(
        RankedSystem(
            panel.systems[i],
            float(values[i]),
            interval(samples[i]),
            (int(places[0, i]), int(places[1, i])) if clusters else None,
            clusters[at] if clusters and np.isfinite(values[i]) else None,
            {column.metric: float(row[i]) for column, row in zip(panel.columns, scores)},
            {name: float(of_domain[i]) for name, of_domain in domains.items()},
        )
        for at, i in enumerate(order)
    )
