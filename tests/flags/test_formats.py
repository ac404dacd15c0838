"""Format flags: each kind on text made for it, silence on what is kept, forms of numbers, the real WMT26 files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import wholetext as wt
from wholetext.flags.degenerate import Flag
from wholetext.flags.formats import WORDS, flags, leaked, notes_on_flags
from wholetext.flags.numbers import missing_numbers
from wholetext.types import Corpus, Document, Output


def kinds(src: str | list[str] | None, hyp: str | list[str], ref: str | None = None, langs=("en", "de")) -> list[str]:
    """Kinds of the flags of one document."""
    sides = [side if side is None or isinstance(side, list) else [side] for side in (src, hyp, ref)]
    refs = {} if sides[2] is None else {"ref": tuple(sides[2])}
    corpus = Corpus("c", langs, (Document("d", None if sides[0] is None else tuple(sides[0]), refs),))
    found = flags(corpus, Output("x", {"d": tuple(sides[1] or ())}))
    return [flag.kind for flag in found if flag.kind in WORDS]


CHANGED = [
    ("Hello %s!", "Hallo!", "placeholder"),
    ("Hello {name}, {0}", "Hallo {Name}, {0}", "placeholder"),
    ("See <0>the page</0>.", "Siehe die Seite.", "placeholder"),
    ("{{count}} years", "{{Anzahl}} Jahre", "placeholder"),
    ("A <b>big</b> dog<br>", "Ein großer Hund<br>", "tag"),
    ("Look at https://example.com/a?b=1.", "Siehe https://example.com/a?b=2.", "url"),
    ("Write to ann@example.org", "Schreib an anna@example.org", "email"),
    ("It cost 1,605 euros", "Es kostete 1.650 Euro", "number"),
    ("A dog.", "```\nEin Hund.\n```", "fence"),
    ('{"a": "dog", "b": ["cat"]}', '{"a": "Hund", "c": ["Katze"]}', "json"),
    ('```json\n{"a": "dog"}\n```', '```json\n{„a“: „Hund“}\n```', "json"),
    ("A dog.", "Here is the translation:\nEin Hund.", "prompt"),
    ("A dog.", "Ein Hund.<|im_end|>", "prompt"),
]  # fmt: skip


@pytest.mark.parametrize(("src", "hyp", "kind"), CHANGED)
def test_what_is_changed_is_found(src: str, hyp: str, kind: str) -> None:
    assert kinds(src, hyp) == [kind]
    if kind not in ("prompt", "fence", "json"):
        assert kinds(src, hyp, ref=hyp) == [], "what no reference keeps is not asked for"
    assert kinds(src, src.replace("dog", "Hund")) == [], "a sound output"


@pytest.mark.parametrize(("hyp", "kind"), [
    ("Sure! Here's the German translation:\nEin Hund.", "prompt"), ("以下是翻译：\n一只狗。", "prompt"),
    ("Voici la traduction en français :\nUn chien.", "prompt"), ("Вот перевод текста:\nСобака.", "prompt"),
    ("```json\n[„Hund“]\n```", "json"),
])  # fmt: skip
def test_without_a_source_only_what_is_broken_in_itself_is_found(hyp: str, kind: str) -> None:
    assert kinds(None, hyp) == [kind]
    assert kinds(None, "Es kostete 1.650 Euro, <b>Anna</b>, siehe https://example.com und {name}") == []


SAME_NUMBERS = [("1,000.57", "1.000,57"), ("1,000.57", "1 000,57"), ("1000.57", "1'000.57"), ("1,234.5", "١٢٣٤٫٥"),
                ("2,345", "२३४५"), ("1234.5万", "12.345 million"), ("３６５億円", "36.5 billion yen"),
                ("1,605", "1 605"),
                ("7 dogs", "seven dogs"), ("the 2nd", "der zweite"), ("at 20:15", "8:15 pm"),
                ("am 05.03.2021", "March 5, 2021"), ("2021.6.11", "June 11, 2021"), ("1500", "fifteen hundred"),
                ("352", "three hundred and fifty-two"), ("A380", "the Airbus"), ("1億2345万", "123.45 million"),
                ("352", "三百五十二"), ("500", "five hundred")]


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


def test_flags_reach_notes_and_run() -> None:
    corpus = Corpus("c", ("en", "de"), (Document("d", ("Hello %s!", "A dog."), {"r": ("Hallo %s!", "Ein Hund.")}),))
    output = Output("x", {"d": ("Hallo!", "Ein Hund.")})
    results = wt.score(wt.Loaded(corpus, [output]), ["chrf"], options=wt.Options(cache=False))
    assert "x: changed placeholders in 1 segment; see document d, segment 1: lost: %s" in results.warnings
    assert results.flags["x"] == [{"kind": "placeholder", "doc": "d", "segment": 0, "note": "lost: %s"}]
    flagged = {"s": [Flag("length", "d", 0, "0.1 times"), Flag("number", "e", 2, "missing: 1234")], "t": []}
    assert notes_on_flags(flagged) == ["s: length out of proportion in 1 segment; see document d, segment 1: 0.1 times",
                                     "s: changed numbers in 1 segment; see document e, segment 3: missing: 1234"]


@pytest.mark.data
def test_the_wmt26_files_have_the_hits_that_were_read(data: Path) -> None:
    """Broken JSON of AMI and Apertium, sound files of CUNI-AR."""
    expected = {"AMI": {"json"}, "Apertium-sme-eng": {"json"}, "CUNI-AR": set()}
    for system, kinds_found in expected.items():
        lines = (data / "wmt26.outputs" / f"{system}.jsonl").read_text("utf-8").splitlines()
        texts = {row["doc_id"]: (row["hypothesis"],) for row in map(json.loads, lines)}
        langs = tuple(next(iter(texts)).split("_###_")[2:4])
        corpus = Corpus(system, (langs[0], langs[1]), tuple(Document(doc, None) for doc in texts))
        assert {flag.kind for flag in flags(corpus, Output(system, texts))} & {*WORDS} == kinds_found
