"""BlonDe's document scores: the published formula on a document's totals, as for a corpus; and ``mean=occurring``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.metrics.test_blonde import outputs, scored as blonde_scored
from wholetext.metrics.blonde.explain import reasons
from wholetext.metrics.blonde.metric import ABSENT, ONE_SIDED, UNMATCHED, DBlonde
from wholetext.types import Scores

SPEC = "d-blonde(tagger=plain)"
OCCURRING = "d-blonde(tagger=plain,mean=occurring)"
PAIRS = [("but he left so then", "but she left so then"), ("He left .", "He left ."), ("", "but he left"),
         ("so she saw it again", "then he saw it again"), ("He left .", "but she went away then")]
# Figure 3, MT-A: matches, and totals of reference and output (counted by the released code)
def scored(pairs: list[tuple[str, str]], spec: str = SPEC, cache: bool = False) -> Scores:
    """One document per (output, reference)."""
    hyps, refs = ([(text,) for text in side] for side in zip(*pairs))
    return blonde_scored(hyps, [refs], spec, cache=cache)


# ---------------------------------------------------------------- the published formula


@pytest.mark.parametrize("parameters", ["", "profile=paper", "profile=fixed", "mean=arithmetic", "mean=occurring",
                                        "zero=delta", "smooth=none", "with_d=true"])
@pytest.mark.parametrize("name", ["blonde", "d-blonde"])
def test_a_document_alone_has_its_corpus_score(name: str, parameters: str) -> None:
    spec = f"{name}({','.join(filter(None, (parameters, 'tagger=plain')))})"
    documents = scored(PAIRS, spec).table("doc")
    for pair, document in zip(PAIRS, documents):
        alone = scored([pair], spec)
        for level in ("row", "doc", "corpus"):
            np.testing.assert_array_equal(alone.table(level)[0], document)


def test_the_mean_takes_effect_on_documents() -> None:
    """Pronouns 0, markers 1: each mean of the two."""
    pair = [("but he left so then", "but she left so then")]
    values = {mean: scored(pair, f"d-blonde(mean={mean},tagger=plain)").at("doc")[0]
              for mean in ("geometric", "arithmetic", "occurring")}
    assert values == pytest.approx({"geometric": np.sqrt(1e-5), "arithmetic": 0.5, "occurring": 0.5})


def test_a_category_of_one_text_alone_in_both_means() -> None:
    """Precision has no pronoun to count, so that its geometric mean is the markers'; recall is floored."""
    pair = [("but left", "but he left")]
    precision, recall = 1.0, np.sqrt(1e-5)
    assert scored(pair).table("doc")[0, :3] == pytest.approx(
        (2 * precision * recall / (precision + recall), precision, recall))
    assert scored(pair, OCCURRING).table("doc")[0, :3].tolist() == [0.5, 0.5, 0.5]


def test_delta_leaves_out_orders_that_no_segment_has() -> None:
    """The paper's δ / denominator is not defined for a denominator of 0."""
    assert scored([("He left .", "He left .")], "blonde(tagger=plain,zero=delta)").at("doc")[0] == 1


# ---------------------------------------------------------------- notes on the floor


def test_floored_categories_are_notes_also_from_the_cache() -> None:
    pairs = [("He left .", "He left ."), ("but he left so then", "but she left so then"), *[("he saw it now",) * 2] * 2]
    for _ in range(2):
        notes = scored(pairs, "blonde(tagger=plain)", cache=True).notes
        assert f"{ABSENT} 1e-05 (1 of 4 documents)" in notes and f"{UNMATCHED} 1e-05 (1 of 4 documents)" in notes


@pytest.mark.parametrize("parameters", ["mean=occurring", "mean=arithmetic", 'weights="pronoun=0"'])
def test_no_note_where_nothing_is_floored(parameters: str) -> None:
    notes = scored([("but he left so then", "but she left so then")], f"blonde({parameters},tagger=plain)").notes
    assert not any("floored" in note for note in notes)


def test_the_reason_of_a_score_that_the_paper_leaves_undefined() -> None:
    scores = scored([("", "but he left"), ("he", "he")], "d-blonde(profile=paper,tagger=plain)")
    assert math.isnan(scores.at("doc")[0]) and any(ONE_SIDED in note for note in scores.notes)


# ---------------------------------------------------------------- mean=occurring


@pytest.mark.parametrize(("hyp", "ref", "metric", "expected", "pronoun"), [
    ("but he left", "but he went", "d-blonde", 1, 1),  # what neither text has does not count
    ("but he left", "but left", "d-blonde", 0.5, 0),  # what one text alone has counts as 0
    ("but left", "but he left", "d-blonde", 0.5, 0),
    ("He left .", "He left .", "blonde", 1, 1),  # nor do n-grams longer than every segment
    ("", "but he left", "d-blonde", 0, 0), ("", "", "d-blonde", math.nan, math.nan),
])
def test_categories_that_occur(hyp: str, ref: str, metric: str, expected: float, pronoun: float) -> None:
    values = outputs(scored([(hyp, ref)], f"{metric}(mean=occurring,tagger=plain)"))
    for names, value in ((("f1", "precision", "recall"), expected),
                         (("pronoun", "pronoun.precision", "pronoun.recall"), pronoun)):
        assert [values[name] for name in names] == pytest.approx([value] * 3, nan_ok=True), names
    assert math.isnan(values["entity"]) and math.isnan(values["tense"])


def test_weights_and_with_d() -> None:
    pair = [("but he left so then", "but she left so then")]
    weighted = scored(pair, 'd-blonde(mean=occurring,tagger=plain,weights="pronoun=3")')
    assert weighted.at("doc")[0] == pytest.approx(0.25)
    plain, with_d = (scored(pair, f"blonde(mean=occurring,tagger=plain{more})").at("doc")[0]
                     for more in ("", ",with_d=true"))
    assert with_d == pytest.approx((6 * plain + 0.5) / 7)  # two categories, four orders, and d-blonde


def test_the_reasons_of_a_score() -> None:
    scores = scored([("but he left so then", "but she left so then")])
    metric = DBlonde(table="en")
    why = reasons(metric, scores.totals()[0])
    assert {factor.name: factor.why for factor in why.factors} == {
        "tense": "in neither text", "pronoun": "nothing matches: 0", "entity": "in neither text", "marker": ""}
    assert why.floored == ("pronoun precision", "pronoun recall") and why.occurring == 0.5
    assert why.sentence(scores.score) == (
        "The score 0.0032 is the F1 of geometric means of precision and recall (pronoun precision, pronoun recall: 0, "
        "replaced with 1e-05). The mean F1 of the categories that occur is 0.5000: pronoun 0.0000, marker 1.0000. "
        "Neither text has any: tense, entity.")
    one_sided = reasons(metric, scored([("he left", "so left")]).totals()[0])
    assert [factor.why for factor in one_sided.factors if factor.name in ("pronoun", "marker")] == [
        "only in the output: 0", "only in the reference: 0"]
    assert one_sided.sentence(math.nan).startswith("There is no score: ")
    assert reasons(metric, scored([("", "")]).totals()[0]).sentence(math.nan) == "No factor counts: no score."
