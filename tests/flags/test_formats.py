"""Format flags: each kind on text made for it, silence on what is kept, forms of numbers, the real WMT26 files."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wholetext as wt
from wholetext.flags.degenerate import Flag
from wholetext.flags.formats import (
    KEPT,
    WORDS,
    format_flags,
    format_summary,
    notes_on_flags,
    unchecked_note,
)
from wholetext.flags.numbers import missing_numbers
from wholetext.flags.prompts import leaked
from wholetext.types import Corpus, Document, Output

LONG = "Nobody in the village would have believed what she said about the letter that was in the garden."


def kinds(src: str | list[str] | None, hyp: str | list[str], ref: str | None = None, langs=("en", "de")) -> list[str]:
    """Kinds of the flags of one document."""
    sides = [side if side is None or isinstance(side, list) else [side] for side in (src, hyp, ref)]
    refs = {} if sides[2] is None else {"ref": tuple(sides[2])}
    corpus = Corpus("c", langs, (Document("d", None if sides[0] is None else tuple(sides[0]), refs),))
    found = format_flags(corpus, Output("x", {"d": tuple(sides[1] or ())}))
    assert {flag.kind for flag in found if flag.doc} == {flag.kind for flag in found if flag.doc is None}
    return [flag.kind for flag in found if flag.doc]


CHANGED = [
    ("Hello %s!", "Hallo!", "placeholder"),
    ("Hello {name}, {0}", "Hallo {Name}, {0}", "placeholder"),
    ("See <0>the page</0>.", "Siehe die Seite.", "placeholder"),
    ("{{count}} years", "{{Anzahl}} Jahre", "placeholder"),
    ("A <b>big</b> dog<br>", "Ein großer Hund<br>", "tag"),
    ("Look at https://example.com/a?b=1.", "Siehe https://example.com/a?b=2.", "url"),
    ("Look at https://example.com/a", "Siehe https: // example.com/a", "url"),
    ("Write to ann@example.org", "Schreib an anna@example.org", "email"),
    ("It cost 1,605 euros", "Es kostete 1.650 Euro", "number"),
    ("A dog.", "```\nEin Hund.\n```", "fence"),
    ('{"a": "dog", "b": ["cat"]}', '{"a": "Hund", "c": ["Katze"]}', "json"),
    ('```json\n{"a": "dog"}\n```', '```json\n{„a“: „Hund“}\n```', "json"),
    ("A dog.", "Here is the translation:\nEin Hund.", "prompt"),
    ("A dog.", "Ein Hund.<|im_end|>", "prompt"),
    (f"A dog.\n{LONG}\nA cat.", f"Ein Hund.\n{LONG}\nEine Katze.", "untranslated"),
]  # fmt: skip


@pytest.mark.parametrize(("src", "hyp", "kind"), CHANGED)
def test_what_is_changed_is_found(src: str, hyp: str, kind: str) -> None:
    assert kinds(src, hyp) == [kind]
    if kind not in ("prompt", "untranslated", "fence", "json"):
        assert kinds(src, hyp, ref=hyp) == [], "what no reference keeps is not asked for"
    assert kinds(src, src.replace("dog", "Hund").replace(LONG, "Niemand glaubte es.")) == [], "a sound output"


WITHOUT_SOURCE = [
    ("<p>Ein Hund.</p>\n<p>Eine Katze.", "tag"), ("Sure! Here's the German translation:\nEin Hund.", "prompt"),
    ("Voici la traduction en français :\nUn chien.", "prompt"), ("以下是翻译：\n一只狗。", "prompt"),
    ("Вот перевод текста:\nСобака.", "prompt"), ("```json\n[„Hund“]\n```", "json"), ("```\nEin Hund.", "fence"),
    ("{{Zähler}} Jahre", "placeholder"), ("Siehe http: / / example.com", "url"), ("an ann @ example.org", "email"),
    (f"Ein Hund.\n{LONG}", "untranslated"),
]  # fmt: skip


@pytest.mark.parametrize(("hyp", "kind"), WITHOUT_SOURCE)
def test_without_a_source_only_what_is_broken_in_itself_is_found(hyp: str, kind: str) -> None:
    assert kinds(None, hyp) == [kind]
    assert kinds(None, "Es kostete 1.650 Euro, <b>Anna</b>, siehe https://example.com und {name}") == []


SAME_NUMBERS = [
    ("1,000.57", "1.000,57"), ("1,000.57", "1 000,57"), ("1000.57", "1'000.57"), ("1,234.5", "١٢٣٤٫٥"),
    ("2,345", "२३४५"),
    ("1234.5万", "12.345 million"), ("３６５億円", "36.5 billion yen"), ("in 1998", "'98"), ("1,605", "1 605"),
    ("7 dogs", "seven dogs"), ("the 2nd", "der zweite"), ("at 20:15", "8:15 pm"), ("am 05.03.2021", "March 5, 2021"),
    ("2021.6.11", "June 11, 2021"), ("1500", "fifteen hundred"), ("352", "three hundred and fifty-two"),
    ("A380", "the Airbus"), ("1億2345万", "123.45 million"), ("352", "三百五十二"), ("500", "five hundred"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "output"), SAME_NUMBERS)
def test_forms_of_one_number_are_the_same(source: str, output: str) -> None:
    assert missing_numbers(source, output) == []


def test_a_sum_that_only_repeats_another_is_not_asked_for() -> None:
    source = "12年4億2600万ドル（約456億円 ）、観客は1104人（実数1105人）"
    assert missing_numbers(source, "12 years, $426 million, before a crowd") == ["1104", "1105"]
    assert missing_numbers("It cost 3,456 euros (about $3,765).", "Es kostete 3.456 Euro.") == []
    assert missing_numbers("It cost about 3,765 dollars (in all).", "Es kostete viel.") == ["3,765"]


@given(st.integers(1000, 10**9), st.sampled_from(",. '’\u00a0\u202f"), st.sampled_from("0٠०０۰"))
def test_every_grouping_and_script_is_read_and_another_number_is_not(number: int, separator: str, zero: str) -> None:
    written = f"{number:,}".replace(",", separator)
    other_digits = "".join(chr(ord(zero) + int(one)) if one.isdigit() else one for one in written)
    assert missing_numbers(f"x {number} y", f"ab {other_digits} cd") == []
    digits = str(number).strip("0")
    if len(digits) >= 3:
        assert missing_numbers(f"in 東京 {number} 人", "nothing of the kind") == [str(number)]


def test_text_about_translations_is_no_leak() -> None:
    assert leaked("Hier ist die Übersetzung: gut.", "Here is the translation: good.") == ""
    assert leaked("Here is the dog: look!", "Hier ist der Hund: schau!") == ""
    for refusal in ("I'm sorry, but I can't assist with that request.", "I am unable to fulfill this request."):
        assert leaked(refusal, "Der Minister kündigte am Montag neue Gespräche an. " * 4).startswith("I")
        assert leaked(refusal, "Leider kann ich dieser Bitte nicht nachkommen.") == ""  # said in the text itself


def test_as_many_as_in_a_reference_are_enough() -> None:
    assert kinds("A<br><br>b", "A<br>b", "A<br>b") == [] and kinds("A<br>b", "A<br><br>b", "A<br><br>b") == []
    assert kinds("A<br><br>b", "Ab", "A<br>b") == ["tag"] and kinds("A<br>b", "A<br><br>b", "A<br>b") == ["tag"]


def test_a_neighbour_may_have_it() -> None:
    assert kinds(["It cost 1,605 euros.", "See <b>me</b>."], ["Es war teuer.", "Es waren 1605. <b>Ich</b>"]) == []
    assert kinds(["<b>Me.", "And you</b>"], ["Ich.", "<b>Und du</b>"]) == []


def test_shares_reach_notes_and_run() -> None:
    corpus = Corpus("c", ("en", "de"), (Document("d", ("Hello %s!", "A dog."), {"r": ("Hallo %s!", "Ein Hund.")}),))
    output = Output("x", {"d": ("Hallo!", "Ein Hund.")})
    results = wt.evaluate(corpus, [output], ["chrf"], wt.Options(cache=False))
    line = "x: changed placeholders in 1 of 2 segments (50.0%); see document d, segment 1: lost: %s"
    assert line in results.warnings
    share = {"kind": "placeholder", "doc": None, "segment": None, "note": "1 of 2 segments (50.0%)"}
    assert share in results.flags["x"]
    assert format_summary("x", (), source=True) == ""
    blind = replace(corpus, docs=tuple(replace(doc, src=None) for doc in corpus.docs))
    kept = Output("x", {"d": ("Hallo %s!", "Ein Hund.")})
    assert "there is no source" in unchecked_note(blind, [kept]) and unchecked_note(corpus, [kept]) == ""
    assert unchecked_note(blind, [output]) == ""
    assert set(KEPT) < set(WORDS)


def test_notes_on_many_systems_are_by_kind() -> None:
    found = {f"s{n}": [Flag("length", "d", at, "0.1 times") for at in range(n)] for n in range(1, 7)}
    found["s6"] += [Flag("number", "e", 2, "missing: 1234"), Flag("number", None, None, "1 of 9 segments (11.1%)")]
    found["s7"] = [Flag("fence", "d", None, "3 fences: one is not closed")]
    assert notes_on_flags(found, source=True) == [
        "length out of proportion in 21 segments: s6 6, s5 5, s4 4, s3 3, 2 others; see s6, document d, segment 1: 0.1 "
        "times",
        "Markdown fences in 1 document: s7 1; see s7, document d: 3 fences: one is not closed",
        "changed numbers in 1 segment: s6 1; see s6, document e, segment 3: missing: 1234",
    ]
    few = {system: found[system] for system in ("s1", "s6")}
    assert notes_on_flags(few, source=True) == [
        "s1: length out of proportion in 1 segment; see document d, segment 1: 0.1 times",
        "s6: length out of proportion in 6 segments; see document d, segment 1: 0.1 times",
        "s6: changed numbers in 1 of 9 segments (11.1%); see document e, segment 3: missing: 1234",
    ]


@pytest.mark.data
def test_the_wmt26_files_have_the_hits_that_were_read(data: Path) -> None:
    """docs/studies/format-flags.md: unpaired <p> of AMI, translated JSON of Apertium, sound files of CUNI-AR."""
    expected = {"AMI": {"tag", "json"}, "Apertium-sme-eng": {"json", "placeholder"}, "CUNI-AR": set()}
    for system, kinds_found in expected.items():
        lines = (data / "wmt26.outputs" / f"{system}.jsonl").read_text("utf-8").splitlines()
        texts = {row["doc_id"]: (row["hypothesis"],) for row in map(json.loads, lines)}
        langs = tuple(next(iter(texts)).split("_###_")[2:4])
        corpus = Corpus(system, (langs[0], langs[1]), tuple(Document(doc, None) for doc in texts))
        assert {flag.kind for flag in format_flags(corpus, Output(system, texts))} == kinds_found


NEWS, SOFTWARE = (f"WMT26_###_{domain}_###_eng_Latn_###_isl_Latn_###_x" for domain in ("news", "software"))
JSON = '```json\n{"a.b": "Open {{x}}", "c": "Close"}\n```'
GOOD = {NEWS: "<p>Einn &amp; tveir.</p>\n<p>Þrír <br> fjórir.</p>",
        SOFTWARE: '```json\n{"a.b": "Opna {{x}}", "c": "Loka"}\n```'}


@pytest.mark.parametrize(("doc", "text", "kind"), [
    (NEWS, "<p>Einn.</p>\n<p>Tveir <br> þrír.", "tag"),
    (NEWS, "```\n<p>Einn.</p>\n<p>Tveir <br> þrír.</p>\n```", "fence"),
    (SOFTWARE, '```json\n{"á.b": "Opna {{x}}", "ć": "Loka"}\n```', "json"),
    (SOFTWARE, 'Here is the translation:\n```json\n{"a.b": "Opna {{x}}", "c": "Loka"}\n```', "prompt"),
    (SOFTWARE, '```json\n{"a.b": "Opna {{x}}", "c": "Loka",}\n```', ""),
])
def test_what_the_reader_repaired_is_flagged(tmp_path: Path, doc: str, text: str, kind: str) -> None:
    """Segments have no <p> and no keys any more: flags of these rest on the reader's repairs."""
    sources = {NEWS: "<p>One &amp; two.</p>\n<p>Three <br> four.</p>", SOFTWARE: JSON}
    for name, texts in (("set", sources), ("x", {**GOOD, doc: text}), ("good", GOOD)):
        key = "src_text" if name == "set" else "hypothesis"
        lines = [json.dumps({"doc_id": one, key: body}) + "\n" for one, body in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    loaded = wt.read([tmp_path / f"{name}.jsonl" for name in ("set", "x", "good")])
    broken, good = (format_flags(loaded.corpus, output) for output in loaded.outputs)
    assert [(flag.kind, flag.doc) for flag in broken] == ([(kind, doc), (kind, None)] if kind else [])
    assert good == ()


def test_outputs_alone_have_added_nothing(tmp_path: Path) -> None:
    """A source that only stands in for one is none: tags and placeholders are not additions to it."""
    (tmp_path / "x.jsonl").write_text("".join(
        json.dumps({"doc_id": doc, "hypothesis": text}) + "\n" for doc, text in GOOD.items()), "utf-8")
    loaded = wt.read(tmp_path / "x.jsonl")
    assert not loaded.corpus.has_source and format_flags(loaded.corpus, loaded.outputs[0]) == ()


@pytest.mark.data
def test_flags_of_files_as_they_are_read_are_those_of_the_texts_as_submitted(data: Path) -> None:
    expected = {"AMI en-is": {"tag": 18, "json": 1}, "Apertium-sme-eng en-sme": {"json": 7, "placeholder": 3},
                "CUNI-AR en-arz": {}, "Krosny en-be": {"tag": 18, "prompt": 1}, "TartuNLP en-sme": {"untranslated": 11}}
    for name, counts in expected.items():
        system, langs = name.split()
        loaded = wt.read(data / "wmt26.outputs" / f"{system}.jsonl", langs=langs)
        found = [flag for flag in format_flags(loaded.corpus, loaded.outputs[0]) if flag.doc]
        assert Counter(flag.kind for flag in found) == counts, name
