"""ROUGE equals the rouge-score package; the best of several references counts."""

from __future__ import annotations

import pytest
from rouge_score.rouge_scorer import RougeScorer

from wholetext.evaluate import Options, score_texts

HYPS = ["The cat was found under the bed.", "A storm hit the coast"]
REFS = ["The cat was under the bed.", "The storm hit all of the coast at night"]


@pytest.mark.parametrize("kind", ["1", "2", "L"])
def test_equal_to_rouge_score(kind: str) -> None:
    peer = RougeScorer([f"rouge{kind}"])
    scores = score_texts(HYPS, refs=REFS, docs=["a", "b"], metric=f"rouge-{kind.lower()}", options=Options(cache=False))
    expected = [peer.score(ref, hyp)[f"rouge{kind}"] for hyp, ref in zip(HYPS, REFS)]
    for output, values in (("f1", [e.fmeasure for e in expected]), ("recall", [e.recall for e in expected])):
        assert scores.at("doc", output) == pytest.approx(values, abs=1e-12)
    assert scores.score == pytest.approx(sum(e.fmeasure for e in expected) / 2, abs=1e-12)


def test_the_best_reference_counts() -> None:
    scores = score_texts(
        HYPS, refs=[["nothing", "nothing"], REFS], metric="sentence:rouge", options=Options(cache=False)
    )
    single = score_texts(HYPS, refs=REFS, metric="sentence:rouge", options=Options(cache=False))
    assert scores.at("row") == pytest.approx(single.at("row"))
