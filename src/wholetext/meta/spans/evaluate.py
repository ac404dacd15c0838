"""Metrics that mark errors against people who did, and raters against each other.

Agreement of two sets of spans is computed from additive statistics of a segment, as scores of their
totals; documents are the units of intervals and tests.

- Characters: the F1 of the WMT25 error-span task (Lavie et al. 2025, "Findings of the WMT25 Shared
  Task on Automated Translation Evaluation Systems"; ``scripts/scoring/task2/scoring_esa.py`` of
  wmt-conference/wmt25-mteval). At each character, marks of gold and metric are matched by severity
  with credit 1, the rest across severities with ½.
- Matching: one-to-one pairs of overlapping spans, a pair counts by the share of it that overlaps
  ("match with partial overlap and partial credit", Perrella et al. 2026, arXiv:2603.19921). The
  pairs are those with the largest sum of F1 × severity credit.
- Error-free segments (WMT26 task 3): gold has no error and, where it has a score, at least 85; a
  metric predicts it by marking nothing.

All are micro-averaged: sums over segments first. Nothing marked is precision 1, nothing to mark
recall 1, as there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from wholetext.errors import AlignmentError, InputError, count
from wholetext.meta.agreement.correlation import BoolArray, ratio
from wholetext.meta.agreement.measures import Ranked
from wholetext.meta.spans.marks import Annotations, ErrorSpan, Marked
from wholetext.notebook.display import brief
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    SEED,
    TRIALS,
    Interval,
    Pairs,
    bootstrap_p,
    bootstrap_scores,
    cluster_ranks,
    few_documents,
    holm,
    interval,
    randomization_p,
)
from wholetext.types import FloatArray, IntArray

Spans = Sequence[ErrorSpan]

#: statistics of a segment: of each of these the metric's hits and marks, gold's hits and marks; then
#: whether both agree on error-free, and 1
MEASURES = ("characters", "matching", "error-free")
STATISTICS = 4 * len(MEASURES) + 2
#: matchings of equal F1: the one that covers more of both, then more of the metric's, counts
_TIE = (1.0, 1e-9, 1e-12)


def span_statistics(gold: Spans, predicted: Spans, credit: float = 0.5) -> FloatArray:
    """Compare two lists of spans: (8,) statistics of characters and of matching."""
    return np.array([*_characters(gold, predicted, credit), *_matched(gold, predicted, credit)])


def _characters(gold: Spans, predicted: Spans, credit: float) -> tuple[float, ...]:
    length = max((span.end for span in (*gold, *predicted)), default=0)
    counts = np.zeros((2, 2, length))  # side, severity, character: marks upon it
    for side, spans in enumerate((gold, predicted)):
        for span in spans:
            counts[side, int(span.severity == "major"), span.start : span.end] += 1
    same = np.minimum(counts[0], counts[1])  # (severity, character)
    rest = (counts - same).sum(axis=1)  # (side, character)
    hit = same.sum() + credit * rest.min(axis=0).sum()
    return hit, counts[1].sum(), hit, counts[0].sum()


def _matched(gold: Spans, predicted: Spans, credit: float) -> tuple[float, ...]:
    """Hits are the shares of spans that overlap with their partner."""
    if not gold or not predicted:
        return 0.0, len(predicted), 0.0, len(gold)
    from scipy.optimize import linear_sum_assignment  # a second to import

    a, b = (
        np.array([(span.start, span.end, span.severity == "major") for span in spans])
        for spans in (predicted, gold)
    )
    size_a, size_b = a[:, 1:2] - a[:, :1], (b[:, 1] - b[:, 0])[None, :]
    common = np.minimum(a[:, 1:2], b[None, :, 1]) - np.maximum(a[:, :1], b[None, :, 0])
    common = np.maximum(common, 0) * np.where(a[:, 2:3] == b[None, :, 2], 1.0, credit)
    f1, of_a, of_b = 2 * common / (size_a + size_b), common / size_a, common / size_b
    rows, columns = linear_sum_assignment(
        _TIE[0] * f1 + _TIE[1] * (of_a + of_b) + _TIE[2] * of_a, maximize=True
    )
    return of_a[rows, columns].sum(), len(predicted), of_b[rows, columns].sum(), len(gold)


def precision_recall(totals: FloatArray, measure: str) -> tuple[FloatArray, FloatArray]:
    """Compute precision and recall of ``characters``, ``matching`` or ``error-free`` from totals."""
    at = 4 * MEASURES.index(measure)
    pred_hit, predicted, gold_hit, gold = np.moveaxis(totals[..., at : at + 4], -1, 0)
    return _share(pred_hit, predicted), _share(gold_hit, gold)


def f1(totals: FloatArray, measure: str) -> FloatArray:
    """Compute the harmonic mean of precision and recall; 0 where both are 0."""
    precision, recall = precision_recall(totals, measure)
    both = precision + recall
    return np.where(both == 0, 0.0, ratio(2 * precision * recall, both))


def accuracy(totals: FloatArray) -> FloatArray:
    """Compute the share of segments rightly called error-free or not."""
    return ratio(totals[..., -2], totals[..., -1])


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole == 0, 1.0, ratio(part, whole))


def auc(weights: FloatArray, scores: FloatArray, free: BoolArray, doc: IntArray) -> FloatArray:
    """Compute the area under the ROC curve, given (..., docs) how often each document is drawn.

    It is the share of the pairs of an error-free segment and another in which the error-free one
    has the higher score; ties count half (Hanley & McNeil 1982). NaN where either kind of segment
    is missing.
    """
    values, rank = np.unique(scores, return_inverse=True)  # (segments,) of equal scores

    def share(drawn: FloatArray) -> FloatArray:
        times = drawn[doc]
        clean, rest = (np.bincount(rank[of], times[of], len(values)) for of in (free, ~free))
        won = clean @ (np.cumsum(rest) - rest / 2)
        return ratio(won, clean.sum() * rest.sum())

    return np.asarray(np.apply_along_axis(share, -1, weights))


#: measure → score of (..., 14) totals
SCORES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "characters": lambda totals: f1(totals, "characters"),
    "matching": lambda totals: f1(totals, "matching"),
    "accuracy": accuracy,
    "error-free": lambda totals: f1(totals, "error-free"),
}


@dataclass(frozen=True)
class SpanOptions:
    """How spans are compared, and how differences are tested."""

    credit: float = 0.5  # of a match whose severity is wrong; 1: severities do not count
    threshold: float = 85.0  # gold: an error-free segment with a score has at least this (ESA)
    free_at: float | None = None  # metric: an error-free segment also has at least this score
    draws: int = TRIALS  # of each test; 0: no tests
    seed: int | None = SEED
    alpha: float = 0.05


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanMeasure(Ranked):
    """One measure of all metrics; intervals draw documents."""

    measure: str
    intervals: tuple[Interval, ...]
    precision: tuple[float, ...]  # NaN where the measure has none
    recall: tuple[float, ...]
    p: FloatArray  # (metrics, metrics) two-sided, Holm-corrected over all pairs


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
    """Compare the spans and scores of metrics with gold spans: characters, matching, error-free segments.

    Segments that some metric does not have are left out for all, with a note. Where several raters
    marked a segment, the metric is compared with each of them. Documents are the units of intervals
    and tests.
    """
    how = options or SpanOptions()
    if len({metric.name for metric in metrics}) < len(metrics) or not metrics:
        raise InputError(
            "two metrics have the same name" if metrics else "there are no metrics to evaluate",
            where=gold.name,
            next="name spans of metrics after those of people, as NAME=FILE, or compare raters "
            "(--compare-raters)",
        )
    items, marks_by_metric, notes = _paired(gold, metrics)
    names = [metric.name for metric in metrics]
    totals = [_totals(items, marks, _called_free(marks, how), how) for marks in marks_by_metric]
    tables = [_table(measure, names, totals, how) for measure in SCORES]
    tables.append(_auc(names, items, marks_by_metric, how, notes))
    documents = len(totals[0])
    few = few_documents(documents, how.alpha, max(1, len(names) * (len(names) - 1) // 2))
    return SpanResults(
        tuple(tables),
        len(items),
        documents,
        sum(len(mark.spans or ()) for mark in items),
        int(_error_free(items, how).sum()),
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
    several = next((metric for metric in metrics if len(metric.raters) > 1), None)
    if several:
        raise InputError(
            f"{several.name} has spans of {len(several.raters)} raters",
            where=several.name,
            next="give a file with one rater or metric, or compare raters with --compare-raters",
        )
    tables = [{mark.place: mark for mark in metric.marks} for metric in metrics]
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


def _documents(marks: Sequence[Marked]) -> IntArray:
    """Return (segments,) the index of each one's document."""
    index = {doc: i for i, doc in enumerate(dict.fromkeys(mark.doc for mark in marks))}
    return np.array([index[mark.doc] for mark in marks])


