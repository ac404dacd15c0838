"""Output without sentence breaks: cut into a document's segments by words or characters, and said so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.in_process import call
from wholetext.alignment.realign import AlignOptions, realign
from wholetext.alignment.word_cuts import segments_by_words
from wholetext.demo import load
from wholetext.io import read
from wholetext.scoring.evaluate import Options, score
from wholetext.types import Corpus, Document, Output

CORPUS, OUTPUTS = load("de-en")
SOUND = OUTPUTS[0]
THAI = ("วันนี้อากาศดีมาก", "เราไปเดินเล่นที่สวนสาธารณะ", "แล้วเราก็กลับบ้าน", "ตอนเย็นฝนตกหนัก", "ทุกคนจึงหลับสบายตลอดคืน")


def bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def in_place(gold: list[str], segments: tuple[str, ...]) -> float:
    """The share of words that are in the right segment."""
    wanted, got = ([i for i, text in enumerate(side) for _ in text.split()] for side in (gold, segments))
    assert len(wanted) == len(got)
    return float(np.mean(np.array(wanted) == np.array(got)))


@pytest.mark.long
@pytest.mark.parametrize(("to", "least"), [("human", 0.93), ("source", 0.8)])
def test_lower_case_without_punctuation(to: str, least: float) -> None:
    flat = Output("x", {doc.id: (" ".join(map(bare, SOUND.docs[doc.id])),) for doc in CORPUS.docs})
    output, done = realign(CORPUS, flat, AlignOptions(to=to))
    shares = [in_place([bare(text) for text in SOUND.docs[doc.id]], output.docs[doc.id]) for doc in CORPUS.docs]
    assert np.mean(shares) > least
    assert all("no usable sentence breaks" in record.note and record.omitted < 0.05 for record in done)
    assert all(f"to={to},by=words" == how for how in output.realigned.values())


def test_thai_by_characters() -> None:
    """One line for five segments; two words are others than in the reference."""
    doc = Document("d", ("a", "b", "c", "d", "e"), {"r": THAI})
    text = "".join(THAI).replace("มาก", "").replace("หนัก", "แรง")
    output, (done,) = realign(Corpus("c", ("en", "th"), (doc,)), Output("x", {"d": (text,)}))
    assert output.docs["d"] == (THAI[0].replace("มาก", ""), *THAI[1:3], THAI[3].replace("หนัก", "แรง"), THAI[4])
    assert done.note and done.omitted == 0


def test_sound_output_keeps_its_sentences() -> None:
    merged = Output("x", {doc.id: (" ".join(SOUND.docs[doc.id]),) for doc in CORPUS.docs})
    _, done = realign(CORPUS, merged)
    assert not any(record.note for record in done)


def test_few_sentences_stay_where_words_in_order_fit_worse() -> None:
    """Five segments as two lines without punctuation, the second half first: words in order would lose two of them."""
    fixed = tuple(" ".join(f"{name}{letter}" for letter in "abcdefgh") for name in ("Ab", "Cd", "Ef", "Gh", "Ij"))
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"A": fixed}),))
    output, (done,) = realign(corpus, Output("x", {"d": (" ".join(fixed[2:]), " ".join(fixed[:2]))}),
                              AlignOptions(similarity="words"))
    assert output.docs["d"] == fixed and done.moved and not done.note
    output, (done,) = realign(corpus, Output("x", {"d": (" ".join(fixed),)}), AlignOptions(similarity="words"))
    assert output.docs["d"] == fixed and "aligned by words" in done.note


def test_what_is_really_left_out_stays_left_out() -> None:
    half = Output("x", {doc.id: SOUND.docs[doc.id][: len(doc) // 2] for doc in CORPUS.docs})
    _, done = realign(CORPUS, half)
    assert not any(record.note for record in done)
    assert np.mean([record.omitted for record in done]) > 0.1


@given(st.lists(st.text("ab ก.", max_size=8), min_size=1, max_size=6), st.text("ab ก.", max_size=40))
def test_no_letter_is_lost(fixed: list[str], text: str) -> None:
    segments = segments_by_words(fixed, text)
    assert len(segments) == len(fixed)
    assert "".join("".join(segments).split()) == "".join(text.split())


def test_the_command_and_the_scores_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doc = CORPUS.docs[0]
    lines = [{"corpus": "c", "langs": ["de", "en"]}, {
        "doc": doc.id, "src": list(doc.src or ()), "refs": {"r": list(doc.refs["human"])},
        "outputs": {"flat": [" ".join(map(bare, SOUND.docs[doc.id]))]},
    }]  # fmt: skip
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    code, shown, err = call(capsys, "align", path, "--out", out, "-f", "json")
    assert code == 0 and "no usable sentence breaks in 1 document (flat 1)" in err
    assert json.loads(shown)["by_words"]["flat"].keys() == {doc.id}
    loaded = read(out)
    results = score(loaded, ["chrf"], options=Options(cache=False))
    assert "by=words" in str(next(iter(results.scores["chrf"].values())).signature)
