"""DiscoScore against the published code's numbers, and what must hold of any text."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.metrics.disco_given import (
    GOLD,
    HYP,
    NOUNS,
    REF,
    STATIC,
    WordListTagger,
    engine,
    reading,
    request,
    static_vectors,
    value,
)  # fmt: skip
from wholetext.errors import SpecError
from wholetext.metrics.cohesion.grids import entities, mentions
from wholetext.metrics.discoscore.metric import (
    DsFocus,
    DsSent,
    focus_distance,
    focus_vectors,
    graph_vector,
    refine,
    similarity,
)

CLOSE = 2e-5  # float32 encoder outputs on another transformers version
MICRO = 1e-6  # the printed digits come from float32 sums; ours are float64
DOCS = ("xinhua-zh-01.120323", "chinanews.com.229726", "chinanews.com.229638")

# Two texts, their nouns, and vectors from a formula
class FormulaEncoder:
    """The micro-test's token vectors: one piece per word, a formula of word number and position."""

    id = "formula"

    def __init__(self, *texts: str) -> None:
        words = ["[CLS]", *(word for text in texts for word in text.split())]
        self.number = {word: at for at, word in enumerate(dict.fromkeys(words))}

    def vectors(self, words: tuple[str, ...]) -> np.ndarray:
        rows = []
        for place, word in enumerate(("[CLS]", *words)):
            i = self.number[word]
            rows.append([1 + i % 3, i * i % 5 - 2, place % 4 - 1.5, 0.5 * ((i + place) % 3)])
        return np.array(rows)

    def fit(self, x: Any) -> Any:
        from wholetext.types import Fit

        return Fit(tokens=len(x.words) + 1)

    def run(self, batch: Any) -> list[np.ndarray]:
        out = []
        for passage in batch:
            rows = self.vectors(passage.words)
            means = [rows[(start + 1 if start else 0) : stop + 1].mean(axis=0) for start, stop in passage.sentences]
            out.append(np.array([*(rows[place + 1] for place in passage.places), *means]).reshape(-1, 4))
        return out


@pytest.fixture(scope="module")
def gold_run() -> Any:
    return engine(analyser=WordListTagger(GOLD["nouns"]), vectors=static_vectors(GOLD["static_vectors"]))


@pytest.fixture(scope="module")
def micro_run() -> Any:
    return engine(analyser=WordListTagger(NOUNS), vectors=STATIC, word_encoder=FormulaEncoder(HYP, REF))


# ---------------------------------------------------------------- numbers of the published code


@pytest.mark.parametrize("doc", DOCS)
def test_every_golden_number(doc: str, gold_run: Any, oracle: Path) -> None:
    text = GOLD["documents"][doc]
    hyp, ref, ref2, one = text["hyp"], text["ref"], text["ref2"], text["sentences_ref"][0]
    model = str(oracle / "neural" / "models" / "tiny-bert")
    focus, sent = DsFocus(model=model), DsSent(model=model)
    seen = {
        "DS_Focus_NN": value(focus, gold_run, hyp, ref),
        "DS_Focus_NN_two_refs": value(focus, gold_run, hyp, ref, ref2),
        "DS_Focus_self": value(focus, gold_run, hyp, hyp),
        "DS_Focus_Entity_08": value(DsFocus(model=model, focus="entity"), gold_run, hyp, ref),
        "DS_Sent_U_NN": value(sent, gold_run, hyp, ref),
        "DS_Sent_U_NN_two_refs": value(sent, gold_run, hyp, ref, ref2),
        "DS_Sent_U_NN_one_sentence_ref": value(sent, gold_run, hyp, one),
        "DS_Sent_U_NN_refs_one_and_full_UPSTREAM_DOUBLE_COUNT": value(
            DsSent(model=model, one_sentence_refs="twice"), gold_run, hyp, one, ref),
        "DS_Sent_U_Entity_05": value(DsSent(model=model, focus="entity"), gold_run, hyp, ref),
    }
    assert seen == pytest.approx(text["expected"]["ones_mask"], abs=CLOSE)
    once = value(sent, gold_run, hyp, one, ref)
    assert once == pytest.approx((seen["DS_Sent_U_NN"] + seen["DS_Sent_U_NN_one_sentence_ref"]) / 2, abs=1e-6)


@pytest.mark.parametrize("doc", DOCS)
def test_golden_tokens_and_focus_positions(doc: str, oracle: Path) -> None:
    from wholetext.metrics.discoscore.word_encoder import WordEncoder
    from wholetext.models.encoder import open_encoder

    encoder = WordEncoder(open_encoder(engine(), str(oracle / "neural" / "models" / "tiny-bert"), ""))
    static = static_vectors(GOLD["static_vectors"])
    text = GOLD["documents"][doc]
    for side in ("hyp", "ref"):
        read = reading(text[side], GOLD["nouns"])
        pieces = list(map(encoder.pieces, read.words))
        if side == "hyp":
            assert [2, *(piece for word in pieces for piece in word)] == text["hyp_token_ids"]
        last = np.cumsum([len(word) for word in pieces])  # [CLS] is 0, so a word's last piece is at its cumulated end
        found = mentions(read)
        expected = text["graphs"][side]
        assert {f: [int(last[i]) for i in places] for f, places in found.items()} == expected["focus_positions"]
        merged = {f: sorted(int(last[i]) for i in places) for f, places in entities(found, static, 0.8).items()}
        assert merged == {f: sorted(places) for f, places in expected["entity_positions_08"].items()}


