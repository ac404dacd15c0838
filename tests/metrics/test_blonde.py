"""BlonDe beyond the golden numbers: properties, odd documents, clipping, annotation files, spans, faults."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from wholetext.errors import (
    AlignmentError,
    InputError,
    MetricError,
    MissingExtra,
    ModelError,
    SpecError,
)
from wholetext.io import Loaded
from wholetext.metrics.blonde.categories import load_table
from wholetext.scoring.evaluate import Options, score
from wholetext.scoring.results import Results
from wholetext.testing import check_metric
from wholetext.types import Corpus, Document, Output, Scores

Texts = list[tuple[str, ...]]  # documents as segments
WORDS = st.sampled_from(["he", "she", "it", "They", "his", "the", "cat", "but", "so", "Then", "bridge", "😀", ".", "3"])
SEGMENT = st.lists(WORDS, max_size=9).map(" ".join)
DOCS = st.lists(st.lists(SEGMENT, min_size=1, max_size=4).map(tuple), min_size=1, max_size=4)


def results(hyp: Texts, refs: list[Texts], spec: str, lang: str = "en", **options: Any) -> Results:
    docs = [Document(f"d{i}", None, {f"r{k}": ref[i] for k, ref in enumerate(refs)}) for i in range(len(hyp))]
    output = Output("sys", {f"d{i}": text for i, text in enumerate(hyp)})
    corpus = Corpus("test", ("zh", lang), tuple(docs))
    return score(Loaded(corpus, [output]), [spec], options=Options(**({"cache": False} | options)))


def scored(hyp: Texts, refs: list[Texts], spec: str, **more: Any) -> Scores:
    return next(iter(results(hyp, refs, spec, **more).scores.values()))["sys"]


def outputs(scores: Scores) -> dict[str, float]:
    return dict(zip(scores.outputs, scores.table("corpus")[0].tolist()))


def tagger(folder: Path, *records: dict[str, Any]) -> str:
    path = folder / "given.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return f'tagger="given/{path}"'


# ---------------------------------------------------------------- properties


@pytest.mark.long
@given(DOCS)
@settings(max_examples=60, deadline=None)
def test_identical_texts_score_1(docs: Texts) -> None:
    """Under ``fixed`` and ``paper``; NaN where there is nothing to compare."""
    for spec in ("blonde(profile=fixed,tagger=plain)", "d-blonde(profile=paper,tagger=plain)",
                 "blonde(profile=fixed,tagger=plain,clip_scope=document,mean=arithmetic)"):
        scores = scored(docs, [docs], spec)
        for value in (scores.score, *scores.at("doc")):
            assert math.isnan(value) or value == pytest.approx(1, abs=1e-12)


def test_the_exception_of_the_released_code(tmp_path: Path) -> None:
    """There, a document without any segment of four tokens loses its 4-grams: .1468 instead of 1."""
    record = {"text": "He left .", "tokens": ["He", "left", "."], "tags": ["PRP", "VBD", "."], "entities": []}
    given = tagger(tmp_path, record)
    docs = [("He left .",)]
    assert round(scored(docs, [docs], f"blonde({given})").score, 4) == 0.1468
    assert scored(docs, [docs], f"blonde(profile=fixed,{given})").score == 1


def test_the_released_smoothing_can_exceed_1() -> None:
    hyp, ref = [("a b a b",)], [("b a b a",)]
    assert scored(hyp, [ref], "blonde(tagger=plain)").score == pytest.approx((1 * 2 / 3 * 1 * 2) ** (1 / 4))
    assert scored(hyp, [ref], "blonde(profile=fixed,tagger=plain)").score < 1


@pytest.mark.parametrize("spec", ["blonde(tagger=plain)", "d-blonde(tagger=plain,profile=fixed)",
                                  "slide(size=2,step=1):blonde(tagger=plain)"])
def test_the_contract(spec: str) -> None:
    check_metric(spec)


@given(DOCS)
@settings(max_examples=30, deadline=None)
def test_a_second_reference_never_lowers_the_match(docs: Texts) -> None:
    refs = [tuple(segment.replace("he", "she") for segment in doc) for doc in docs]
    spec = "blonde(profile=fixed,tagger=plain)"
    one, two = (scored(docs, chosen, spec).stats.sum(axis=0).reshape(-1, 3) for chosen in ([refs], [refs, docs]))
    assert (two[:, 0] >= one[:, 0]).all() and (two[:, 2] == one[:, 2]).all()
    assert (two[:, 0] == two[:, 2]).all()  # one of them is the output itself


# ---------------------------------------------------------------- several references: ⊕ of Eqs. 3 and 4

HYP, REFS = "He ran but she sat .", ("He ran while she slept .", "She ran but she sat .")
# masculine and feminine pronouns: 1, 1 in the hypothesis; 1, 1 and 0, 2 in the references. "while" and "but" are
# comparisons both. Unigrams: 4 and 5 of 6 in common; of the largest counts 6 of 9.
BY_HAND = {
    "sum": {"pronoun.recall": 3 / 4, "pronoun.precision": 3 / 4, "marker.recall": 1.0, "ngram1.recall": 9 / 12,
            "ngram1.precision": 9 / 12, "f1": math.sqrt(3 / 4)},
    "max": {"pronoun.recall": 2 / 3, "pronoun.precision": 1.0, "marker.recall": 1.0, "ngram1.recall": 6 / 9,
            "ngram1.precision": 1.0, "f1": 2 * math.sqrt(2 / 3) / (1 + math.sqrt(2 / 3))}}


@pytest.mark.parametrize("aggregate", BY_HAND)
def test_several_references_by_hand(aggregate: str) -> None:
    refs, parameters = [[(ref,)] for ref in REFS], f"(references={aggregate},tagger=plain)"
    blonde, discourse = (outputs(scored([(HYP,)], refs, metric + parameters)) for metric in ("blonde", "d-blonde"))
    for name, value in BY_HAND[aggregate].items():
        assert (discourse if name == "f1" else blonde)[name] == pytest.approx(value, abs=1e-12), name
    once, twice = (scored([(HYP,)], refs[:1] * count, f"d-blonde{parameters}").score for count in (1, 2))
    assert once == pytest.approx(twice, abs=1e-12)  # sums double above and below, maxima stay


# ---------------------------------------------------------------- odd documents


ODD: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "no entity": (("he left but she stayed",), ("he went but she stayed",)),
    "one sentence": (("Ann left .",), ("Ann went .",)),
    "one token": (("Ann",), ("Bob",)),
    "empty segment": (("", "he left"), ("it rained", "he left")),
    "empty output": (("", ""), ("it rained", "he left")),
    "empty reference": (("it rained",), ("",)),
    "empty both": (("",), ("",)),
    "emoji only": (("😀😀",), ("😀",)),
    "emoji against nothing": (("😀",), (" ",)),
    "no segment": ((), ()),
}


NO_DISCOURSE = ("emoji only", "emoji against nothing", "one token")


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("profile", ["reference", "paper", "fixed"])
@pytest.mark.parametrize("metric", ["blonde", "d-blonde"])
def test_odd_documents_get_a_number_or_nan_with_a_reason(name: str, profile: str, metric: str) -> None:
    hyp, ref = ODD[name]
    for smooth in ("exp", "floor", "add-k", "none"):
        for zero in ("floor", "delta"):
            got = results([hyp], [[ref]], f"{metric}(profile={profile},tagger=plain,smooth={smooth},zero={zero})")
            scores = next(iter(got.scores.values()))["sys"]
            value = float(scores.at("doc")[0])
            if not any((*hyp, *ref)) or (metric == "d-blonde" and name in NO_DISCOURSE):
                assert math.isnan(value)
                assert scores.details[0]["reason"].startswith("neither output nor reference")
                assert any("every score is undefined" in note for note in got.warnings)
            elif profile == "paper" and "empty" in name and "segment" not in name:
                assert math.isnan(value) or 0 <= value <= 1
            elif not math.isnan(value):
                assert 0 <= value <= (2 if profile == "reference" else 1)


# ---------------------------------------------------------------- clipping, weights, combination


def test_clip_scope() -> None:
    """By segment, a pronoun in the wrong segment does not match; by document it does, and segments need not line up."""
    hyp, ref = [("he left", "the cat slept")], [("the cat slept", "he left")]
    by_segment = outputs(scored(hyp, [ref], "d-blonde(tagger=plain)"))
    by_document = outputs(scored(hyp, [ref], "d-blonde(tagger=plain,clip_scope=document)"))
    assert (by_segment["pronoun.recall"], by_document["pronoun.recall"]) == (0, 1)
    joined = [("he left the cat slept",)]
    assert outputs(scored(joined, [ref], "d-blonde(tagger=plain,clip_scope=document)"))["pronoun"] == 1
    with pytest.raises(AlignmentError, match=r"output has 1 and the reference 2 .*\n.*clip_scope=document"):
        scored(joined, [ref], "d-blonde(tagger=plain)")


def test_weights_of_features_and_of_categories() -> None:
    hyp, ref = [("she saw it but he left",)], [("he saw it but he left",)]
    plain = outputs(scored(hyp, [ref], "d-blonde(tagger=plain)"))
    assert plain["pronoun.recall"] == 1 / 2  # it has weight 0
    assert outputs(scored(hyp, [ref], 'd-blonde(tagger=plain,weights="neuter=1")'))["pronoun.recall"] == 2 / 3
    heavy = outputs(scored(hyp, [ref], 'd-blonde(tagger=plain,weights="pronoun=3")'))
    assert heavy["recall"] == pytest.approx((0.5**3 * 1) ** (1 / 4))


def test_paper_delta_replaces_zeros_by_a_share_of_the_count() -> None:
    hyp, ref = [("she left but",)], [("he left but",)]
    got = outputs(scored(hyp, [ref], "d-blonde(tagger=plain,zero=delta,zero_value=0.5)"))
    assert got["recall"] == pytest.approx((0.5 / 1 * 1) ** 0.5)


def test_features_are_reported() -> None:
    got = outputs(scored([("he left but she stayed",)], [[("he left but it stayed",)]], "blonde(tagger=plain)"))
    assert (got["pronoun.masculine"], got["pronoun.masculine.precision"]) == (1, 1)
    assert got["pronoun.feminine.precision"] == 0 and math.isnan(got["pronoun.feminine.recall"])
    assert got["marker.comparison"] == 1


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ('blonde(weights="tense")', "'' is not a weight of tense"),
        ('blonde(table=en,weights="tens=1")', "did you mean tense"),
        ('blonde(weights="tense=-1")', "'-1' is not a weight"),
        ("blonde(table=xx)", "no category table for the language 'xx'"),
        ("blonde(profile=old)", "profile is one of"),
    ],
)
def test_faults_in_parameters(spec: str, fault: str) -> None:
    with pytest.raises(SpecError, match=fault):
        scored([("a",)], [[("a",)]], spec)


# ---------------------------------------------------------------- languages and taggers


def test_another_language_is_marked_as_ours() -> None:
    hyp, ref = [("Dann ging er , aber sie blieb .",)], [("Dann ging sie , aber er blieb .",)]
    got = results(hyp, [ref], "d-blonde(tagger=plain)", "de")
    scores = next(iter(got.scores.values()))["sys"]
    assert scores.signature["table.origin"] == "ours" and scores.signature["table"] == "de"
    assert scores.signature["table.hash"] == load_table("de").digest
    assert any("the category table de is wholetext's own" in note for note in got.warnings)
    for told in ("gives no tense: left out", "plain-1 gives no tags: pronoun, marker identified by spelling alone",
                 "entity is not counted in de: names that HanTa finds"):
        assert any(told in note for note in got.warnings), told
    assert outputs(scores)["pronoun"] == 1 and outputs(scores)["marker"] == 1


SENTENCES = {
    "en": ("Ann said that she had left Rome, but he stayed.", "Bob says that he leaves Rome, and he stays."),
    "de": ("Angela sagte, dass sie Berlin verlassen habe, aber er blieb.", "Er will Berlin verlassen."),
    "fr": ("Marie est arrivée à Lyon, mais elle parlait peu.", "Il arrive à Lyon."),
    "ru": ("Анна приехала в Москву, но он уехал.", "Она едет в Москву."),
    "es": ("Ella llegó a Madrid, pero él se fue.", "Él llega a Madrid."),
    "zh": ("王小明去了北京，但是她没有来。", "他去北京。"),
}


@pytest.mark.parametrize("lang", ["en", "de", "es", "zh", *(pytest.param(lang, marks=pytest.mark.long)
                                                                for lang in ("fr", "ru"))])  # fmt: skip
def test_every_language_with_its_own_tagger(lang: str) -> None:
    """Equal texts score 1, others less; what the tagger cannot tell is said."""
    try:
        same = results([SENTENCES[lang][:1]], [[SENTENCES[lang][:1]]], "d-blonde(profile=fixed)", lang)
    except (MissingExtra, ModelError) as missing:
        pytest.skip(str(missing))
    scores = next(iter(same.scores.values()))["sys"]
    assert scores.score == 1
    told = outputs(scores)
    assert told["pronoun"] == told["marker"] == told["tense"] == 1
    if lang in ("en", "ru"):
        assert told["entity"] == 1
    else:  # left out, because too many of the names that the taggers find are none
        assert math.isnan(told["entity"]) and any("entity is not counted" in note for note in same.warnings)
    assert scored([SENTENCES[lang][1:]], [[SENTENCES[lang][:1]]], "d-blonde(profile=fixed)", lang=lang).score < 0.9


def test_an_unknown_target_language_is_taken_for_english_and_told() -> None:
    got = results([("a",)], [[("a",)]], "blonde(tagger=plain)", "")
    assert any("taken to be English" in note for note in got.warnings)


# ---------------------------------------------------------------- annotation files


def test_blonde_plus_needs_annotations() -> None:
    with pytest.raises(MetricError, match=r"annotations=an\.txt"):
        scored([("a",)], [[("a",)]], "blonde-plus(tagger=plain)")


def test_annotations_find_their_document_with_two_references(tmp_path: Path) -> None:
    """Lines go by segment over the whole corpus; phrases are escaped, blanks after ``;`` stripped, case ignored."""
    lines = ["x\t0", "x\t1,fan (club), cold <pos/1,2>; logged in, nodded <pos/3,4>",
             "x\t3,with him, <pos/1,2>\t2\t1,a, b <pos/1,2>"]
    (tmp_path / "an.txt").write_text("\n".join(lines), "utf-8")
    refs_a = [("one",), ("It was a fan (club) .", "He came With him .")]
    refs_b = [("uno",), ("She logged in .", "He came alone .")]
    hyp = [("one",), ("A Fan (club) she logged in .", "He came .")]
    spec = f'blonde-plus(tagger=plain,annotations="{tmp_path}/an.txt")'
    scores = scored(hyp, [refs_a, refs_b], spec)
    stats = scores.stats.sum(axis=0).reshape(-1, 3)
    assert stats[8].tolist() == [2, 2, 2] and stats[9].tolist() == [0, 1, 0]
    (tmp_path / "an.txt").write_text("\n".join(lines[:2]), "utf-8")
    with pytest.raises(InputError, match="2 lines for 3 segments"):
        scored(hyp, [refs_a, refs_b], spec)


def test_names_replace_the_entities(tmp_path: Path) -> None:
    """The reference's names count as the annotator counted them; the output is searched for them, in any case."""
    lines = ["PERSON: (Qiao Lian: 1; Joe: 2;)\tNONPERSON: (Rome: 1;)", "PERSON: ()\tNONPERSON: ()"]
    (tmp_path / "ner.txt").write_text("\n".join(lines) + "\n", "utf-8")
    given = tagger(tmp_path, *({"text": text, "tokens": text.split(), "entities": [["PERSON", 0, 2]]}
                               for text in ("Qiao Lian saw Joe in Rome", "JOE saw Joes in Rome", "She left")))
    hyp, ref = [("JOE saw Joes in Rome", "She left")], [("Qiao Lian saw Joe in Rome", "She left")]
    args = f'names="{tmp_path}/ner.txt",{given},weights="nonperson=1"'
    stats = scored(hyp, [ref], f"d-blonde({args})").stats.sum(axis=0).reshape(-1, 3)
    assert stats[2].tolist() == [2, 4, 2]
    plain = scored(hyp, [ref], f"d-blonde({given})").stats.sum(axis=0).reshape(-1, 3)
    assert plain[2].tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    ("content", "fault"), [("PERSON: (Joe)", "not the count of an entry"), (b"\xff", "UTF-8"), (None, "no such file")]
)
def test_faults_in_annotation_files(tmp_path: Path, content: str | bytes | None, fault: str) -> None:
    path = tmp_path / f"{fault[:3]}.txt"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=fault):
        scored([("a",)], [[("a",)]], f'd-blonde(tagger=plain,names="{path}")')


