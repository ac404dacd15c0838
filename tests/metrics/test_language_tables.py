"""The category tables beyond English on sentences of our own, with the tags that the real taggers gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import InputError, MissingExtra, ModelError
from wholetext.metrics.blonde.categories import Finder, layers_for, load_table
from wholetext.text.taggers.analysis import Analysis, Entity, Token, analyser_for
from wholetext.text.taggers.plain import locate

ORACLE = Path(__file__).parents[1] / "oracle" / "blonde_lang"
RECORDS = [json.loads(line) for line in (ORACLE / "sentences.jsonl").read_text("utf-8").splitlines()]


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


def test_faults_in_tag_conditions_are_told(tmp_path: Path) -> None:
    base = (ORACLE.parents[2] / "src/wholetext/metrics/blonde/tables/de.toml").read_text("utf-8")
    for old, new, fault in (('"doch" = ["KON"]', '"doch" = "KON"', "not a list of strings"),
                            ("[tags.marker]", "[tags.markers]", "is not one of tense, pronoun, entity, marker"),
                            ("[left_out]\n", "[left_out]\nnames = 'x'\n", "not one of tense, pronoun"),
                            ("[entity]\n", "[tense.needs_endings]\npasst = ['te']\n[entity]\n", "not in tense"),
                            ("[tags.pronoun]", "tags = 3\n[pronouns]", "unknown: pronouns")):
        assert old in base
        (tmp_path / "x.toml").write_text(base.replace(old, new, 1), "utf-8")
        with pytest.raises(InputError, match=fault):
            load_table(str(tmp_path / "x.toml"))