def _error_free(marks: Sequence[Marked], how: SpanOptions) -> BoolArray:
    """Return (segments,) which a person finds free of errors."""
    return np.array([mark.error_free(how.threshold) for mark in marks], dtype=bool)


def _called_free(marks: Sequence[Marked], how: SpanOptions) -> BoolArray:
    """Return (segments,) which a metric calls free of errors."""
    low = how.free_at
    return np.array([mark.error_free() and (low is None or mark.score >= low) for mark in marks])


def _totals(
    items: Sequence[Marked], marks: Sequence[Marked], called_free: BoolArray, how: SpanOptions
) -> FloatArray:
    """Sum the statistics of one metric by document: (documents, 14); NaN where it has no spans."""
    stats, doc = np.full((len(items), STATISTICS), np.nan), _documents(items)
    for row, gold, mark in zip(stats, items, marks):
        if mark.spans is not None:
            row[:8] = span_statistics(gold.spans or (), mark.spans, how.credit)
    free = _error_free(items, how)
    both = free & called_free
    verdicts = (both, called_free, both, free, free == called_free, np.ones_like(free))
    known = [mark.spans is not None or how.free_at is not None for mark in marks]
    stats[known, 8:] = np.stack(verdicts, axis=1)[known]
    totals = np.zeros((int(doc.max()) + 1, STATISTICS))
    np.add.at(totals, doc, stats)
    return totals


