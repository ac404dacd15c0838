"""Comparisons as plain values: stored in a run folder and read back without resampling, or printed as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from wholetext.errors import RunError
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import Comparison, Significance, SystemResult, Verdict
from wholetext.scoring.significance.power import Power
from wholetext.scoring.significance.resample import Interval
from wholetext.types import Scores, Signature

Domains = dict[str, dict[str, dict[str, float]]]  # metric → system → domain → score


def stored(how: Significance, comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """What ``score`` writes into the run folder: JSON without NaN."""
    outcomes = [
        plain(
            {
                **vars(one),
                "standings": [asdict(each) for each in one.standings],
                "signature": dict(one.signature),
            }
        )
        for one in comparisons
    ]
    return {"settings": asdict(how), "outcomes": outcomes}


def restored(results: Results) -> tuple[Significance, dict[str, Comparison]] | None:
    """How the systems of a run were compared when it was scored, and the outcome by spec; None where they were not."""
    if not results.comparison:
        return None
    try:
        how = Significance(**results.comparison["settings"])
        found = {one["metric"]: _comparison(one) for one in results.comparison["outcomes"]}
        for spec, by_system in results.scores.items():
            if {each.system for each in found[spec].standings} != set(by_system):
                raise ValueError(f"it compares other systems under {spec}")
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as fault:
        raise RunError(
            f"the stored comparison is damaged ({type(fault).__name__}: {fault})",
            where=results.corpus.id,
            next="score again",
        ) from fault
    return how, found


def compare_run(
    results: Results, how: Significance | None = None, output: str | None = None
) -> tuple[Significance, dict[str, Comparison]]:
    """The comparisons of a run by spec, and their settings: the stored ones, unless there are none or others are
    asked for by ``how`` or by another ``output`` of the metrics than the score.
    """
    kept = restored(results)
    if kept is not None and output is None and how in (None, kept[0]):
        return kept
    how = how or (kept[0] if kept else Significance())
    return how, {spec: how.compare(scores, output) for spec, scores in results.scores.items()}


def plain(value: Any) -> Any:
    """Nested plain values; NaN is null, infinity a word."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _comparison(kept: Mapping[str, Any]) -> Comparison:
    size = len(kept["standings"])
    return Comparison(
        str(kept["metric"]),
        str(kept["output"]),
        bool(kept["higher_is_better"]),
        str(kept["baseline"]),
        standings=tuple(map(_standing, kept["standings"])),
        p=np.array(kept["p"], dtype=np.float64).reshape(size, size),
        signature=Signature(kept["signature"]),
        warnings=tuple(map(str, kept["warnings"])),
        deltas=np.array(kept["deltas"], dtype=np.float64).reshape(size, size, 2),
        decimals=int(kept["decimals"]),
        main=bool(kept["main"]),
    )


def _standing(kept: Mapping[str, Any]) -> SystemResult:
    power, verdict = kept["power"], kept["verdict"]
    if verdict not in get_args(Verdict):
        raise ValueError(f"there is no verdict {verdict!r}")
    score, delta, p, p_holm = (_number(kept[name]) for name in ("score", "delta", "p", "p_holm"))
    score_bounds, delta_bounds = (
        Interval(*(_number(kept[which][name]) for name in ("low", "high", "mean")))
        for which in ("interval", "delta_interval")
    )
    return SystemResult(
        str(kept["system"]),
        score,
        score_bounds,
        delta,
        delta_bounds,
        p,
        p_holm,
        rank=None if kept["rank"] is None else int(kept["rank"]),
        verdict=verdict,
        power=None
        if power is None
        else Power(
            int(power["documents"]),
            *(_number(power[name]) for name in ("needed", "detectable", "alpha", "power")),
        ),
    )


def _number(value: float | str | None) -> float:
    return math.nan if value is None else float(value)


# ---------------------------------------------------------------- as programs read it


def run_json(
    results: Results, comparisons: Sequence[Comparison], notes: Sequence[str] | None = None
) -> dict[str, Any]:
    """What `wholetext score -f json` prints: plain values; numbers are numbers, undefined ones null."""
    shown = list(notes_with(results, comparisons) if notes is None else notes)
    domains = scores_by_domain(results, comparisons)
    metrics = [
        {
            "name": one.metric,
            "output": one.output,
            "higher_is_better": one.higher_is_better,
            "decimals": one.decimals,
            "baseline": one.baseline,
            "test": dict(one.signature),
            "systems": [
                plain(_system(each, results.scores[one.metric][each.system], domains[one.metric]))
                for each in one.standings
            ],
        }
        for one in comparisons
    ]
    return {
        "corpus": results.corpus.id,
        "langs": list(results.corpus.langs),
        "documents": len(results.corpus),
        "metrics": metrics,
        "notes": shown,
        "warnings": shown,  # two names of one list: 0.1.0 called it warnings
    }


def notes_with(results: Results, comparisons: Sequence[Comparison]) -> list[str]:
    """The notes of the run, then those of its comparisons, each once."""
    return list(
        dict.fromkeys((*results.notes, *(note for one in comparisons for note in one.warnings)))
    )


def scores_by_domain(results: Results, comparisons: Sequence[Comparison]) -> Domains:
    found = {each.metric: results.by_domain(each.metric, each.output) for each in comparisons}
    return {
        metric: {system: row for system, row in rows.items() if row}
        for metric, rows in found.items()
    }


def _system(
    one: SystemResult, scores: Scores, domains: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    return {
        "system": one.system,
        "score": one.score,
        "interval": [one.interval.low, one.interval.high],
        "delta": one.delta,
        "delta_interval": [one.delta_interval.low, one.delta_interval.high],
        "p": one.p,
        "p_holm": one.p_holm,
        "rank": one.rank,
        "verdict": one.verdict,
        "signature": str(scores.signature),
        "short_signature": scores.signature.short,
        "notes": scores.notes,
        "domains": domains.get(one.system, {}),
    }
