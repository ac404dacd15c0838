"""Influence values, standard errors and the number of documents needed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scoring.build_scores import mean
from wholetext.metrics.surface import Bleu
from wholetext.scoring.significance.power import influence, power, standard_error
from wholetext.scoring.significance.resample import bootstrap_scores, few_documents


def score(totals):
    return mean(totals)[..., 0]


def plain(values):
    return np.stack([values, np.ones_like(values)], axis=-1)


def test_influence_on_a_mean_is_the_distance_from_it():
    values = np.random.default_rng(0).normal(size=30)
    assert influence(plain(values), score) == pytest.approx(values - values.mean(), abs=1e-12)
    assert standard_error(plain(values), score) == pytest.approx(values.std(ddof=1) / np.sqrt(30))


@pytest.mark.parametrize("kind", ["ratio", "bleu"])
def test_standard_error_is_the_bootstraps_for_metrics_that_are_no_means(kind):
    rng = np.random.default_rng(1)
    if kind == "ratio":
        length = rng.integers(2, 30, size=200).astype(float)
        totals, reduce = np.stack([length * rng.normal(0.6, 0.2, size=200), length], axis=1), score
    else:
        words = rng.integers(50, 300, size=200).astype(float)
        share = np.clip(rng.normal(0.6, 0.1, size=(200, 1)), 0, 1) ** np.arange(1, 5)
        reference = words * rng.normal(1.02, 0.05, size=200)
        totals = np.concatenate(
            [words[:, None], reference[:, None], words[:, None] * share, words[:, None] + np.zeros((200, 4))], axis=1
        )
        reduce = lambda t: Bleu().reduce(t)[..., 0]  # noqa: E731
    expected = bootstrap_scores([totals], reduce, 4000)[0].std()
    assert standard_error(totals, reduce) == pytest.approx(expected, rel=0.05)


def test_documents_needed_by_the_formula():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.1, 1, size=50), rng.normal(0, 1, size=50)
    hint = power(plain(a), plain(b), score)
    s, delta = (a - b).std(ddof=1), abs(a.mean() - b.mean())
    assert hint.needed == np.ceil(((1.959964 + 0.841621) * s / delta) ** 2 + 1.959964**2 / 2)
    assert hint.detectable == pytest.approx((1.959964 + 0.841621) * s / np.sqrt(50 - 1.959964**2 / 2), rel=1e-6)
    assert hint.documents == 50


def test_few_documents_are_called_few():
    assert few_documents(20) == ""
    assert "19 documents" in few_documents(19) and "significant" not in few_documents(19)
    assert "smallest possible p is 0.0625" in few_documents(5)  # 2 / 2⁵
    assert "significant" not in few_documents(6)
    assert few_documents(1).startswith("1 document only")
    assert "over 435 comparisons" in few_documents(8, 0.05, 435) and "significant" not in few_documents(8, 0.05, 1)
