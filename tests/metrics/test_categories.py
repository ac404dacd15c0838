"""The category tables: each is well-formed, and each finds what it should in a sentence of its language."""

from __future__ import annotations

from pathlib import Path

import pytest

from wholetext.errors import InputError, SpecError
from wholetext.metrics.blonde.categories import DISCOURSE, Finder, layers_for, load_table
from wholetext.text.taggers.analysis import Analysis, Entity, Token
from wholetext.text.taggers.plain import words


def analysed(text: str, tags: dict[str, str] | None = None, morph: dict[str, str] | None = None) -> Analysis:
    tokens = tuple(
        Token(text[a:b], text[a:b], (tags or {}).get(text[a:b], ""), "", (morph or {}).get(text[a:b], ""), a, b)
        for a, b in words(text)
    )
    return Analysis(tokens, (), ((0, len(text)),))


def found(lang: str, text: str, profile: str = "fixed", **layers: dict[str, str]) -> list[tuple[str, str, str]]:
    table = load_table(lang, profile)  # type: ignore[arg-type]
    finder = Finder(table, frozenset({"tag", "morph", "entity"}) if "morph" in layers else frozenset({"tag"}), profile)  # type: ignore[arg-type]
    return [(one.category, one.feature, text[one.start : one.end]) for one in finder.find(analysed(text, **layers))]


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
    assert found("en", text, tags={"said": "VBD", "was": "VBD", "will": "MD", "do": "VB"}) == [
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


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('feminine = ["彼女"]', 'feminine = ["彼"]', "is under both masculine and feminine"),
        ("[entity]", "[entities]", "unknown: entities"),
        ("[tense.words]", "[tense.shape]", "not one of morph, tags, words, forms"),
        ('past = ["た"]', 'future = ["た"]', "not in tense.features"),
        ('["しかし"]', '"しかし"', "not a list of strings"),
        ("[marker]", "[marker", "not TOML"),
    ],
)
def test_faults_in_a_table_are_told(tmp_path: Path, old: str, new: str, fault: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(OWN.replace(old, new), "utf-8")
    with pytest.raises(InputError, match=fault):
        load_table(str(path))


def test_an_unknown_language_is_told_what_there_is() -> None:
    with pytest.raises(SpecError, match=r"tables: de, en, es, fr, ru, zh"):
        load_table("ja")
    with pytest.raises(InputError, match="no such file"):
        load_table("nowhere.toml")
