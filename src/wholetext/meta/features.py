"""Discourse features of texts against each other.

Discriminativeness is how often a feature is higher in human references than in outputs, or lower:
Zhao, Strube and Eger 2023, equation 4 and Table 11. The two define opposite signs, so all three
shares are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.errors import MetricError
from wholetext.io import Loaded
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Output

FEATURES = ("freq", "freq(focus=entity)", "conn", "conn(focus=entity)", "rc", "lc")


@dataclass(frozen=True)
class Discriminativeness:
    """One feature of one system against the references, pair by pair of documents that differ."""

    feature: str
    system: str
    pairs: int  # (document, reference) pairs compared
    identical: int  # pairs left out because the two texts are equal
    below: float  # share of pairs with R(ref) < R(hyp): the D of equation 4
    equal: float
    above: float  # share of pairs with R(ref) > R(hyp)
    hyp: float  # mean of the feature over the outputs' documents of these pairs
    ref: float


def discriminativeness(
    corpus: Corpus,
    outputs: Sequence[Output],
    features: Sequence[str] = FEATURES,
    options: Options | None = None,
) -> list[Discriminativeness]:
    """Every feature for every system.

    Features are reference-free metrics, one number per document.
    """
    for feature in features:
        if scorer(feature).metric.needs != {"hyp"}:
            raise MetricError(
                f"{feature} is not a feature of a single text",
                next=f"for example {', '.join(FEATURES)}",
            )
    if not corpus.references:
        raise MetricError(
            "features are compared with references, and there is none",
            where=corpus.id,
            next="give one (-r, in Python refs=)",
        )
    humans = [
        Output(name, {doc.id: doc.refs[name] for doc in corpus.docs}) for name in corpus.references
    ]
    machine = score(Loaded(corpus, outputs), features, options=options).scores
    human = score(Loaded(corpus, humans), features, options=options).scores
    results = []
    for feature in machine:
        refs = {name: scores.at("doc") for name, scores in human[feature].items()}
        for output in outputs:
            values = machine[feature][output.system].at("doc")
            pairs = np.array(
                [
                    (values[at], refs[name][at], output.docs[doc.id] == doc.refs[name])
                    for at, doc in enumerate(corpus.docs)
                    for name in refs
                ]
            )  # (pairs, 3)
            same = pairs[:, 2] > 0
            hyp, ref = pairs[~same & ~np.isnan(pairs[:, :2]).any(axis=1)][:, :2].T
            columns = (ref < hyp, ref == hyp, ref > hyp, hyp, ref)
            means = (float(column.mean()) if len(hyp) else float("nan") for column in columns)
            results.append(
                Discriminativeness(feature, output.system, len(hyp), int(same.sum()), *means)
            )
    return results
