"""Explain the BlonDe score of a document: counts of factors; matched, missing, extra spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wholetext.metrics.blonde.metric import Blonde
from wholetext.metrics.blonde.units import CATEGORIES
from wholetext.types import FloatArray


@dataclass(frozen=True)
class Factor:
    """One factor of one document; counts are weighted by feature."""

    name: str
    f1: float | None  # None where neither text has any
    matched: float
    output: float
    reference: float
    weight: float
    why: str  # "" without a comment


@dataclass(frozen=True)
class Reasons:
    """Counts of the factors of a document, and the mean over those that occur."""

    factors: tuple[Factor, ...]
    mean: str  # the metric's own
    occurring: float | None  # the mean F1 of the factors that occur
    floored: tuple[str, ...]  # factors of 0 that the geometric mean replaces: "pronoun precision"
    floor: str  # what it replaces them with

    def sentence(self, score: float) -> str:
        """The score and the mean over the factors that occur, in a few sentences."""
        if self.occurring is None:
            return "No factor counts: no score."
        counted = [factor for factor in self.factors if factor.f1 is not None and factor.weight]
        absent = [factor.name for factor in self.factors if factor.f1 is None]
        values = ", ".join(
            f"{factor.name} {factor.f1:.4f}"
            + ("" if factor.weight == 1 else f" (weight {factor.weight:g})")
            for factor in counted
        )
        text = f"The mean F1 of the categories that occur is {self.occurring:.4f}: {values}."
        if np.isnan(score):
            text = f"There is no score: one of the texts has no category at all. {text}"
        elif self.mean != "occurring":
            floors = (
                f" ({', '.join(self.floored)}: 0, replaced with {self.floor})"
                if self.floored
                else ""
            )
            text = (
                f"The score {score:.4f} is the F1 of {self.mean} means of precision and recall"
                f"{floors}. {text}"
            )
        return text + (f" Neither text has any: {', '.join(absent)}." if absent else "")


def occurring(metric: Blonde, totals: FloatArray) -> FloatArray:
    """Mean F1 of the factors that occur: (..., k) totals → (...,)."""
    return np.asarray(replace(metric, mean="occurring").reduce(totals)[..., 0])


def reasons(metric: Blonde, totals: FloatArray) -> Reasons:
    """Explain the (k,) totals of a document."""
    table = totals.reshape(-1, 3)
    factors = []
    for name, weight in zip(metric.factors, metric.importance):
        match, ref, sys = table[CATEGORIES.index(name)].tolist()
        f1 = 2 * match / (ref + sys) if ref + sys > 0 else None
        why = "" if match else "nothing matches: 0"
        if sys == ref == 0:
            why = "in neither text"
        elif sys == 0 or ref == 0:
            why = f"only in the {'output' if sys else 'reference'}: 0"
        factors.append(Factor(name, f1, match, sys, ref, weight, why))
    mean = float(occurring(metric, totals))
    floored = tuple(
        f"{metric.factors[i]} {('precision', 'recall')[side]}"
        for i, side in np.argwhere(metric.floored(totals)).tolist()
    )
    return Reasons(
        tuple(factors), metric.mean, None if np.isnan(mean) else mean, floored, metric.floor
    )


# ---------------------------------------------------------------- spans


@dataclass(frozen=True)
class MatchedSpan:
    """One occurrence, with its character span in the output's or the reference's segment."""

    category: str
    feature: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Compared:
    """One segment of the output with that of the reference."""

    number: int  # from 1
    hyp: str
    ref: str
    matched: tuple[MatchedSpan, ...]  # in the output
    matched_ref: tuple[MatchedSpan, ...]  # in the reference
    missing: tuple[MatchedSpan, ...]  # in the reference, without a partner in the output
    extra: tuple[MatchedSpan, ...]  # in the output, without a partner in any reference

    @property
    def faultless(self) -> bool:
        return not self.missing and not self.extra


def compared(
    details: Sequence[tuple[int, Mapping[str, Any]]],
    hyp: Sequence[str],
    ref: Sequence[str],
    which: int = 0,
) -> tuple[Compared, ...]:
    """Compare the segments of a document, from the details that ``measure`` left by row.

    ``which`` is the place of the reference among those that were used.
    """
    ours = [
        [start + row[0], *row[1:]] for start, detail in details for row in detail["blonde"]["hyp"]
    ]
    theirs = [
        [start + row[0], *row[1:]]
        for start, detail in details
        for row in detail["blonde"]["refs"][which]
    ]
    return tuple(
        Compared(
            number=i + 1,
            hyp=hyp[i] if i < len(hyp) else "",
            ref=ref[i] if i < len(ref) else "",
            matched=_pick(ours, hyp, i, True),
            matched_ref=_pick(theirs, ref, i, True),
            missing=_pick(theirs, ref, i, False),
            extra=_pick(ours, hyp, i, False),
        )
        for i in range(max(len(hyp), len(ref)))
    )


def _pick(
    rows: Sequence[Sequence[Any]], texts: Sequence[str], segment: int, matched: bool
) -> tuple[MatchedSpan, ...]:
    return tuple(
        MatchedSpan(category, feature, texts[segment][start:end], start, end)
        for where, start, end, category, feature, hit in rows
        if where == segment and bool(hit) == matched
    )