def test_micro_test_of_the_specification(micro_run: Any) -> None:
    assert value(DsFocus(), micro_run, HYP, REF) == pytest.approx(0.27434655, abs=MICRO)
    assert value(DsFocus(), micro_run, HYP, REF, HYP) == pytest.approx(0.13717328, abs=MICRO)
    assert value(DsFocus(), micro_run, HYP, HYP) == 0.0
    assert value(DsSent(), micro_run, HYP, REF) == pytest.approx(0.99538094, abs=MICRO)
    assert value(DsSent(), micro_run, HYP, "the cat sat on the mat .") == pytest.approx(0.96003145, abs=MICRO)
    assert value(DsFocus(focus="entity"), micro_run, HYP, REF) == pytest.approx(0.51406610, abs=MICRO)
    assert value(DsSent(focus="entity"), micro_run, HYP, REF) == pytest.approx(0.99496871, abs=MICRO)


def test_micro_test_mentions() -> None:
    hyp, ref = ({f: [i + 1 for i in places] for f, places in mentions(reading(text, NOUNS)).items()}
                for text in (HYP, REF))  # one piece per word after [CLS]
    assert hyp == {"cat": [2, 12, 20], "mat": [6], "dog": [9], "paris": [14], "city": [17], "house": [23]}
    assert ref == {"cat": [2, 12], "mat": [6], "dog": [9], "house": [15], "paris": [18], "city": [24]}


# ---------------------------------------------------------------- parameters


def test_variants_and_distance(micro_run: Any) -> None:
    words = DsFocus()
    table = words.reduce(words.measure([request(HYP, "the cat left . the dog left .")], micro_run))[0]
    score, precision, recall, f = table
    assert score == precision and f == pytest.approx((precision + recall) / 2)
    assert precision * 6 == pytest.approx(recall * 2)  # same sum over 6 foci of hyp, 2 of ref
    assert value(DsFocus(variant="recall"), micro_run, HYP, "the cat left . the dog left .") == recall
    l2, squared = (value(DsFocus(distance=d), micro_run, "the cat .", "a cat .") for d in ("l2", "sqeuclidean"))
    assert l2**2 == pytest.approx(squared)
    assert value(DsFocus(negate=True), micro_run, HYP, REF) == -value(DsFocus(), micro_run, HYP, REF)
    assert DsFocus(negate=True).higher_is_better and not DsFocus().higher_is_better


def test_no_overlap_rules(micro_run: Any) -> None:
    pair = ("the cat sat .", "the dog sat .")
    assert value(DsFocus(), micro_run, *pair) == 0.0
    assert math.isnan(value(DsFocus(no_overlap="nan"), micro_run, *pair))
    assert value(DsFocus(no_overlap="max"), micro_run, *pair) == pytest.approx(4.0)  # one unit vector, its opposite
    assert "no focus is shared" in micro_run._details[0]["notes"][0]


def test_min_mentions_and_lemma_match(micro_run: Any) -> None:
    assert set(mentions(reading("the cats saw a cat .", NOUNS), "lemma")) == {"cat"}
    assert mentions(reading("the cats saw a cat .", NOUNS), "lemma")["cat"] == (1, 4)
    assert mentions(reading("the cats saw a cat .", NOUNS))["cat"] == (4,)
    once = value(DsFocus(min_mentions=2, no_overlap="nan"), micro_run, "the cat saw the dog .", "a cat .")
    assert math.isnan(once)
    with pytest.raises(SpecError):
        DsFocus(focus_match="lemma", words="spaces")


def test_weighting_and_graph_switch(micro_run: Any) -> None:
    both = "the cat saw the mat . a mat the cat left ."
    u, w, off = (value(m, micro_run, both, REF) for m in (DsSent(), DsSent(weighting="w"), DsSent(use_graph=False)))
    assert len({round(x, 9) for x in (u, w, off)}) == 3


# ---------------------------------------------------------------- the arithmetic, by its properties


def unit_rows(rng: np.random.Generator, n: int) -> np.ndarray:
    rows = rng.normal(size=(n, 5))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 7))
def test_similarities(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = unit_rows(rng, n), unit_rows(rng, m)
    for match in ("stats", "greedy", "optimal"):
        assert similarity(one, one, match)[0] == pytest.approx(1.0, abs=1e-6)
        if match != "stats" or min(n, m) > 1:
            assert similarity(one, other, match)[0] == pytest.approx(similarity(other, one, match)[0], abs=1e-9)
        shuffled = one[rng.permutation(n)]
        assert similarity(shuffled, other, match)[0] == pytest.approx(similarity(one, other, match)[0], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_focus_distance(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"n{i}" for i in range(8)]
    one, other = (dict(zip(rng.permutation(names), rng.normal(size=(k, 4)))) for k in (n, m))
    precision, recall = focus_distance(one, other)
    assert (recall, precision) == pytest.approx(tuple(focus_distance(other, one)))
    assert tuple(focus_distance(one, one)) == (0.0, 0.0)
    assert precision >= 0 and recall >= 0


def test_refine_and_graph_vector() -> None:
    rows = refine(np.array([[1.0, 0.0], [0.0, 1.0]]), {"cat": (0, 1)})
    assert rows == pytest.approx(np.array([[math.sqrt(0.5), math.sqrt(0.5)], [0.0, 1.0]]))
    assert list(graph_vector(np.array([[1.0, 2.0], [3.0, 6.0]]))) == [1, 2, 2, 4, 3, 6, 4, 8]


def test_a_mention_without_vector_is_none() -> None:
    sums = focus_vectors({"cat": (1, 4), "dog": (9,)}, {1: np.array([0.0, 2.0])})
    assert {name: row.tolist() for name, row in sums.items()} == {"cat": [0.0, 1.0]}
