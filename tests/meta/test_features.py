"""Discriminativeness of features: shares over pairs, equal texts left out, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from wholetext.errors import MetricError
from wholetext.io import Loaded
from wholetext.meta.agreement.measures import Ranked
from wholetext.meta.features import discriminativeness, focus_statistics, metric_correlation
from wholetext.meta.tasks import paired_t_tests
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

SPECS = ["freq(lang=en)", "conn(lang=en)"]


def corpus() -> tuple[Corpus, Output]:
    docs = (
        Document("a", None, {"r": ("The cat sat. The cat slept. The cat left.",)}),  # the reference repeats more
        Document("b", None, {"r": ("The dog sat. A storm came.",)}),  # the output repeats more
        Document("c", None, {"r": ("The dog sat.",)}),  # both the same, though the texts differ
        Document("d", None, {"r": ("The dog sat. The dog left.",)}),  # equal texts
    )
    hyp = Output("sys", {"a": ("The cat sat. A bird slept. The snake left.",), "b": ("The dog sat. The dog barked.",),
                         "c": ("The cat sat.",), "d": ("The dog sat. The dog left.",)})
    return Corpus("made", ("de", "en"), docs), hyp


@pytest.mark.long
def test_three_shares() -> None:
    pytest.importorskip("spacy")
    made, hyp = corpus()
    for shares in discriminativeness(made, [hyp], SPECS):
        assert (shares.pairs, shares.identical) == (3, 1)
        assert (shares.below, shares.equal, shares.above) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
        assert shares.system == "sys" and shares.below + shares.equal + shares.above == pytest.approx(1)


def test_several_references_are_several_pairs() -> None:
    pytest.importorskip("spacy")
    made, hyp = corpus()
    docs = tuple(Document(doc.id, None, {"r": doc.refs["r"], "q": doc.refs["r"]}) for doc in made.docs)
    twice = Corpus("made", made.langs, docs)
    shares = discriminativeness(twice, [hyp], ["rc"])[0]
    assert (shares.pairs, shares.identical) == (6, 2)


def test_only_features_of_one_text() -> None:
    made, hyp = corpus()
    with pytest.raises(MetricError, match="single text"):
        discriminativeness(made, [hyp], ["lexical-chain"])
    with pytest.raises(MetricError, match="reference"):
        discriminativeness(Corpus("x", ("de", "en"), (Document("a", ("x",)),)), [hyp], ["rc"])


def test_metrics_of_a_run_correlate() -> None:
    made, hyp = corpus()
    results = score(Loaded(made, [hyp]), ["chrf", "ter"], options=Options(flags=False))
    names, table = metric_correlation(results)
    values = [results.scores[name]["sys"].at("doc") for name in names]
    assert table[0, 1] == pytest.approx(np.corrcoef(values[0], -values[1])[0, 1])  # TER: lower is better
    with pytest.raises(MetricError, match="no correlation"):
        metric_correlation(results, statistic="cosine")


@pytest.mark.long
def test_foci_are_counted() -> None:
    pytest.importorskip("spacy")
    made, hyp = corpus()
    counts = focus_statistics(made, [hyp])
    assert (counts.references, counts.systems, counts.documents) == (1, 1, 4)
    assert counts.sentences == pytest.approx((3 + 2 + 1 + 2) / 4)
    assert counts.foci == pytest.approx((3 + 1 + 1 + 1) / 4)
    assert (counts.repeated, counts.with_repeated) == (0.5, 0.5)  # the dogs of b and d


def test_paired_t_between_metrics_is_scipys() -> None:
    from scipy import stats

    def task(*values: float) -> Ranked:
        return Ranked(metrics=("a", "b"), values=values, ranks=(None, None), intervals=())

    rows = [(0.5, 0.4), (0.7, 0.5), (0.2, 0.25)]
    names, p = paired_t_tests([task(*row) for row in rows])  # type: ignore[misc]
    assert names == ["a", "b"]
    assert p[0, 1] == p[1, 0] == pytest.approx(stats.ttest_rel(*zip(*rows)).pvalue)
    assert np.isnan(paired_t_tests([task(0.1, 0.2)])[1][0, 1])  # type: ignore[list-item]
