"""The form matched: its features against BERTScore and Sentence-BERT, by hand, alone and in company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.metrics.neural_texts import ORACLE, cut, texts
from wholetext.errors import ModelError
from wholetext.metrics.bertscore import BertScore
from wholetext.metrics.sbert import Sbert
from wholetext.models.device import Precision
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine
from wholetext.text.overlap import FOLDED
from wholetext.training.learned.body import Opening
from wholetext.training.learned.config import Config
from wholetext.training.learned.matched import PER_LAYER, Matched, rarity
from wholetext.types import Excerpt, FloatArray, Request

pytest.importorskip("torch")
pytest.importorskip("transformers")
MODEL = ORACLE / "models" / "tiny-bert"
PAIRS = cut(texts()["zh-en"])[:12]
LAYERS = 3


def form(**given: Any) -> Matched:
    base = locate(str(MODEL))
    config = Config("matched", base.name, base.revision, settings={"layers": [0, 1, -1]}, **given)
    return Matched(Opening(config, base, Precision("cpu", "fp32"), Engine(("zh", "en"))))


def one(hyp: str, ref: str) -> Request:
    return Request((Excerpt((hyp,), (0, 1)),), None, (Excerpt((ref,), (0, 1)),))


def features(*pairs: tuple[str, str]) -> FloatArray:
    return form().features([one(*pair) for pair in pairs], Engine())


def test_precision_and_recall_are_those_of_bertscore() -> None:
    engine = Engine(("zh", "en"))
    found = form().features(PAIRS, engine)
    metric = BertScore(str(MODEL), layer=1, align_scope="sentence").resolve(("zh", "en"))
    wanted = metric.reduce_rows(metric.measure(PAIRS, engine))
    precision, recall = (wanted[:, metric.outputs.index(name)] for name in ("precision", "recall"))
    np.testing.assert_allclose(found[:, 1], precision, atol=2e-6)
    np.testing.assert_allclose(found[:, LAYERS + 1], recall, atol=2e-6)


def test_the_last_cosine_is_that_of_sentence_bert() -> None:
    engine = Engine(("zh", "en"))
    metric = Sbert(str(MODEL)).resolve(("zh", "en"))
    wanted = metric.reduce_rows(metric.measure(PAIRS, engine))[:, 0]
    np.testing.assert_allclose(form().features(PAIRS, engine)[:, PER_LAYER * LAYERS - 1], wanted, atol=2e-6)


def test_equal_texts_match_in_full() -> None:
    (found,) = features(("The cat sat on the mat.", "The cat sat on the mat."))
    assert found.shape == (form().width,)
    np.testing.assert_allclose(found[: LAYERS * PER_LAYER], 1.0, atol=1e-5)


def test_empty_texts_match_nothing_and_stay_finite() -> None:
    found = features(("", "The cat sat."), ("The cat sat.", ""), ("", ""))
    assert np.isfinite(found).all()
    assert (found[:, : LAYERS * PER_LAYER] == 0).all()


def test_features_do_not_depend_on_order_or_company() -> None:
    mine = form()
    whole = mine.features(PAIRS, Engine())
    back = mine.features(PAIRS[::-1], Engine(batch_tokens=64))[::-1]
    np.testing.assert_allclose(back, whole, atol=1e-6)
    np.testing.assert_allclose(mine.features(PAIRS[:1], Engine()), whole[:1], atol=1e-6)


def test_case_makes_one_difference_only() -> None:
    """The encoder knows no case (its vocabulary is lower case)."""
    plain, upper = features(("Summary of it", "Summary of it"), ("SUMMARY OF IT", "Summary of it"))
    case = len(plain) - len(FOLDED) + FOLDED.index("case differs in shared words")
    moved = np.flatnonzero(abs(plain - upper) > 1e-6)
    assert moved.tolist() == [case] and upper[case] == 1.0


def test_negations_are_counted_on_both_sides() -> None:
    more, fewer = features(("He did not go.", "He did go."), ("He can go.", "He can't go."))
    at = [len(more) - len(FOLDED) + FOLDED.index(name) for name in ("more negations in the hypothesis",
                                                                   "fewer negations")]  # fmt: skip
    assert more[at].tolist() == [1, 0] and fewer[at].tolist() == [0, 1]


def test_rare_tokens_weigh_more() -> None:
    weights = rarity([1000, 2000, 29000])
    assert (np.diff(weights) > 0).all() and weights[0] > 0


def test_it_reads_hypothesis_and_reference_only() -> None:
    with pytest.raises(ModelError, match="the form matched reads hyp and ref, not hyp, src"):
        form(reads=("hyp", "src"))


def test_the_reference_itself_is_best_by_every_signed_feature() -> None:
    """What a linear head reads is bounded by the reference's own features, so no output scores above it."""
    signs, made = form().signs, form()
    assert signs.shape == (made.width,) and set(signs.tolist()) == {-1.0, 0.0, 1.0}
    refs = [pair.refs[0] for pair in PAIRS]
    outputs = made.features(PAIRS, Engine())
    best = made.features([Request((ref,), None, (ref,)) for ref in refs], Engine())
    worse = (outputs - best) * signs  # (n, width)
    assert worse.max() < 1e-5 and worse.min() < -0.1
