"""Texts that break things: no noun, one sentence, nothing at all, emoji, fifty thousand tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.metrics.disco_given import WordListTagger, engine, request, static_vectors
from wholetext.metrics.cohesion.metric import (
    Conn,
    EntityGraph,
    Freq,
    Lc,
    LexicalChain,
    LexicalGraph,
    Rc,
)
from wholetext.metrics.discoscore.metric import DsFocus, DsSent
from wholetext.types import Metric

NOUNS = {f"n{i}": f"n{i}" for i in range(40)} | {word: word for word in ("china", "people", "press", "year", "land")}
STATIC = static_vectors({noun: np.random.default_rng(i).normal(size=4) for i, noun in enumerate(NOUNS)})
ODD = ["", " ", "the saw is .", "n1", "👍 👍 👍", "n1 n2 . . . n1 !", "\u200b\u00a0", "n3 " * 40]


def metrics(model: str) -> list[Metric]:
    return [
        DsFocus(model=model), DsFocus(model=model, focus="entity", no_overlap="nan", min_mentions=2),
        DsFocus(model=model, focus_match="lemma", no_overlap="max", distance="l2"),
        DsFocus(model=model, too_long="truncate"), DsSent(model=model, too_long="truncate", weighting="w"),
        DsSent(model=model), DsSent(model=model, focus="entity", match="greedy"), DsSent(model=model, match="optimal"),
        DsSent(model=model, words="spaces", use_graph=False),
        Rc(), Lc(), Rc(definition="wong-kit"), Lc(definition="wong-kit", items="vectors"), EntityGraph(),
        LexicalGraph(), LexicalChain(), Freq(focus="entity"), Conn(weighting="w"),
    ]


@pytest.fixture(scope="module")
def model(oracle: Path) -> str:
    return str(oracle / "neural" / "models" / "tiny-bert")


def test_odd_texts_get_a_number_or_nan(model: str) -> None:
    run = engine(analyser=WordListTagger(NOUNS), vectors=STATIC)
    asked = [request(hyp, ref, hyp) for hyp in ODD for ref in ODD]
    for metric in metrics(model):
        stats = metric.measure(asked, run)
        assert np.isfinite(stats).all() and len(stats) == len(asked)
        table = metric.reduce(stats)
        low, high = metric.range
        known = table[~np.isnan(table)]
        assert ((known >= low - 1e-6) & (known <= high + 1e-6)).all(), metric


def test_reasons_are_given(model: str) -> None:
    run = engine(analyser=WordListTagger(NOUNS), vectors=STATIC)
    Rc().measure([request("the saw"), request(""), request("n1")], run)
    assert [run._details.get(i, {}).get("reason") for i in range(3)] == ["no noun", "no word", None]
    assert [run._details.get(i, {}).get("notes") for i in range(3)] == [["texts without a noun score 0"]] * 2 + [None]
    run = engine(analyser=WordListTagger(NOUNS), vectors=STATIC)
    DsSent(model=model).measure([request("", ""), request("n1 .", "")], run)
    reasons = ["neither text has a word", "one of the two texts has no word"]
    assert run._details == {i: {"reason": reason, "notes": [reason]} for i, reason in enumerate(reasons)}


def test_a_plan_too_large_is_nan_with_a_reason(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    from wholetext.metrics.discoscore import metric as discoscore

    monkeypatch.setattr(discoscore, "_LARGEST_PLAN", 3)
    run = engine(analyser=WordListTagger(NOUNS), vectors=STATIC)
    metric = DsSent(model=model, match="optimal")
    assert np.isnan(metric.reduce(metric.measure([request("n1 . n2 .", "n1 . n3 .")], run))).all()
    assert "too many" in run._details[0]["reason"]


def test_truncation_is_counted(model: str) -> None:
    run = engine(analyser=WordListTagger(NOUNS), vectors=STATIC)
    asked = [request("n1 . " * 800, "n1 .")]
    assert DsSent(model=model).fits(asked, run)[0].lost_focus == 0  # type: ignore[index]
    assert DsSent(model=model, too_long="truncate").fits(asked, run)[0].lost_focus > 0  # type: ignore[index]


@pytest.mark.parametrize("spec", ["entity-graph", "lc(definition=wong-kit)", "lexical-chain", "ds-focus@{model}",
                                  "ds-sent(focus=entity,match=optimal)@{model}"])
def test_conformance(spec: str, model: str) -> None:
    pytest.importorskip("spacy")
    from wholetext.testing import check_metric

    check_metric(spec.format(model=model), tolerance=1e-5)