def _resampled(
    totals: Sequence[FloatArray], score: Callable[[FloatArray], FloatArray], how: SpanOptions
) -> FloatArray:
    """Draw (metrics, draws) bootstrap scores; none of a single document, which has no variance."""
    samples = bootstrap_scores(totals, score, RESAMPLES, how.seed)
    return samples if len(totals[0]) > 1 else samples[:, :0]


def _table(
    name: str, metrics: Sequence[str], totals: Sequence[FloatArray], how: SpanOptions
) -> SpanMeasure:
    score, sums = SCORES[name], np.stack([total.sum(axis=0) for total in totals])
    test = partial(randomization_p, totals, score, trials=how.draws, seed=how.seed)
    sides = None if name == "accuracy" else precision_recall(sums, name)
    return _ordered(name, metrics, score(sums), _resampled(totals, score, how), test, how, sides)


def _auc(
    metrics: Sequence[str],
    items: Sequence[Marked],
    marks_by_metric: Sequence[Sequence[Marked]],
    how: SpanOptions,
    notes: list[str],
) -> SpanMeasure:
    """AUC of scores, or without them of minus the penalty of the spans.

    Paired bootstrap of documents.
    """
    doc = _documents(items)
    drawn = np.eye(int(doc.max()) + 1)  # totals: how often each document is drawn
    observed = np.full(len(metrics), np.nan)
    samples = np.full((len(metrics), RESAMPLES if len(drawn) > 1 else 0), np.nan)
    for i, marks in enumerate(marks_by_metric):
        scores = np.array([mark.score for mark in marks])
        if np.isnan(scores).all():
            scores = np.array([-mark.penalty for mark in marks])
        elif np.isnan(scores).any():
            notes.append(f"{metrics[i]}: some segments have no score, so it has no AUC")
            continue
        score = partial(auc, scores=scores, free=_error_free(items, how), doc=doc)
        observed[i] = float(score(np.ones(len(drawn))))
        samples[i] = _resampled([drawn], score, how)
    test = partial(bootstrap_p, samples, observed, centred=True)
    return _ordered("auc", metrics, observed, samples, test, how)


