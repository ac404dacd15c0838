"""Stress tests end to end with surface metrics."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.errors import InputError, MetricError
from wholetext.scoring.evaluate import Options
from wholetext.stress.evaluate import Stress, best, losses, select, stress
from wholetext.stress.perturbation import Changed, StressOptions
from wholetext.types import Corpus, Document, Output

CHANGES = ("swap", "drop", "double", "foreign", "number", "resegment")  # without a tagger
SETTINGS = StressOptions(CHANGES, ("1", "all"), 7, draws=100)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Stress:
    corpus, outputs = load("de-en")
    cache = tmp_path_factory.mktemp("cache") / "cache.sqlite"
    return stress(corpus, outputs, ["chrf", "whole:chrf", "ter"], SETTINGS, Options(cache=cache))


def cell(found: Stress, **wanted: str) -> Any:
    (item,) = [item for item in found.cells if all(getattr(item, key) == value for key, value in wanted.items())]
    return item


def test_differences_of_rounding_are_ties() -> None:
    original = np.array([0.9, 80.0, 0.9])  # the first two differ as one text does in two batches of a model
    changed = original - np.array([5e-8, -3e-6, 4e-6])
    scored: list[Any] = [
        SimpleNamespace(scores={"m": {name: SimpleNamespace(at=lambda level, x=x: x, higher_is_better=True)}},
                        corpus=SimpleNamespace(ids="abc"))
        for name, x in (("old", original), ("new", changed))
    ]
    made: Any = SimpleNamespace(items=[Changed(doc, "swap", "document", "all", ("x",), (), 1, 1) for doc in "abc"],
                                original=SimpleNamespace(system="old"),
                                outputs=lambda: {("swap", "all"): SimpleNamespace(system="new")})
    lost = [loss.loss for loss in losses(made, *scored, "m")]
    assert lost[:2] == [0.0, 0.0] and lost[2] == pytest.approx(4e-6)


def test_losses_are_those_of_the_scores() -> None:
    corpus, outputs = load("de-en")
    doc = corpus.docs[0]
    single = wt.Corpus("one", corpus.langs, (doc,))
    only = [wt.Output(output.system, {doc.id: output.docs[doc.id]}) for output in outputs]
    settings = StressOptions(("drop",), ("all",), text="literal")
    made = stress(single, only, ["chrf", "ter"], settings, Options(cache=False))
    texts = [wt.Output("old", {doc.id: made.perturbed.original.docs[doc.id]}),
             wt.Output("new", {doc.id: made.perturbed.items[0].segments})]
    for spec in made.metrics:
        alone = wt.score(wt.Loaded(single, texts), spec, options=Options(cache=False))[spec]
        loss = (alone["old"].score - alone["new"].score) * (-1 if spec == "ter" else 1)
        assert loss and cell(made, metric=spec).loss == pytest.approx(loss, abs=1e-9)


def test_missing_sentences_are_seen_by_all_and_order_hardly_by_documents_as_a_whole(found: Stress) -> None:
    assert cell(found, metric="chrf", change="drop", dose="all").preferred == 1
    assert cell(found, metric="ter", change="drop", dose="all").preferred == 1  # lower is better
    by_sentence, whole = (cell(found, metric=name, change="swap", dose="all") for name in ("chrf", "whole:chrf"))
    assert whole.effect < 0.1 * by_sentence.effect
    resegmented = cell(found, metric="whole:chrf", change="resegment", dose="all")
    assert resegmented.ties == resegmented.documents == 11
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


def test_documents_that_equal_the_reference_are_left_out() -> None:
    corpus, outputs = load("de-en")
    same = corpus.docs[0]
    text = wt.Output("mixed", {**outputs[0].docs, same.id: same.refs["human"]})
    found = stress(corpus, [text, outputs[2]], "chrf", StressOptions(("swap",), ("all",), text="mixed", draws=10),
                   Options(cache=False))
    assert same.id not in {item.doc for item in found.perturbed.items} and found.cells[0].documents == 11
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


ONE, TWO = ("A house burned.", "All got out."), ("A home was on fire.", "Everyone escaped.")


def corpus(**refs: tuple[str, ...]) -> Corpus:
    return Corpus("c", ("de", "en"), (Document("a", ("x", "y"), refs),))


def output(name: str, *segments: str) -> Output:
    return Output(name, {"a": segments})


BAD, GOOD = output("bad", "Fire house.", "Out."), output("good", "A house burned down.", "All got out.")


def test_a_second_reference_is_changed_and_the_others_are_scored_against() -> None:
    text, refs, *_ = select(corpus(first=ONE, second=TWO), [BAD], StressOptions())
    assert text is not None and text.docs["a"] == TWO and refs == ("first",)
    text, refs, _, notes = select(corpus(first=ONE, second=TWO), [BAD], StressOptions(text="first"))
    assert text is not None and text.docs["a"] == ONE and refs == ("second",)
    assert "the text under test is the reference first, scored against second" in notes


def test_without_one_the_best_system_is_changed() -> None:
    text, refs, systems, _ = select(corpus(first=ONE), [BAD, GOOD], StressOptions())
    assert text is None and refs == ("first",)
    scores = wt.score(wt.Loaded(corpus(first=ONE), [BAD, GOOD]), ["chrf", "ter"], options=Options(cache=False)).scores
    chosen, note = best(scores, systems)
    assert chosen is GOOD and "best mean rank of 2 systems" in note
    assert select(corpus(first=ONE), [BAD, GOOD], StressOptions(text="bad"))[0] is BAD


def test_a_copy_of_a_reference_is_no_system() -> None:
    text, _, systems, notes = select(corpus(first=ONE), [output("human", *ONE), BAD], StressOptions())
    assert systems == (BAD,) and text is BAD
    assert "human is a copy of the reference first and not counted among the systems" in notes
    with pytest.raises(InputError, match="no text human to change"):
        select(corpus(first=ONE), [output("human", *ONE), BAD], StressOptions(text="human"))
    with pytest.raises(InputError, match="no text but the reference"):
        select(corpus(first=ONE), [output("human", *ONE)], StressOptions())
