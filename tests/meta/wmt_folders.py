"""Folders in the layout of the WMT23 and WMT24 EvalSets, small and random, with what their official tasks turn on:
second references judged as systems, outliers, unjudged systems and segments, several kinds of gold, labels of several
references, primary and contrastive submissions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.meta.evalset_folder import write

Values = dict[str, NDArray[np.float64]]
METRICS = {"wmt23": ("XCOMET-Ensemble", "MetricX-23", "BLEU", "chrF"),
           "wmt24": ("MetricX-24-Hybrid", "XCOMET", "BLEU", "chrF")}
QE = {"wmt23": "GEMBA-MQM", "wmt24": "gemba_esa"}
#: pair → standard reference, all references, outliers, number of systems
PAIRS = {
    "wmt23": {"en-de": ("refA", ("refA",), ("synthetic_ref",), 6), "he-en": ("refB", ("refA", "refB"), (), 5),
              "zh-en": ("refA", ("refA",), ("synthetic_ref",), 7), "cs-uk": ("refA", ("refA",), (), 4)},
    "wmt24": {"en-de": ("refB", ("refA", "refB"), ("MSLC",), 6), "en-es": ("refA", ("refA",), ("MSLC",), 5),
              "ja-zh": ("refA", ("refA",), (), 5)},
}
DOCS, LENGTH = 6, 5
SEGMENTS = DOCS * LENGTH


def make(folder: Path, year: str) -> dict[str, tuple[Values, dict[str, Values]]]:
    """Write it to ``folder/YEAR``; returns pair → (gold by system, label → scores by system), NaN = not judged."""
    return {lp: _pair(folder / year, year, lp, seed) for seed, lp in enumerate(PAIRS[year])}


def _pair(root: Path, year: str, lp: str, seed: int) -> tuple[Values, dict[str, Values]]:
    rng = np.random.default_rng([int(year[3:]), seed])
    _, refs, outliers, count = PAIRS[year][lp]
    outputs = [*(f"Sys{i}" for i in range(count)), *outliers, *refs]
    text = [f"line {i}" for i in range(SEGMENTS)]
    docs = [f"{'news' if i < SEGMENTS // 2 else 'social'}\tdoc{i // LENGTH}" for i in range(SEGMENTS)]
    texts = [*(f"references/{lp}.{name}" for name in refs), f"sources/{lp}",
             *(f"system-outputs/{lp}/{name}" for name in (*outputs, "unjudged"))]
    for name in texts:
        write(root / f"{name}.txt", text)
    write(root / "documents" / f"{lp}.docs", docs)
    gold = {name: -rng.integers(0, 5, SEGMENTS).astype(float) - 0.4 * i for i, name in enumerate(outputs)}
    for row in gold.values():
        row[[2 * LENGTH - 1, *range(4 * LENGTH, 5 * LENGTH)]] = np.nan  # a document in part, another not at all
    kind = "mqm" if lp != "cs-uk" else "da-sqm"
    _scores(root / "human-scores", f"{lp}.{kind}", {**gold, "unjudged": np.full(SEGMENTS, np.nan)})
    for other in ("esa", "da-sqm") if kind == "mqm" else ():
        _scores(root / "human-scores", f"{lp}.{other}", {name: rng.random(SEGMENTS) * 100 for name in outputs})
    labels = {f"{name}-{ref}": ref for name in (*METRICS[year], "contrastive") for ref in refs}
    made = {label: _metric(rng, gold, (*outputs, "unjudged"), without=ref)
            for label, ref in {**labels, f"{QE[year]}-src": ""}.items()}
    for label, values in made.items():
        _scores(root / "metric-scores" / lp, label, values)
    return gold, made


def _metric(rng: np.random.Generator, gold: Values, systems: tuple[str, ...], without: str) -> Values:
    noise, bias = rng.random() * 4, rng.random() * 4
    return {name: np.round(np.nan_to_num(gold.get(name, np.zeros(SEGMENTS))) + noise * rng.normal(size=SEGMENTS)
                           + bias * rng.normal(), 2) for name in systems if name != without}


def _scores(folder: Path, name: str, values: Values) -> None:
    means = {system: [np.nan if np.isnan(row).all() else np.nanmean(row)] for system, row in values.items()}
    for level, rows in (("seg", values), ("sys", means)):
        write(folder / f"{name}.{level}.score", [
            f"{system}\t{None if np.isnan(value) else float(value)!r}"
            for system, row in rows.items() for value in row])
