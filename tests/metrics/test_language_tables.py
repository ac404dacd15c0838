"""The category tables beyond English on sentences of our own, with the tags that the real taggers gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import InputError, MissingExtra
from wholetext.io import Loaded
from wholetext.metrics.blonde.categories import Finder, layers_for, load_table
from wholetext.scoring.evaluate import Options, score
from wholetext.text.taggers.analysis import Analysis, Entity, Token, analyser_for
from wholetext.text.taggers.plain import locate
from wholetext.types import Corpus, Document, Output

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


def test_what_is_left_out_or_told_by_spelling_is_a_note() -> None:
    docs = (Document("d", None, {"r": ("Er ging , als sie kam .",)}),)
    results = score(
        Loaded(Corpus("c", ("en", "de"), docs), [Output("s", {"d": ("Er ging , als sie kam .",)})]),
        ["d-blonde(tagger=plain)"],
        options=Options(cache=False),
    )
    scores = next(iter(results.scores.values()))["s"]
    assert any("entity is not counted in de: names that HanTa finds" in note for note in results.warnings)
    wanted = "plain-1 gives no tags: pronoun, marker identified by spelling alone"
    assert any(wanted in note for note in results.warnings)
    assert scores.signature["table.hash"] == load_table("de").digest
    assert dict(zip(scores.outputs, scores.table("doc")[0]))["pronoun"] == 1


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
