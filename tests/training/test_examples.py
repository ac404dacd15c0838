"""Which examples an epoch sees: exact counts for SENT-BASE, PARA-UNIF and PARA-STRAT."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given, settings, strategies as st

from tests.training.training_data import make
from wholetext.training.examples import draw, read_examples
from wholetext.training.recipe import read_recipe

LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=60).map(lambda k: np.array(k, dtype=np.int64))


@settings(max_examples=60)
@given(LENGTHS, st.integers(0, 1000), st.booleans())
def test_counts_are_exact(k: np.ndarray, seed: int, together: bool) -> None:
    rng = np.random.default_rng(seed)
    item = rng.integers(0, 8, len(k)) + 10 * k if together else None  # an item has one length
    counts = Counter(k.tolist())
    sentence = draw(k, "sentence", "least", rng, item)
    assert sorted(sentence) == np.flatnonzero(k == 1).tolist()
    assert sorted(draw(k, "uniform", "least", rng, item)) == list(range(len(k)))
    least = draw(k, "stratified", "least", rng, item)
    assert Counter(k[least].tolist()) == dict.fromkeys(counts, min(counts.values()))
    assert len(set(least.tolist())) == len(least), "without replacement"
    most = draw(k, "stratified", "most", rng, item)
    assert Counter(k[most].tolist()) == dict.fromkeys(counts, max(counts.values()))
    times = Counter(most.tolist())
    for length in counts:  # nothing is seen twice more often than another of its length
        seen = [times[i] for i in np.flatnonzero(k == length)]
        assert max(seen) - min(seen) <= 1


@given(LENGTHS, st.integers(0, 1000))
def test_items_stay_together(k: np.ndarray, seed: int) -> None:
    item = np.random.default_rng(seed).integers(0, 6, len(k))
    order = item[draw(k, "uniform", "least", np.random.default_rng(seed), item)]
    assert len(order) == 0 or int((np.diff(order) != 0).sum()) + 1 == len(set(order.tolist()))


def test_direct_assessments_are_learned_as_z_scores(tmp_path: Path) -> None:
    """Where the recipe names no human scores."""
    root = make(tmp_path)
    human = root / "human-scores"
    (human / "de-en.wmt-raw.seg.score").write_bytes((human / "de-en.wmt-z.seg.score").read_bytes())
    chosen = read_recipe(None, {"data": [{"evalset": str(root)}], "k": [1, 2], "share": 0.25})
    train, held = read_examples(chosen)
    assert {place.part for place in (*train.places, *held.places)} == {"small de-en wmt-z"}
    assert abs(train.gold).max() < 5  # raw scores are up to 100
