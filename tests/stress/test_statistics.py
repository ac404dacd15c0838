"""Figures from losses that are known."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from wholetext.stress.statistics import Drawing, Losses, spread, stress_cells

DRAWING = Drawing(200, 1)


def losses(*rows: tuple[str, float, float], dose: str = "all", sites: int = 2, scale: float = 2.0) -> Losses:
    return Losses("m", "swap", "document", {dose: rows}, {doc: sites for doc, _, _ in rows}, scale)


def test_ties_and_undefined_scores_are_not_preferred() -> None:
    values = {"a": 1.0, "b": 3.0, "c": 0.0, "d": math.nan, "e": -1.0}
    (cell,) = losses(*((doc, value, 1.0) for doc, value in values.items())).cells(DRAWING)
    assert (cell.documents, cell.ties, cell.undefined) == (5, 1, 1)
    assert cell.preferred == pytest.approx(2 / 5) and cell.low <= cell.preferred <= cell.high
    assert cell.loss == pytest.approx(3 / 4) and cell.effect == pytest.approx(3 / 8)  # of the four that are known
    assert cell.effect_low <= cell.effect <= cell.effect_high


def test_an_interval_needs_two_documents_and_is_one_point_where_all_agree() -> None:
    (one,) = losses(("a", 1.0, 1.0)).cells(DRAWING)
    assert one.preferred == 1 and math.isnan(one.low) and math.isnan(one.effect_low)
    (same,) = losses(("a", 1.0, 1.0), ("b", 1.0, 1.0)).cells(DRAWING)
    assert (same.low, same.high, same.effect_low, same.effect_high) == (1, 1, 0.5, 0.5)


def test_the_slope_is_that_of_a_line_through_the_origin() -> None:
    line = Losses("m", "swap", "document", {
        "1": [("a", 1.0, 0.25), ("b", 1.0, 0.5)], "all": [("a", 4.0, 1.0), ("b", 2.0, 1.0)]}, {"a": 4, "b": 2}, 1.0)
    found = line.slope(DRAWING)
    shares, values = np.array([0.25, 0.5, 1, 1]), np.array([1, 1, 4, 2])
    assert found is not None and found.documents == 2
    assert found.slope == pytest.approx(np.linalg.lstsq(shares[:, None], values, rcond=None)[0][0])
    assert found.low <= found.slope <= found.high
    assert losses(("a", 1.0, 1.0), sites=1).slope(DRAWING) is None  # one site has no dose


def test_without_a_spread_there_is_no_effect_but_all_else() -> None:
    (cell,) = losses(("a", 1.0, 1.0), ("b", 2.0, 1.0), scale=math.nan).cells(DRAWING)
    assert math.isnan(cell.effect) and cell.loss == 1.5 and cell.preferred == 1


def harmless(*costs: tuple[str, float], rewords: bool = True) -> Losses:
    rows = {"all": [(doc, cost, 1.0) for doc, cost in costs]}
    return Losses("m", "paraphrase", "harmless", rows, {doc: 1 for doc, _ in costs}, 1.0, {}, rewords)


def test_the_auc_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(3)
    errors, other = rng.normal(1.0, 1.0, 30).round(1), rng.normal(0.0, 1.0, 20).round(1)
    wanted = mannwhitneyu(errors, other).statistic / (30 * 20)
    pairs = [list(zip(map(str, range(len(side))), side.tolist())) for side in (errors, other)]
    value, low, high = DRAWING.auc(*pairs)
    assert value == pytest.approx(wanted) and low < value < high
    assert DRAWING.auc(pairs[0], pairs[0])[0] == 0.5  # every tie is half a win
    assert all(map(math.isnan, DRAWING.auc(pairs[0], [])))
    assert math.isnan(DRAWING.auc([("a", 1.0)], [("a", 0.0)])[1])  # one document has no interval


def test_errors_are_compared_with_harmless_changes_of_words_by_site() -> None:
    # a document of 4 segments loses 1 by 2 changed sites: 2 for each
    error = Losses("m", "swap", "document", {"all": [("a", 1.0, 1.0), ("b", math.nan, 1.0)]}, {"a": 2, "b": 2}, 1.0,
                   {"a": 4, "b": 4})  # fmt: skip
    assert list(error.costs("all")) == [("a", 2.0)]
    words, breaks = harmless(("a", 1.0), ("b", 3.0)), harmless(("a", 9.0), rewords=False)
    cell, *controls = stress_cells([error, words, breaks], DRAWING)
    assert cell.auc == 0.5 and all(math.isnan(one.auc) for one in controls)
    (alone,) = stress_cells([error], DRAWING)
    assert math.isnan(alone.auc) and alone.preferred == 0.5


def test_the_spread_is_the_standard_deviation_between_systems() -> None:
    scores: dict[str, Any] = {name: SimpleNamespace(at=lambda level, values=values: np.array(values))
                              for name, values in (("a", [1.0, 3.0]), ("b", [4.0, math.nan]), ("c", [6.0, 6.0]))}
    assert spread(scores, ["a", "b", "c"]) == pytest.approx(2.0)
    assert math.isnan(spread(scores, ["a"])) and math.isnan(spread({**scores, "d": scores["a"]}, ["a", "d"]))
