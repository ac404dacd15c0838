"""Discriminativeness of features: shares over pairs, equal texts left out, what is refused."""

from __future__ import annotations

import pytest

from wholetext.meta.features import discriminativeness
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
    for one in discriminativeness(made, [hyp], SPECS):
        assert (one.pairs, one.identical) == (3, 1)
        assert (one.below, one.equal, one.above) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
        assert one.system == "sys" and one.below + one.equal + one.above == pytest.approx(1)


def test_several_references_are_several_pairs() -> None:
    pytest.importorskip("spacy")
    made, hyp = corpus()
    docs = tuple(Document(doc.id, None, {"r": doc.refs["r"], "q": doc.refs["r"]}) for doc in made.docs)
    twice = Corpus("made", made.langs, docs)
    one = discriminativeness(twice, [hyp], ["rc"])[0]
    assert (one.pairs, one.identical) == (6, 2)
