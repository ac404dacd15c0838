"""ROUGE equals the rouge-score package; the best of several references counts."""

from __future__ import annotations

import itertools
import random
import tracemalloc

import pytest
from rouge_score.rouge_scorer import RougeScorer

from wholetext.metrics.rouge import subsequence
from wholetext.scoring.evaluate import Options, score

HYPS = ["The cat was found under the bed.", "A storm hit the coast"]
REFS = ["The cat was under the bed.", "The storm hit all of the coast at night"]


@pytest.mark.parametrize("kind", ["1", "2", "L"])
def test_equal_to_rouge_score(kind: str) -> None:
    peer = RougeScorer([f"rouge{kind}"])
    spec = f"rouge-{kind.lower()}"
    scores = score(HYPS, spec, refs=REFS, docs=["a", "b"], options=Options(cache=False))[spec]["hyp"]
    expected = [peer.score(ref, hyp)[f"rouge{kind}"] for hyp, ref in zip(HYPS, REFS)]
    for output, values in (("f1", [e.fmeasure for e in expected]), ("recall", [e.recall for e in expected])):
        assert scores.at("doc", output) == pytest.approx(values, abs=1e-12)
    assert scores.score == pytest.approx(sum(e.fmeasure for e in expected) / 2, abs=1e-12)


def test_the_best_reference_counts() -> None:
    spec, options = "sentence:rouge", Options(cache=False)
    best, alone = (score(HYPS, spec, refs=refs, options=options)[spec]["hyp"].at("row")
                   for refs in ([["nothing", "nothing"], REFS], REFS))  # fmt: skip
    assert best == pytest.approx(alone)


def test_long_documents_in_bounded_time_and_memory() -> None:
    """800 segments took 37 s and 1.15 GB: the table of the longest common subsequence had 400 million cells."""
    rng = random.Random(1)
    words = [f"w{i}" for i in range(300)]
    texts = [" ".join(rng.choices(words, k=n)) for n in (0, 1, 50, 200)]
    for stem in (False, True):
        package = RougeScorer(["rougeL"], use_stemmer=stem)
        for ref, hyp in itertools.product(texts, texts):
            expected = package.score(ref, hyp)["rougeL"]
            assert subsequence(package, ref, hyp) == (expected.fmeasure, expected.precision, expected.recall)
    tracemalloc.start()
    assert 0 < subsequence(package, *(" ".join(rng.choices(words, k=20_000)) for _ in range(2)))[0] < 1
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
