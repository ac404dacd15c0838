"""Rank systems by many metrics, with intervals and rank clusters from resampled documents."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from wholetext.errors import RunError, choices
from wholetext.files.output_folder import SharedFolder, changing
from wholetext.files.storage import write_file
from wholetext.notebook.display import brief
from wholetext.ranking.panel import METHODS, Method, Panel, of_run, published
from wholetext.scoring.comparison import plain
from wholetext.scoring.evaluate import open_run
from wholetext.scoring.results import Results, run_file
from wholetext.scoring.significance.power import few_documents
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    Interval,
    bootstrap_p,
    bootstrap_scores,
    cluster_ranks,
    holm,
    interval,
)
from wholetext.types import FloatArray
from wholetext.version import __version__

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
    if method not in METHODS:
        raise RunError(f"unknown method {method!r}", next=choices(method, METHODS))
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
    ranking = Ranking(
        method,
        tuple(column.metric for column in panel.columns),
        _ranked(panel, METHODS[method], _resampled(panel, METHODS[method], drawn, seed), alpha),
        {column.metric: column.decimals for column in panel.columns},
        tuple(column.metric for column in panel.columns if not column.higher_is_better),
        panel.langs,
        len(panel.domains),
        drawn,
        seed,
        alpha,
        tuple(filter(None, notes)),
    )
    if out is not None:
        with changing(Path(out), RANKING) as staged:
            text = json.dumps(ranking.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
            write_file(staged / "ranking.json", text + "\n", RunError)
    return ranking


def _panel(source: Results | Path | str | Sequence[Path | str], langs: str) -> Panel:
    if isinstance(source, Results):
        return of_run(source)
    paths = [source] if isinstance(source, (str, Path)) else source
    if len(paths) == 1 and run_file(Path(paths[0]), "run.json").is_file():
        return of_run(open_run(paths[0]))
    return published([Path(path) for path in paths], langs)


def _resampled(panel: Panel, method: Method, draws: int, seed: int | None) -> FloatArray:
    """(systems, draws) values of resampled corpora; all metrics see the same documents."""
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
