"""Metrics that mark errors against people who did, and raters against each other.

Significance by document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from wholetext.errors import AlignmentError, InputError, count
from wholetext.meta.agreement.correlation import BoolArray
from wholetext.meta.spans import measures
from wholetext.meta.spans.marks import Annotations, Marked, Place
from wholetext.notebook.display import brief
from wholetext.scoring.significance.power import few_documents
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    TRIALS,
    Interval,
    bootstrap_p,
    bootstrap_scores,
    cluster_ranks,
    holm,
    interval,
    randomization_p,
)
from wholetext.types import FloatArray, IntArray

#: measure → score of (..., 11) totals
SCORES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "characters": lambda totals: measures.f1(totals, "characters"),
    "matching": lambda totals: measures.f1(totals, "matching"),
    "accuracy": measures.accuracy,
    "error-free": lambda totals: measures.f1(totals, "error-free"),
}
MOST_DOCUMENTS = 3000  # of an interval of AUC, which needs every pair of documents


@dataclass(frozen=True)
class SpanOptions:
    """How spans are compared, and how differences are tested."""

    credit: float = 0.5  # of a match whose severity is wrong; 1: severities do not count
    threshold: float = 85.0  # gold: an error-free segment with a score has at least this (ESA)
    free_at: float | None = None  # metric: an error-free segment also has at least this score
    draws: int = TRIALS  # of each test; 0: no tests
    seed: int | None = SEED
    alpha: float = 0.05


@dataclass(frozen=True, eq=False)
class SpanMeasure:
    """One measure of all metrics, best first; NaN = undefined."""

    measure: str
    metrics: tuple[str, ...]
    values: tuple[float, ...]
    precision: tuple[float, ...]  # NaN where the measure has none
    recall: tuple[float, ...]
    intervals: tuple[Interval, ...]  # 95 %, documents drawn
    p: FloatArray  # (metrics, metrics) two-sided, Holm-corrected over all pairs
    ranks: tuple[
        int | None, ...
    ]  # clusters; None where nothing was tested or the value is undefined

    def value(self, metric: str) -> float:
        return self.values[self.metrics.index(metric)]


@dataclass(frozen=True, eq=False)
class SpanResults:
    """Every measure, and what was compared."""

    measures: tuple[SpanMeasure, ...]
    segments: int  # (segment, rater) pairs of gold that every metric has
    documents: int
    spans: int  # of gold
    error_free: int  # of gold's segments
    notes: tuple[str, ...]
    __repr__ = brief

    def __getitem__(self, measure: str) -> SpanMeasure:
        return {result.measure: result for result in self.measures}[measure]


def evaluate_spans(
    gold: Annotations, metrics: Sequence[Annotations], options: SpanOptions | None = None
) -> SpanResults:
    """Compare the spans and scores of metrics with gold spans: characters, matching, error-free
    segments.

    Segments that some metric does not have are left out for all, with a note. Where several raters
    marked a segment, the metric is compared with each of them. Documents are the units of intervals
    and tests.
    """
    how = options or SpanOptions()
    if not 0 <= how.credit <= 1:
        raise InputError(f"invalid credit {how.credit}", next="give a number from 0 to 1")
    if len({metric.name for metric in metrics}) < len(metrics) or not metrics:
        raise InputError(
            "two metrics have the same name" if metrics else "there is nothing to compare",
            next="name them, as NAME=FILE",
        )
    items, marks_by_metric, notes = _paired(gold, metrics)
    units = {doc: i for i, doc in enumerate(dict.fromkeys(mark.doc for mark in items))}
    doc = np.array([units[mark.doc] for mark in items])
    free = np.array([mark.error_free(how.threshold) for mark in items], dtype=bool)
    stats = [
        _statistics(items, marks, free, how) for marks in marks_by_metric
    ]  # each (segments, 11)
    totals = [_by_document(rows, doc, len(units)) for rows in stats]
    tables = [_table(name, [metric.name for metric in metrics], totals, how) for name in SCORES]
    tables.append(_auc([metric.name for metric in metrics], marks_by_metric, free, doc, how, notes))
    few = few_documents(len(units), how.alpha, max(1, len(metrics) * (len(metrics) - 1) // 2))
    return SpanResults(
        tuple(tables),
        len(items),
        len(units),
        sum(len(mark.spans or ()) for mark in items),
        int(free.sum()),
        (*notes, *([few] if few else [])),
    )


def _paired(
    gold: Annotations, metrics: Sequence[Annotations]
) -> tuple[list[Marked], list[list[Marked]], list[str]]:
    """The segments of gold that every metric has, the same of each metric, and notes."""
    notes = list(dict.fromkeys(note for metric in (gold, *metrics) for note in metric.notes))
    silent = sum(mark.spans is None for mark in gold.marks)
    if silent:
        notes.append(f"{gold.name}: {count(silent, 'segment', 'have')} no list of spans: not used")
    tables = [_by_place(metric) for metric in metrics]
    marked = [mark for mark in gold.marks if mark.spans is not None]
    items = [mark for mark in marked if all(mark.place in table for table in tables)]
    for metric, table in zip(metrics, tables):
        lacks = [mark.system for mark in marked if mark.place not in table]
        if lacks:
            names = sorted({*lacks} - {system for system, _, _ in table})
            notes.append(
                f"{metric.name} has nothing for {len(lacks)} of {len(marked)} segments of "
                f"{gold.name}: not used"
                + (f" (no system is called {', '.join(names[:5])})" if names else "")
            )
    if not items:
        systems = [
            ", ".join(list(dict.fromkeys(mark.system for mark in metric.marks))[:5]) or "none"
            for metric in (gold, *metrics)
        ]
        raise AlignmentError(
            "no segment is in all files",
            where=gold.name,
            next=f"systems, documents and segments must have the same names; {gold.name} has the "
            f"systems {systems[0]}; {metrics[0].name} has {systems[1]}",
        )
    marks_by_metric = [[table[mark.place] for mark in items] for table in tables]
    for metric, marks in zip(metrics, marks_by_metric):
        for mark, other in zip(items, marks):
            if mark.text is not None and other.text is not None and mark.text != other.text:
                raise AlignmentError(
                    f"{metric.name} has another output of {mark.system!r} than {gold.name} for "
                    "segment "
                    f"{mark.segment} of document {mark.doc!r}",
                    where=metric.name,
                    next="give spans of the very same outputs",
                )
    return items, marks_by_metric, notes


def _by_place(annotations: Annotations) -> dict[Place, Marked]:
    if len(annotations.raters) > 1:
        raise InputError(
            f"{annotations.name} has spans of {len(annotations.raters)} raters",
            where=annotations.name,
            next="give a file with one rater or metric, or compare raters with --raters",
        )
    return {mark.place: mark for mark in annotations.marks}


def _statistics(
    items: Sequence[Marked], marks: Sequence[Marked], free: BoolArray, how: SpanOptions
) -> FloatArray:
    """(segments, 11) of one metric; NaN where it has no spans."""
    stats = np.full((len(items), measures.STATISTICS), np.nan)
    for row, gold, mark, clean in zip(stats, items, marks, free):
        if mark.spans is not None:
            row[: measures.FREE_HIT] = measures.span_statistics(
                gold.spans or (), mark.spans, how.credit
            )
        if mark.spans is not None or how.free_at is not None:
            low = how.free_at is not None and not mark.score >= how.free_at
            row[measures.FREE_HIT :] = measures.free_statistics(
                bool(clean), not (mark.spans or mark.unplaced or low)
            )
    return stats


def _by_document(stats: FloatArray, doc: IntArray, units: int) -> FloatArray:
    totals = np.zeros((units, stats.shape[1]))
    np.add.at(totals, doc, stats)
    return totals


def _table(
    name: str, metrics: Sequence[str], totals: Sequence[FloatArray], how: SpanOptions
) -> SpanMeasure:
    score = SCORES[name]
    observed = np.array([float(score(total.sum(axis=0))) for total in totals])
    samples = bootstrap_scores(totals, score, RESAMPLES, how.seed)
    samples = samples[
        :, : samples.shape[1] * (len(totals[0]) > 1)
    ]  # resamples of one document have no variance
    pairs = list(combinations(range(len(metrics)), 2))
    p = np.full(len(pairs), np.nan)
    if how.draws and pairs:
        p = randomization_p(totals, score, pairs, how.draws, how.seed)
    sides = [(math.nan, math.nan)] * len(metrics)
    if name != "accuracy":
        known = (measures.precision_recall(total.sum(axis=0), name) for total in totals)
        sides = [(float(precision), float(recall)) for precision, recall in known]
    return _ordered(name, metrics, observed, sides, samples, p, how)


def _auc(
    metrics: Sequence[str],
    marks_by_metric: Sequence[Sequence[Marked]],
    free: BoolArray,
    doc: IntArray,
    how: SpanOptions,
    notes: list[str],
) -> SpanMeasure:
    """AUC of scores, or without them of minus the penalty of the spans.

    Paired bootstrap of documents.
    """
    docs = int(doc.max()) + 1
    kinds = [np.bincount(doc[kind], minlength=docs).astype(float) for kind in (free, ~free)]
    observed, samples = np.full(len(metrics), np.nan), np.full((len(metrics), 0), np.nan)
    if docs == 1:
        pass  # resamples of one document have no variance
    elif docs > MOST_DOCUMENTS:
        notes.append(f"auc: no intervals and tests with more than {MOST_DOCUMENTS} documents")
    else:
        samples = np.full((len(metrics), RESAMPLES), np.nan)
    for i, marks in enumerate(marks_by_metric):
        scores = np.array([mark.score for mark in marks])
        if np.isnan(scores).all():
            scores = np.array([-mark.penalty for mark in marks])
        elif np.isnan(scores).any():
            notes.append(f"{metrics[i]}: some segments have no score, so it has no AUC")
            continue
        won = measures.pairs_won(free, scores, doc, docs)
        observed[i] = float(measures.auc(np.ones(docs), won, *kinds))
        if samples.shape[1]:
            score = partial(measures.auc, won=won, free=kinds[0], rest=kinds[1])
            samples[i] = bootstrap_scores(
                [np.eye(docs)], score, RESAMPLES, how.seed
            )  # totals: how often each is drawn
    pairs = list(combinations(range(len(metrics)), 2))
    tested = how.draws and samples.shape[1] and docs > 1
    p = (
        bootstrap_p(samples, observed, pairs, centred=True)
        if tested
        else np.full(len(pairs), np.nan)
    )
    return _ordered(
        "auc", metrics, observed, [(math.nan, math.nan)] * len(metrics), samples, p, how
    )


def _ordered(
    name: str,
    metrics: Sequence[str],
    observed: FloatArray,
    sides: Sequence[tuple[float, float]],
    samples: FloatArray,
    p: FloatArray,
    how: SpanOptions,
) -> SpanMeasure:
    """Best first, with clusters of Holm-corrected p-values."""
    size = len(metrics)
    table = np.full((size, size), np.nan)
    for (a, b), value in zip(combinations(range(size), 2), holm(p)):
        table[a, b] = table[b, a] = value
    order = sorted(
        range(size), key=lambda i: (np.isnan(observed[i]), -np.nan_to_num(observed[i]), metrics[i])
    )
    table = table[np.ix_(order, order)]
    ranks = cluster_ranks(table, how.alpha)
    tested = size == 1 or bool((~np.isnan(table)).any())
    return SpanMeasure(
        name,
        tuple(metrics[i] for i in order),
        tuple(float(observed[i]) for i in order),
        tuple(sides[i][0] for i in order),
        tuple(sides[i][1] for i in order),
        tuple(interval(samples[i]) for i in order),
        table,
        tuple(
            rank if tested and not np.isnan(observed[i]) else None for rank, i in zip(ranks, order)
        ),
    )


# ---------------------------------------------------------------- raters


@dataclass(frozen=True)
class RaterSpans:
    """Two raters on the outputs that both marked, or all pairs of raters together."""

    first: str
    second: str
    segments: int
    documents: int
    scores: Mapping[str, float]  # measure → value; all but AUC, which is not symmetric
    intervals: Mapping[str, Interval]  # 95 %, documents drawn


def rater_spans(
    annotations: Annotations, options: SpanOptions | None = None
) -> tuple[list[RaterSpans], tuple[str, ...]]:
    """Each two raters of a file against each other, then all pairs pooled (called ``all``).

    And notes.

    Equal texts of one segment count as one output, whichever systems they come from: where each
    output has one rater, as in WMT21, raters meet where two systems give the same translation.
    Every measure here is symmetric.
    """
    by_rater, notes = _first_marks(annotations)
    pairs: dict[tuple[str, str], list[tuple[Marked, Marked]]] = {}
    for first, two in combinations(sorted(by_rater), 2):
        common = [
            (mark, by_rater[two][key])
            for key, mark in by_rater[first].items()
            if key in by_rater[two]
        ]
        if common:
            pairs[first, two] = common
    if not pairs:
        raise AlignmentError(
            "no two raters marked the same text",
            where=annotations.name,
            next="give annotations of at least two raters",
        )
    pooled = [pair for common in pairs.values() for pair in common]
    how = options or SpanOptions()
    rows = [
        _rater_row(names, common, how)
        for names, common in [*pairs.items(), (("all", "all"), pooled)]
    ]
    few = few_documents(rows[-1].documents, how.alpha)
    return rows, (*notes, *([few] if few else []))


def _first_marks(
    annotations: Annotations,
) -> tuple[dict[str, dict[tuple[str, int, str], Marked]], tuple[str, ...]]:
    """Rater → (document, segment, text) → the first of the rater's marks of it; and notes."""
    by_rater: dict[str, dict[tuple[str, int, str], Marked]] = {}
    again = 0
    for mark in annotations.marks:
        if mark.spans is not None:
            key = (mark.doc, mark.segment, mark.system if mark.text is None else mark.text)
            again += key in by_rater.setdefault(mark.rater, {})
            by_rater[mark.rater].setdefault(key, mark)
    if not again:
        return by_rater, annotations.notes
    return by_rater, (
        *annotations.notes,
        f"{annotations.name}: {count(again, 'segment', 'have')} a text that the rater had marked "
        "before, in the output of another system: the first one counts",
    )


def _rater_row(
    names: tuple[str, str], common: Sequence[tuple[Marked, Marked]], how: SpanOptions
) -> RaterSpans:
    units = {doc: i for i, doc in enumerate(dict.fromkeys(first.doc for first, _ in common))}
    stats = np.array(
        [
            [
                *measures.span_statistics(first.spans or (), two.spans or (), how.credit),
                *measures.free_statistics(
                    *(mark.error_free(how.threshold) for mark in (first, two))
                ),
            ]
            for first, two in common
        ]
    )  # (segments, 11)
    totals = _by_document(stats, np.array([units[first.doc] for first, _ in common]), len(units))
    drawn = {
        name: bootstrap_scores([totals], score, RESAMPLES, how.seed)[0]
        for name, score in SCORES.items()
    }
    return RaterSpans(
        *names,
        len(common),
        len(units),
        {name: float(score(totals.sum(axis=0))) for name, score in SCORES.items()},
        {
            name: interval(samples[: len(samples) * (len(units) > 1)])
            for name, samples in drawn.items()
        },
    )
