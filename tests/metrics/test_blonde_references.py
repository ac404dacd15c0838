"""Several references of BlonDe: ⊕ of Eqs. 3 and 4 is the maximum or the sum; numbers by hand."""

from __future__ import annotations

from math import sqrt

import pytest

import wholetext as wt

HYP, REFS = "He ran but she sat .", ("He ran while she slept .", "She ran but she sat .")
# masculine and feminine pronouns: 1, 1 in the hypothesis; 1, 1 and 0, 2 in the references. "while" and "but" are
# comparisons both. Unigrams: 4 and 5 of 6 in common; of the largest counts 6 of 9.
BY_HAND = {
    "sum": {"pronoun.recall": 3 / 4, "pronoun.precision": 3 / 4, "marker.recall": 1.0, "ngram1.recall": 9 / 12,
            "ngram1.precision": 9 / 12, "f1": sqrt(3 / 4)},
    "max": {"pronoun.recall": 2 / 3, "pronoun.precision": 1.0, "marker.recall": 1.0, "ngram1.recall": 6 / 9,
            "ngram1.precision": 1.0, "f1": 2 * sqrt(2 / 3) / (1 + sqrt(2 / 3))}}


def scored(metric: str, aggregate: str) -> dict[str, float]:
    corpus = wt.Corpus("c", ("zh", "en"), (wt.Document("d", ("x",), {f"ref{i}": (r,) for i, r in enumerate(REFS)}),))
    spec = f"{metric}(references={aggregate},tagger=plain)"
    loaded = wt.io.Loaded(corpus, (wt.Output("s", {"d": (HYP,)}),))
    (by_system,) = wt.score(loaded, spec, options=wt.Options(cache=False)).scores.values()
    return dict(zip(by_system["s"].outputs, by_system["s"].table("corpus").ravel().tolist()))


@pytest.mark.parametrize("aggregate", BY_HAND)
def test_numbers_by_hand(aggregate: str) -> None:
    blonde, discourse = scored("blonde", aggregate), scored("d-blonde", aggregate)
    for name, value in BY_HAND[aggregate].items():
        assert (discourse if name == "f1" else blonde)[name] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("aggregate", BY_HAND)
def test_a_reference_twice_changes_nothing(aggregate: str) -> None:
    """The same text as two references: sums double above and below, maxima stay."""
    docs = [wt.Document("d", ("x",), {f"ref{i}": (REFS[0],) for i in range(count)}) for count in (1, 2)]
    values = []
    for doc in docs:
        loaded = wt.io.Loaded(wt.Corpus("c", ("zh", "en"), (doc,)), (wt.Output("s", {"d": (HYP,)}),))
        spec = f"d-blonde(references={aggregate},tagger=plain)"
        (by_system,) = wt.score(loaded, spec, options=wt.Options(cache=False)).scores.values()
        values.append(by_system["s"].score)
    assert values[0] == pytest.approx(values[1], abs=1e-12)
