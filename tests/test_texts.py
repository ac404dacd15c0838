"""Corpora and outputs print in a line, however much text they hold."""

from __future__ import annotations

from wholetext import Corpus, Document, Output

DOCS = tuple(Document(f"d{i}", ("Ein Satz.",) * 50, {"refA": ("A sentence.",) * 50}) for i in range(40))


def test_a_corpus_prints_what_it_is() -> None:
    assert repr(Corpus("news", ("de", "en"), DOCS)) == (
        "Corpus('news', de-en, 40 documents, 2000 segments: source, reference refA)")
    assert repr(Corpus("x", ("", ""), (Document("d", None),))) == "Corpus('x', 1 document, 0 segments: no texts)"


def test_an_output_prints_what_it_is() -> None:
    docs = {doc.id: ("A phrase.",) * 50 for doc in DOCS}
    assert repr(Output("mine", docs)) == "Output('mine', 40 documents, 2000 segments)"
    assert "40 documents, 1 of them aligned" in repr(Output("mine", docs, realigned={"d0": "words"}))


def test_a_long_document_prints_its_beginning() -> None:
    printed = repr(DOCS[0])
    assert printed.startswith("Document(id='d0', src=('Ein Satz.',") and len(printed) < 400
