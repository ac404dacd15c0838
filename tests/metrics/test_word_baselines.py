"""METEOR, CIDEr-D and metrics over static word vectors beside the originals and numbers by hand."""

from __future__ import annotations

import json
import math
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from wholetext.errors import MetricError
from wholetext.metrics import meteor, word_vectors
from wholetext.metrics.word_vectors import GreedyMatching
from wholetext.scoring.evaluate import Options, score
from wholetext.text.mteval import tokenize_13a

ORACLE = json.loads((Path(__file__).parent.parent / "oracle" / "meteor_cider.json").read_text("utf-8"))
DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"


def rows_of_demo(spec: str) -> np.ndarray:
    results = score(wt.read(DEMO), spec, options=Options(cache=False))
    return np.concatenate([scores.at("row") for scores in results[spec].values()])


def test_cider_equals_pycocoevalcap_on_448_segments() -> None:
    assert rows_of_demo("cider") == pytest.approx(ORACLE["cider"], abs=1e-9)


def test_meteor_equals_meteor_1_5_on_448_segments() -> None:
    assert rows_of_demo("meteor(synonyms=false)") == pytest.approx(ORACLE["meteor"], abs=1e-9)


@pytest.mark.data
def test_meteor_equals_meteor_1_5_on_segments_of_wmt21(data: Path) -> None:
    assert rows_of_wmt21(data, "meteor(synonyms=false)") == pytest.approx(ORACLE["wmt21"]["meteor"], abs=1e-9)


def rows_of_wmt21(data: Path, spec: str) -> np.ndarray:
    folder = data / "evalsets" / "wmt21.news"
    output = folder / "system-outputs" / "zh-en" / f"{ORACLE['wmt21']['system']}.txt"
    hyps, refs = (
        path.read_text("utf-8").split("\n")[:200] for path in (output, folder / "references" / "zh-en.refB.txt")
    )
    results = score(hyps, spec, refs=refs, langs=("zh", "en"), options=Options(cache=False))
    return next(iter(results[spec].values())).at("row")


def aligned(hyp: str, ref: str) -> dict[int, int]:
    links = meteor.align(meteor.candidates(hyp.split(), ref.split(), synonyms=False))
    return {link.hyp: link.ref for link in links}


def test_words_prefer_few_chunks_to_short_distances() -> None:
    assert aligned("a b c a", "c a a b") == {0: 2, 1: 3, 2: 0, 3: 1}


def test_stems_do_not_outweigh_a_chunk() -> None:
    """As in METEOR 1.5: only exact links count, unless both words have no other."""
    assert aligned("walks far", "walking far") == {0: 0, 1: 1}  # walks and walking have only each other
    # "walks" has two stems in the reference: none is worth a second chunk
    assert aligned("x walks y far", "x u y far walking walked") == {0: 0, 2: 2, 3: 3}


def test_curly_apostrophes_are_letters_for_the_stemmer() -> None:
    assert not aligned("commerce’s", "commerce")
    assert aligned("commerce's", "commerce") == {0: 0}


def test_synonyms_of_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = meteor.Meteor(synonyms=False).pair(["red", "auto"], ["red", "car"])
    monkeypatch.setattr(meteor, "synsets", lambda word: {"car": {1, 2}, "auto": {2}}.get(word, set()))
    with_synonyms = meteor.Meteor().pair(["red", "auto"], ["red", "car"])
    assert with_synonyms == pytest.approx((1.0 + 0.8) / 2)  # P = R; one chunk of all words: no penalty
    assert plain == pytest.approx(0.5 * (1 - 0.6))


