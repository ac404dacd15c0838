"""BLEU, chrF, chrF++ and TER equal sacrebleu: every system, corpus and segment, and every option."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from wholetext.errors import SpecError
from wholetext.io import Loaded
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

TOLERANCE = 1e-9
NO_CACHE = Options(cache=False)
PEERS = {
    "bleu": (lambda **kw: BLEU(**kw), lambda **kw: BLEU(effective_order=True, **kw)),
    "chrf": (lambda **kw: CHRF(**kw),) * 2,
    "chrf++": (lambda **kw: CHRF(word_order=2, **kw),) * 2,
    "ter": (lambda **kw: TER(**kw),) * 2,
}
WORDS = st.text(alphabet="aab bc. ,é世界", max_size=30)


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


def evalset(data: Path, pair: str, reference: str, systems: int | None) -> tuple[Corpus, list[Output]]:
    root = data / "evalsets" / "wmt21.news"
    ids = [line.split("\t")[1] for line in lines(root / "documents" / f"{pair}.docs")]
    order = list(dict.fromkeys(ids))

    def by_doc(text: list[str]) -> dict[str, tuple[str, ...]]:
        grouped: dict[str, list[str]] = {name: [] for name in order}
        for name, segment in zip(ids, text, strict=True):
            grouped[name].append(segment)
        return {name: tuple(segments) for name, segments in grouped.items()}

    refs = by_doc(lines(root / "references" / f"{pair}.{reference}.txt"))
    docs = tuple(Document(name, None, {reference: refs[name]}) for name in order)
    paths = sorted((root / "system-outputs" / pair).iterdir())[:systems]
    source, target = pair.split("-")
    return Corpus("wmt21", (source, target), docs), [Output(p.stem, by_doc(lines(p))) for p in paths]


def check_equal(corpus: Corpus, outputs: list[Output], metric: str, segments: int) -> int:
    """Corpus scores of all systems; segment scores of the first ``segments`` segments of each."""
    tokenize = {"tokenize": "zh"} if metric == "bleu" and corpus.langs[1] == "zh" else {}
    whole, single = (make(**tokenize) for make in PEERS[metric])
    refs = [segment for doc in corpus.docs for segment in next(iter(doc.refs.values()))]
    checked = 0
    for system, scores in score(Loaded(corpus, outputs), metric, options=NO_CACHE)[metric].items():
        hyps = [
            seg for output in outputs if output.system == system for doc in corpus.docs for seg in output.docs[doc.id]
        ]
        assert scores.score == pytest.approx(whole.corpus_score(hyps, [refs]).score, abs=TOLERANCE)
        expected = [single.sentence_score(h, [r]).score for h, r in list(zip(hyps, refs))[:segments]]
        assert np.abs(scores.at("segment")[:segments] - expected).max() <= TOLERANCE
        checked += 1
    return checked


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_equal_to_sacrebleu_on_wmt21_two_systems(data: Path, metric: str) -> None:
    corpus, outputs = evalset(data, "de-en", "refA", 2)
    assert check_equal(corpus, outputs, metric, 100) == 2


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize(("pair", "reference"), [("en-de", "refC"), ("de-en", "refA"), ("zh-en", "refB")])
def test_equal_to_sacrebleu_on_wmt21_all_systems_all_segments(
    data: Path, pair: str, reference: str, metric: str
) -> None:
    corpus, outputs = evalset(data, pair, reference, None)
    assert check_equal(corpus, outputs, metric, 10**9) == len(outputs) > 10


@settings(max_examples=60)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=6), st.sampled_from(sorted(PEERS)))
def test_equal_to_sacrebleu_on_any_text_with_two_references(texts: list[tuple[str, str, str]], metric: str) -> None:
    hyps, first, second = (list(side) for side in zip(*texts))
    scores = score(hyps, f"sentence:{metric}", refs=[first, second], options=NO_CACHE)[f"sentence:{metric}"]["hyp"]
    whole, single = (make() for make in PEERS[metric])
    assert scores.score == pytest.approx(whole.corpus_score(hyps, [first, second]).score, abs=TOLERANCE)
    expected = [single.sentence_score(h, [a, b]).score for h, a, b in texts]
    assert scores.at("row") == pytest.approx(expected, abs=TOLERANCE)


def test_document_bleu_counts_over_whole_documents() -> None:
    hyps, refs = ["a b c", "d e f", "g h i j"], ["a b c", "d e f", "g h i k"]
    scores = score(hyps, "d-bleu", refs=refs, docs=["x", "x", "y"], options=NO_CACHE)["d-bleu"]["hyp"]
    joined = BLEU().corpus_score(["a b c d e f", "g h i j"], [["a b c d e f", "g h i k"]])
    assert scores.score == pytest.approx(joined.score, abs=TOLERANCE)
    assert scores.at("corpus", "precision4")[0] == pytest.approx(joined.precisions[3], abs=TOLERANCE)


@pytest.mark.parametrize("smooth, value", [("exp", "none"), ("none", "none"), ("floor", "0.1"), ("add-k", "1.0")])
def test_the_signature_names_the_value_of_smoothing(smooth: str, value: str) -> None:
    spec = f"bleu(smooth={smooth})"
    found = score(["a b c d"], spec, refs=["a b x d"], langs="de-en", options=NO_CACHE)[spec]["hyp"]
    assert f"|smooth:{smooth}|smooth_value:{value}|" in str(found.signature)


@pytest.mark.parametrize("smooth", ["exp", "none"])
def test_a_value_that_no_smoothing_reads_is_refused(smooth: str) -> None:
    with pytest.raises(SpecError, match="does not read smooth_value"):
        score(["a"], f"bleu(smooth={smooth},smooth_value=0.5)", refs=["a"], options=NO_CACHE)
