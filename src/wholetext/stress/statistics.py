"""Figures of a stress test, for each metric, change and dose.

All sums are additive over documents, so that every interval comes from resampled documents
(Efron 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from wholetext.scoring.significance.resample import interval, ratio, score_with_interval, seeded
from wholetext.types import Scores

SAME_TEXT = "resegment"  # the harmless change that changes no word


class Loss(NamedTuple):
    """The loss of a changed document under one metric; NaN: undefined."""

    change: str
    kind: str
    dose: str
    doc: str
    loss: float
    cost: float  # of one changed site


@dataclass(frozen=True)
class StressCell:
    """What one metric makes of one change at one dose. NaN: undefined."""

    metric: str
    change: str
    kind: str  # document, sentence or harmless
    dose: str
    documents: int  # where the change was made
    preferred: float  # share in which the original scores better; if harmless: false alarms
    low: float  # 95 % interval over documents
    high: float
    ties: int  # documents with two equal scores
    undefined: int  # documents without a score
    effect: float  # mean loss of score in units of the standard deviation between systems
    effect_low: float
    effect_high: float
    loss: float  # the same in the metric's own units
    auc: float  # share of pairs in which a site costs more than one of a harmless change
    auc_low: float
    auc_high: float


def spread(scores: Mapping[str, Scores], systems: Sequence[str]) -> float:
    """Compute the standard deviation between the systems' mean scores; NaN if there is none."""
    documents = [scores[name].at("doc") for name in systems]
    means = [np.nanmean(values) for values in documents if not np.isnan(values).all()]
    deviation = float(np.std(means, ddof=1)) if len(means) > 1 else np.nan
    return deviation if deviation > 0 else np.nan


def stress_cells(
    metric: str, losses: Sequence[Loss], spread: float, draws: int, seed: int
) -> Iterator[StressCell]:
    """Compute the figures of one metric by change and dose, with effects in units of ``spread``.

    Errors are compared with the harmless changes of the same dose.
    """
    groups: dict[tuple[str, str], list[Loss]] = {}
    for loss in losses:
        groups.setdefault((loss.change, loss.dose), []).append(loss)
    for (change, dose), group in groups.items():
        kind, values = group[0].kind, np.array([loss.loss for loss in group])
        known = ~np.isnan(values)
        won = np.stack([values > 0, np.ones(len(values))], axis=1)  # undefined: not preferred
        sums = np.stack([np.where(known, values, 0.0), known], axis=1)
        mean, low, high = score_with_interval(sums, ratio, draws, seed)
        harmless = [
            loss
            for loss in losses
            if loss.dose == dose and loss.kind == "harmless" and loss.change != SAME_TEXT
        ]
        yield StressCell(
            metric,
            change,
            kind,
            dose,
            len(values),
            *score_with_interval(won, ratio, draws, seed),
            int((values == 0).sum()),
            int((~known).sum()),
            mean / spread,
            low / spread,
            high / spread,
            mean,
            *auc(group if kind != "harmless" else [], harmless, draws, seed),
        )


def auc(
    errors: Sequence[Loss], harmless: Sequence[Loss], draws: int, seed: int
) -> tuple[float, float, float]:
    """Compute the share of pairs in which an error costs more than a harmless change.

    Ties are halved (Mann & Whitney 1947); both sides of a document are drawn together.
    """
    sides = [[loss for loss in side if loss.cost == loss.cost] for side in (errors, harmless)]
    if not all(sides):
        return (np.nan,) * 3
    places = {doc: at for at, doc in enumerate(dict.fromkeys(loss.doc for loss in chain(*sides)))}
    x, y = (np.array([loss.cost for loss in side]) for side in sides)
    wins = (x[:, None] > y) + 0.5 * (x[:, None] == y)  # (errors, harmless)
    documents = len(places)
    if documents < 2:
        return float(wins.mean()), np.nan, np.nan
    weights = seeded(seed).multinomial(documents, np.full(documents, 1 / documents), draws)
    of_x, of_y = (weights[:, [places[loss.doc] for loss in side]].astype(float) for side in sides)
    with np.errstate(invalid="ignore"):  # a draw without a document of one side
        drawn = ((of_x @ wins) * of_y).sum(axis=1) / (of_x.sum(axis=1) * of_y.sum(axis=1))
    bounds = interval(drawn)
    return float(wins.mean()), bounds.low, bounds.high
