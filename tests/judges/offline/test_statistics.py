"""Statistics of judge-check against plain loops."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.scoring.build_scores import scores_of
from wholetext.judges import check as statistics
from wholetext.scoring.significance.resample import ratio
from wholetext.types import Output

SIZES = (3, 1, 4)
N = sum(SIZES)


def judged(values: Any, details: Any = ()) -> Any:
    return scores_of(values, SIZES, details=tuple(details))


def random_scores(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    found = {}
    for system in "xyz":
        values = rng.integers(0, 101, N).astype(float)
        values[rng.random(N) < 0.2] = np.nan
        found[system] = judged(values)
    return found


def test_agreement_is_pearsons_r_of_all_rows_that_both_judged() -> None:
    one, other = random_scores(1), random_scores(2)
    (_, sums, *_), (_, gaps, *_), (_, preferences, *_) = statistics.paired(True, one, other)
    x, y = (np.concatenate([each[system].at("row") for system in "xyz"]) for each in (one, other))
    known = ~(np.isnan(x) | np.isnan(y))
    assert sums[:, 0].sum() == known.sum() and sums.shape == (3, 7)
    wanted = np.corrcoef(x[known], y[known])[0, 1]
    assert float(statistics.pearson(sums.sum(axis=0))) == pytest.approx(wanted, rel=1e-12)
    assert float(ratio(gaps.sum(axis=0))) == pytest.approx(np.abs(x - y)[known].mean(), rel=1e-12)
    same = asked = 0
    for a, b in combinations("xyz", 2):
        for row in range(N):
            signs = [np.sign(each[a].at("row")[row] - each[b].at("row")[row]) for each in (one, other)]
            if not np.isnan(signs).any():
                asked, same = asked + 1, same + (signs[0] == signs[1])
    assert preferences.sum(axis=0).tolist() == [same, asked]


def test_flips_and_first_choices() -> None:
    said = [[["A", "B"]], [["A", "A"]], [["tie", "tie"], ["B", "B"]], [["", "A"]], [["tie", "A"]], [], [], []]
    both = {system: judged(np.zeros(N), [{"orders": one} for one in said]) for system in "xy"}  # seen from both sides
    (_, flips, *_), (_, choices, *_) = statistics.order_bias(both)
    assert flips.sum(axis=0).tolist() == [3, 5]  # A A, B B, tie A; the pair with one verdict is no pair
    assert choices.sum(axis=0).tolist() == [1 + 2 + 0 + 1 + 1, 2 + 2 + 2 + 1 + 1]


def test_errors_per_thousand_characters_leave_out_rows_without_an_answer() -> None:
    values = np.zeros(N)
    values[2] = np.nan
    details = [{"errors": [{}] * (row % 3)} for row in range(N)]
    scores = judged(values, details)
    output = Output("x", {doc: ("x" * 100,) * size for doc, size in zip(scores.rows.docs, SIZES)})
    totals = statistics.error_density({"x": scores}, [output])
    wanted = [row % 3 for row in range(N) if row != 2]
    assert totals.sum(axis=0) == pytest.approx([sum(wanted), 0.1 * len(wanted)])


def test_spread_of_samples() -> None:
    samples = [[1, 1, 1], [1, 2, 3], [5, None, 7], [4], [], [None, None], [0, 0], [10, 20]]
    spread, equal = statistics.spread_of_samples({"x": judged(np.zeros(N), [{"samples": one} for one in samples])})
    assert spread[1].sum(axis=0) == pytest.approx([0 + 1 + 2**0.5 + 0 + 50**0.5, 5])
    assert equal[1].sum(axis=0).tolist() == [2, 5]
