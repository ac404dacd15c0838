"""Why a document has its BlonDe score: what each factor counted, and which spans match, are missing or are extra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wholetext.metrics.blonde.metric import Blonde
from wholetext.metrics.blonde.units import CATEGORIES
from wholetext.types import FloatArray


@dataclass(frozen=True)
class Factor:
    """One factor of one document; counts are weighted by feature."""

    name: str
    f1: float | None  # as the document score uses it; None where it does not count
    matched: float
    output: float
    reference: float
    weight: float
    why: str  # "" without a comment


@dataclass(frozen=True)
class Reasons:
    """The document score, and the score of the corpus definition for this document alone."""

    document_score: str  # mean-of-f1, or as-corpus in runs written by 0.1.0
    factors: tuple[Factor, ...]
    as_corpus: float | None  # the corpus definition on this document alone
    floored: tuple[str, ...]  # factors raised to the floor in it: "pronoun precision"
    floor: str  # what a factor of 0 is replaced with

    def sentence(self, score: float) -> str:
        """The score as the sum it is, in one sentence or two."""
        counted = [one for one in self.factors if one.f1 is not None and one.weight]
        absent = [one.name for one in self.factors if one.f1 is None]
        if self.document_score == "as-corpus":
            text = f"The score is the corpus definition on this document alone (a run of 0.1.0): {score:.4f}"
            return f"{text}{self._floors()}."
        times = {one.name: "" if one.weight == 1 else f" (weight {one.weight:g})" for one in counted}
        values = ", ".join(f"{one.name} {one.f1:.4f}{times[one.name]}" for one in counted)
        text = f"The score {score:.4f} is the mean F1 of {values}." if counted else "No factor counts: no score."
        text += f" Not counted, because neither text has any: {', '.join(absent)}." if absent else ""
        if self.as_corpus is not None:
            text += f" The corpus definition would give this document {self.as_corpus:.4f}{self._floors()}."
        return text

    def _floors(self) -> str:
        return f" ({', '.join(self.floored)}: 0, replaced with {self.floor})" if self.floored else ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def reasons(metric: Blonde, totals: FloatArray, *, document_score: str) -> Reasons:
    """From the (k,) totals of one document."""
    table = np.asarray(totals, dtype=np.float64).reshape(-1, 3)
    factors = []
    for name, weight in zip(metric.factors, metric.importance):
        match, ref, sys = table[CATEGORIES.index(name)].tolist()
        f1 = 2 * match / (ref + sys) if ref + sys > 0 else None
        why = "" if match else "nothing matches: 0"
        if sys == ref == 0:
            why = "in neither text: does not count"
        elif sys == 0 or ref == 0:
            why = f"only in the {'output' if sys else 'reference'}: 0"
        factors.append(Factor(name, f1, match, sys, ref, weight, why))
    value = float(metric.reduce(np.asarray(totals, dtype=np.float64))[0])
    floor = f"{metric.zero_value:g}" + (" / count" if metric.zero == "delta" else "")
    return Reasons(document_score, tuple(factors), None if np.isnan(value) else value, metric.floored(totals), floor)


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

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def compared(
    details: Sequence[tuple[int, Mapping[str, Any]]], hyp: Sequence[str], ref: Sequence[str], which: int = 0
) -> tuple[Compared, ...]:
    """The segments of a document from the details that ``measure`` left, each with the first segment of its row.

    ``which`` is the place of the reference among those that were used.
    """
    ours = [[start + row[0], *row[1:]] for start, detail in details for row in detail["blonde"]["hyp"]]
    theirs = [[start + row[0], *row[1:]] for start, detail in details for row in detail["blonde"]["refs"][which]]
    return tuple(
        Compared(
            number=i + 1, hyp=hyp[i] if i < len(hyp) else "", ref=ref[i] if i < len(ref) else "",
            matched=_pick(ours, hyp, i, True), matched_ref=_pick(theirs, ref, i, True),
            missing=_pick(theirs, ref, i, False), extra=_pick(ours, hyp, i, False),
        )
        for i in range(max(len(hyp), len(ref)))
    )


def _pick(rows: Sequence[Sequence[Any]], texts: Sequence[str], segment: int, matched: bool) -> tuple[MatchedSpan, ...]:
    return tuple(
        MatchedSpan(category, feature, texts[segment][start:end], start, end)
        for where, start, end, category, feature, hit in rows
        if where == segment and bool(hit) == matched
    )
