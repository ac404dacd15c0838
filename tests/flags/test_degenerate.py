"""Flags for degenerate output: each kind on text made for it, silence on sound text, and on human translations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from wholetext.demo import load
from wholetext.flags.degenerate import Flag, degenerate, side_by_side
from wholetext.flags.formats import notes_on_flags
from wholetext.io import read
from wholetext.types import Corpus, Document, Output

CORPUS, (SOUND, *_) = load("de-en")  # twelve documents; the first system translates them well
DOC, AT = CORPUS.docs[2].id, 4
SOURCE = CORPUS.docs[2].src[AT]
GERMAN = "Niemand im Dorf glaubte, was die alte Frau über den Brief sagte, der im Garten gefunden worden war."
CZECH = "Obyvatelé městečka se včera večer sešli, aby si promluvili o opravách, které mají začít příští jaro."
SORRY = "I'm sorry, but I can't help with translating this text right now."


def changed(**texts: str) -> Output:
    """The sound output with other text in some places: document → text of its fifth segment."""
    docs = {doc: list(segments) for doc, segments in SOUND.docs.items()}
    for doc, text in texts.items():
        docs[doc][AT] = text
    return Output("x", {doc: tuple(segments) for doc, segments in docs.items()})


def without_references(corpus: Corpus) -> Corpus:
    return replace(corpus, docs=tuple(replace(doc, refs={}) for doc in corpus.docs))


def flags(corpus: Corpus, output: Output) -> tuple[Flag, ...]:
    return degenerate(side_by_side(corpus, output))


def places(found: Iterable[Flag]) -> list[tuple[str, str | None, int | None]]:
    return [(flag.kind, flag.doc, flag.segment) for flag in found]


def test_sound_output_has_no_flag():
    assert flags(CORPUS, SOUND) == () == flags(without_references(CORPUS), SOUND)


@pytest.mark.parametrize(("pair", "planted"), [("de-en", 7), ("zh-en", 4)])
def test_the_demo_systems_are_flagged_where_they_were_damaged(pair, planted):
    corpus, outputs = load(pair)
    found = {output.system: places(flags(corpus, output)) for output in outputs}
    assert {system for system, places in found.items() if places} == {"loopy"}
    assert len(found["loopy"]) == planted
    assert {kind for kind, _, _ in found["loopy"]} == {"empty", "copied", "loop", "length"}


CASES = [
    ("", "empty", "no text"), (" \u3000\t", "empty", "no text"), (SOURCE, "copied", "untranslated"),
    (f"  {SOURCE.upper()} ", "copied", "untranslated"),
    ("Nobody believed " + "no " * 12, "loop", "12 times in a row: “no”"),
    ("Nobody believed what he said" + " and then he said" * 6, "loop", "6 times in a row: “he said and then”"),
    ("Nobo" + "dy" * 20, "loop", "“dy”"), (GERMAN, "language", "looks like de, not en"),
    ("Никто не поверил тому, что она сказала о письме вчера вечером.", "script", "Cyrillic, not Latin"),
    ("没有人相信她所说的那封信的事情，因为昨天晚上下雨的时候没有人看见她在花园里。", "script", "Han, not Latin"),
    (CZECH, "language", "looks like cs, not en"), ("No.", "length", "times as long as the"),
    (" ".join(segments[0] for segments in SOUND.docs.values()), "length", "times as long as the"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "note"), CASES)
def test_each_kind_is_found_once_where_it_is(text, kind, note):
    found = flags(CORPUS, changed(**{DOC: text}))
    assert places(found)[0] == (kind, DOC, AT)
    assert note in found[0].note
    assert [place for place in places(found) if place[2] is not None] == [(kind, DOC, AT)]
    # without references the source is the guide
    assert places(flags(without_references(CORPUS), changed(**{DOC: text})))[0] == (kind, DOC, AT)


def test_one_text_for_different_sources_is_a_repeat():
    docs = [doc.id for doc in CORPUS.docs[::3]]
    found = flags(CORPUS, changed(**dict.fromkeys(docs, SORRY)))
    assert [place for place in places(found) if place[0] == "repeat"] == [("repeat", doc, AT) for doc in docs]
    assert "3 other sources" in next(flag.note for flag in found if flag.kind == "repeat")


def beside(src: str, ref: str, hyp: str) -> list[Flag]:
    """Flags where a source and its reference are peculiar themselves."""
    doc = CORPUS.docs[2]
    sides = [list(doc.src or ()), list(doc.refs["human"])]
    sides[0][AT], sides[1][AT] = src, ref
    odd = replace(doc, src=tuple(sides[0]), refs={"human": tuple(sides[1])})
    corpus = replace(CORPUS, docs=(*CORPUS.docs[:2], odd, *CORPUS.docs[3:]))
    return list(flags(corpus, changed(**{DOC: hyp})))


@pytest.mark.parametrize(("src", "ref", "hyp"), [
    ("", "", ""),
    ("Borussia Dortmund – Bayern München", "Borussia Dortmund – Bayern München", "Borussia Dortmund – Bayern München"),
    ("Прага, весна", "Прага, весна и лето", "Прага, весна"), ("Nein " * 12, "No " * 12, "No " * 12),
    ("Ha" * 30, "Ha" * 30, "ha" * 28), ("." * 60, "." * 60, "." * 50),
])  # fmt: skip
def test_what_the_reference_does_too_is_no_fault(src, ref, hyp):
    assert beside(src, ref, hyp) == []


@pytest.mark.parametrize(("lang", "src", "ref", "hyp", "wrong"), [
    ("zh", "The tactic is to “do the things right”.", "战术就是把事情做对。",
     "战术在于“do the things right”，也就是做对。", False),
    ("zh", "Laura Nettle of FoodBev Media was pleased.", "食品饮料传媒的劳拉很高兴。",
     "FoodBev Media的Laura Nettle很高兴。", False),
    ("ja", "The FINAL FANTASY 6 Grand Finale, reviewed", "ファイナルファンタジー６の感想",
     "Final Fantasy 6 Grand Finale 感想", False),
    ("ru", "Mattress Sontelle Vivre Dual Royal", "Матрас Сонтель Вивр Дуал Роял",
     "Матрас Sontelle Vivre Dual Royal", False),
    ("zh", "Nobody knew who wrote it.", "没有人知道是谁写的。", "nobody knew 是谁 wrote it yesterday evening", True),
    ("ja", "Nobody knew who wrote it.", "誰が書いたのか誰も知らなかった。", "nikto ne znal kto eto napisal nam", True),
    ("ru", "Nobody knew who wrote it.", "Никто не знал, кто это написал.", "Nobody knew, кто это wrote at all.", True),
])  # fmt: skip
@pytest.mark.parametrize("blind", [False, True])
def test_names_that_are_kept_are_no_wrong_script(lang, src, ref, hyp, wrong, blind):
    doc = Document("d", (src,), {} if blind else {"r": (ref,)})
    found = flags(Corpus("c", ("en", lang), (doc,)), Output("x", {"d": (hyp,)}))
    assert any(flag.kind == "script" for flag in found) is wrong


def test_whole_documents_are_flagged():
    blank, copied = CORPUS.docs[4], CORPUS.docs[5]
    docs = {**SOUND.docs, blank.id: ("",) * len(blank), copied.id: copied.src}
    found = flags(CORPUS, Output("x", docs))
    assert [(f.kind, f.doc, f.note) for f in found if f.segment is None] == [
        ("empty", blank.id, f"{len(blank)} of {len(blank)} segments"),
        ("copied", copied.id, f"{len(copied)} of {len(copied)} segments"),
    ]
    (line,) = notes_on_flags({"x": found})
    assert line.startswith("x: ") and f"no text in {len(blank)} segments" in line
    assert "copied source in 1 document" in line


def test_output_with_other_segments_is_judged_by_document():
    one, two = CORPUS.docs[0].id, CORPUS.docs[1].id
    assert flags(CORPUS, Output("x", {**SOUND.docs, one: (" ".join(SOUND.docs[one]),)})) == ()
    found = flags(CORPUS, Output("x", {**SOUND.docs, one: ("", ""), two: ("And so on, " * 30,)}))
    assert places(found) == [("empty", one, None), ("loop", two, None)]


def test_languages_that_are_equal_or_unknown():
    copies = Output("x", {doc.id: doc.src for doc in CORPUS.docs})
    assert flags(without_references(replace(CORPUS, langs=("de", "de"))), copies) == ()
    russian = changed(**{DOC: "Никто не поверил тому, что она сказала."})
    assert places(flags(replace(CORPUS, langs=("", "")), russian)) == []


text = st.text(max_size=60) | st.sampled_from(["", "word " * 30, "字" * 40, "\ud800", "a\u0000b", "İ" * 50, "🙂" * 20])


@given(st.lists(st.tuples(text, text, text), min_size=1, max_size=8), st.sampled_from(["en", "zh", "", "xx-YY"]))
@settings(max_examples=60, deadline=None)
def test_any_text_is_judged_without_a_fault(segments, lang):
    hyp, src, ref = (tuple(column) for column in zip(*segments))
    corpus = Corpus("c", ("de", lang), (Document("d", src, {"A": ref}), Document("e", ref, {"A": src})))
    made = Output("x", {"d": hyp, "e": hyp[:1]})
    found = flags(corpus, made)
    assert found == flags(corpus, made)
    assert all(flag.doc in ("d", "e") for flag in found)


@pytest.mark.data
@pytest.mark.parametrize(("test_set", "pair", "ref", "human"), [
    ("wmt21.news", "de-en", "refA", "refB"), ("wmt21.news", "en-de", "refC", "refB"),
    ("wmt21.news", "ru-en", "refA", "refB"), ("wmt22.da", "cs-en", "refB", "refC"),
])
def test_human_translations_are_hardly_ever_flagged(data, test_set, pair, ref, human):
    corpus = read(data / "evalsets" / test_set, langs=pair).corpus
    made = Output(human, {doc.id: doc.refs[human] for doc in corpus.docs})
    corpus = replace(corpus, docs=tuple(replace(doc, refs={ref: doc.refs[ref]}) for doc in corpus.docs))
    found = [flag for flag in flags(corpus, made) if flag.segment is not None]
    assert len(found) <= 0.003 * sum(map(len, corpus.docs))


@pytest.mark.data
def test_a_garbled_document_among_the_references_is_found(data):
    """One document of en-ru refA is in a wrong encoding, and the judges were shown it like that."""
    corpus = read(data / "evalsets" / "wmt21.news", langs="en-ru").corpus
    made = Output("refA", {doc.id: doc.refs["refA"] for doc in corpus.docs})
    found = flags(replace(corpus, docs=tuple(replace(doc, refs={}) for doc in corpus.docs)), made)
    assert ("script", "nytimes.268790", "12 of 12 segments") in {(f.kind, f.doc, f.note) for f in found}
