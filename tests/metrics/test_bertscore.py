"""BERTScore against frozen outputs of bert-score 0.3.13 and of the fork with document context."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.metrics.neural_texts import ORACLE, TEXTS, cut, one, oracle, scored_lines
from wholetext.metrics.bertscore import BertScore, earth_movers_distance
from wholetext.metrics.discoscore.metric import similarity
from wholetext.scoring.engine import Engine
from wholetext.types import FloatArray, Request

pytest.importorskip("torch")
pytest.importorskip("transformers")
TOLERANCE = 2e-6
def scores(metric: BertScore, asked: Sequence[Request], engine: Engine | None = None) -> FloatArray:
    """(n, 3): P, R, F, in the order the oracle files have them."""
    engine = engine or Engine(("de", "en"))
    metric = metric.resolve(engine.langs)
    if metric.surveys:
        engine.survey = metric.survey([request.refs[:1] for request in asked], engine)
    table = metric.reduce_rows(metric.measure(asked, engine))
    return table[:, [1, 2, 0]]


def expected(entry: dict[str, list[float]]) -> FloatArray:
    return np.stack([entry["P"], entry["R"], entry["F"]], axis=1)


def close(found: FloatArray, entry: dict[str, list[float]]) -> None:
    np.testing.assert_allclose(found, np.stack([entry["P"], entry["R"], entry["F"]], axis=1), atol=TOLERANCE, rtol=0)


def test_names_give_the_numbers_of_the_published_tools() -> None:
    model, lines = ORACLE / "models" / "tiny-bert", TEXTS["en-de"]
    published = {
        "BERTScore": oracle("bertscore/sentence.json")["models"]["tiny-bert|layer4|idf=False"]["expected"]["en-de"],
        "doc-bertscore": oracle("bertscore/doc_fork.json")["models"]["tiny-bert"]["expected"]["idf=False"]["en-de"],
    }
    for name, expected_scores in published.items():
        result = scored_lines(lines, f"{name}(layer=4)@{model}")
        np.testing.assert_allclose(result.at("segment"), expected_scores["F"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("case", oracle("bertscore/sentence.json")["models"].values(),
                         ids=list(oracle("bertscore/sentence.json")["models"]))
def test_sentence_scores_of_bert_score(case: dict[str, Any]) -> None:
    metric = BertScore(str(ORACLE / case["model"]), layer=case["num_layers"], idf=case["idf"])
    for pair, wanted in case["expected"].items():
        close(scores(metric, cut(TEXTS[pair])), wanted)


def test_rescaling() -> None:
    case = oracle("bertscore/sentence.json")["extras"]["rescaled"]
    table = str(ORACLE / "bertscore" / case["baseline"])
    metric = BertScore(str(ORACLE / case["model"]), layer=case["num_layers"], baseline=table)
    close(scores(metric, cut(TEXTS["en-de"])[:10]), case)
    assert metric.facts()["baseline_hash"]


def test_several_references_give_the_best_of_each_number() -> None:
    case = oracle("bertscore/sentence.json")["extras"]["multi_ref"]
    lines = TEXTS["en-de"]
    asked = [
        Request((one(lines["hyp"][i]),), None, (one(lines["ref"][i]), one(lines["hyp"][i + 1]))) for i in range(10)
    ]
    close(scores(BertScore(str(ORACLE / case["model"]), layer=case["num_layers"]), asked), case)


def test_empty_text_scores_zero_with_a_warning() -> None:
    case = oracle("bertscore/sentence.json")["extras"]["edge_cases_batch1"]
    asked = [Request((one(hyp),), None, (one(ref),)) for hyp, ref in zip(case["hyp"], case["ref"])]
    engine = Engine()
    close(scores(BertScore(str(ORACLE / case["model"]), layer=case["num_layers"]), asked, engine), case)
    blank = {i for i, (hyp, ref) in enumerate(zip(case["hyp"], case["ref"])) if not hyp.strip() or not ref.strip()}
    assert blank and {i for i, facts in engine._details.items() if "empty" in facts["notes"][0]} == blank


@pytest.mark.parametrize("name", ["tiny-bert", "tiny-xlmr"])
def test_document_scores_of_the_fork(name: str) -> None:
    case = oracle("bertscore/doc_fork.json")["models"][name]
    for pair, wanted in case["expected"]["idf=False"].items():
        asked = cut(TEXTS[pair], prev=2)
        found = scores(BertScore(str(ORACLE / case["model"]), layer=4, truncation="reference"), asked)
        close(found, wanted)
        default = scores(BertScore(str(ORACLE / case["model"]), layer=4), asked)
        same = np.setdiff1d(np.arange(len(found)), wanted["truncated"])  # the others are cut elsewhere by default
        np.testing.assert_allclose(default[same], found[same], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("case", oracle("bertscore/doc_independent.json")["models"].values(), ids=lambda c: c["model"])
def test_document_scores_as_the_paper_defines_them(case: dict[str, Any]) -> None:
    paper: dict[str, Any] = {"align_scope": "sentence"}
    variants = {"sentence_scope": paper, "sequence_scope": {}, "sentence_scope_idf": {**paper, "idf": True}}
    for pair, wanted in case["expected"].items():
        for variant, options in variants.items():
            metric = BertScore(str(ORACLE / case["model"]), layer=case["num_layers"], **options)
            close(scores(metric, cut(TEXTS[pair], prev=case["n"])), wanted[variant])


def test_byte_level_vocabularies_see_a_space_before_the_first_word() -> None:
    wanted = oracle("extra/expected.json")["bertscore"]
    lines = TEXTS["en-de"]
    pairs = [*zip(lines["hyp"][:8], lines["ref"][:8]), (" spaced  out ", "spaced out")]
    asked = [Request((one(hyp),), None, (one(ref),)) for hyp, ref in pairs]
    close(scores(BertScore(str(ORACLE / "extra" / "tiny-roberta"), layer=wanted["layer"]), asked), wanted)


def test_by_hand() -> None:
    cost = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    assert earth_movers_distance(cost) == pytest.approx(1 / 6)
    assert earth_movers_distance(cost[:2]) == 0.0
    assert earth_movers_distance(cost[:2], np.array([3.0, 1.0]), np.array([1.0, 1.0])) == pytest.approx(0.25)


def test_of_unit_rows() -> None:
    axes = np.eye(3)
    assert 1 - similarity(axes[:1], axes[:2], "optimal")[0] == pytest.approx(math.sqrt(2) / 2)
    # 3 rows onto 2: a third of the mass stays on each shared row, the rest moves √2
    assert 1 - similarity(axes, axes[:2], "optimal")[0] == pytest.approx(math.sqrt(2) / 3)
    assert 1 - similarity(axes, axes[::-1], "optimal")[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 4), (7, 3), (12, 17)])
def test_equals_the_linear_programme(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    cost, here, there = rng.random(shape), rng.random(shape[0]) + 0.1, rng.random(shape[1]) + 0.1
    leaves = np.kron(np.eye(shape[0]), np.ones((1, shape[1])))
    arrives = np.kron(np.ones((1, shape[0])), np.eye(shape[1]))
    exact = linprog(cost.ravel(), A_eq=np.vstack([leaves, arrives]),
                    b_eq=np.concatenate([here / here.sum(), there / there.sum()]), method="highs").fun
    assert earth_movers_distance(cost, here, there) == pytest.approx(exact, rel=1e-9)
