"""Folders in the layout of the WMT23 and WMT24 EvalSets, small and random, with what their official tasks turn on:
second references judged as systems, outliers, unjudged systems and segments, several kinds of gold, labels of several
references, primary and contrastive submissions.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
    root = folder / year
    for part in ("sources", "documents", "references", "human-scores"):
        (root / part).mkdir(parents=True)
    return {lp: _pair(root, year, lp, seed) for seed, lp in enumerate(PAIRS[year])}


def _pair(root: Path, year: str, lp: str, seed: int) -> tuple[Values, dict[str, Values]]:
    rng = np.random.default_rng([int(year[3:]), seed])
    _, refs, outliers, count = PAIRS[year][lp]
    systems = [f"Sys{i}" for i in range(count)]
    outputs = [*systems, *outliers, *refs]
    for part in ("system-outputs", "metric-scores"):
        (root / part / lp).mkdir(parents=True)
    text = "".join(f"line {i}\n" for i in range(SEGMENTS))
    (root / "sources" / f"{lp}.txt").write_text(text)
    docs = "".join(f"{'news' if i < SEGMENTS // 2 else 'social'}\tdoc{i // LENGTH}\n" for i in range(SEGMENTS))
    (root / "documents" / f"{lp}.docs").write_text(docs)
    for name in refs:
        (root / "references" / f"{lp}.{name}.txt").write_text(text)
    for name in (*outputs, "unjudged"):
        (root / "system-outputs" / lp / f"{name}.txt").write_text(text)
    gold = {name: -rng.integers(0, 5, SEGMENTS).astype(float) - 0.4 * i for i, name in enumerate(outputs)}
    for row in gold.values():
        row[[2 * LENGTH - 1, *range(4 * LENGTH, 5 * LENGTH)]] = np.nan  # a document in part, another not at all
    kind = "mqm" if lp != "cs-uk" else "da-sqm"
    _scores(root / "human-scores", f"{lp}.{kind}", {**gold, "unjudged": np.full(SEGMENTS, np.nan)})
    if kind == "mqm":
        _scores(root / "human-scores", f"{lp}.esa", {name: rng.random(SEGMENTS) * 100 for name in outputs})
        _scores(root / "human-scores", f"{lp}.da-sqm", {name: rng.random(SEGMENTS) * 100 for name in outputs})
    made: dict[str, Values] = {}
    for name in (*METRICS[year], "contrastive"):
        for ref in refs:
            made[f"{name}-{ref}"] = _metric(rng, gold, (*outputs, "unjudged"), without=ref)
    made[f"{QE[year]}-src"] = _metric(rng, gold, (*outputs, "unjudged"), without="")
    for label, values in made.items():
        _scores(root / "metric-scores" / lp, label, values)
    return gold, made


def _metric(rng: np.random.Generator, gold: Values, systems: tuple[str, ...], without: str) -> Values:
    noise, bias = rng.random() * 4, rng.random() * 4
    return {name: np.round(np.nan_to_num(gold.get(name, np.zeros(SEGMENTS))) + noise * rng.normal(size=SEGMENTS)
                           + bias * rng.normal(), 2) for name in systems if name != without}


def _scores(folder: Path, name: str, values: Values) -> None:
    def text(value: float) -> str:
        return "None" if np.isnan(value) else repr(float(value))

    (folder / f"{name}.seg.score").write_text(
        "".join(f"{system}\t{text(v)}\n" for system, row in values.items() for v in row))
    means = {system: np.nan if np.isnan(row).all() else float(np.nanmean(row)) for system, row in values.items()}
    (folder / f"{name}.sys.score").write_text("".join(f"{system}\t{text(v)}\n" for system, v in means.items()))
