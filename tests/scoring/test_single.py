"""Texts scored on their own: equal scores whatever the batch, gates, alignment, bad input."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.demo import load as load_demo
from wholetext.errors import AlignmentError, InputError, SpecError, WholetextError
from wholetext.scoring.single import ScoredText, Treatment, read_texts, score_texts

LANGS = Treatment("de-en")
FRENCH = "Il est venu avec la voiture de sa mère et il est parti dans la nuit"


def values(texts: list[ScoredText], metric: str, how: Treatment = LANGS) -> list[float | None]:
    return score_texts(texts, [metric], how)[0][0].scores


def check_batches(metric: str) -> None:
    """Segments and documents of the bundled demo, in turn, all of different lengths."""
    corpus, outputs = load_demo("de-en")
    entries: list[dict[str, Any]] = []
    for doc in corpus.docs[:6]:
        hyp, src, ref = outputs[0].docs[doc.id], doc.src or (), doc.refs["human"]
        entries += [{"hyp": a, "src": b, "refs": [c]} for a, b, c in zip(hyp, src, ref)][:4]
        entries.append({"hyp": hyp, "src": src, "refs": [ref]})
    texts = read_texts(entries)
    alone = [values([text], metric)[0] for text in texts]
    assert values(texts, metric) == pytest.approx(alone, abs=1e-6)
    order = random.Random(1).sample(range(len(texts)), len(texts))
    for begin in range(0, len(texts), 5):
        part = order[begin : begin + 5]
        assert values([texts[at] for at in part], metric) == pytest.approx([alone[at] for at in part], abs=1e-6)


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter", "d-chrf", "rouge"])
def test_scores_do_not_depend_on_the_batch(metric: str) -> None:
    check_batches(metric)


@pytest.mark.long
@pytest.mark.parametrize("metric", ["sbert@minilm", "context(prev=2):bertscore@minilm", "d-blonde"])
def test_scores_of_models_do_not_depend_on_the_batch(metric: str) -> None:
    check_batches(metric)


def test_scores_of_comet_do_not_depend_on_the_batch(oracle: Path) -> None:
    check_batches(f"comet@{oracle / 'neural' / 'models' / 'comet-reg-mix'}")


def test_a_segment_gets_its_segment_score_and_a_document_that_of_the_document() -> None:
    texts = read_texts([{"hyp": "the cat sat", "refs": ["the cat sat down"]},
                        {"hyp": ["the cat sat", "late"], "refs": [["the cat sat down", "too late"]]}])  # fmt: skip
    results = wt.score([["the cat sat"], ["the cat sat", "late"]], "bleu",
                       refs=[["the cat sat down"], ["the cat sat down", "too late"]])["bleu"]["hyp"]  # fmt: skip
    assert values(texts, "bleu", Treatment()) == [results.at("segment")[0], results.at("doc")[1]]


def test_texts_with_and_without_a_source_are_scored_together() -> None:
    texts = read_texts([{"hyp": "a b", "refs": ["a b"]}, {"hyp": "a b", "src": "x", "refs": ["a c", "a b"]}])
    assert values(texts, "chrf") == pytest.approx([100.0, 100.0])


@pytest.mark.parametrize(("policy", "expected"), [("worst", 0.0), ("null", None)])
def test_another_language_is_barred_and_said(policy: Any, expected: float | None) -> None:
    texts = read_texts([{"hyp": FRENCH, "refs": ["He came in his mother's car and left at night."]},
                        {"hyp": "He came in a car.", "refs": ["He came in his mother's car."]},
                        {"hyp": "<think>never ends", "refs": ["He came."]}])  # fmt: skip
    [scores], notes = score_texts(texts, ["chrf"], Treatment("fr-en", True, policy))
    assert scores.scores[0] == expected == scores.scores[2] and scores.scores[1] is not None
    assert notes == [[f"looks like fr, not en: scored as {policy}"], [],
                     ["removed: unfinished reasoning", f"no text: scored as {policy}"]]  # fmt: skip


def test_a_batch_of_barred_texts_has_scores_too() -> None:
    [scores], _ = score_texts(read_texts([{"hyp": "", "refs": ["a"]}]), ["ter"], Treatment("de-en", language="null"))
    assert scores.scores == [None] and not scores.higher_is_better


def test_an_answer_is_aligned_with_the_segments_of_its_source() -> None:
    src = ["Er kam spät nach Hause.", "Der Hund Bello wartete vor der Tür in Berlin.", "Dann schlief er ein."]
    ref = ["He came home late.", "The dog Bello waited at the door in Berlin.", "Then he fell asleep."]
    answer = "He came home late. The dog Bello waited at the door in Berlin. Then he fell asleep."
    texts = read_texts([{"hyp": answer, "src": src, "refs": [ref]}], align=True)
    [scores], notes = score_texts(texts, ["chrf"], Treatment("de-en", align=True))
    assert scores.scores == pytest.approx([100.0]) and notes[0][0].startswith("aligned with 3 segments")


def test_text_that_does_not_fit_the_model_is_said(oracle: Path) -> None:
    metric = f"comet@{oracle / 'neural' / 'models' / 'comet-reg-short'}"
    texts = read_texts([{"hyp": "a word " * 400, "src": "ein Wort", "refs": ["a word"]}])
    assert "do not fit the model" in " ".join(score_texts(texts, [metric], LANGS)[1][0])


@pytest.mark.parametrize(("entry", "error"), [
    ({"src": "a"}, InputError), ("a", InputError), ({"hyp": 3}, InputError), ({"hyp": []}, InputError),
    ({"hyp": ["a", None]}, InputError), ({"hyp": "a", "refs": 3}, InputError), ({"hyp": "a", "sys": "b"}, InputError),
    ({"hyp": "a\0"}, InputError), ({"hyp": "\ud800"}, InputError), ({"hyp": ["a", "b"], "src": ["a"]}, AlignmentError),
    ({"hyp": "a", "refs": [["a", "b"], ["c"]]}, AlignmentError),
])  # fmt: skip
def test_a_text_that_cannot_be_used_is_named(entry: Any, error: type[WholetextError]) -> None:
    with pytest.raises(error) as told:
        read_texts([{"hyp": "fine"}, entry])
    assert told.value.where == "text 2"


@pytest.mark.parametrize("metric", ["cider", "comet(layernorm_scope=minibatch8)", "context(prev=2,source=other):chrf"])
def test_a_metric_that_depends_on_the_other_texts_is_refused(metric: str) -> None:
    with pytest.raises(SpecError, match="depend on the other texts"):
        score_texts(read_texts([{"hyp": "a", "refs": ["a"]}]), [metric], Treatment())


def test_treatments_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="add langs"):
        Treatment(language="worst")
    with pytest.raises(InputError, match="worst"):
        Treatment("de-en", language="wort")  # type: ignore[arg-type]
