"""A run worked out for showing: what page and figures draw, computed once, without any model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wholetext.errors import RunError, did_you_mean
from wholetext.registry import Scorer, scorer
from wholetext.reporting.leaderboard import breakdown, standing
from wholetext.scoring.results import Results
from wholetext.significance.compare import Significance
from wholetext.significance.stored import compare_run, restored


@dataclass(frozen=True, eq=False)
class RunAnalysis:
    """Systems best first by the first metric; arrays of ``standings`` and ``breakdowns`` go by them."""

    results: Results
    systems: tuple[str, ...]
    baseline: int | None  # the system that marks refer to; None: the best of each metric
    testing: Significance
    standings: tuple[Mapping[str, Any], ...]  # one per metric: what the leaderboard shows
    breakdowns: tuple[Mapping[str, Any], ...]  # one per metric: documents and categories


def analyse(results: Results, baseline: str | None = None, testing: Significance | None = None) -> RunAnalysis:
    """Every pair of systems under every metric, and a look into documents and categories.

    The comparison is the one stored with the run; ``testing``, or another ``baseline``, asks for a new one.
    """
    systems, kept = _order(results), restored(results)
    if baseline is not None and baseline not in systems:
        raise RunError(f"there is no system {baseline!r}",
                       next=did_you_mean(baseline, systems) or f"the systems are {', '.join(systems)}")
    if baseline is not None:
        testing = replace(testing or (kept[0] if kept else Significance()), baseline=baseline)
    testing, comparisons = compare_run(results, testing)
    baseline = testing.baseline
    scorers = [scorer(spec) for spec in results.scores]
    return RunAnalysis(
        results, tuple(systems), None if baseline is None else systems.index(baseline), testing,
        tuple(standing(scores, systems, comparisons[spec], testing) | {"without": _without(scorers, i)}
              for i, (spec, scores) in enumerate(results.scores.items())),
        tuple(breakdown(scores, systems, testing) for scores in results.scores.values()),
    )


def _order(results: Results) -> list[str]:
    """Systems best first by the first metric; undefined scores last."""
    first = next(iter(results.scores.values()), {})
    if not first:
        raise RunError("the run has no scores", next="score at least one system with one metric")
    sign = -1 if next(iter(first.values())).higher_is_better else 1
    return sorted(first, key=lambda name: (first[name].score != first[name].score, sign * first[name].score, name))


def _without(scorers: Sequence[Scorer], at: int) -> int | None:
    """For a metric read with context: the same metric without, if the run has it."""
    if scorers[at].view.name != "context":
        return None
    found = [i for i, one in enumerate(scorers) if one.view.name == "sentence" and one.metric == scorers[at].metric]
    return found[0] if found else None
