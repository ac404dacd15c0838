"""Comparisons in a run folder: what is read back is what was compared, to the last field; damage is an error."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest

from tests.scoring.build_scores import scores_of
from wholetext.scoring.run_files import plain, restored
from wholetext.scoring.significance.compare import Significance

SIZES = [2, 3, 2, 4, 3, 2]
HOW = Significance("bootstrap", "doc", 200, 3, 0.1, "b")


@pytest.fixture(scope="module")
def scores() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    values = {"a": rng.random(16), "b": rng.random(16) * 0.5, "c": np.full(16, np.nan)}
    values["same as a"] = values["a"].copy()
    return {name: scores_of(one, SIZES, system=name) for name, one in values.items()}


@pytest.fixture
def kept(scores: dict[str, Any]) -> dict[str, Any]:
    values = plain({"settings": HOW, "outcomes": [HOW.compare(scores)]})
    found: dict[str, Any] = json.loads(json.dumps(values, allow_nan=False))
    return found


def test_what_is_read_back_is_what_was_compared(scores: dict[str, Any], kept: dict[str, Any]) -> None:
    how, found = restored(kept)
    first, again = HOW.compare(scores), found["toy"]
    assert how == HOW
    for name in ("metric", "output", "higher_is_better", "baseline", "warnings", "decimals", "main"):
        assert getattr(again, name) == getattr(first, name) and type(getattr(again, name)) is type(getattr(first, name))
    assert dict(again.signature) == dict(first.signature)
    np.testing.assert_array_equal(again.p, first.p)
    np.testing.assert_array_equal(again.deltas, first.deltas)
    for one, other in zip(again.standings, first.standings, strict=True):
        assert repr(one) == repr(other)  # NaN is NaN, None is None, numbers are the same to the last digit
    assert math.isnan(again["c"].score) and again["c"].rank is None
    against = again["same as a"].power
    assert against is not None and {one.verdict for one in again.standings} >= {"baseline", "not tested"}


def test_infinity_survives(scores: dict[str, Any]) -> None:
    how = Significance(baseline="a", draws=50)
    kept = json.loads(json.dumps(plain({"settings": how, "outcomes": [how.compare(scores)]}), allow_nan=False))
    power = restored(kept)[1]["toy"]["same as a"].power
    assert power is not None and math.isinf(power.needed)


def test_damage_is_an_error(scores: dict[str, Any], kept: dict[str, Any]) -> None:
    outcome = kept["outcomes"][0]
    places = [(kept, key) for key in kept] + [(outcome, key) for key in outcome if key != "main"]
    places += [(outcome["standings"][0], key) for key in outcome["standings"][0]]
    for owner, key in places:
        value = owner.pop(key)
        with pytest.raises((KeyError, TypeError)):  # a RunError for who opens the folder
            restored(copy.deepcopy(kept))
        owner[key] = value
