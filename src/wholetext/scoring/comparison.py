"""Comparisons of a run, and runs and studies as programs read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wholetext.errors import InputError
from wholetext.scoring.results import Results
from wholetext.scoring.run_files import plain as plain
from wholetext.scoring.significance.compare import Comparison, Significance, SystemResult
from wholetext.types import Scores

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Domains = dict[str, dict[str, dict[str, float]]]  # metric → system → domain → score


def compare(
    results: Results, significance: Significance | None = None, output: str | None = None
) -> Mapping[str, Comparison]:
    """Compare the systems of a run under every metric: comparisons by spec.

    Those stored with the run are returned where they were made in the same way. ``output`` names
    another output of the metrics than the score.
    """
    if not isinstance(results, Results):
        raise InputError(
            f"compare takes Results, not {type(results).__name__}",
            next="give what score or open_run returned; "
            "Significance(…).compare(scores) compares the systems of one metric",
        )
    kept = results.significance
    if kept is not None and output is None and significance in (None, kept):
        return results.comparisons
    how = significance or kept or Significance()
    return {spec: how.compare(scores, output) for spec, scores in results.scores.items()}


def run_json(
    results: Results, comparisons: Sequence[Comparison], notes: Sequence[str]
) -> dict[str, Any]:
    """Convert a run to what `wholetext score -f json` prints; undefined numbers are null."""
    domains = scores_by_domain(results, comparisons)
    metrics = [
        {
            "name": compared.metric,
            "label": results.title(compared),
            "references": results.references(compared.metric),
            "output": compared.output,
            "higher_is_better": compared.higher_is_better,
            "decimals": compared.decimals,
            "baseline": compared.baseline,
            "test": dict(compared.signature),
            "systems": [
                plain(
                    _system(
                        standing,
                        results.scores[compared.metric][standing.system],
                        domains[compared.metric],
                    )
                )
                for standing in compared.standings
            ],
        }
        for compared in comparisons
    ]
    return {
        "corpus": results.corpus.id,
        "langs": list(results.corpus.langs),
        "documents": len(results.corpus),
        "finding": results.finding,
        "metrics": metrics,
        **({"controls": plain(results.controls)} if results.controls else {}),
        "notes": notes,
        "warnings": notes,  # two names of one list: 0.1.0 called it warnings
    }


def scores_by_domain(results: Results, comparisons: Sequence[Comparison]) -> Domains:
    """Score every domain of the corpus; systems without any are left out."""
    return {
        compared.metric: {
            system: scores
            for system, scores in results.by_domain(compared.metric, compared.output).items()
            if scores
        }
        for compared in comparisons
    }


def _system(
    standing: SystemResult, scores: Scores, domains: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    return {
        "system": standing.system,
        "score": standing.score,
        "interval": [standing.interval.low, standing.interval.high],
        "delta": standing.delta,
        "delta_interval": [standing.delta_interval.low, standing.delta_interval.high],
        "p": standing.p,
        "p_holm": standing.p_holm,
        "rank": standing.rank,
        "verdict": standing.verdict,
        "signature": str(scores.signature),
        "short_signature": scores.signature.short,
        "notes": scores.notes,
        "domains": domains.get(standing.system, {}),
    }


def study_json(
    kind: str, results: Results, settings: DataclassInstance, notes: Sequence[str], **more: Any
) -> dict[str, Any]:
    """Plain values of a study and of the run behind it; undefined numbers are null."""
    corpus = results.corpus
    return plain(  # type: ignore[no-any-return]
        {
            "kind": kind,
            "corpus": corpus.id,
            "langs": corpus.langs,
            "documents": len(corpus),
            "systems": results.systems,
            "settings": asdict(settings),
            **more,
            "signatures": {
                spec: {system: str(scores.signature) for system, scores in by_system.items()}
                for spec, by_system in results.scores.items()
            },
            "counts": results.counts,
            "notes": notes,
        }
    )
