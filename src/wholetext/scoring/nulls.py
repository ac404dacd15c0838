"""Omissions and additions in scores: counted as text, scored as the worst, or dropped.

SEGALE (Wang et al. 2025, "Extending Automatic Machine Translation Evaluation to Book-Length
Documents") gives every sentence without counterpart the metric's worst score and keeps it in the
mean; here that is ``worst``. Metrics that sum counts over the corpus (BLEU, chrF, TER, BlonDe) do
so by themselves: an empty or surplus text matches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from wholetext.errors import InputError, MetricError, count, known
from wholetext.scoring.engine import trait
from wholetext.types import FloatArray, Metric, Nulls, Output, Rows, mean_stats

LEFT_OUT = "the output leaves this out (nulls=drop)"
Details = list[Any]
Policy = Literal["count", "worst", "drop"]


def with_policy(outputs: Sequence[Output], policy: Policy) -> tuple[Output, ...]:
    """Set how scores treat the omissions and additions of outputs."""
    known("policy", policy, Nulls.POLICIES, where="nulls")
    if policy != "count" and not any(output.nulls for output in outputs):
        raise InputError(
            f"nulls={policy} applies to omissions and additions of aligned outputs, and none was aligned",
            next="add --align, in Python Options(align=AlignOptions())",
        )
    return tuple(
        replace(
            output,
            nulls={doc: replace(nulls, policy=policy) for doc, nulls in output.nulls.items()},
            realigned={
                doc: f"{how.partition(',nulls=')[0]},nulls={policy}"
                for doc, how in output.realigned.items()
            },
        )
        for output in outputs
    )


def is_mean(metric: Metric) -> bool:
    """Whether the corpus score is the mean of row scores, and not made from sums of counts."""
    return type(metric).reduce is Metric.reduce


def worst_of(metric: Metric) -> float:
    """The worst score of a metric; an error where it has none."""
    bound = metric.range[0] if metric.higher_is_better else metric.range[1]
    worst = trait(metric, "worst")
    if not np.isfinite(bound if worst is None else worst):
        raise MetricError(
            f"{metric.name} has no worst score for omissions and additions",
            next="use nulls=count or nulls=drop",
        )
    return bound if worst is None else float(worst)


def scored_text(metric: Metric, output: Output, doc: str) -> tuple[str, ...]:
    """Segments that a metric reads: without added text where that is scored apart or ignored."""
    nulls = output.nulls.get(doc)
    if nulls and (nulls.policy == "drop" or (nulls.policy == "worst" and is_mean(metric))):
        return nulls.without_additions(output.docs[doc])
    return output.docs[doc]


def check_worst(metric: Metric, outputs: Sequence[Output]) -> None:
    """Raise an error before any work if ``worst`` is set and the metric has no worst score."""
    policies = {nulls.policy for output in outputs for nulls in output.nulls.values()}
    if "worst" in policies and is_mean(metric):
        worst_of(metric)


def with_nulls(
    metric: Metric, output: Output, rows: Rows, stats: FloatArray, details: Details
) -> tuple[FloatArray, Details]:
    """Apply the policy for omissions and additions to the rows of an output.

    A row of k segments, z of them left out, a sentences added to them: ``worst`` is the mean of (k
    − z) times its own score and z + a times the worst; ``drop`` leaves rows out that have nothing
    else.
    """
    stats, details = stats.copy(), list(details) or [None] * len(rows)
    for index, doc in enumerate(rows.docs):
        nulls = output.nulls.get(doc)
        if (
            not nulls
            or nulls.policy == "count"
            or (nulls.policy == "worst" and not is_mean(metric))
        ):
            continue
        added = {at: number for at, number, _ in nulls.added}
        for row in range(len(rows))[rows.of(index)]:
            segments = range(int(rows.start[row]), int(rows.stop[row]))
            gone = len({*nulls.omitted}.intersection(segments))
            more = sum(added.get(at, 0) for at in segments)
            if nulls.policy == "worst" and (gone or more):
                values = [
                    np.nan if name in trait(metric, "sums") else worst_of(metric)
                    for name in metric.outputs
                ]
                worst, size = mean_stats([values])[0], len(segments)
                stats[row] = stats[row] * (size - gone) / size + worst * (gone + more) / size
            elif nulls.policy == "drop" and gone == len(segments):
                stats[row] = 0.0
                details[row] = {**(details[row] or {}), "reason": LEFT_OUT}
    return stats, details


def null_counts(output: Output) -> tuple[int, int]:
    """Segments left out and sentences added, in all documents that were aligned."""
    documents = output.nulls.values()
    return sum(len(nulls.omitted) for nulls in documents), sum(
        number for nulls in documents for _, number, _ in nulls.added
    )


def null_note(output: Output) -> str:
    """How many, and what their scores are; "" where there are none."""
    omitted, added = null_counts(output)
    if not omitted and not added:
        return ""
    policy = next(iter(output.nulls.values())).policy
    what = {
        "count": "counted as empty segments and as text of the segment before them",
        "worst": "each scores the metric's worst and stays in the mean",
        "drop": "left out of the scores",
    }[policy]
    return f"{count(omitted, 'segment')} left out, {count(added, 'sentence')} added: {what} (nulls={policy})"
