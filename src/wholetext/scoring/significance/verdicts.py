"""The words for the outcome of a comparison, and their marks: code uses them by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Verdict = Literal["baseline", "better", "worse", "no significant difference", "not tested"]
BASELINE: Verdict = "baseline"
BETTER: Verdict = "better"
WORSE: Verdict = "worse"
SAME: Verdict = "no significant difference"
UNTESTED: Verdict = "not tested"
MARKS: Mapping[Verdict, str] = {BASELINE: "=", BETTER: "▲", WORSE: "▼", SAME: "", UNTESTED: ""}


def verdict(p: float, alpha: float, ahead: bool) -> Verdict:
    """Judge a difference by its corrected p-value; ``ahead``: to the advantage of the system."""
    if p != p:
        return UNTESTED
    if p > alpha:
        return SAME
    return BETTER if ahead else WORSE
