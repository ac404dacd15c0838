"""Discourse features of texts against each other.

Discriminativeness is how often a feature is higher in human references than in outputs, or lower:
Zhao, Strube and Eger 2023, equation 4 and Table 11. The two define opposite signs, so all three
shares are given. The paired t-test compares two systems category by category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wholetext.errors import MetricError
from wholetext.io import Loaded
from wholetext.meta.agreement.correlation import both_known
from wholetext.registry import scorer
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Output, Scores

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


@dataclass(frozen=True)
class CategoryTest:
    """The paired t-test between two systems on one category (output) of a metric."""

    category: str
    first: float  # mean over documents
    second: float
    t: float
    p: float
    documents: int


def paired_t(first: Scores, second: Scores) -> list[CategoryTest]:
    """Paired t-test by category over documents, as in table 4 of BlonDe (Jiang et al. 2022).

    Documents where a category is undefined for either system are left out of that category.
    """
    from scipy import stats

    if first.metric != second.metric or first.rows.docs != second.rows.docs:
        raise MetricError(
            "the two systems have scores of different metrics or documents",
            next="score both in one run, with one metric",
        )
    tests = []
    tables = first.table("doc"), second.table("doc")  # (documents, outputs) each
    for column, category in enumerate(first.outputs):
        known = both_known(*(table[:, column] for table in tables))
        x, y = (table[known, column] for table in tables)
        t, p = stats.ttest_rel(x, y) if len(x) >= 2 and np.ptp(x - y) > 0 else (np.nan, np.nan)
        first_mean, second_mean = (
            float(values.mean()) if len(values) else np.nan for values in (x, y)
        )
        tests.append(CategoryTest(category, first_mean, second_mean, float(t), float(p), len(x)))
    return tests
