"""Why a document has the BlonDe score it has: what each factor counted, which do not count, which met the floor."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wholetext.metrics.blonde.counts import CATEGORIES
from wholetext.metrics.blonde.scores import Formula
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
    why: str  # "" where nothing needs saying


@dataclass(frozen=True)
class Reasons:
    """The document score and, beside it, what the corpus definition would give for the document alone."""

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
            said = f"The score is the corpus definition on this document alone (a run of 0.1.0): {score:.4f}"
            return f"{said}{self._floors()}."
        values = ", ".join(f"{one.name} {one.f1:.4f}{_times(one.weight)}" for one in counted)
        said = f"The score {score:.4f} is the mean F1 of {values}." if counted else "No factor counts: no score."
        said += f" Not counted, because neither text has any: {', '.join(absent)}." if absent else ""
        if self.as_corpus is not None:
            said += f" The corpus definition would give this document {self.as_corpus:.4f}{self._floors()}."
        return said

    def _floors(self) -> str:
        return f" ({', '.join(self.floored)}: 0, replaced with {self.floor})" if self.floored else ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def reasons(recipe: Formula, totals: FloatArray, *, document_score: str) -> Reasons:
    """From the (k,) totals of one document."""
    table = np.asarray(totals, dtype=np.float64).reshape(-1, 3)
    factors = []
    for name, weight in zip(recipe.categories, recipe.importance):
        match, ref, sys = table[CATEGORIES.index(name)].tolist()
        f1 = 2 * match / (ref + sys) if ref + sys > 0 else None
        factors.append(Factor(name, f1, match, sys, ref, weight, _why(match, sys, ref)))
    value = float(recipe.reduce(np.asarray(totals, dtype=np.float64))[0])
    floor = f"{recipe.zero_value:g}" + (" / count" if recipe.zero == "delta" else "")
    return Reasons(document_score, tuple(factors), None if np.isnan(value) else value, recipe.floored(totals), floor)


def _why(match: float, sys: float, ref: float) -> str:
    if sys == ref == 0:
        return "in neither text: does not count"
    if sys == 0 or ref == 0:
        return f"only in the {'output' if sys else 'reference'}: 0"
    return "" if match else "nothing matches: 0"


def _times(weight: float) -> str:
    return "" if weight == 1 else f" (weight {weight:g})"