# ---------------------------------------------------------------- spans, the cache, run folders, significance


def test_spans_say_what_matched_what_is_missing_and_what_is_extra() -> None:
    scores = scored([("He left", "but she stayed")], [[("She left", "But she stayed")]], "blonde(tagger=plain)")
    spans = scores.details[0]["blonde"]
    assert spans["hyp"] == [[0, 0, 2, "pronoun", "masculine", 0], [1, 4, 7, "pronoun", "feminine", 1],
                            [1, 0, 3, "marker", "comparison", 1]]
    assert spans["refs"] == [[[0, 0, 3, "pronoun", "feminine", 0], [1, 4, 7, "pronoun", "feminine", 1],
                              [1, 0, 3, "marker", "comparison", 1]]]


@pytest.mark.long
@given(DOCS, st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_the_order_of_documents_does_not_matter_and_precision_is_recall_of_the_other(docs: Texts, chance: Any) -> None:
    refs = [tuple(segment.replace("he", "she") for segment in doc) for doc in docs]
    order = list(range(len(docs)))
    chance.shuffle(order)
    for spec in ("blonde(tagger=plain)", "d-blonde(tagger=plain,profile=fixed)"):
        plain = scored(docs, [refs], spec)
        other = scored([docs[i] for i in order], [[refs[i] for i in order]], spec)
        np.testing.assert_allclose(plain.table("corpus"), other.table("corpus"), atol=1e-12)
        np.testing.assert_allclose(plain.at("doc")[order], other.at("doc"), atol=1e-12)
    there, back = (outputs(scored(*sides, "blonde(profile=fixed,tagger=plain)"))
                   for sides in ((docs, [refs]), (refs, [docs])))  # fmt: skip
    np.testing.assert_allclose([there["precision"], there["recall"], there["f1"]],
                               [back["recall"], back["precision"], back["f1"]], atol=1e-12)  # fmt: skip


@pytest.mark.long
def test_fifty_thousand_tokens_in_one_segment() -> None:
    text = "He crossed the bridge again , but she stayed . " * 5000
    scores = scored([(text,)], [[(text.replace("she", "he"),)]], "blonde(profile=fixed,tagger=plain)")
    assert 0.5 < scores.score < 1 and outputs(scores)["pronoun"] == pytest.approx(0.5)
