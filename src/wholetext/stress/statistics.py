"""Figures of a stress test, for each metric, change and dose.

All sums are additive over documents, so that every interval comes from resampled documents
(Efron 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.scoring.significance.resample import interval, ratio, score_with_interval, seeded
from wholetext.types import FloatArray, Scores

SAME_TEXT = "resegment"  # the harmless change that changes no word
Cost = tuple[str, float]  # document, loss of one site


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


@dataclass(frozen=True)
class Drawing:
    """How documents are resampled."""

    draws: int
    seed: int

    def interval(self, totals: FloatArray) -> tuple[float, float, float]:
        """The ratio of two columns summed over documents, and its 95 % interval."""
        return score_with_interval(totals, ratio, self.draws, self.seed)

    def auc(self, errors: Sequence[Cost], harmless: Sequence[Cost]) -> tuple[float, float, float]:
        """Share of pairs in which an error costs more than a harmless change, and its interval.

        Ties are halved (Mann & Whitney 1947); both sides of a document are drawn together.
        """
        docs = dict.fromkeys(doc for doc, _ in (*errors, *harmless))
        places = {doc: at for at, doc in enumerate(docs)}
        if not errors or not harmless:
            return (np.nan,) * 3
        x, y = (np.array([cost for _, cost in side]) for side in (errors, harmless))
        wins = (x[:, None] > y) + 0.5 * (x[:, None] == y)  # (errors, harmless)
        if len(docs) < 2:
            return float(wins.mean()), np.nan, np.nan
        weights = seeded(self.seed).multinomial(
            len(docs), np.full(len(docs), 1 / len(docs)), self.draws
        )
        of_x, of_y = (
            weights[:, [places[doc] for doc, _ in side]].astype(float)
            for side in (errors, harmless)
        )
        with np.errstate(invalid="ignore"):  # a draw without a document of one side
            drawn = ((of_x @ wins) * of_y).sum(axis=1) / (of_x.sum(axis=1) * of_y.sum(axis=1))
        bounds = interval(drawn)
        return float(wins.mean()), bounds.low, bounds.high


def spread(scores: Mapping[str, Scores], systems: Sequence[str]) -> float:
    """Standard deviation between systems of their mean document score; NaN if there is none."""
    documents = [scores[name].at("doc") for name in systems]
    means = [np.nanmean(values) for values in documents if not np.isnan(values).all()]
    deviation = float(np.std(means, ddof=1)) if len(means) > 1 else np.nan
    return deviation if deviation > 0 else np.nan


@dataclass(frozen=True)
class Losses:
    """Losses of documents under one metric and change: dose → (document, loss, sites changed)."""

    metric: str
    change: str
    kind: str
    by_dose: Mapping[str, Sequence[tuple[str, float, int]]]
    spread: float
    segments: Mapping[str, int]  # document → segments

    def costs(self, dose: str) -> Iterator[Cost]:
        """What a changed site costs: losses times segments add up, as scores are means."""
        for doc, loss, made in self.by_dose.get(dose, ()):
            if not np.isnan(loss):
                yield doc, loss * self.segments[doc] / made

    def cell(self, dose: str, drawing: Drawing, harmless: Sequence[Cost]) -> StressCell:
        """The figures of a dose; errors are compared with the costs of harmless changes."""
        loss = np.array([loss for _, loss, _ in self.by_dose[dose]])
        known = ~np.isnan(loss)
        won = np.stack([loss > 0, np.ones(len(loss))], axis=1)  # an undefined loss is not preferred
        sums = np.stack([np.where(known, loss, 0.0), known], axis=1)
        preferred, low, high = drawing.interval(won)
        mean, mean_low, mean_high = drawing.interval(sums)
        errors = list(self.costs(dose)) if self.kind != "harmless" else []
        return StressCell(
            self.metric,
            self.change,
            self.kind,
            dose,
            len(loss),
            preferred,
            low,
            high,
            int((loss == 0).sum()),
            int((~known).sum()),
            mean / self.spread,
            mean_low / self.spread,
            mean_high / self.spread,
            mean,
            *drawing.auc(errors, harmless),
        )


def stress_cells(losses: Sequence[Losses], drawing: Drawing) -> Iterator[StressCell]:
    """Figures of one metric for all changes; the harmless changes are those of the same dose."""
    for change in losses:
        for dose in change.by_dose:
            harmless = [
                cost
                for other in losses
                if other.kind == "harmless" and other.change != SAME_TEXT
                for cost in other.costs(dose)
            ]
            yield change.cell(dose, drawing, harmless)
