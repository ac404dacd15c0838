"""Analysis of a run for the page and the figures, computed once, without models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wholetext.errors import RunError, count, known
from wholetext.registry import Scorer, scorer
from wholetext.reporting.panels import fixed, shorts
from wholetext.scoring.comparison import compare
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import (
    Comparison,
    Significance,
    SystemTotals,
    interval_table,
    square,
    system_totals,
)
from wholetext.scoring.significance.power import influence, power
from wholetext.scoring.significance.resample import bootstrap_scores, holm, holm_levels
from wholetext.spec import parse
from wholetext.types import FloatArray, Scores

KEPT_CATEGORIES = 40  # outputs of one metric that the page compares one by one


@dataclass(frozen=True, eq=False)
class RunAnalysis:
    """A run with its systems sorted by the first metric, best first, as all arrays here are."""

    results: Results
    systems: tuple[str, ...]
    baseline: int | None  # the system that marks refer to; None: the best of each metric
    testing: Significance
    standings: tuple[Mapping[str, Any], ...]  # one per metric: what the leaderboard shows
    breakdowns: tuple[Mapping[str, Any], ...]  # one per metric: documents and categories


def analyse(
    results: Results, baseline: str | None = None, testing: Significance | None = None
) -> RunAnalysis:
    """Compare every pair of systems under every metric, with documents and categories.

    The comparison stored with the run is used, unless ``testing`` or ``baseline`` differ from it.
    """
    first = next(iter(results.scores.values()), {})
    if not first:
        raise RunError("the run has no scores", next="score at least one system with one metric")
    sign = -1 if next(iter(first.values())).higher_is_better else 1
    systems = sorted(
        first, key=lambda name: (np.isnan(first[name].score), sign * first[name].score, name)
    )
    if baseline is not None:
        known("system", baseline, systems, error=RunError)
        testing = replace(testing or results.significance or Significance(), baseline=baseline)
    comparisons = compare(results, testing)
    testing = testing or results.significance or Significance()
    baseline = testing.baseline
    scorers = [scorer(spec) for spec in results.scores]
    results = replace(results, significance=testing, comparisons=comparisons)
    return RunAnalysis(
        results,
        tuple(systems),
        None if baseline is None else systems.index(baseline),
        testing,
        tuple(
            standing(scores, systems, comparisons[spec], testing)
            | {"without": _without(scorers, i), **_heading(results, spec, scorers[i])}
            for i, (spec, scores) in enumerate(results.scores.items())
        ),
        tuple(breakdown(scores, systems, testing) for scores in results.scores.values()),
    )


def _heading(results: Results, spec: str, parsed: Scorer) -> dict[str, Any]:
    """Name a metric as tables do; under it, its view and its references."""
    names = results.references(spec)
    used = f"{count(len(names), 'ref')}: {', '.join(names)}" if names else "no reference"
    name, view = results.labels[spec], parse(spec).view or parsed.view.name
    return {"spec": name, "label": name, "under": f"{view} · {used}", "references": list(names)}


def _without(scorers: Sequence[Scorer], at: int) -> int | None:
    """Find the same metric without context in the run, for a metric with context."""
    if scorers[at].view.name != "context":
        return None
    same = (
        i
        for i, other in enumerate(scorers)
        if other.view.name == "sentence" and other.metric == scorers[at].metric
    )
    return next(same, None)


def standing(
    scores: Mapping[str, Scores],
    systems: Sequence[str],
    comparison: Comparison,
    testing: Significance,
) -> dict[str, Any]:
    """Data of one metric for the leaderboard; tables are indexed [baseline][system].

    Numbers that people read are rounded here, as `wholetext compare` prints them.
    """
    totals = system_totals(scores, "doc", None)
    names, digits = [result.system for result in comparison.standings], comparison.decimals
    at = [names.index(name) for name in systems]
    first = next(iter(scores.values()))
    p = comparison.p[np.ix_(at, at)]  # (systems, systems)
    standings, ordered = [comparison[name] for name in systems], [scores[name] for name in systems]
    bounds = [result.interval for result in standings]
    parsed = scorer(first.metric)
    cut = [(own.lost > 0).sum(axis=0) if own.lost is not None else (0, 0) for own in ordered]
    return {
        "spec": first.metric,
        "output": first.outputs[0],
        "higher": first.higher_is_better,
        "digits": digits,
        "range": shorts(first.range),
        "order": [systems.index(name) for name in names],
        "view": parsed.view.name,
        "summary": parsed.metric.summary,
        "score": fixed([result.score for result in standings], digits),
        "low": fixed([bound.low for bound in bounds], digits),
        "high": fixed([bound.high for bound in bounds], digits),
        "delta": fixed(_differences([result.score for result in standings]), digits),
        "rank": [result.rank for result in standings],
        "best": systems.index(names[0]),
        "p": shorts(p, 4),
        "holmAll": shorts(square(holm(p[np.triu_indices(len(p), 1)]), len(p)), 4),
        "holmBase": shorts([holm(row) for row in p], 4),
        "deltas": fixed(comparison.deltas[np.ix_(at, at)], digits),
        "needed": _needed(totals, [totals.names.index(name) for name in systems], p, testing.alpha),
        "test": dict(comparison.signature),
        **_signatures(ordered),
        "scale": _scale(ordered),
        "lostContext": [int(context) for context, _ in cut],
        "lostScored": [int(scored) for _, scored in cut],  # rows
        "lostAt": [_first_cut(own) for own in ordered],
        "short": scores[comparison.baseline].signature.short,
        "warnings": list(comparison.warnings),
    }


def breakdown(
    scores: Mapping[str, Scores], systems: Sequence[str], testing: Significance
) -> dict[str, Any]:
    """Data of one metric by document and category, which the page loads on demand."""
    totals = system_totals(scores, "doc", None)
    ordered = [scores[name] for name in systems]
    names = ordered[0].outputs[1:]
    if len(names) > KEPT_CATEGORIES:  # leave out precision and recall
        names = tuple(name for name in names if not name.endswith((".precision", ".recall")))
    return {
        "doc": shorts([own.at("doc") for own in ordered]),
        "weight": shorts([_influences(own, totals) for own in ordered], 4),
        "categories": [
            _category(scores, systems, name, testing) for name in names[:KEPT_CATEGORIES]
        ],
    }


def _differences(scores: Sequence[float] | FloatArray) -> FloatArray:
    """Score of the system minus that of the baseline: (baselines, systems)."""
    values = np.asarray(scores)
    return np.asarray(values[None, :] - values[:, None])


def _needed(totals: SystemTotals, at: Sequence[int], p: FloatArray, alpha: float) -> Any:
    """[baseline][system] documents that would separate two systems at their corrected level."""
    table = np.full(p.shape, np.nan)
    for i, row in enumerate(p):
        for j, level in enumerate(holm_levels(row, alpha)):
            if np.isfinite(level):
                first, second = totals.documents[at[i]], totals.documents[at[j]]
                table[i, j] = power(first, second, totals.score, float(level)).needed
    return shorts(table)


def _signatures(ordered: Sequence[Scores]) -> dict[str, Any]:
    """Split signatures into the fields that all systems share and those of each system."""
    signatures = [scores.signature for scores in ordered]
    shared = {
        key: value
        for key, value in signatures[0].items()
        if all(signature.get(key) == value for signature in signatures)
    }
    own = [
        {key: value for key, value in signature.items() if key not in shared}
        for signature in signatures
    ]
    return {"signature": shared, "own": own}


def _first_cut(scores: Scores) -> list[int] | None:
    """Document and segment of the first row that did not fit the model."""
    rows = () if scores.lost is None else np.flatnonzero(scores.lost.any(axis=1)).tolist()
    return next(([int(scores.rows.doc[row]), int(scores.rows.start[row])] for row in rows), None)


def _scale(scores: Sequence[Scores]) -> Any:
    """5 %, 50 % and 95 % quantiles of the row scores of all systems, for the colours of segments."""
    values = np.concatenate([own.at("row") for own in scores])
    values = values[np.isfinite(values)]
    return shorts(np.quantile(values, [0.05, 0.5, 0.95])) if len(values) else [None, None, None]


# ---------------------------------------------------------------- documents and categories


def _influences(scores: Scores, totals: SystemTotals) -> FloatArray:
    """(documents,) share of each document in the corpus score, to which they add up (first order).

    The share is (θ + jackknife influence) / n; of a mean, the document's own score over n.
    """
    scored = np.bincount(scores.rows.doc, minlength=len(scores.rows.docs)) > 0
    stats = scores.totals()[scored]
    values = np.full(len(scored), np.nan)
    with np.errstate(all="ignore"):
        whole = totals.score(stats.sum(axis=0))
        influences = influence(stats, totals.score) if len(stats) > 1 else 0.0
        values[scored] = (whole + influences) / max(1, len(stats))
    return values


def _category(
    scores: Mapping[str, Scores], systems: Sequence[str], name: str, testing: Significance
) -> dict[str, Any]:
    totals = system_totals(scores, testing.unit, name)
    _, resamples = testing.sizes(len(scores))
    samples = bootstrap_scores(totals.units, totals.score, resamples, testing.seed)
    deltas = interval_table(samples if len(totals.units[0]) > 1 else samples[:, :0])
    at = [totals.names.index(system) for system in systems]
    observed, digits = totals.observed[at], next(iter(scores.values())).places
    return {
        "name": name,
        "score": fixed(observed, digits),
        "delta": fixed(_differences(observed), digits),
        "deltas": fixed(deltas[np.ix_(at, at)], digits),
    }
