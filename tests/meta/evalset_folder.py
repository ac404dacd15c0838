"""A small EvalSet made for tests: two documents, four systems and a judged reference, MQM with gaps, two stored
metrics.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.participants import Participants, Selection, read_participants

LP = "de-en"
SYSTEMS = ("alpha", "beta", "delta", "gamma")
SOURCE = [f"Quelle Satz {i} über das Haus" for i in range(8)]
REF = [f"source sentence {i} about the old house by the sea" for i in range(8)]
Rows = dict[str, list[float]] | dict[str, list[float | None]]


def outputs(seed: int = 0) -> dict[str, list[str]]:
    """Worse and worse outputs: words of the reference are dropped."""
    rng = np.random.default_rng(seed)
    return {system: [" ".join(w for w in line.split() if rng.random() > 0.12 * k) or "x" for line in REF]
            for k, system in enumerate(SYSTEMS)}


def gold() -> dict[str, list[float | None]]:
    rng = np.random.default_rng(1)
    scores: dict[str, list[float | None]] = {
        system: [float(-round(rng.random() * 4) - k) for _ in range(8)] for k, system in enumerate(SYSTEMS)}
    scores["beta"][3] = None
    return {**scores, "refB": [0.0] * 8}


def score_lines(scores: Rows) -> str:
    return "".join(f"{system}\t{score}\n" for system, row in scores.items() for score in row)


def make(folder: Path) -> Path:
    """Write it; returns the folder, called wmt22.small (standard reference refA)."""
    root, capitals = folder / "wmt22.small", [line.upper() for line in REF]
    write(root / "sources" / f"{LP}.txt", SOURCE)
    write(root / "documents" / f"{LP}.docs", [f"{'news' if i < 5 else 'talks'}\tdoc{i // 5}" for i in range(8)])
    write(root / "references" / f"{LP}.refA.txt", REF)
    write(root / "references" / f"{LP}.refB.txt", capitals)
    for system, lines in {**outputs(), "refB": capitals}.items():
        write(root / "system-outputs" / LP / f"{system}.txt", lines)
    lines = ["system\tseg\tdoc\trater\tscore"]
    lines += [f"{system}\t{i}\tdoc{i // 5}\t{'ann' if i < 6 else 'bob'}\t{score}"
              for system, row in gold().items() for i, score in enumerate(row) if score is not None]
    write(root / "human-scores" / f"{LP}.mqm.raters.tsv", lines)
    (root / "human-scores" / f"{LP}.mqm.seg.score").write_text(score_lines(gold()))
    rng = np.random.default_rng(2)
    for name in ("good-refA", "poor-src", "other-refB"):
        noise = 0.3 if name.startswith("good") else 3.0
        rows = {s: [(v or 0.0) + noise * rng.normal() for v in row] for s, row in gold().items() if s != "refB"}
        means = {s: [float(np.mean(row))] for s, row in rows.items()}
        for level, scores in (("seg", rows), ("sys", means)):
            write(root / "metric-scores" / LP / f"{name}.{level}.score", score_lines(scores).splitlines())
    return root


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def participants(folder: Path, gold: str | None = None, **choice: Any) -> Participants:
    """The participants of the pair ``LP``, under these choices of ``Selection``."""
    return read_participants(EvalSet.open(folder, LP), Selection(**choice), gold)