def test_missing_wordnet_names_the_way_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nltk
    from nltk.corpus.reader import WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(nltk.corpus, "wordnet", LazyCorpusLoader("wordnet", WordNetCorpusReader))
    for lookup in (meteor._wordnet, meteor.synsets, meteor._own_synsets):
        lookup.cache_clear()
    with pytest.raises(MetricError, match=r"WordNet") as fault:
        score(["a"], "meteor", refs=["a"], langs=("de", "en"), options=Options(cache=False))
    assert "meteor(synonyms=false)" in str(fault.value.next)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("red 1 0\ncar 0 2\nblue -1 1\n", "utf-8")
    return path


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # hypothesis red car, reference blue car; means (.5, 1) and (−.5, 1.5)
        ("embedding-average", (-0.25 + 1.5) / math.sqrt(1.25 * 2.5)),
        # extrema (1, 2) and (−1, 2)
        ("vector-extrema", 3 / 5),
        # red–blue −.7071, red–car 0, car–blue .7071, car–car 1
        ("greedy-matching", ((0 + 1) / 2 + (math.sqrt(0.5) + 1) / 2) / 2),
    ],
)
def test_static_vectors_by_hand(metric: str, expected: float, vectors: Path) -> None:
    spec = f'{metric}(vectors="{vectors}")'
    results = score(["Red car unknown"], spec, refs=["Blue car"], langs=("de", "en"), options=Options(cache=False))
    scores = results[spec]["hyp"]
    assert scores.score == pytest.approx(expected, abs=1e-6)
    assert any("without a vector" in str(note) for note in scores.notes)


def cosine(one: list[float], two: list[float]) -> float:
    return sum(a * b for a, b in zip(one, two)) / math.sqrt(sum(a * a for a in one) * sum(b * b for b in two))


def average(one: list[list[float]], two: list[list[float]]) -> float:
    return cosine(*([sum(column) / len(words) for column in zip(*words)] for words in (one, two)))


def extrema(one: list[list[float]], two: list[list[float]]) -> float:
    return cosine(*([max(column, key=lambda x: (abs(x), x)) for column in zip(*words)] for words in (one, two)))


def greedy(one: list[list[float]], two: list[list[float]]) -> float:
    ways = ((one, two), (two, one))
    return sum(sum(max(cosine(a, b) for b in other) for a in words) / len(words) for words, other in ways) / 2


@pytest.mark.parametrize(
    ("metric", "define"), [("embedding-average", average), ("vector-extrema", extrema), ("greedy-matching", greedy)]
)
def test_static_vectors_equal_their_definitions_on_112_segments(metric: str, define: Any, tmp_path: Path) -> None:
    corpus, outputs, _ = wt.read(DEMO)
    texts = [
        tuple(map(str.split, tokenize_13a([hyp.lower(), ref.lower()])))
        for doc in corpus.docs
        for hyp, ref in zip(outputs[0].docs[doc.id], doc.refs["human"])
    ]
    chance = random.Random(1)
    vocabulary = sorted({word for pair in texts for words in pair for word in words})
    known = {word: [chance.randint(-8, 8) / 8 for _ in range(5)] for word in vocabulary if chance.random() < 0.9}
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in known.items()), "utf-8")
    expected = [define(*([known[word] for word in words if word in known] for words in pair)) for pair in texts]
    spec = f'{metric}(vectors="{path}")'
    results = score(wt.read(DEMO), spec, options=Options(cache=False))
    assert len(expected) == 112
    assert results[spec][outputs[0].system].at("row") == pytest.approx(expected, abs=1e-6)


def test_a_text_without_known_words_has_no_score(vectors: Path) -> None:
    spec = f'greedy-matching(vectors="{vectors}")'
    results = score(["unknown"], spec, refs=["car"], langs=("de", "en"), options=Options(cache=False))
    assert math.isnan(results[spec]["hyp"].score)


def test_document_frequencies_count_segments_not_references() -> None:
    """Two references that share an n-gram count once (Vedantam et al. 2015: images, not captions)."""
    refs = [["a cat sat", "the dog ran"], ["a cat sits", "the dog runs"]]
    results = score(["a cat sat", "the dog ran"], "cider", refs=refs, langs=("de", "en"), options=Options(cache=False))
    assert results["cider"]["hyp"].at("row")[0] == pytest.approx(results["cider"]["hyp"].at("row")[1])
    assert results["cider"]["hyp"].score > 5


def test_greedy_matching_holds_no_table_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    hyp, ref = rng.normal(size=(3000, 4)), rng.normal(size=(2500, 4))
    tracemalloc.start()
    try:
        parts = GreedyMatching().compare(hyp, ref)
        assert tracemalloc.get_traced_memory()[1] < 45_000_000  # all pairs: 60 MB
    finally:
        tracemalloc.stop()
    monkeypatch.setattr(word_vectors, "_WORDS", 10_000)
    assert GreedyMatching().compare(hyp, ref) == pytest.approx(parts, abs=1e-12)
