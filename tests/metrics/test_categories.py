"""The category tables: each is well-formed, and each finds what it should in a sentence of its language."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import InputError, MissingExtra, ModelError, SpecError
from wholetext.metrics.blonde.categories import DISCOURSE, Finder, layers_for, load_table
from wholetext.text.taggers.analysis import Analysis, Entity, Token, analyser_for
from wholetext.text.taggers.plain import locate, words

ORACLE = Path(__file__).parents[1] / "oracle" / "blonde_lang"
RECORDS = [json.loads(line) for line in (ORACLE / "sentences.jsonl").read_text("utf-8").splitlines()]


def found(lang: str, text: str, profile: str = "fixed", **tags: str) -> list[tuple[str, str, str]]:
    tokens = tuple(Token(text[a:b], text[a:b], tags.get(text[a:b], ""), "", "", a, b) for a, b in words(text))
    finder = Finder(load_table(lang, profile), frozenset({"tag"}), profile)  # type: ignore[arg-type]
    occurrences = finder.find(Analysis(tokens, (), ((0, len(text)),)))
    return [(item.category, item.feature, text[item.start : item.end]) for item in occurrences]


@pytest.mark.parametrize("lang", ["en", "de", "fr", "ru", "es", "zh"])
@pytest.mark.parametrize("profile", ["reference", "paper", "fixed"])
def test_each_table_is_well_formed(lang: str, profile: str) -> None:
    table = load_table(lang, profile)  # type: ignore[arg-type]
    assert table.language == lang
    assert table.origin == ("paper" if lang == "en" else "ours")
    assert table.overlapping == (lang == "en")  # as in the released code
    assert set(table.features) == set(DISCOURSE)
    assert all(len(table.features[category]) >= 2 for category in DISCOURSE)
    assert {"comparison", "contingency", "expansion"} <= set(table.features["marker"])
    assert set(table.pronouns.values()) <= set(table.features["pronoun"])
    assert set(table.markers.values()) == set(table.features["marker"])
    told = {feature for entries in table.tenses.values() for feature in entries.values()}
    assert {*table.tense_forms.values(), *table.tense_endings.values(), *table.needs_endings} <= {*told, "uncounted"}
    assert told == set(table.features["tense"])
    assert {"person", "nonperson"} == set(table.labels.values())
    assert ("entity" in layers_for(table)) == ("entity" not in table.left_out)
    assert all(form == form.strip() for form in (*table.pronouns, *table.markers))
    assert all(phrase == phrase.lower() for phrase in table.markers)


def test_profiles_differ_in_english_as_the_code_differs_from_the_paper() -> None:
    code, paper = load_table("en", "reference"), load_table("en", "paper")
    assert code.features["marker"] == ("comparison", "contingency", "expansion", "asynchronous", "synchronous")
    assert paper.features["marker"] == ("comparison", "contingency", "expansion", "temporal")
    assert {*paper.pronouns} - {*code.pronouns} == {"theirs"} and {*paper.markers} - {*code.markers} == {"else"}
    assert code.weights == {"neuter": 0, "epicene": 0, "nonperson": 0} and not paper.weights
    assert set(code.labels) == {"PERSON", "NORP", "GPE", "FAC", "ORG", "WORK_OF_ART"}


def test_english() -> None:
    text = "He said that, as a result, SHE was late; so theirs will do."
    assert found("en", text, said="VBD", was="VBD", will="MD", do="VB") == [
        ("tense", "VBD", "said"), ("tense", "VBD", "was"), ("tense", "MD", "will"), ("tense", "VB", "do"),
        ("pronoun", "masculine", "He"), ("pronoun", "feminine", "SHE"), ("pronoun", "epicene", "theirs"),
        ("marker", "contingency", "as a result"), ("marker", "contingency", "so"),
    ]
    assert ("pronoun", "feminine", "SHE") not in found("en", text, "reference")


def test_german_polite_forms_are_told_by_their_capital() -> None:
    assert [(f, t) for c, f, t in found("de", "Sie sagte, dass sie Sie kennt.") if c == "pronoun"] == [
        ("initial", "Sie"), ("feminine_or_plural", "sie"), ("formal", "Sie")]
    assert ("marker", "contingency", "so dass") in found("de", "Er ging, so dass er fehlte.")


def test_possessives_are_no_part_of_a_name() -> None:
    names = Entity("Ann's", "PERSON", 0, 5), Entity("Bob’s", "PERSON", 6, 11), Entity("3", "DATE", 12, 13)
    analysis = Analysis((), names)
    for profile, keys in (("reference", ["Ann's", "Bob"]), ("fixed", ["Ann", "Bob"])):
        finder = Finder(load_table("en", profile), frozenset({"entity"}), profile)  # type: ignore[arg-type]
        assert [one.key for one in finder.find(analysis)] == keys
        assert finder.uncounted == ("tense",)


OWN = """
language = "ja"
origin = "a user's"
[pronoun]
masculine = ["彼"]
feminine = ["彼女"]
[marker]
comparison = ["しかし"]
[tense]
features = ["past"]
[tense.words]
past = ["た"]
[entity]
person = ["PERSON"]
nonperson = ["GPE"]
"""


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "ja.toml"
    path.write_text(OWN, "utf-8")
    table = load_table(str(path))
    assert table.language == "ja" and table.id.startswith("ja.toml-")
    assert layers_for(table) == {"entity"}


GERMAN = (ORACLE.parents[2] / "src/wholetext/metrics/blonde/tables/de.toml").read_text("utf-8")


@pytest.mark.parametrize(("base", "old", "new", "fault"), [
    (OWN, 'feminine = ["彼女"]', 'feminine = ["彼"]', "is under both masculine and feminine"),
    (OWN, "[entity]", "[entities]", "unknown: entities"),
    (OWN, "[tense.words]", "[tense.shape]", "not one of morph, tags, words, forms"),
    (OWN, 'past = ["た"]', 'future = ["た"]', "not in tense.features"),
    (OWN, '["しかし"]', '"しかし"', "not a list of strings"),
    (OWN, "[marker]", "[marker", "not TOML"),
    (GERMAN, '"doch" = ["KON"]', '"doch" = "KON"', "not a list of strings"),
    (GERMAN, "[tags.marker]", "[tags.markers]", "is not one of tense, pronoun, entity, marker"),
    (GERMAN, "[left_out]\n", "[left_out]\nnames = 'x'\n", "not one of tense, pronoun"),
    (GERMAN, "[entity]\n", "[tense.needs_endings]\npasst = ['te']\n[entity]\n", "not in tense"),
    (GERMAN, "[tags.pronoun]", "tags = 3\n[pronouns]", "unknown: pronouns"),
])
def test_faults_in_a_table_are_told(tmp_path: Path, base: str, old: str, new: str, fault: str) -> None:
    assert old in base
    (tmp_path / "bad.toml").write_text(base.replace(old, new, 1), "utf-8")
    with pytest.raises(InputError, match=fault):
        load_table(str(tmp_path / "bad.toml"))


def test_an_unknown_language_is_told_what_there_is() -> None:
    with pytest.raises(SpecError, match=r"tables: de, en, es, fr, ru, zh"):
        load_table("ja")
    with pytest.raises(InputError, match="no such file"):
        load_table("nowhere.toml")


# ---------------------------------------------------------------- sentences with the tags of real taggers


def hits(record: dict[str, Any], found: Analysis | None = None) -> list[str]:
    """``category feature words`` of all that counts in a sentence."""
    text, tokens = record["text"], record["tokens"]
    if found is None:
        places = locate((token[0] for token in tokens), text)
        found = Analysis(tuple(Token(word, word, tag, pos, morph, *place)
                               for (word, tag, pos, morph), place in zip(tokens, places, strict=True)),
                         tuple(Entity(text[a:b], label, a, b) for label, a, b in record["entities"]))
    finder = Finder(load_table(record["lang"], "fixed"), frozenset(record["layers"]), "fixed")
    return [f"{one.category} {one.feature} {text[one.start:one.end]}" for one in finder.find(found)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record['tagger']}: {record['text']}")
def test_what_counts_in_a_sentence(record: dict[str, Any]) -> None:
    assert hits(record) == record["hits"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["de/hanta", "fr/spacy", "ru/natasha", "zh/lac", "zh/jieba"])
def test_the_real_taggers_still_give_these_tags(name: str) -> None:
    lang, tagger = name.split("/")
    records = [one for one in RECORDS if one["lang"] == lang and one["tagger"] == tagger]
    try:
        analyser = analyser_for(lang, tagger, layers_for(load_table(lang, "fixed")))
    except MissingExtra as missing:
        pytest.skip(str(missing))
    for record, found in zip(records, analyser.run([one["text"] for one in records]), strict=True):
        assert hits(record, found) == record["hits"], record["text"]


# ---------------------------------------------------------------- taggers that are not there, categories left out


def test_spanish_without_a_tagger_is_refused_with_the_way_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("simplemma", reason="wholetext[es] is not installed")
    monkeypatch.setattr("wholetext.text.taggers.spacy_pipeline.installed", lambda lang: [])
    with pytest.raises(ModelError, match="a tagger for the language 'es' is not installed") as raised:
        analyser_for("es", layers=layers_for(load_table("es")))
    assert "spacy download es_core_news_sm" in str(raised.value) and "wholetext[es]" not in str(raised.value)
    assert analyser_for("es", layers=frozenset({"lemma"})).id.startswith("simplemma"), "enough for lemmas"
