"""Figures from losses that are known."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from wholetext.stress.statistics import Loss, StressCell, auc, spread, stress_cells


def losses(*rows: tuple[str, float], change: str = "swap", kind: str = "document") -> list[Loss]:
    return [Loss(change, kind, "all", doc, loss, 2 * loss) for doc, loss in rows]


def cells(*rows: tuple[str, float], scale: float = 2.0) -> list[StressCell]:
    return [*stress_cells("m", losses(*rows), scale, 200, 1)]


def test_ties_and_undefined_scores_are_not_preferred() -> None:
    values = {"a": 1.0, "b": 3.0, "c": 0.0, "d": math.nan, "e": -1.0}
    (cell,) = cells(*values.items())
    assert (cell.documents, cell.ties, cell.undefined) == (5, 1, 1)
    assert cell.preferred == pytest.approx(2 / 5) and cell.low <= cell.preferred <= cell.high
    assert cell.loss == pytest.approx(3 / 4) and cell.effect == pytest.approx(3 / 8)  # of the four that are known
    assert cell.effect_low <= cell.effect <= cell.effect_high


def test_an_interval_needs_two_documents_and_is_one_point_where_all_agree() -> None:
    (one,) = cells(("a", 1.0))
    assert one.preferred == 1 and math.isnan(one.low) and math.isnan(one.effect_low)
    (same,) = cells(("a", 1.0), ("b", 1.0))
    assert (same.low, same.high, same.effect_low, same.effect_high) == (1, 1, 0.5, 0.5)


def test_the_auc_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(3)
    errors, other = rng.normal(1.0, 1.0, 30).round(1), rng.normal(0.0, 1.0, 20).round(1)
    wanted = mannwhitneyu(errors, other).statistic / (30 * 20)
    pairs = [losses(*((str(i), cost / 2) for i, cost in enumerate(side.tolist()))) for side in (errors, other)]
    value, low, high = auc(*pairs, 200, 1)
    assert value == pytest.approx(wanted) and low < value < high
    assert auc(pairs[0], pairs[0], 200, 1)[0] == 0.5  # every tie is half a win
    assert all(map(math.isnan, auc(pairs[0], [], 200, 1)))
    assert math.isnan(auc(losses(("a", 1.0)), losses(("a", 0.0)), 200, 1)[1])  # one document has no interval


def test_errors_are_compared_with_harmless_changes_of_words_by_site() -> None:
    error = losses(("a", 1.0), ("b", math.nan))
    words = losses(("a", 0.5), ("b", 1.5), change="paraphrase", kind="harmless")
    breaks = losses(("a", 9.0), change="resegment", kind="harmless")
    cell, *controls = stress_cells("m", [*error, *words, *breaks], 2.0, 200, 1)
    assert cell.auc == 0.5 and all(math.isnan(one.auc) for one in controls)
    (alone,) = stress_cells("m", error, 2.0, 200, 1)
    assert math.isnan(alone.auc) and alone.preferred == 0.5


def test_the_spread_is_the_standard_deviation_between_systems() -> None:
    scores: dict[str, Any] = {name: SimpleNamespace(at=lambda level, values=values: np.array(values))
                              for name, values in (("a", [1.0, 3.0]), ("b", [4.0, math.nan]), ("c", [6.0, 6.0]))}
    assert spread(scores, ["a", "b", "c"]) == pytest.approx(2.0)
    assert math.isnan(spread(scores, ["a"])) and math.isnan(spread({**scores, "d": scores["a"]}, ["a", "d"]))
