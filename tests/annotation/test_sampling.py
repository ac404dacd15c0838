"""Sampling of documents: exact probabilities, unbiased weights, priorities against brute force, mistakes answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from wholetext.annotation.sampling import (
    disagreement,
    draw,
    overlapping,
    pick,
    probabilities,
    sample,
    spread,
)
from wholetext.errors import InputError, RunError
from wholetext.io.formats.evalset import EvalSet

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "evalsets"
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "left", "for", "good", "because", "nobody", "came"]


@pytest.fixture(scope="module")
def run() -> wt.Results:
    """Three systems that lose words, on twelve documents of one to twelve segments."""
    rng = np.random.default_rng(3)
    text = {f"d{i}": tuple(" ".join(rng.choice(WORDS, 9)) for _ in range(i + 1)) for i in range(12)}
    docs = tuple(wt.Document(doc, segments, {"ref": segments}) for doc, segments in text.items())

    def damaged(share: float) -> dict[str, tuple[str, ...]]:
        return {doc: tuple(" ".join(w for w in line.split() if rng.random() > share) or "x" for line in segments)
                for doc, segments in text.items()}

    outputs = [wt.Output(name, damaged(share)) for name, share in (("a", 0.1), ("b", 0.12), ("c", 0.6))]
    return wt.score(
        wt.Loaded(wt.Corpus("made", ("de", "en"), docs), outputs),
        ["chrf", "bleu"],
        options=wt.Options(cache=False, flags=False),
    )


def cases(many: int) -> Iterator[tuple[np.random.Generator, int]]:
    for seed in range(many):
        rng = np.random.default_rng(seed)
        yield rng, int(rng.integers(2, 30))


def test_probabilities_are_proportional_and_meet_the_budget() -> None:
    for rng, n in cases(200):
        priority, cost = rng.random(n) + 0.01, rng.integers(1, 9, n).astype(float)
        budget = float(rng.uniform(cost.max(), cost.sum()))
        chance = probabilities(priority, cost, budget)
        assert chance.max() <= 1 and chance @ cost == pytest.approx(budget)
        below = chance < 1
        assert np.ptp(chance[below] / priority[below]) < 1e-9 if below.any() else True
        if below.any() and (~below).any():
            assert priority[~below].min() >= priority[below].max() * (1 - 1e-9)


@pytest.mark.long
def test_documents_are_drawn_with_exactly_their_probabilities() -> None:
    rng = np.random.default_rng(0)
    chance = probabilities(np.sqrt([1.0, 2, 3, 5, 8, 13, 40]), np.ones(7), 3.0)
    for along in (None, np.array([1.0, 1, 1, 0, 5, 2, 5])):
        drawn = [draw(chance, rng, along) for _ in range(20_000)]
        assert {len(one) for one in drawn} == {3} and all(len(set(one)) == 3 for one in drawn)
        seen = np.bincount(np.concatenate(drawn), minlength=7) / len(drawn)
        assert np.abs(seen - chance).max() < 0.015  # four standard errors


def test_samples_in_the_order_of_length_have_short_and_long_documents() -> None:
    rng, sizes = np.random.default_rng(0), np.arange(40.0)
    for _ in range(100):
        assert [int(each // 10) for each in np.sort(sizes[draw(np.full(40, 0.1), rng, sizes)])] == [0, 1, 2, 3]


def test_weighted_means_are_unbiased_and_plain_ones_are_not() -> None:
    rng, sizes = np.random.default_rng(1), np.array([1.0, 1, 2, 2, 4, 8, 16, 30])
    value = 10 - sizes / 4  # long documents are harder
    chance = probabilities(np.sqrt(sizes), np.ones(8), 4.0)
    truth = value @ sizes
    drawn = [draw(chance, rng) for _ in range(20_000)]
    total = np.mean([(value[one] * sizes[one] / chance[one]).sum() for one in drawn])
    plain = np.mean([(value[one] * sizes[one]).sum() * 2 for one in drawn])  # 8 / 4
    assert total == pytest.approx(truth, rel=0.01) and abs(plain / truth - 1) > 0.1


def test_picks_are_the_nearest_prefix_by_brute_force() -> None:
    for rng, n in cases(200):
        priority, cost = rng.integers(0, 5, n).astype(float), rng.integers(1, 9, n).astype(float)
        budget = float(rng.uniform(0, cost.sum()))
        order = sorted(range(n), key=lambda i: (-priority[i], i))
        best = min(range(1, n + 1), key=lambda k: (abs(sum(cost[i] for i in order[:k]) - budget), k))
        assert pick(priority, cost, budget).tolist() == order[:best]


def test_priorities_equal_loops() -> None:
    for rng, n in cases(50):
        values = rng.normal(size=(3, 4, n))
        centred = values - values.mean(axis=1, keepdims=True)
        for d in range(n):
            pairs = [np.mean([abs(centred[a, s, d] - centred[b, s, d]) for s in range(4)])
                     for a, b in combinations(range(3), 2)]
            assert disagreement(values)[d] == pytest.approx(np.mean(pairs))
            assert spread(values, np.ones((4, 4), dtype=bool))[d] == pytest.approx(
                np.mean([values[m, :, d].std(ddof=1) for m in range(3)]))
        two = np.zeros((4, 4), dtype=bool)
        two[1, 2] = two[2, 1] = True
        assert np.allclose(spread(values, two), (np.abs(values[:, 1] - values[:, 2]) / np.sqrt(2)).mean(axis=0))


def test_only_near_systems_overlap(run: wt.Results) -> None:
    found = overlapping(run["chrf"])
    assert found.tolist() == [[True, True, False], [True, True, False], [False, False, True]]


def test_samples_of_a_run(run: wt.Results) -> None:
    for method, (documents, share, of) in product(
            ("length", "random", "spread", "overlap", "disagreement"),
            ((3, None, "documents"), (None, 0.25, "documents"), (None, 0.5, "segments"))):
        found = sample(run, documents, share=share, of=of, method=method)  # type: ignore[arg-type]
        again = sample(run, documents, share=share, of=of, method=method)  # type: ignore[arg-type]
        assert found == again and len(set(found.ids)) == len(found.ids)
        if of == "documents":
            assert len(found.ids) == 3
        else:
            assert abs(found.segments - 39) <= 12 or method in ("length", "random")
        assert found.segments == sum(one.segments for one in found.documents) and found.total_segments == 78
        drawn = method in ("length", "random")
        assert bool(found.weights) == drawn and bool(found.notes) != drawn
    assert sample(run, 12).weights == pytest.approx({f"d{i}": 1.0 for i in range(12)})


def test_documents_without_a_score_come_last(run: wt.Results) -> None:
    class Undefined:
        """Scores that are undefined on the last document, the one of highest priority."""

        def __init__(self, scores: wt.Scores) -> None:
            self.__dict__.update(vars(scores) | {"higher_is_better": scores.higher_is_better})
            self.values = np.append(scores.at("doc")[:-1], np.nan)

        def at(self, level: str) -> np.ndarray:
            return self.values

    table = {spec: {name: Undefined(one) for name, one in by.items()} for spec, by in run.scores.items()}
    found = sample(replace(run, scores=table), 11, method="spread")  # type: ignore[arg-type]
    assert "d11" not in found.ids and "1 document without a score of every metric" in found.notes[0]


@pytest.mark.parametrize(("given", "said"), [
    ({}, "size of the sample"), ({"documents": 2, "share": 0.5}, "size of the sample"), ({"documents": 13}, "12"),
    ({"documents": 0}, "at least one"), ({"share": 0.0}, "invalid share 0.0"), ({"share": 1.5}, "invalid share 1.5"),
    ({"share": float("nan")}, "invalid share nan"), ({"documents": 2, "method": "best"}, "no method 'best'"),
    ({"share": 0.5, "of": "words"}, "no unit 'words'"),
    ({"documents": 2, "method": "disagreement", "metrics": ["chrf"]}, "two metrics"),
])  # fmt: skip
def test_mistakes(run: wt.Results, given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        sample(run, **given)  # type: ignore[arg-type]


def test_unknown_metrics_and_single_systems(run: wt.Results) -> None:
    with pytest.raises(RunError, match="ter"):
        sample(run, 2, method="spread", metrics=["ter"])
    alone = replace(run, scores={spec: {"a": by["a"]} for spec, by in run.scores.items()})
    with pytest.raises(InputError, match="two systems"):
        sample(alone, 2, method="spread")


@pytest.mark.data
@pytest.mark.slow
def test_length_beats_random_on_wmt22_at_a_quarter_of_the_documents() -> None:
    """Of human scores alone, on the smallest pairs; benchmarks/sampling.py has all pairs and methods."""
    if not (DATA / "wmt22.da").is_dir():
        pytest.skip("no WMT22 judgments at ../shared/data/evalsets/wmt22.da")
    gains = []
    for langs in ("uk-en", "de-en", "ru-en"):
        human = EvalSet.open(DATA / "wmt22.da", langs).human("wmt-z", "seg")
        ids = [line.split("\t")[1] for line in
               (DATA / "wmt22.da" / "documents" / f"{langs}.docs").read_text("utf-8").splitlines()]
        names = list(dict.fromkeys(ids))
        place, known = np.array([names.index(one) for one in ids]), ~np.isnan(human.values)
        sizes = np.bincount(place).astype(float)
        counts = np.stack([np.bincount(place, row) for row in known])
        sums = np.stack([np.bincount(place, np.where(k, v, 0.0)) for k, v in zip(known, human.values)])
        truth = sums.sum(axis=1) / counts.sum(axis=1)
        found = [_accuracy(sums, counts, truth, *how) for how in ((np.sqrt(sizes), sizes), (np.ones(len(sizes)), None))]
        gains.append(found[0] - found[1])
    assert min(gains) > 0


def _accuracy(
    sums: np.ndarray, counts: np.ndarray, truth: np.ndarray, priority: np.ndarray, along: np.ndarray | None
) -> float:
    """Pairs of systems in the right order, over 200 samples of a quarter of the documents."""
    chance = probabilities(priority, np.ones(len(priority)), len(priority) / 4)
    rng, found = np.random.default_rng(0), []
    i, j = np.triu_indices(len(truth), 1)
    for _ in range(200):
        docs = draw(chance, rng, along)
        mean = (sums[:, docs] @ (1 / chance[docs])) / (counts[:, docs] @ (1 / chance[docs]))
        found.append((np.sign(mean[i] - mean[j]) == np.sign(truth[i] - truth[j])).mean())
    return float(np.mean(found))
