"""Figures of a stress test: for each metric, change and dose, from the scores of original and changed documents.

All sums are additive over documents, so that every interval comes from resampled documents (Efron 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wholetext.scoring.significance.resample import interval, ratio, score_with_interval, seeded
from wholetext.types import FloatArray, Scores

Cost = tuple[str, float]  # document, loss of one site


@dataclass(frozen=True)
class StressCell:
    """What one metric makes of one change at one dose. NaN: undefined."""

    metric: str
    change: str
    kind: str  # document, sentence or harmless
    dose: str
    documents: int  # where the change was made
    preferred: float  # share of them in which the original scores strictly better; of harmless changes: false alarms
    low: float  # 95 % interval over documents
    high: float
    ties: int  # documents with two equal scores
    undefined: int  # documents without a score
    effect: float  # mean loss of score in units of the standard deviation between systems
    effect_low: float
    effect_high: float
    loss: float  # the same in the metric's own units
    auc: float = (
        np.nan
    )  # share of pairs in which a site of this error costs more than a site of a harmless change
    auc_low: float = np.nan
    auc_high: float = np.nan


@dataclass(frozen=True)
class StressSlope:
    """Dose and response: the loss from no site changed to all of them, in units of the spread between systems."""

    metric: str
    change: str
    documents: int  # with more than one site
    slope: float
    low: float
    high: float


@dataclass(frozen=True)
class Drawing:
    """How documents are resampled."""

    draws: int
    seed: int

    def interval(self, totals: FloatArray) -> tuple[float, float, float]:
        """The ratio of two columns summed over documents, and its 95 % interval."""
        return score_with_interval(totals, ratio, self.draws, self.seed)

    def auc(self, errors: Sequence[Cost], harmless: Sequence[Cost]) -> tuple[float, float, float]:
        """Share of pairs in which an error costs more than a harmless change, ties halved (Mann & Whitney 1947), and
        its 95 % interval; both sides of a document are drawn together.
        """
        if not errors or not harmless:
            return (np.nan,) * 3
        ones, others = (np.array([cost for _, cost in side]) for side in (errors, harmless))
        wins = (ones[:, None] > others) + 0.5 * (ones[:, None] == others)  # (errors, harmless)
        places = {
            doc: at for at, doc in enumerate(dict.fromkeys(doc for doc, _ in (*errors, *harmless)))
        }
        if len(places) < 2:
            return float(wins.mean()), np.nan, np.nan
        weights = seeded(self.seed).multinomial(
            len(places), np.full(len(places), 1 / len(places)), self.draws
        )
        mine, theirs = (
            weights[:, [places[doc] for doc, _ in side]].astype(float)
            for side in (errors, harmless)
        )
        with np.errstate(invalid="ignore"):  # a draw without a document of one side
            drawn = ((mine @ wins) * theirs).sum(axis=1) / (
                mine.sum(axis=1) * theirs.sum(axis=1)
            )  # (draws,)
        found = interval(drawn)
        return float(wins.mean()), found.low, found.high


def spread(scores: Mapping[str, Scores], systems: Sequence[str]) -> float:
    """Standard deviation between systems of their mean document score; NaN with fewer than two, or with no spread."""
    means = np.array([_mean(scores[name].at("doc")) for name in systems])
    means = means[~np.isnan(means)]
    found = float(means.std(ddof=1)) if len(means) > 1 else np.nan
    return found if found > 0 else np.nan


def _mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


@dataclass(frozen=True)
class Losses:
    """Losses of documents under one metric and change: dose → (document, loss, share of sites changed)."""

    metric: str
    change: str
    kind: str
    by_dose: Mapping[str, Sequence[tuple[str, float, float]]]
    sites: Mapping[str, int]  # document → sites
    spread: float
    segments: Mapping[str, int] = field(default_factory=dict)  # document → segments
    rewords: bool = True  # whether the text differs, and not only its segments

    def costs(self, dose: str) -> Iterator[Cost]:
        """What one changed site costs: document scores are means over segments, so losses times segments add up."""
        for doc, loss, share in self.by_dose.get(dose, ()):
            if not np.isnan(loss):
                yield doc, loss * self.segments.get(doc, 1) / (share * self.sites[doc])

    def cells(self, drawing: Drawing) -> list[StressCell]:
        return [
            self._cell(dose, np.array([loss for _, loss, _ in rows]), drawing)
            for dose, rows in self.by_dose.items()
            if rows
        ]

    def _cell(self, dose: str, loss: FloatArray, drawing: Drawing) -> StressCell:
        known = ~np.isnan(loss)
        won = np.stack(
            [(loss > 0).astype(float), np.ones(len(loss))], axis=1
        )  # undefined ones are not preferred
        preferred, low, high = drawing.interval(won)
        sums = np.stack([np.where(known, loss, 0.0), known.astype(float)], axis=1)
        mean, mean_low, mean_high = drawing.interval(sums)
        scale = self.spread
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
            mean / scale,
            mean_low / scale,
            mean_high / scale,
            mean,
        )

    def slope(self, drawing: Drawing) -> StressSlope | None:
        """Least squares through the origin, where nothing is changed and nothing lost, pooled over documents."""
        sums: dict[str, FloatArray] = {}
        for rows in self.by_dose.values():
            for doc, loss, share in rows:
                if self.sites[doc] > 1 and not np.isnan(loss):
                    sums[doc] = sums.get(doc, np.zeros(2)) + np.array(
                        [share * loss / self.spread, share * share]
                    )
        if not sums:
            return None
        return StressSlope(
            self.metric, self.change, len(sums), *drawing.interval(np.stack(list(sums.values())))
        )


def stress_cells(losses: Sequence[Losses], drawing: Drawing) -> Iterator[StressCell]:
    """The figures of one metric for all changes; errors are compared with the harmless changes of the same dose."""
    for one in losses:
        for cell in one.cells(drawing):
            if one.kind != "harmless":
                harmless = [
                    cost
                    for other in losses
                    if other.kind == "harmless" and other.rewords
                    for cost in other.costs(cell.dose)
                ]
                value, low, high = drawing.auc(list(one.costs(cell.dose)), harmless)
                cell = replace(cell, auc=value, auc_low=low, auc_high=high)
            yield cell
