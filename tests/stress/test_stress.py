"""Stress tests end to end with surface metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.errors import InputError, MetricError
from wholetext.scoring.evaluate import Options
from wholetext.stress.evaluate import Stress, _loss, stress
from wholetext.stress.perturbation import StressOptions

CHANGES = ("swap", "drop", "double", "foreign", "number", "resegment")  # without a tagger
SETTINGS = StressOptions(CHANGES, ("1", "all"), 7, draws=100)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Stress:
    corpus, outputs = load("de-en")
    cache = tmp_path_factory.mktemp("cache") / "cache.sqlite"
    return stress(corpus, outputs, ["chrf", "whole:chrf", "ter"], SETTINGS, Options(cache=cache))


def cell(found: Stress, **wanted: str) -> Any:
    (one,) = [one for one in found.cells if all(getattr(one, key) == value for key, value in wanted.items())]
    return one


def test_every_metric_meets_every_change_at_every_dose(found: Stress) -> None:
    assert len(found.cells) == 3 * len(CHANGES) * 2
    assert found.metrics == ("chrf", "whole:chrf", "ter") and found.refs == ("human",)
    assert all(0 <= one.low <= one.preferred <= one.high <= 1 for one in found.cells if one.documents > 1)


def test_differences_of_rounding_are_ties() -> None:
    original = np.array([0.9, 80.0, 0.9])  # the first two differ as one text does in two batches of a model
    lost = _loss(original, original - np.array([5e-8, -3e-6, 4e-6]))
    assert lost[:2].tolist() == [0.0, 0.0] and lost[2] == pytest.approx(4e-6)


def test_losses_are_those_of_the_scores(found: Stress) -> None:
    """One item scored again, by itself."""
    item = next(one for one in found.perturbed.items if one.change == "drop" and one.dose == "all")
    corpus = found.results.corpus
    doc = next(doc for doc in corpus.docs if doc.id == item.doc)
    for spec in found.metrics:
        alone = {}
        for name, text in (("old", found.perturbed.original.docs[doc.id]), ("new", item.segments)):
            one = wt.Corpus("one", corpus.langs, (doc,))
            alone[name] = wt.score(
                wt.Loaded(one, [wt.Output(name, {doc.id: text})]), spec, options=Options(cache=False)
            )[spec][name].score
        loss = alone["old"] - alone["new"]
        loss = -loss if spec == "ter" else loss
        assert found.margins["drop", "all", doc.id][spec] == pytest.approx(loss, abs=1e-9)


def test_missing_sentences_are_seen_by_all_and_order_hardly_by_documents_as_a_whole(found: Stress) -> None:
    assert cell(found, metric="chrf", change="drop", dose="all").preferred == 1
    assert cell(found, metric="ter", change="drop", dose="all").preferred == 1  # lower is better
    by_sentence, whole = (cell(found, metric=name, change="swap", dose="all") for name in ("chrf", "whole:chrf"))
    assert whole.effect < 0.1 * by_sentence.effect
    assert cell(found, metric="whole:chrf", change="resegment", dose="all").ties == whole_documents(found, "resegment")


def whole_documents(found: Stress, change: str) -> int:
    return len({one.doc for one in found.perturbed.items if one.change == change})


def test_a_larger_dose_costs_more(found: Stress) -> None:
    for change in ("swap", "drop", "foreign"):
        small, large = (cell(found, metric="chrf", change=change, dose=dose).effect for dose in ("1", "all"))
        assert 0 < small < large


def test_what_was_not_changed_is_scored_once(tmp_path: Path) -> None:
    corpus, outputs = load("de-en")
    options = Options(cache=tmp_path / "cache.sqlite")
    first = stress(corpus, outputs, "chrf", StressOptions(("drop", "number"), ("1", "all")), options)
    segments = int(corpus.sizes.sum())
    assert first.results.counts["requests"] == segments * (4 + len(first.perturbed.outputs()))
    assert first.results.counts["computed"] < segments * 5  # the systems, and what was changed
    again = stress(corpus, outputs, "chrf", StressOptions(("drop", "number"), ("1", "all")), options)
    assert again.results.counts.get("computed", 0) == 0 and again.as_json()["figures"] == first.as_json()["figures"]


def test_a_reference_is_tested_against_the_other() -> None:
    corpus, outputs = load("de-en")
    docs = [wt.Document(doc.id, doc.src, {**doc.refs, "second": outputs[0].docs[doc.id]}) for doc in corpus.docs]
    two = wt.Corpus(corpus.id, corpus.langs, docs)
    found = stress(two, outputs[1:], "chrf", StressOptions(("swap",), ("all",), draws=10), Options(cache=False))
    assert found.text == "reference second" and found.refs == ("human",)
    assert {one.signature["refs"] for one in found.results.scores["chrf"].values()} == {"human"}


def test_documents_that_equal_the_reference_are_left_out() -> None:
    corpus, outputs = load("de-en")
    same = corpus.docs[0]
    text = wt.Output("mixed", {**outputs[0].docs, same.id: same.refs["human"]})
    found = stress(corpus, [text, outputs[2]], "chrf", StressOptions(("swap",), ("all",), text="mixed", draws=10),
                   Options(cache=False))
    assert same.id not in {one.doc for one in found.perturbed.items} and found.cells[0].documents == 11
    assert "1 document left out, where the text under test is the same as a reference" in found.notes


def test_one_system_has_no_spread() -> None:
    corpus, outputs = load("de-en")
    found = stress(corpus, outputs[:1], "chrf", StressOptions(("swap",), ("all",), draws=10), Options(cache=False))
    assert found.cells[0].effect != found.cells[0].effect and found.cells[0].loss > 0
    assert found.as_json()["figures"][0]["effect"] is None
    assert any("no spread between systems" in note for note in found.notes)


def test_what_cannot_be_tested_is_refused() -> None:
    corpus, outputs = load("de-en")
    with pytest.raises(MetricError, match="which changed documents do not have"):
        stress(corpus, outputs, "judge-pairwise@m", SETTINGS)
    with pytest.raises(InputError, match="no change 'swop'"):
        stress(corpus, outputs, "metricx@missing", StressOptions(("swop",)))  # before any model is looked for
    with pytest.raises(InputError, match="no change can be made in this text") as caught:
        stress(corpus, outputs, "chrf", StressOptions(("connective",)), Options(cache=False))
    assert "no connective" in caught.value.next
