"""Sampling of documents: exact probabilities, unbiased weights, priorities against brute force, mistakes answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import wholetext as wt
from wholetext.annotation.sampling import draw, probabilities, sample, spread
from wholetext.errors import InputError, RunError

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


def test_spread_is_the_mean_deviation_between_systems(run: wt.Results) -> None:
    deviations = []
    for by_system in run.scores.values():
        table = np.array([scores.at("doc") for scores in by_system.values()])
        deviations.append([np.std([row[d] for row in table], ddof=1) / table.std() for d in range(12)])
    assert spread(list(run.scores.values()), []) == pytest.approx(np.mean(deviations, axis=0))


def test_samples_of_a_run(run: wt.Results) -> None:
    for method, (documents, share, of) in product(
            ("length", "random", "spread"),
            ((3, None, "documents"), (None, 0.25, "documents"), (None, 0.5, "segments"))):
        chosen = sample(run, documents, share=share, of=of, method=method)  # type: ignore[arg-type]
        again = sample(run, documents, share=share, of=of, method=method)  # type: ignore[arg-type]
        assert chosen == again and len(set(chosen.ids)) == len(chosen.ids)
        if of == "documents":
            assert len(chosen.ids) == 3
        else:
            assert abs(chosen.segments - 39) <= 12 or method in ("length", "random")
        assert chosen.segments == sum(doc.segments for doc in chosen.documents) and chosen.total_segments == 78
        drawn = method in ("length", "random")
        assert bool(chosen.weights) == drawn and bool(chosen.notes) != drawn
    assert sample(run, 12).weights == pytest.approx({f"d{i}": 1.0 for i in range(12)})


@pytest.mark.parametrize("given", [
    {}, {"documents": 2, "share": 0.5}, {"documents": 13}, {"documents": 0}, {"share": 0.0}, {"share": 1.5},
    {"share": float("nan")}, {"documents": 2, "method": "best"}, {"share": 0.5, "of": "words"},
])  # fmt: skip
def test_mistakes(run: wt.Results, given: dict[str, object]) -> None:
    with pytest.raises(InputError, match="there is no sample of") as caught:
        sample(run, **given)  # type: ignore[arg-type]
    assert "1 to 12 documents" in caught.value.next


def test_unknown_metrics_and_single_systems(run: wt.Results) -> None:
    with pytest.raises(RunError, match="ter"):
        sample(run, 2, method="spread", metrics=["ter"])
    alone = replace(run, scores={spec: {"a": by["a"]} for spec, by in run.scores.items()})
    with pytest.raises(InputError, match="two systems"):
        sample(alone, 2, method="spread")
