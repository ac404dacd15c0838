"""Which documents people should judge: drawn with known probability, or picked by metric scores.

Drawn samples (``length``, ``random``) have weights: means weighted by 1 / probability estimate the
means over all documents without bias, up to the bias of a ratio (Horvitz & Thompson 1952; Hájek
1971). Picked samples (``spread``, ``overlap``, ``disagreement``) are not random: their means do not
estimate those of all documents. docs/sampling.md measures all of them on judgments of WMT21 and
WMT22.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from wholetext.errors import InputError, count
from wholetext.notebook.display import brief
from wholetext.scoring.results import Results
from wholetext.scoring.significance.compare import system_totals
from wholetext.scoring.significance.resample import SEED, bootstrap_scores, interval, seeded
from wholetext.types import FloatArray, IntArray, Scores

Method = Literal["length", "random", "spread", "overlap", "disagreement"]
Unit = Literal["documents", "segments"]
DRAWN = ("length", "random")
_DRAWS = 500  # resamples for the intervals of `overlap`


@dataclass(frozen=True)
class SampledDocument:
    """A document of a sample; without ``probability`` and ``weight`` if picked, not drawn."""

    doc: str
    segments: int
    priority: float  # what the method ranks or draws by
    probability: float | None = None
    weight: float | None = None  # 1 / probability


@dataclass(frozen=True)
class Sample:
    """The documents to judge: in the order of the corpus if drawn, else highest priority first."""

    method: Method
    documents: tuple[SampledDocument, ...]
    total_documents: int
    segments: int
    total_segments: int
    metrics: tuple[str, ...]  # that were used
    seed: int | None
    notes: tuple[str, ...] = ()
    __repr__ = brief

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(document.doc for document in self.documents)

    @property
    def weights(self) -> dict[str, float]:
        """Document → weight for means over the sample; empty where none makes them unbiased."""
        return {
            document.doc: document.weight
            for document in self.documents
            if document.weight is not None
        }


def sample(
    results: Results,
    documents: int | None = None,
    *,
    share: float | None = None,
    of: Unit = "documents",
    method: Method = "length",
    metrics: Sequence[str] = (),
    seed: int | None = SEED,
) -> Sample:
    """Choose ``documents`` of a run, or a ``share`` of documents or segments, for human judgment.

    ``metrics`` restricts ``spread``, ``overlap`` and ``disagreement``. ``seed=None`` gives other
    draws each time.
    """
    _check(method, of, documents, share)
    sizes = np.array([len(doc) for doc in results.corpus.docs], dtype=np.float64)
    if documents is not None and documents > len(sizes):
        raise InputError(
            f"{count(documents, 'document')} asked for, and the run has {len(sizes)}",
            next=f"ask for at most {len(sizes)}",
        )
    cost = sizes if of == "segments" and documents is None else np.ones(len(sizes))
    budget = float(documents) if documents is not None else float((share or 0.0) * cost.sum())
    notes: list[str] = []
    specs: tuple[str, ...] = ()
    if method in DRAWN:
        priority = np.sqrt(sizes) if method == "length" else np.ones(len(sizes))
        chance = probabilities(priority, cost, budget)
        chosen = np.sort(draw(chance, seeded(seed), sizes if method == "length" else None))
    else:
        table = {spec: results[spec] for spec in metrics} if metrics else results.scores
        specs = tuple(next(iter(scores.values())).metric for scores in table.values())
        priority = _priority(method, list(table.values()), notes) * (
            1.0 if cost is sizes else np.sqrt(sizes)
        )
        chosen = pick(priority, cost, budget)
        notes.append(
            f"picked by {method}, not drawn: scores over this sample are not estimates over all "
            "documents"
        )
    docs = tuple(
        SampledDocument(
            results.corpus.docs[i].id,
            int(sizes[i]),
            float(priority[i]),
            *((float(chance[i]), float(1 / chance[i])) if method in DRAWN else ()),
        )
        for i in chosen
    )
    return Sample(
        method,
        docs,
        len(sizes),
        int(sizes[chosen].sum()),
        int(sizes.sum()),
        specs,
        seed if method in DRAWN else None,
        tuple(notes),
    )


def _check(method: str, of: str, documents: int | None, share: float | None) -> None:
    for name, value, known in (("method", method, get_args(Method)), ("unit", of, get_args(Unit))):
        if value not in known:
            raise InputError(
                f"there is no {name} {value!r}", next=f"it is one of {', '.join(known)}"
            )
    if (documents is None) == (share is None):
        raise InputError(
            "the size of the sample is not given, or given twice",
            next="give either a number of documents or a share, such as 0.25",
        )
    if documents is not None and documents < 1:
        raise InputError(
            f"a sample has at least one document, not {documents}", next="give a number from 1"
        )
    if share is not None and not 0 < share <= 1:
        raise InputError(
            f"invalid share {share}", next="give a share above 0 and at most 1, such as 0.25"
        )


# ---------------------------------------------------------------- drawn


def probabilities(priority: FloatArray, cost: FloatArray, budget: float) -> FloatArray:
    """(docs,) inclusion probabilities ∝ priority, at most 1, of an expected cost of ``budget``.

    The scale is found by bisection. With a cost of 1 each, their sum is the size of the sample.
    """
    priority = priority / priority.max()
    low, high = 0.0, 1 / priority.min()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if np.minimum(middle * priority, 1.0) @ cost < budget else (low, middle)
        )
    chance = np.minimum(high * priority, 1.0)
    return np.asarray(chance if chance.sum() >= 1 else chance / chance.sum())


def draw(chance: FloatArray, rng: np.random.Generator, along: FloatArray | None = None) -> IntArray:
    """Documents with exactly these probabilities: systematic sampling in random order (Madow 1949).

    Their number is the sum of the probabilities, rounded up or down. In the order of ``along``,
    such as length, every sample has documents of all lengths.
    """
    order = rng.permutation(len(chance))
    if along is not None:
        order = order[np.argsort(along[order], kind="stable")]  # equal ones in random order
    ends = np.cumsum(chance[order])
    ends[-1] = round(ends[-1]) if math.isclose(ends[-1], round(ends[-1])) else ends[-1]
    marks = np.floor(
        np.concatenate([[0.0], ends]) - rng.random() + 1
    )  # a document is drawn where this number grows
    return np.asarray(order[np.diff(marks) > 0])


# ---------------------------------------------------------------- picked


def pick(priority: FloatArray, cost: FloatArray, budget: float) -> IntArray:
    """The documents of highest priority, as many as come nearest to the budget, at least one.

    Ties in corpus order.
    """
    order = np.argsort(-priority, kind="stable")
    return np.asarray(order[: int(np.argmin(np.abs(np.cumsum(cost[order]) - budget))) + 1])


def _priority(method: str, table: Sequence[Mapping[str, Scores]], notes: list[str]) -> FloatArray:
    values = (
        np.stack([_standardised(by_system) for by_system in table])
        if table
        else np.zeros((0, 0, 0))
    )
    if values.shape[1] < 2 or (method == "disagreement" and len(values) < 2):
        required = "two metrics" if values.shape[1] >= 2 else "a run with scores of two systems"
        raise InputError(
            f"{method} needs at least {required}", next="score more, or use --method length"
        )
    undefined = np.isnan(values).any(axis=(0, 1))
    if undefined.any():
        notes.append(
            f"{count(int(undefined.sum()), 'document')} without a score of every metric: last in "
            "priority"
        )
    contested = np.ones((values.shape[1],) * 2, dtype=bool)
    if method == "overlap":
        contested = np.any([overlapping(by_system) for by_system in table], axis=0)
        if not contested[np.triu_indices(len(contested), 1)].any():
            notes.append("no two systems have overlapping intervals: all pairs of systems count")
            contested[:] = True
    priority = disagreement(values) if method == "disagreement" else spread(values, contested)
    return np.where(undefined, 0.0, priority)


def _standardised(by_system: Mapping[str, Scores]) -> FloatArray:
    """(systems, docs) standardised document scores, higher is better."""
    values = np.stack(
        [scores.at("doc") * (1 if scores.higher_is_better else -1) for scores in by_system.values()]
    )
    deviation = np.nanstd(values) if np.isfinite(values).any() else 0.0
    return (
        np.asarray((values - np.nanmean(values)) / deviation)
        if deviation > 0
        else np.zeros_like(values)
    )


def spread(values: FloatArray, contested: np.ndarray) -> FloatArray:
    """(docs,) from (metrics, systems, docs): standard deviation between systems, mean over metrics.

    Taken over the pairs of systems that are ``contested``. With all pairs this is the MetricVar of
    subset2evaluate (Zouhar et al. 2025, arXiv 2501.18251), for documents.
    """
    pairs = [(i, j) for i, j in combinations(range(len(contested)), 2) if contested[i, j]]
    squares = (
        np.mean([(values[:, i] - values[:, j]) ** 2 for i, j in pairs], axis=0) / 2
    )  # (metrics, docs)
    return np.asarray(np.sqrt(squares).mean(axis=0))


def disagreement(values: FloatArray) -> FloatArray:
    """(docs,) mean |difference| between metrics of scores less their document's mean."""
    centred = values - values.mean(axis=1, keepdims=True)
    pairs = combinations(range(len(centred)), 2)
    return np.asarray(
        np.mean([np.abs(centred[i] - centred[j]).mean(axis=0) for i, j in pairs], axis=0)
    )


def overlapping(by_system: Mapping[str, Scores]) -> np.ndarray:
    """(systems, systems) whether two systems' 95 % bootstrap intervals by document overlap."""
    ranked = system_totals(by_system, "doc", None)
    drawn = dict(
        zip(ranked.names, map(interval, bootstrap_scores(ranked.units, ranked.score, _DRAWS)))
    )
    bounds = [drawn[system] for system in by_system]
    return np.array([[a.low <= b.high and b.low <= a.high for b in bounds] for a in bounds])
