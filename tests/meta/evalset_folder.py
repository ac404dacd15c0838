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


def outputs(seed: int = 0) -> dict[str, list[str]]:
    """Worse and worse outputs: words of the reference are dropped."""
    rng = np.random.default_rng(seed)
    made = {}
    for k, system in enumerate(SYSTEMS):
        made[system] = [" ".join(w for w in line.split() if rng.random() > 0.12 * k) or "x" for line in REF]
    return made


def gold() -> dict[str, list[float | None]]:
    rng = np.random.default_rng(1)
    scores: dict[str, list[float | None]] = {
        system: [float(-round(rng.random() * 4) - k) for _ in range(8)] for k, system in enumerate(SYSTEMS)}
    scores["beta"][3] = None
    scores["refB"] = [0.0] * 8
    return scores


def score_lines(scores: dict[str, list[float]] | dict[str, list[float | None]]) -> str:
    return "".join(f"{system}\t{score}\n" for system, row in scores.items() for score in row)


def make(folder: Path) -> Path:
    """Write it; returns the folder, called wmt22.small (standard reference refA)."""
    root = folder / "wmt22.small"
    lp = "de-en"
    for part in ("sources", "documents", "references", f"system-outputs/{lp}", "human-scores", f"metric-scores/{lp}"):
        (root / part).mkdir(parents=True)
    write(root / "sources" / f"{lp}.txt", SOURCE)
    write(root / "documents" / f"{lp}.docs", [f"{'news' if i < 5 else 'talks'}\tdoc{i // 5}" for i in range(8)])
    write(root / "references" / f"{lp}.refA.txt", REF)
    write(root / "references" / f"{lp}.refB.txt", [line.upper() for line in REF])
    for system, lines in {**outputs(), "refB": [line.upper() for line in REF]}.items():
        write(root / "system-outputs" / lp / f"{system}.txt", lines)
    (root / "human-scores" / f"{lp}.mqm.seg.score").write_text(score_lines(gold()))
    rng = np.random.default_rng(2)
    for name in ("good-refA", "poor-src", "other-refB"):
        noise = 0.3 if name.startswith("good") else 3.0
        rows = {s: [(v or 0.0) + noise * rng.normal() for v in row] for s, row in gold().items() if s != "refB"}
        (root / "metric-scores" / lp / f"{name}.seg.score").write_text(score_lines(rows))
        means = {s: [float(np.mean(row))] for s, row in rows.items()}
        (root / "metric-scores" / lp / f"{name}.sys.score").write_text(score_lines(means))
    lines = ["system\tseg\tdoc\trater\tscore"]
    for system, row in gold().items():
        known = [(i, score) for i, score in enumerate(row) if score is not None]
        lines += [f"{system}\t{i}\tdoc{i // 5}\t{'ann' if i < 6 else 'bob'}\t{score}" for i, score in known]
    write(root / "human-scores" / f"{lp}.mqm.raters.tsv", lines)
    return root


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def participants(folder: Path, gold: str | None = None, **choice: Any) -> Participants:
    """The participants of the pair ``LP``, under these choices of ``Selection``."""
    return read_participants(EvalSet.open(folder, LP), Selection(**choice), gold)
