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
