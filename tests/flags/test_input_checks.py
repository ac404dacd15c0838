"""Suspicious input: swapped or wrong languages, mixed files, outputs given twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wholetext.demo import load
from wholetext.flags.input_checks import input_notes
from wholetext.io import from_texts, read
from wholetext.text.identify import other_language
from wholetext.types import Corpus, Output

CORPUS, OUTPUTS = load("de-en")
SOUND = OUTPUTS[0]


def without_references(corpus: Corpus) -> Corpus:
    return replace(corpus, docs=tuple(replace(doc, refs={}) for doc in corpus.docs))


@pytest.mark.parametrize("pair", ["de-en", "zh-en"])
def test_the_demo_is_what_it_is_said_to_be(pair: str) -> None:
    corpus, outputs = load(pair)
    assert input_notes(corpus, outputs) == [] == input_notes(without_references(corpus), outputs)


# ---------------------------------------------------------------- languages


@pytest.mark.parametrize(("pair", "look"), [("de-en", "looks like de, not en"), ("zh-en", "in Han, not Latin")])
def test_a_swapped_pair(pair: str, look: str) -> None:
    corpus, outputs = load(pair)
    for given in (corpus, without_references(corpus)):
        (note,) = input_notes(replace(given, langs=given.langs[::-1]), outputs)
        assert "swapped" in note and look in note and f"-l {pair}" in note


@pytest.mark.parametrize(("langs", "notes"), [
    (("fr", "en"), ["the source looks like de, not fr"]),
    (("ru", "en"), ["the source is written in Latin, not Cyrillic"]),
    (("de", "nl"), ["references and outputs look like en, not nl"]),
    (("nl", "fr"), ["references and outputs", "the source looks like de, not nl"]),
    (("", ""), []), (("de_DE", "en-GB"), []), (("lij", "en"), []), (("deu_Latn", "eng_Latn"), []),
])  # fmt: skip
def test_a_wrong_pair(langs: tuple[str, str], notes: list[str]) -> None:
    found = input_notes(replace(CORPUS, langs=langs), OUTPUTS)
    assert len(found) == len(notes) and all(any(part in note for note in found) for part in notes)


def test_an_undeclared_language_that_needs_a_tokenizer() -> None:
    texts = ["他说我们还不知道这件事情的结果，大家都在等。", "会议昨天在北京结束，没有达成任何协议。"] * 3
    loaded = from_texts(texts, refs=texts[::-1])
    (note,) = [note for note in input_notes(loaded.corpus, loaded.outputs) if "Han" in note]
    assert "no language pair is given" in note and "-l en-zh" in note


@pytest.mark.parametrize(("text", "lang", "other"), [
    ("Het is niet de eerste keer dat er in deze stad een brug wordt gebouwd die te kort is voor een schip.",
     "de", "nl"),
    ("Ce n'est pas la première fois que dans cette ville on construit un pont qui est trop court pour la rivière.",
     "es", "fr"),
    ("Nie jest to pierwszy raz, kiedy w tym mieście buduje się most, który jest za krótki na to, że się nie da.",
     "cs", "pl"),
    ("Це не перший раз, коли в цьому місті будують міст, який був за короткий для річки, але й не що так.", "ru", "uk"),
    ("यह पहली बार नहीं है कि इस शहर में नदी के लिए छोटे पुल को बनाया गया है और लोगों ने यह भी कहा कि यह एक भूल है।", "ne", "hi"),
    ("It is not the first time that a bridge in this city was too short for the river.", "en", ""),
    ("Matrix Sontelle Vivre Dual Royal", "de", ""),
])  # fmt: skip
def test_languages_by_their_function_words(text: str, lang: str, other: str) -> None:
    assert other_language([text] * 3, lang, 30) == other


# ---------------------------------------------------------------- the same output twice


def test_outputs_given_twice() -> None:
    twins = [SOUND, Output("twin", dict(SOUND.docs)), OUTPUTS[1]]
    assert input_notes(CORPUS, twins) == [f"{SOUND.system} and twin are the same text under 2 names"]
    human = Output("copy", {doc.id: doc.refs["human"] for doc in CORPUS.docs})
    assert input_notes(CORPUS, [human]) == ["copy is the reference human itself"]
    assert input_notes(CORPUS, [Output("human", human.docs)]) == []


# ---------------------------------------------------------------- real outputs


@pytest.mark.data
@pytest.mark.parametrize(("test_set", "pair", "true"), [
    ("wmt21.tedtalks", "en-de", 0), ("wmt21.tedtalks", "zh-en", 0), ("wmt21.news", "ja-en", 1),
])  # fmt: skip
def test_real_outputs_raise_no_alarm(data: Path, test_set: str, pair: str, true: int) -> None:
    """KwaiNLP and XMU handed in the same ja-en file in 2021."""
    loaded = read(data / "evalsets" / test_set, langs=pair)
    for corpus in (loaded.corpus, without_references(loaded.corpus)):
        found = input_notes(corpus, loaded.outputs)
        assert len(found) == true and all("KwaiNLP and XMU" in note for note in found)
