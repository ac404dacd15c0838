"""BERTScore against frozen outputs of bert-score 0.3.13 and of the fork with document context."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from wholetext.engine import Engine
from wholetext.metrics.bertscore import BertScore
from wholetext.types import Document, FloatArray, Request, View
from wholetext.views import Context, Sentence, Sides

TOLERANCE = 2e-6
COMPAT = {"align_scope": "sequence"}  # what the published code does


@pytest.fixture(scope="module")
def neural(oracle: Path) -> Path:
    return oracle / "neural"


@pytest.fixture(scope="module")
def inputs(neural: Path) -> dict[str, Any]:
    found = json.loads((neural / "inputs.json").read_text("utf-8"))
    return {**found["lps"], "long": found["long"]}


def requests(texts: dict[str, Any], prev: int = 0, **options: Any) -> list[Request]:
    """One request per segment, in order, with ``prev`` segments of context."""
    found: list[Request] = []
    names = texts["doc"]
    for name in dict.fromkeys(names):
        mine = [i for i, other in enumerate(names) if other == name]
        pick = {side: tuple(texts[side][i] for i in mine) for side in ("src", "ref", "hyp")}
        view = Context(prev=prev, **options) if prev else Sentence()
        found += view.cut(Document(name, pick["src"], {"ref": pick["ref"]}), pick["hyp"], Sides(refs=("ref",)))[1]
    return found


def scores(metric: BertScore, asked: Sequence[Request], engine: Engine | None = None) -> FloatArray:
    """(n, 3): P, R, F, in the order the oracle files have them."""
    engine = engine or Engine(("de", "en"))
    metric = metric.resolve(engine.langs)
    if metric.surveys:
        engine.survey = metric.survey([request.refs[0] for request in asked], engine)
    table = metric.reduce_rows(metric.measure(asked, engine))
    return table[:, [1, 2, 0]]


def expected(entry: dict[str, list[float]]) -> FloatArray:
    return np.stack([entry["P"], entry["R"], entry["F"]], axis=1)


def test_sentence_scores_of_bert_score(neural: Path, inputs: dict[str, Any]) -> None:
    golden = json.loads((neural / "bertscore/sentence.json").read_text("utf-8"))
    for entry in golden["models"].values():
        metric = BertScore(str(neural / entry["model"]), layer=entry["num_layers"], idf=entry["idf"], **COMPAT)
        for pair, wanted in entry["expected"].items():
            found = scores(metric, requests(inputs[pair]))
            np.testing.assert_allclose(found, expected(wanted), atol=TOLERANCE, rtol=0)


def test_rescaling_references_and_empty_text(neural: Path, inputs: dict[str, Any]) -> None:
    extras = json.loads((neural / "bertscore/sentence.json").read_text("utf-8"))["extras"]
    texts, one = inputs["en-de"], (0, 1)

    entry = extras["rescaled"]
    table = str(neural / "bertscore" / entry["baseline"])
    metric = BertScore(str(neural / entry["model"]), layer=entry["num_layers"], baseline=table, **COMPAT)
    np.testing.assert_allclose(scores(metric, requests(texts)[:10]), expected(entry), atol=TOLERANCE, rtol=0)

    entry = extras["multi_ref"]
    metric = BertScore(str(neural / entry["model"]), layer=entry["num_layers"], **COMPAT)
    asked = [
        Request((View((texts["hyp"][i],), one),), None, (View((texts["ref"][i],), one), View((texts["hyp"][i + 1],), one)))
        for i in range(10)
    ]
    np.testing.assert_allclose(scores(metric, asked), expected(entry), atol=TOLERANCE, rtol=0)

    entry = extras["edge_cases_batch1"]
    asked = [Request((View((h,), one),), None, (View((r,), one),)) for h, r in zip(entry["hyp"], entry["ref"])]
    engine = Engine()
    np.testing.assert_allclose(scores(metric, asked, engine), expected(entry), atol=TOLERANCE, rtol=0)
    assert any("empty" in text for text in engine.warnings)


def test_document_scores_of_the_fork(neural: Path, inputs: dict[str, Any]) -> None:
    golden = json.loads((neural / "bertscore/doc_fork.json").read_text("utf-8"))
    for entry in golden["models"].values():
        metric = BertScore(str(neural / entry["model"]), layer=entry["num_layers"], truncation="reference", **COMPAT)
        for pair, wanted in entry["expected"]["idf=False"].items():
            found = scores(metric, requests(inputs[pair], prev=2))
            np.testing.assert_allclose(found, expected(wanted), atol=TOLERANCE, rtol=0)
            default = scores(BertScore(str(neural / entry["model"]), layer=4, **COMPAT), requests(inputs[pair], prev=2))
            same = np.setdiff1d(np.arange(len(found)), wanted["truncated"])
            np.testing.assert_allclose(default[same], found[same], atol=TOLERANCE, rtol=0)


def test_document_scores_as_the_paper_defines_them(neural: Path, inputs: dict[str, Any]) -> None:
    golden = json.loads((neural / "bertscore/doc_independent.json").read_text("utf-8"))
    variants = {"sentence_scope": {}, "sequence_scope": COMPAT, "sentence_scope_idf": {"idf": True}}
    for entry in golden["models"].values():
        for pair, wanted in entry["expected"].items():
            for variant, options in variants.items():
                metric = BertScore(str(neural / entry["model"]), layer=entry["num_layers"], **options)
                found = scores(metric, requests(inputs[pair], prev=entry["n"]))
                np.testing.assert_allclose(found, expected(wanted[variant]), atol=TOLERANCE, rtol=0)
