"""Comparisons ⇄ plain values, as run.json has them: what is read back is what was compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from wholetext.scoring.significance.compare import Comparison, Significance, SystemResult, Verdict
from wholetext.scoring.significance.power import Power
from wholetext.scoring.significance.resample import Interval
from wholetext.types import Signature


def plain(value: Any) -> Any:
    """Convert to nested plain values for JSON; NaN becomes null, infinity a word."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def stored(significance: Significance, comparisons: Iterable[Comparison]) -> dict[str, Any]:
    """Convert the settings and outcomes of comparisons to plain values."""
    outcomes = [
        plain(
            {
                **vars(comparison),
                "standings": [asdict(standing) for standing in comparison.standings],
                "signature": dict(comparison.signature),
            }
        )
        for comparison in comparisons
    ]
    return {"settings": asdict(significance), "outcomes": outcomes}


def restored(values: Mapping[str, Any]) -> tuple[Significance, dict[str, Comparison]]:
    """Read back what ``stored`` made: the settings, and the comparisons by metric."""
    comparisons = map(_comparison, values["outcomes"])
    return Significance(**values["settings"]), {each.metric: each for each in comparisons}


def _comparison(values: Mapping[str, Any]) -> Comparison:
    size = len(values["standings"])
    return Comparison(
        str(values["metric"]),
        str(values["output"]),
        bool(values["higher_is_better"]),
        str(values["baseline"]),
        standings=tuple(map(_standing, values["standings"])),
        p=np.array(values["p"], dtype=np.float64).reshape(size, size),
        signature=Signature(values["signature"]),
        warnings=tuple(map(str, values["warnings"])),
        deltas=np.array(values["deltas"], dtype=np.float64).reshape(size, size, 2),
        decimals=int(values["decimals"]),
        main=bool(values["main"]),
    )


def _standing(values: Mapping[str, Any]) -> SystemResult:
    power, verdict = values["power"], values["verdict"]
    if verdict not in get_args(Verdict):
        raise ValueError(f"there is no verdict {verdict!r}")
    return SystemResult(
        str(values["system"]),
        _number(values["score"]),
        Interval(**_numbers(values["interval"])),
        _number(values["delta"]),
        Interval(**_numbers(values["delta_interval"])),
        _number(values["p"]),
        _number(values["p_holm"]),
        rank=None if values["rank"] is None else int(values["rank"]),
        verdict=verdict,
        power=None
        if power is None
        else Power(**{**_numbers(power), "documents": int(power["documents"])}),  # type: ignore[arg-type]
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: _number(value) for name, value in values.items()}


def _number(value: float | str | None) -> float:
    return math.nan if value is None else float(value)
