"""The words for the outcome of a comparison, and their marks: they are spelled only here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Verdict = Literal["baseline", "better", "worse", "no significant difference", "not tested"]
BASELINE, BETTER, WORSE, SAME, UNTESTED = get_args(Verdict)
MARKS: Mapping[str, str] = {BASELINE: "=", BETTER: "▲", WORSE: "▼", SAME: "", UNTESTED: ""}


def verdict(p: float, alpha: float, ahead: bool) -> Verdict:
    """Judge a difference by its corrected p-value; ``ahead``: to the advantage of the system."""
    if p != p:
        return UNTESTED
    if p > alpha:
        return SAME
    return BETTER if ahead else WORSE
