"""Which documents people should judge: drawn with known probability, or picked by metric scores.

Drawn samples (``length``, ``random``) have weights: means weighted by 1 / probability estimate the
means over all documents without bias, up to the bias of a ratio (Horvitz & Thompson 1952; Hájek
1971). Picked samples (``spread``) are not random: their means do not estimate those of all
documents. docs/sampling.md measures them on judgments of WMT21 and WMT22.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from wholetext.errors import InputError, count
from wholetext.notebook.display import brief
from wholetext.scoring.results import Results
from wholetext.scoring.significance.resample import SEED, seeded
from wholetext.types import FloatArray, IntArray, Scores

Method = Literal["length", "random", "spread"]
Unit = Literal["documents", "segments"]
DRAWN = ("length", "random")


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

    ``metrics`` are those that ``spread`` uses. ``seed=None`` gives other draws each time.
    """
    sizes = np.array([len(doc) for doc in results.corpus.docs], dtype=np.float64)
    by_share = documents is None and share is not None and 0 < share <= 1
    by_number = share is None and documents is not None and 1 <= documents <= len(sizes)
    known = method in get_args(Method) and of in get_args(Unit)
    if not known or not (by_share or by_number):
        raise InputError(
            f"there is no sample of {documents} documents or a share of {share} of the {of} by "
            f"the method {method!r}",
            next=f"give either 1 to {len(sizes)} documents or a share above 0 and at most 1 of "
            f"documents or segments; methods are {', '.join(get_args(Method))}",
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
        priority = spread(list(table.values()), notes) * (1.0 if cost is sizes else np.sqrt(sizes))
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


# ---------------------------------------------------------------- drawn


def probabilities(priority: FloatArray, cost: FloatArray, budget: float) -> FloatArray:
    """Compute (docs,) inclusion probabilities ∝ priority, at most 1, of expected cost ``budget``.

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
    """Draw documents with exactly these probabilities: systematic sampling (Madow 1949).

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
    """Pick the documents of highest priority, at least one, that come nearest to the budget.

    Ties in corpus order.
    """
    order = np.argsort(-priority, kind="stable")
    return np.asarray(order[: int(np.argmin(np.abs(np.cumsum(cost[order]) - budget))) + 1])


def spread(table: Sequence[Mapping[str, Scores]], notes: list[str]) -> FloatArray:
    """Compute (docs,) the spread of standardised scores between systems, averaged over metrics.

    MetricVar of subset2evaluate (Zouhar et al. 2025, arXiv 2501.18251), for documents.
    """
    values = [
        np.stack([scores.at("doc") for scores in by_system.values()]) for by_system in table
    ]  # of each metric: (systems, docs)
    if not values or len(values[0]) < 2:
        raise InputError(
            "spread needs a run with scores of two systems",
            next="score more, or use --by length",
        )
    undefined = np.isnan(values).any(axis=(0, 1))
    if undefined.any():
        notes.append(
            f"{count(int(undefined.sum()), 'document')} without a score of every metric: last in "
            "priority"
        )
    deviations = [
        metric.std(axis=0, ddof=1) / (np.nanstd(metric) or 1.0)
        for metric in values
        if np.isfinite(metric).any()
    ]
    return np.where(undefined, 0.0, np.mean(deviations, axis=0))
