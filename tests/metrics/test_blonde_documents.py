"""BlonDe's document scores: meaningful for one document, while corpus scores and resampling stay the published ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from wholetext.metrics.blonde.explain import reasons
from wholetext.metrics.blonde.metric import DBlonde
from wholetext.scoring.evaluate import Options, evaluate, open_run
from wholetext.scoring.results import write_run
from wholetext.significance.compare import compare
from wholetext.types import Corpus, Document, Output, Scores

SPEC = "d-blonde(tagger=plain)"


def scored(pairs: list[tuple[str, str]], spec: str = SPEC) -> Scores:
    """One document per (output, reference)."""
    docs = tuple(Document(f"d{i}", None, {"r": (ref,)}) for i, (_, ref) in enumerate(pairs))
    output = Output("sys", {f"d{i}": (hyp,) for i, (hyp, _) in enumerate(pairs)})
    results = evaluate(Corpus("c", ("de", "en"), docs), [output], [spec], Options(cache=False))
    return next(iter(results.scores.values()))["sys"]


def test_one_pronoun_without_a_match_does_not_decide_a_document() -> None:
    """Its score is the mean of what there is: markers 1, pronouns 0; 0.1.0 gave 0.003."""
    scores = scored([("but he left so then", "but she left so then")])
    assert scores.at("doc")[0] == pytest.approx(0.5)
    assert scores.score == pytest.approx(np.sqrt(1e-5), rel=1e-6), "the corpus score is the published one"


def test_what_neither_text_has_does_not_count() -> None:
    scores = scored([("but he left", "but he went")])
    told = dict(zip(scores.outputs, scores.table("doc")[0]))
    assert told["f1"] == 1 and math.isnan(told["entity"]) and math.isnan(told["tense"])


@pytest.mark.parametrize("hyp,ref", [("but he left", "but left"), ("but left", "but he left")])
def test_what_one_text_alone_has_counts_as_0(hyp: str, ref: str) -> None:
    scores = scored([(hyp, ref)])
    told = dict(zip(scores.outputs, scores.table("doc")[0]))
    assert [told[name] for name in ("f1", "precision", "recall")] == [0.5, 0.5, 0.5]
    assert told["pronoun"] == told["pronoun.precision"] == told["pronoun.recall"] == 0


def test_ngrams_longer_than_every_segment_do_not_count() -> None:
    assert scored([("He left .", "He left .")], "blonde(tagger=plain)").at("doc")[0] == 1


def test_an_empty_output_scores_0_and_two_empty_texts_nothing() -> None:
    first, second = scored([("", "but he left"), ("", "")]).at("doc")
    assert first == 0 and math.isnan(second)


def test_weights_and_with_d() -> None:
    pair = [("but he left so then", "but she left so then")]
    assert scored(pair, 'd-blonde(tagger=plain,weights="pronoun=3")').at("doc")[0] == pytest.approx(0.25)
    plain, with_d = (scored(pair, f"blonde(tagger=plain{more})").at("doc")[0] for more in ("", ",with_d=true"))
    assert with_d == pytest.approx((6 * plain + 0.5) / 7)  # two categories, four orders, and d-blonde


def test_rows_that_are_documents_score_like_documents() -> None:
    pairs = [("but he left so then", "but she left so then"), ("he saw it", "he saw her")]
    scores = scored(pairs, "blonde(tagger=plain)")
    np.testing.assert_array_equal(scores.table("row"), scores.table("doc"))


def test_both_definitions_are_in_the_signature() -> None:
    signature = scored([("he", "he")]).signature
    assert signature["corpus_score"] == "f1-of-geometric-means" and signature["document_score"] == "mean-of-f1"


def test_resampling_uses_the_corpus_definition() -> None:
    pairs = [(f"but {'he' if i % 2 else 'she'} left", "but she left") for i in range(8)]
    scores = scored(pairs)
    assert compare({"sys": scores})["sys"].score == scores.score == pytest.approx(
        float(scores.reduce(scores.totals().sum(axis=0))[0]))


def test_runs_of_0_1_0_keep_their_document_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are known by a signature that names no definition."""
    docs = (Document("d", None, {"r": ("but she left",)}),)
    for name in ("new", "old"):
        results = evaluate(Corpus("c", ("de", "en"), docs), [Output("sys", {"d": ("but he left",)})], [SPEC],
                           Options(cache=False))
        write_run(results, tmp_path / name)
        monkeypatch.setattr(DBlonde, "facts", lambda self: {"tagger": "plain-1", "table": "en"})
    new, old = (open_run(tmp_path / name).scores[SPEC]["sys"] for name in ("new", "old"))
    assert new.at("doc")[0] == 0.5
    assert old.at("doc")[0] == old.at("row")[0] == old.score == new.score < 0.01


def test_the_reasons_of_a_score() -> None:
    scores = scored([("but he left so then", "but she left so then")])
    metric = DBlonde(table="en")
    found = reasons(metric, scores.totals()[0], document_score="mean-of-f1")
    why = {one.name: one.why for one in found.factors}
    assert why == {"tense": "in neither text: does not count", "pronoun": "nothing matches: 0",
                   "entity": "in neither text: does not count", "marker": ""}
    assert found.floored == ("pronoun precision", "pronoun recall") and found.as_corpus == scores.score
    said = found.sentence(0.5)
    assert said.startswith("The score 0.5000 is the mean F1 of pronoun 0.0000, marker 1.0000.")
    assert "neither text has any: tense, entity" in said and "0.0032 (pronoun precision, pronoun recall: 0" in said
    one_sided = reasons(metric, scored([("he left", "so left")]).totals()[0], document_score="mean-of-f1")
    assert [one.why for one in one_sided.factors if one.name in ("pronoun", "marker")] == [
        "only in the output: 0", "only in the reference: 0"]
