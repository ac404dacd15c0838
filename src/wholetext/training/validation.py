"""How well predictions agree with people: what a checkpoint is chosen by (Deutsch et al. 2023, §4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wholetext.meta.agreement.correlation import pearson_rows
from wholetext.meta.agreement.ties import calibrate
from wholetext.training.examples import Examples
from wholetext.types import FloatArray


@dataclass(frozen=True)
class Verdict:
    """Agreement on validation examples; ``parts`` holds (name, pairs compared, acc_eq, Pearson's r)."""

    loss: float  # squared error, in units of the training scores' variance
    acc_eq: float  # of outputs of the same item, ties calibrated; mean over parts; NaN where none can be compared
    pearson: float  # mean over parts
    parts: tuple[tuple[str, int, float, float], ...]

    @property
    def score(self) -> float:
        """What is maximised: acc_eq, or less loss where no two outputs of an item were judged."""
        return -self.loss if np.isnan(self.acc_eq) else self.acc_eq


def judge(held: Examples, predicted: FloatArray, spread: float) -> Verdict:
    """Agreement of (n,) predictions, in units of the human scores; several references of an output are averaged."""
    loss = float(np.mean((predicted - held.gold) ** 2)) / spread**2
    item = held.item
    of_part = np.array([place.part for place in held.places])
    systems = np.array([place.system for place in held.places])
    parts = []
    for part in dict.fromkeys(place.part for place in held.places):
        mine = of_part == part
        names, row = np.unique(systems[mine], return_inverse=True)
        items, column = np.unique(item[mine], return_inverse=True)
        shape = (len(names), len(items))
        gold, metric = (_table(values[mine], (row, column), shape) for values in (held.gold, predicted))
        found = calibrate(gold, metric, "item")
        known = ~np.isnan(gold)
        parts.append((part, found.pairs, found.value, float(pearson_rows(gold[known], metric[known]))))
    return Verdict(loss, _mean([part[2] for part in parts]), _mean([part[3] for part in parts]), tuple(parts))


def _table(values: FloatArray, at: tuple[np.ndarray, np.ndarray], shape: tuple[int, int]) -> FloatArray:
    """(systems, items) means of what is there; NaN elsewhere."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, at, values)
    np.add.at(count, at, 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count)


def _mean(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")
