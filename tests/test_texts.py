"""Corpora and outputs print in a line, however much text they hold."""

from __future__ import annotations

import pickle

from wholetext import Corpus, Document, Output

DOCS = tuple(Document(f"d{i}", ("Ein Satz.",) * 50, {"refA": ("A sentence.",) * 50}) for i in range(40))


def test_values_print_what_they_are() -> None:
    docs = {doc.id: ("A phrase.",) * 50 for doc in DOCS}
    assert repr(Corpus("news", ("de", "en"), DOCS)) == (
        "Corpus('news', de-en, 40 documents, 2000 segments: source and reference refA)")
    assert repr(Corpus("x", ("", ""), (Document("d", None),))) == "Corpus('x', 1 document, 0 segments: no texts)"
    assert repr(Output("mine", docs)) == "Output('mine', 40 documents, 2000 segments)"
    assert "40 documents, 1 of them aligned" in repr(Output("mine", docs, realigned={"d0": "words"}))
    assert repr(DOCS[0]).startswith("Document(id='d0', src=('Ein Satz.',") and len(repr(DOCS[0])) < 400


def test_a_corpus_knows_its_ids_sizes_and_sides() -> None:
    docs = [Document("x", ["a", "b"], {"r": ["c", "d"], "q": ["", ""]}), Document("y", ["e"], {"r": ["f"]})]
    corpus = Corpus("c", ("de", "en"), docs)
    assert corpus.docs == tuple(docs) and corpus.ids == ("x", "y") and corpus.sizes.tolist() == [2, 1]
    assert corpus.references == ("r",) and corpus.has_source
    assert not Corpus("c", ("", ""), [Document("x", ["", ""], {"r": ["c", "d"]})]).has_source
    assert not Corpus("c", ("", ""), [Document("x", None, {"r": ["c"]})]).has_source
    assert Corpus("c", ("", ""), ()).references == () and Corpus("c", ("", ""), ()).sizes.tolist() == []


def test_values_are_pickled() -> None:
    doc, output = Document("x", ["a"], {"r": ["b"]}, {"domain": "news"}), Output("s", {"x": ["a"]})
    assert pickle.loads(pickle.dumps((doc, output))) == (doc, output)
