"""A run worked out for showing: what page and figures draw, computed once, without any model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wholetext.errors import RunError, choices
from wholetext.registry import Scorer, scorer
from wholetext.reporting.panels import fixed, shorts
from wholetext.scoring.comparison import compare_run
from wholetext.scoring.results import Results
from wholetext.scoring.significance.clusters import holm, holm_levels
from wholetext.scoring.significance.compare import (
    Comparison,
    Significance,
    SystemTotals,
    interval_table,
    system_totals,
)
from wholetext.scoring.significance.power import influence, power
from wholetext.scoring.significance.resample import bootstrap_scores
from wholetext.spec import parse
from wholetext.types import FloatArray, Scores

KEPT_CATEGORIES = 40  # outputs of one metric that the page compares one by one


@dataclass(frozen=True, eq=False)
class RunAnalysis:
    """Systems best first by the first metric; arrays of ``standings`` and ``breakdowns`` go by them."""

    results: Results
    systems: tuple[str, ...]
    baseline: int | None  # the system that marks refer to; None: the best of each metric
    testing: Significance
    standings: tuple[Mapping[str, Any], ...]  # one per metric: what the leaderboard shows
    breakdowns: tuple[Mapping[str, Any], ...]  # one per metric: documents and categories


def analyse(
    results: Results, baseline: str | None = None, testing: Significance | None = None
) -> RunAnalysis:
    """Every pair of systems under every metric, and a look into documents and categories.

    The comparison is the one stored with the run; ``testing``, or another ``baseline``, asks for a new one.
    """
    first = next(iter(results.scores.values()), {})
    if not first:
        raise RunError("the run has no scores", next="score at least one system with one metric")
    sign = -1 if next(iter(first.values())).higher_is_better else 1
    systems = sorted(
        first, key=lambda name: (np.isnan(first[name].score), sign * first[name].score, name)
    )
    if baseline is not None and baseline not in systems:
        raise RunError(f"there is no system {baseline!r}", next=choices(baseline, systems))
    if baseline is not None:
        testing = replace(testing or results.significance or Significance(), baseline=baseline)
    testing, comparisons = compare_run(results, testing)
    baseline = testing.baseline
    scorers = [scorer(spec) for spec in results.scores]
    return RunAnalysis(
        results,
        tuple(systems),
        None if baseline is None else systems.index(baseline),
        testing,
        tuple(
            standing(scores, systems, comparisons[spec], testing)
            | {"without": _without(scorers, i)}
            for i, (spec, scores) in enumerate(results.scores.items())
        ),
        tuple(breakdown(scores, systems, testing) for scores in results.scores.values()),
    )


def _without(scorers: Sequence[Scorer], at: int) -> int | None:
    """For a metric read with context: the same metric without, if the run has it."""
    if scorers[at].view.name != "context":
        return None
    found = [
        i
        for i, one in enumerate(scorers)
        if one.view.name == "sentence" and one.metric == scorers[at].metric
    ]
    return found[0] if found else None


def standing(
    scores: Mapping[str, Scores],
    systems: Sequence[str],
    comparison: Comparison,
    testing: Significance,
) -> dict[str, Any]:
    """What the leaderboard shows of one metric; arrays go by ``systems``, tables by (baseline, system).

    Numbers that people read are rounded here, as `wholetext compare` prints them.
    """
    ranked = system_totals(scores, "doc", None)
    names, digits = [one.system for one in comparison.standings], comparison.decimals
    at = [names.index(name) for name in systems]
    first = next(iter(scores.values()))
    p = comparison.p[np.ix_(at, at)]  # (systems, systems)
    standings, ordered = [comparison[name] for name in systems], [scores[name] for name in systems]
    bounds = [one.interval for one in standings]
    spec, one = parse(first.metric), scorer(first.metric)
    view = one.view.name
    cut = [(each.lost > 0).sum(axis=0) if each.lost is not None else (0, 0) for each in ordered]
    ends = [end for bound in bounds for end in (bound.low, bound.high) if np.isfinite(end)]
    return {
        "spec": first.metric,
        "output": first.outputs[0],
        "higher": first.higher_is_better,
        "digits": digits,
        "range": shorts(first.range),
        "order": [systems.index(name) for name in names],
        "label": str(replace(spec, view=None)),
        "under": str(spec.view or view),
        "view": view,
        "summary": one.metric.summary,
        "score": fixed([one.score for one in standings], digits),
        "low": fixed([bound.low for bound in bounds], digits),
        "high": fixed([bound.high for bound in bounds], digits),
        "half": fixed([bound.half_width for bound in bounds], digits),
        "delta": fixed(_differences([one.score for one in standings]), digits),
        "rank": [one.rank for one in standings],
        "best": systems.index(names[0]),
        "p": shorts(p, 4),
        "holmAll": shorts(_holm_all(p), 4),
        "holmBase": shorts([holm(row) for row in p], 4),
        "deltas": fixed(comparison.deltas[np.ix_(at, at)], digits),
        "needed": _needed(ranked, [ranked.names.index(name) for name in systems], p, testing.alpha),
        "test": dict(comparison.signature),
        **_signatures(ordered),
        "scale": _scale(ordered),
        "lostContext": [int(two[0]) for two in cut],
        "lostScored": [int(two[1]) for two in cut],  # rows
        "short": scores[comparison.baseline].signature.short,
        "warnings": list(comparison.warnings),
        "spread": shorts((min(ends), max(ends)))
        if ends
        else [None, None],  # of the axis for intervals
    }


def breakdown(
    scores: Mapping[str, Scores], systems: Sequence[str], testing: Significance
) -> dict[str, Any]:
    """What the page loads of one metric when it is looked at closely: documents and categories."""
    ranked = system_totals(scores, "doc", None)
    ordered = [scores[name] for name in systems]
    names = ordered[0].outputs[
        1:
    ]  # precision and recall of categories stay out where there are many
    if len(names) > KEPT_CATEGORIES:
        names = tuple(name for name in names if not name.endswith((".precision", ".recall")))
    return {
        "doc": shorts([each.at("doc") for each in ordered]),
        "weight": shorts([_influences(each, ranked) for each in ordered], 4),
        "categories": [
            _category(scores, systems, name, testing) for name in names[:KEPT_CATEGORIES]
        ],
    }


def _holm_all(p: FloatArray) -> FloatArray:
    """Corrected over all pairs: what marks against the best system of each metric go by."""
    upper = np.triu_indices(len(p), 1)
    table = np.full(p.shape, np.nan)
    table[upper] = holm(p[upper])
    return np.where(np.isnan(table), table.T, table)


def _differences(scores: Sequence[float] | FloatArray) -> FloatArray:
    """(systems, systems) [baseline, system] → the system's score minus the baseline's."""
    values = np.asarray(scores)
    return np.asarray(values[None, :] - values[:, None])


def _needed(ranked: SystemTotals, at: Sequence[int], p: FloatArray, alpha: float) -> Any:
    """[baseline][system] documents that would separate two systems, at the level that the correction leaves for it."""
    table = np.full(p.shape, np.nan)
    for i, row in enumerate(p):
        for j, level in enumerate(holm_levels(row, alpha)):
            if np.isfinite(level):
                one, other = ranked.documents[at[i]], ranked.documents[at[j]]
                table[i, j] = power(one, other, ranked.score, float(level)).needed
    return shorts(table)


def _signatures(ordered: Sequence[Scores]) -> dict[str, Any]:
    """The signature that all systems share, and what differs by system."""
    first = dict(ordered[0].signature)
    shared = {
        key: value
        for key, value in first.items()
        if all(each.signature.get(key) == value for each in ordered)
    }
    own = [
        {key: value for key, value in each.signature.items() if key not in shared}
        for each in ordered
    ]
    return {"signature": shared, "own": own}


def _scale(scores: Sequence[Scores]) -> Any:
    """5 %, 50 % and 95 % of the row scores of all systems: what segments are coloured by."""
    values = np.concatenate([each.at("row") for each in scores])
    values = values[np.isfinite(values)]
    return shorts(np.quantile(values, [0.05, 0.5, 0.95])) if len(values) else [None, None, None]


# ---------------------------------------------------------------- documents and categories


def _influences(scores: Scores, ranked: SystemTotals) -> FloatArray:
    """(documents,) share of each document in the corpus score: they add up to it (to first order).

    θ/n + influence/n for the jackknife influence of each document: for a mean the document's own score over n.
    """
    reached = np.bincount(scores.rows.doc, minlength=len(scores.rows.docs)) > 0
    totals = scores.totals()[reached]
    values = np.full(len(reached), np.nan)
    with np.errstate(all="ignore"):
        whole = ranked.score(totals.sum(axis=0))
        values[reached] = (
            (whole + influence(totals, ranked.score)) / len(totals) if len(totals) > 1 else whole
        )
    return values


def _category(
    scores: Mapping[str, Scores], systems: Sequence[str], name: str, testing: Significance
) -> dict[str, Any]:
    ranked = system_totals(scores, testing.unit, name)
    samples = bootstrap_scores(
        ranked.units, ranked.score, testing.resamples(len(scores)), testing.seed
    )
    at, digits = (
        [ranked.names.index(system) for system in systems],
        next(iter(scores.values())).places,
    )
    observed, deltas = (
        ranked.observed[at],
        interval_table(samples if len(ranked.units[0]) > 1 else samples[:, :0]),
    )
    return {
        "name": name,
        "score": fixed(observed, digits),
        "delta": fixed(_differences(observed), digits),
        "deltas": fixed(deltas[np.ix_(at, at)], digits),
    }