def _ordered(
    name: str,
    metrics: Sequence[str],
    observed: FloatArray,
    samples: FloatArray,
    test: Callable[[Pairs], FloatArray],
    how: SpanOptions,
    sides: tuple[FloatArray, FloatArray] | None = None,
) -> SpanMeasure:
    """Order metrics, best first, with clusters of Holm-corrected p-values."""
    size = len(metrics)
    pairs = list(combinations(range(size), 2))
    table = np.full((size, size), np.nan)
    for (a, b), p in zip(pairs, holm(test(pairs)) if how.draws and pairs else ()):
        table[a, b] = table[b, a] = p
    order = sorted(
        range(size), key=lambda i: (np.isnan(observed[i]), -np.nan_to_num(observed[i]), metrics[i])
    )
    table = table[np.ix_(order, order)]
    ranks = cluster_ranks(table, how.alpha)
    tested = size == 1 or bool((~np.isnan(table)).any())
    precision, recall = sides or (np.full(size, np.nan), np.full(size, np.nan))
    return SpanMeasure(
        metrics=tuple(metrics[i] for i in order),
        values=tuple(observed[order].tolist()),
        ranks=tuple(
            rank if tested and not np.isnan(observed[i]) else None for rank, i in zip(ranks, order)
        ),
        measure=name,
        intervals=tuple(interval(samples[i]) for i in order),
        precision=tuple(precision[order].tolist()),
        recall=tuple(recall[order].tolist()),
        p=table,
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
    """Compare each two raters of a file, then all pairs pooled (called ``all``).

    And notes.

    Equal texts of one segment count as one output, whichever systems they come from: where each
    output has one rater, as in WMT21, raters meet where two systems give the same translation.
    Every measure here is symmetric.
    """
    how, notes = options or SpanOptions(), list(annotations.notes)
    by_rater = _first_marks(annotations, notes)
    pairs = {
        (first, second): [
            (mark, by_rater[second][key])
            for key, mark in by_rater[first].items()
            if key in by_rater[second]
        ]
        for first, second in combinations(sorted(by_rater), 2)
    }
    pairs["all", "all"] = [pair for common in pairs.values() for pair in common]
    if not pairs["all", "all"]:
        raise AlignmentError(
            "no two raters marked the same text",
            where=annotations.name,
            next="give annotations of at least two raters",
        )
    rows = [_rater_row(names, common, how) for names, common in pairs.items() if common]
    few = few_documents(rows[-1].documents, how.alpha)
    return rows, (*notes, *([few] if few else []))


def _first_marks(
    annotations: Annotations, notes: list[str]
) -> dict[str, dict[tuple[str, int, str], Marked]]:
    """Rater → (document, segment, text) → the first of the rater's marks of it."""
    by_rater: dict[str, dict[tuple[str, int, str], Marked]] = {}
    again = 0
    for mark in annotations.marks:
        if mark.spans is not None:
            key = (mark.doc, mark.segment, mark.system if mark.text is None else mark.text)
            again += key in by_rater.setdefault(mark.rater, {})
            by_rater[mark.rater].setdefault(key, mark)
    if again:
        notes.append(
            f"{annotations.name}: {count(again, 'segment', 'have')} a text that the rater had "
            "marked before, in the output of another system: the first one counts"
        )
    return by_rater


def _rater_row(
    names: tuple[str, str], common: Sequence[tuple[Marked, Marked]], how: SpanOptions
) -> RaterSpans:
    first, second = zip(*common)
    totals = _totals(first, second, _error_free(second, how), how)
    return RaterSpans(
        *names,
        len(common),
        len(totals),
        {name: float(score(totals.sum(axis=0))) for name, score in SCORES.items()},
        {name: interval(_resampled([totals], score, how)[0]) for name, score in SCORES.items()},
    )
