"""Agreement of two sets of spans, as additive statistics of a segment and scores of their totals.

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

from collections.abc import Sequence

import numpy as np

from wholetext.meta.agreement.correlation import BoolArray, ratio
from wholetext.meta.spans.marks import ErrorSpan
from wholetext.types import FloatArray, IntArray

Spans = Sequence[ErrorSpan]

#: statistics of a segment, in this order
STATISTICS = 11
(
    CHAR_HIT,
    CHAR_GOLD,
    CHAR_PRED,
    PRED_HIT,
    GOLD_HIT,
    GOLD,
    PRED,
    FREE_HIT,
    FREE_FALSE,
    FREE_MISSED,
    FREE_RIGHT,
) = range(STATISTICS)
#: matchings of equal F1: the one that covers more of both, then more of the metric's, counts
_TIE = (1.0, 1e-9, 1e-12)


def span_statistics(gold: Spans, predicted: Spans, credit: float = 0.5) -> FloatArray:
    """(7,) hits of characters, characters of gold, of the metric; hits of its spans, of gold's.

    Spans of both.
    """
    return np.array(
        [
            *_characters(gold, predicted, credit),
            *_matched(gold, predicted, credit),
            len(gold),
            len(predicted),
        ]
    )


def _characters(gold: Spans, predicted: Spans, credit: float) -> tuple[float, float, float]:
    length = max((span.end for span in (*gold, *predicted)), default=0)
    counts = np.zeros((2, 2, length))  # side, severity, character: marks upon it
    for side, spans in enumerate((gold, predicted)):
        for span in spans:
            counts[side, int(span.severity == "major"), span.start : span.end] += 1
    same = np.minimum(counts[0], counts[1])  # (severity, character)
    rest = (counts - same).sum(axis=1)  # (side, character)
    totals = counts.sum(axis=(1, 2))
    return float(same.sum() + credit * rest.min(axis=0).sum()), float(totals[0]), float(totals[1])


def _matched(gold: Spans, predicted: Spans, credit: float) -> tuple[float, float]:
    """Hits of the metric's spans (shares of them that overlap with their partner), hits of
    gold's.
    """
    if not gold or not predicted:
        return 0.0, 0.0
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
    return float(of_a[rows, columns].sum()), float(of_b[rows, columns].sum())


def free_statistics(gold: bool, predicted: bool) -> FloatArray:
    """(4,) true positives, false positives, false negatives and true negatives of error-free
    segments.
    """
    return np.array(
        [
            gold and predicted,
            predicted and not gold,
            gold and not predicted,
            not gold and not predicted,
        ],
        dtype=np.float64,
    )


def precision_recall(totals: FloatArray, measure: str) -> tuple[FloatArray, FloatArray]:
    """(...,) precision and recall of ``characters``, ``matching`` or ``error-free`` from (..., 11)
    totals.
    """
    t = np.moveaxis(totals, -1, 0)
    hit_p, hit_r, pred, gold = {
        "characters": (t[CHAR_HIT], t[CHAR_HIT], t[CHAR_PRED], t[CHAR_GOLD]),
        "matching": (t[PRED_HIT], t[GOLD_HIT], t[PRED], t[GOLD]),
        "error-free": (
            t[FREE_HIT],
            t[FREE_HIT],
            t[FREE_HIT] + t[FREE_FALSE],
            t[FREE_HIT] + t[FREE_MISSED],
        ),
    }[measure]
    return _share(hit_p, pred), _share(hit_r, gold)


def f1(totals: FloatArray, measure: str) -> FloatArray:
    """(...,) harmonic mean of precision and recall; 0 where both are 0."""
    precision, recall = precision_recall(totals, measure)
    both = precision + recall
    return np.where(both == 0, 0.0, ratio(2 * precision * recall, both))


def accuracy(totals: FloatArray) -> FloatArray:
    """(...,) share of segments rightly called error-free or not."""
    right = totals[..., FREE_HIT] + totals[..., FREE_RIGHT]
    return ratio(right, totals[..., FREE_HIT:].sum(axis=-1))


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole == 0, 1.0, ratio(part, whole))


def auc(weights: FloatArray, scores: FloatArray, free: BoolArray, doc: IntArray) -> FloatArray:
    """(..., docs) how often each document is drawn → (...,) share of the pairs of an error-free
    segment and another in which the error-free one has the higher score; ties count half (Hanley &
    McNeil 1982). NaN where either kind of segment lacks.
    """
    values, rank = np.unique(scores, return_inverse=True)  # (segments,) of equal scores

    def share(drawn: FloatArray) -> FloatArray:
        times = drawn[doc]
        clean, rest = (np.bincount(rank[of], times[of], len(values)) for of in (free, ~free))
        won = clean @ (np.cumsum(rest) - rest / 2)
        return ratio(won, clean.sum() * rest.sum())

    return np.asarray(np.apply_along_axis(share, -1, weights))
