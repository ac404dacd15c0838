"""The form aligned: its features against BERTScore, by hand, alone and in company."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.metrics.neural_texts import ORACLE, cut, texts
from wholetext.metrics.bertscore import BertScore
from wholetext.models.device import Precision
from wholetext.models.hub.locate import locate
from wholetext.scoring.engine import Engine
from wholetext.training.learned.aligned import PER_LAYER, AlignedForm
from wholetext.training.learned.folder import Config
from wholetext.types import Excerpt, Request

pytest.importorskip("torch")
pytest.importorskip("transformers")
MODEL = ORACLE / "models" / "tiny-bert"
PAIRS = cut(texts()["zh-en"])[:12]


def form(engine: Engine | None = None, **settings: Any) -> AlignedForm:
    engine = engine or Engine(("zh", "en"))
    base = locate(str(MODEL))
    config = Config("aligned", base.name, base.revision, settings=settings)
    return AlignedForm(config, base, Precision("cpu", "fp32"), engine)


def one(hyp: str, ref: str) -> Request:
    return Request((Excerpt((hyp,), (0, 1)),), None, (Excerpt((ref,), (0, 1)),))


def test_the_untrained_score_is_bertscore() -> None:
    engine = Engine(("zh", "en"))
    mine = form(engine, layers=[0, 1, 2])
    metric = BertScore(str(MODEL), layer=1, align_scope="sentence").resolve(("zh", "en"))
    wanted = metric.reduce_rows(metric.measure(PAIRS, engine))[:, 0]
    np.testing.assert_allclose(mine.untrained(mine.features(PAIRS, engine)), wanted, atol=2e-6)


def test_equal_texts_match_in_full() -> None:
    mine = form(layers=[0, 1])
    found = mine.features([one("The cat sat on the mat.", "The cat sat on the mat.")], Engine())[0]
    assert found.shape == (mine.width,)
    np.testing.assert_allclose(found[: 2 * PER_LAYER], 1.0, atol=1e-5)


def test_empty_texts_match_nothing_and_stay_finite() -> None:
    mine = form()
    found = mine.features([one("", "The cat sat."), one("The cat sat.", ""), one("", "")], Engine())
    assert np.isfinite(found).all()
    assert (found[:, : len(mine.units.layers) * PER_LAYER] == 0).all()


def test_features_do_not_depend_on_order_or_company() -> None:
    mine = form()
    whole = mine.features(PAIRS, Engine())
    back = mine.features(PAIRS[::-1], Engine(batch_tokens=64))[::-1]
    np.testing.assert_allclose(back, whole, atol=1e-6)
    np.testing.assert_allclose(mine.features(PAIRS[:1], Engine()), whole[:1], atol=1e-6)


def test_context_is_read_and_only_the_segment_is_compared() -> None:
    mine = form()
    hyp, ref = Excerpt(("A first line.", "The cat sat."), (1, 2)), Excerpt(("A first line.", "The cat sat."), (1, 2))
    with_context = mine.features([Request((hyp,), None, (ref,))], Engine())[0]
    without = mine.features([one("The cat sat.", "The cat sat.")], Engine())[0]
    same_length = len(mine.units.layers) * PER_LAYER
    np.testing.assert_allclose(with_context[:same_length], without[:same_length], atol=1e-5)  # all matches are 1
    other = Request((Excerpt(("Quite another line.", "The cat sat."), (1, 2)),), None, (ref,))
    assert abs(mine.features([other], Engine())[0] - with_context).max() > 1e-3  # context moves the vectors
