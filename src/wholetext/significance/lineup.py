"""The systems that compete under one metric: lined up best first, as totals of statistics by unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wholetext.errors import AlignmentError, MetricError
from wholetext.significance.resample import Score
from wholetext.types import FloatArray, Scores

Unit = Literal["doc", "segment"]
_WORDS = {"doc": "documents", "segment": "segments"}


@dataclass(frozen=True, eq=False)
class Lineup:
    """Systems, best first (undefined scores last), and how their totals become scores."""

    names: tuple[str, ...]
    units: tuple[FloatArray, ...]  # per system (units, k): what the test draws or swaps
    documents: tuple[FloatArray, ...]  # per system (documents, k): what the power hint looks at
    score: Score
    observed: FloatArray  # (systems,)
    higher_is_better: bool


def line_up(scores: Mapping[str, Scores], unit: Unit, output: str | None) -> Lineup:
    """Check that the systems can be compared, sort them, and take their totals by document and by unit."""
    if not scores:
        raise MetricError("there is nothing to compare", next="score at least one system first")
    first = next(iter(scores.values()))
    for name, other in scores.items():
        if other.metric != first.metric:
            raise MetricError(f"system {name!r} was scored with {other.metric}, others with {first.metric}",
                              next="compare systems under one metric at a time")
        if not _same_units(first, other, unit):
            raise AlignmentError(f"system {name!r} was not scored on the same {_WORDS[unit]} as {next(iter(scores))!r}",
                                 next="score all systems on one corpus, or compare by document")
    if output is not None and output not in first.outputs:
        raise MetricError(f"{first.metric} has no output {output!r}", next=f"it has {', '.join(first.outputs)}")
    column = 0 if output is None else first.outputs.index(output)

    def score(totals: FloatArray) -> FloatArray:
        return np.asarray(first.reduce(totals)[..., column])

    value = {name: float(each.table("corpus")[0, column]) for name, each in scores.items()}
    sign = -1 if first.higher_is_better else 1
    names = sorted(value, key=lambda name: (np.isnan(value[name]), sign * np.nan_to_num(value[name]), name))
    ordered = [scores[name] for name in names]
    documents = _by_document(ordered)
    units = documents if unit == "doc" else tuple(_by_row(each) for each in ordered)
    return Lineup(tuple(names), units, documents, score, np.array([value[n] for n in names]), first.higher_is_better)


def _same_units(a: Scores, b: Scores, unit: Unit) -> bool:
    if a.rows.docs != b.rows.docs:
        return False
    return unit == "doc" or all(
        np.array_equal(getattr(a.rows, column), getattr(b.rows, column)) for column in ("doc", "start", "stop")
    )


def _by_document(scores: list[Scores]) -> tuple[FloatArray, ...]:
    """Totals of the documents that have a row in any system: a document that no window reached is no evidence."""
    reached = np.zeros(len(scores[0].rows.docs), dtype=bool)
    for each in scores:
        reached[each.rows.doc] = True
    return tuple(each.totals()[reached] for each in scores)


def _by_row(scores: Scores) -> FloatArray:
    weight = scores.rows.weight
    return scores.stats if np.all(weight == 1.0) else scores.stats * weight[:, None]
