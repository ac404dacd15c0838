"""Parallel text files: document ids, blank lines, neither; counts that differ."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.errors import AlignmentError, InputError
from wholetext.io import LineFiles, Loaded, from_texts, read


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return write


def shape(loaded: Loaded) -> dict[str, int]:
    return {doc.id: len(doc) for doc in loaded.corpus.docs}


def test_document_ids(write) -> None:  # type: ignore[no-untyped-def]
    loaded = read(LineFiles(src=write("src.de", "eins", "zwei", "drei"),
                            refs=[write("refA.en", "1", "2", "3"), write("refB.en", "I", "II", "III")],
                            hyps=[write("sysA.txt", "one", "two", "three"), write("sysB.txt", "a", "", "c")],
                            docs=write("ids", "x", "x", "y")), langs="de-en")
    assert shape(loaded) == {"x": 2, "y": 1}
    assert loaded.corpus.langs == ("de", "en")
    assert loaded.corpus.id.startswith("test_document_ids")  # the folder: src is no name
    assert loaded.corpus.references == ("refA", "refB")
    assert loaded.corpus.docs[0].src == ("eins", "zwei") and loaded.corpus.docs[1].refs["refB"] == ("III",)
    assert [output.system for output in loaded.outputs] == ["sysA", "sysB"]
    assert loaded.outputs[1].docs == {"x": ("a", ""), "y": ("c",)}
    assert loaded.warnings == ()
    corpus, outputs, warnings = loaded
    assert (corpus, outputs, warnings) == (loaded.corpus, loaded.outputs, ())


def test_an_id_that_comes_back_is_a_new_document(write) -> None:  # type: ignore[no-untyped-def]
    texts = [str(i) for i in range(6)]
    loaded = read(LineFiles(refs=[write("ref.txt", *texts)], docs=write("ids", "x", "y", "x", "x#2", "x", "y")))
    assert shape(loaded) == {"x": 1, "y": 1, "x#2": 1, "x#2#2": 1, "x#3": 1, "y#2": 1}
    assert len(loaded.warnings) == 1
    assert ":3:" in loaded.warnings[0] and "'x#2'" in loaded.warnings[0] and "4 such" in loaded.warnings[0]


def test_many_ids_that_come_back_take_linear_time() -> None:
    loaded = from_texts(["t"] * 20_000, refs=["t"] * 20_000, docs=["a", "b"] * 10_000)
    assert len(loaded.corpus) == 20_000


def test_domains_in_the_id_file(write) -> None:  # type: ignore[no-untyped-def]
    loaded = read(LineFiles(refs=[write("ref.txt", "1", "2")], docs=write("lp.docs", "news\tx", "social\ty")))
    assert {doc.id: doc.meta["domain"] for doc in loaded.corpus.docs} == {"x": "news", "y": "social"}
    with pytest.raises(InputError, match="no document id"):
        read(LineFiles(refs=[write("ref.txt", "1")], docs=write("lp.docs", "a\tb\tc")))


def test_blank_lines_between_documents(write) -> None:  # type: ignore[no-untyped-def]
    loaded = read(LineFiles(src=write("src.txt", "a", "b", "", "c"), refs=[write("ref.txt", "A", "B", "", "C", "")],
                            hyps=[write("sys.txt", "x y", "", "z")]))
    assert shape(loaded) == {"doc1": 2, "doc2": 1}
    assert loaded.outputs[0].docs == {"doc1": ("x y",), "doc2": ("z",)}
    assert any("blank lines" in note for note in loaded.warnings)
    assert any("another number of segments" in note and "1 of 2 documents" in note for note in loaded.warnings)


@pytest.mark.parametrize(("src", "hyp", "breaks"), [
    (["a", "b", "c"], ["a", "", "c"], "auto"), (["a", "", "c"], ["a", "b", "c"], "auto"),
    (["a", "", "c"], ["a", "", "c"], "none"),
])  # fmt: skip
def test_blank_lines_that_are_empty_translations(write, src: list[str], hyp: list[str], breaks: str) -> None:  # type: ignore[no-untyped-def]
    files = LineFiles(src=write("src.txt", *src), hyps=[write("sys.txt", *hyp)], breaks=breaks)  # type: ignore[arg-type]
    loaded = read(files)
    assert shape(loaded) == {"doc1": 3} and loaded.outputs[0].docs["doc1"] == tuple(hyp)
    assert "all 3 segments are taken as one document" in loaded.warnings[0]


def test_blank_lines_that_do_not_fit(write) -> None:  # type: ignore[no-untyped-def]
    src = write("src.txt", "a", "b", "", "c")
    with pytest.raises(AlignmentError, match=r"sys.txt: found 3 documents, but .*src.txt has 2"):
        read(LineFiles(src=src, hyps=[write("sys.txt", "a", "", "b", "", "c")]))
    with pytest.raises(AlignmentError, match=r"'doc1' .*: reference 'ref' 1, the source 2"):
        read(LineFiles(src=src, refs=[write("ref.txt", "a", "", "c")]))
    with pytest.raises(InputError, match="two blank lines") as caught:
        read(LineFiles(src=write("src.txt", "a", "", "", "b")))
    assert caught.value.where.endswith("src.txt:3")
    with pytest.raises(InputError, match="at the start"):
        read(LineFiles(src=write("src.txt", "", "b"), breaks="blank"))


def test_line_counts_that_differ(write) -> None:  # type: ignore[no-untyped-def]
    src, ids = write("src.txt", "a", "b", "c"), write("ids", "x", "x", "y")
    with pytest.raises(AlignmentError, match=r"found 2 lines, but .*src.txt has 3") as caught:
        read(LineFiles(src=src, hyps=[write("sys.txt", "a", "b")], docs=ids))
    assert caught.value.where.endswith("sys.txt:3")
    with pytest.raises(AlignmentError, match=r"found 2 document ids, but .*src.txt has 3 lines"):
        read(LineFiles(src=src, docs=write("ids", "x", "y")))
    with pytest.raises(InputError, match="no document id") as caught:
        read(LineFiles(src=src, docs=write("ids", "x", "", "y")))
    assert caught.value.where.endswith("ids:2")


def test_names(write) -> None:  # type: ignore[no-untyped-def]
    one, two = write("a/out.txt", "x"), write("b/out.txt", "y")
    with pytest.raises(InputError, match="names that differ, not out, out"):
        read(LineFiles(hyps=[one, two], refs=[one]))
    loaded = read(LineFiles(hyps=[("first", one), two], refs=[one, two]))
    assert [output.system for output in loaded.outputs] == ["first", "out"]
    assert loaded.corpus.references == ("ref0", "ref1")
    loaded = read(LineFiles(hyps={"A": one, "B": two}, refs={"gold": one}))
    assert [output.system for output in loaded.outputs] == ["A", "B"] and loaded.corpus.references == ("gold",)


def test_outputs_alone_and_nothing_to_read(write) -> None:  # type: ignore[no-untyped-def]
    loaded = read(LineFiles(hyps=[write("sys.txt", "a", "b")], docs=write("ids", "x", "y")))
    assert shape(loaded) == {"x": 1, "y": 1} and "neither a source nor a reference" in loaded.warnings[-1]
    with pytest.raises(InputError, match="no texts"):
        read(LineFiles())
    with pytest.raises(InputError, match="no text here"):
        read(LineFiles(src=write("empty.txt"), hyps=[write("sys.txt")]))


def test_standard_input_and_structured_files_by_mistake(write, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"doc": 1}\n')))
    loaded = read(LineFiles(hyps=["-"], refs=[write("ref.txt", "a")]))
    assert loaded.outputs[0].system == "stdin"
    assert "looks like XML or JSONL" in loaded.warnings[0]


def test_from_texts() -> None:
    loaded = from_texts(["a", "b"], refs=["A", "B"], srcs=["1", "2"], docs=["x", "y"], langs=("de", "en"))
    assert (
        shape(loaded) == {"x": 1, "y": 1} and loaded.outputs[0].system == "hyp" and loaded.corpus.references == ("ref",)
    )
    loaded = from_texts({"s": ["a"], "t": ["b"]}, refs=[["A"], ["B"]])
    assert loaded.corpus.references == ("ref0", "ref1") and len(loaded.outputs) == 2
# ---------------------------------------------------------------- lists of documents


def test_lists_in_lists_are_documents() -> None:
    corpus, outputs, notes = wt.from_texts(
        {"x": [["one", "too"], ["tree"]], "y": [["one two"], ["three"]]}, refs=[["one", "two"], ["three"]],
        srcs=[["eins", "zwei"], ["drei"]], langs="de-en")
    assert [(doc.id, doc.src, dict(doc.refs)) for doc in corpus.docs] == [
        ("doc1", ("eins", "zwei"), {"ref": ("one", "two")}), ("doc2", ("drei",), {"ref": ("three",)})]
    assert corpus.langs == ("de", "en") and [one.system for one in outputs] == ["x", "y"]
    assert "'y' has another number of segments than the corpus in 1 of 2 documents" in notes[0]


def test_several_references_have_a_parameter_of_their_own() -> None:
    one, two = [["a b", "c"], ["d"]], [["a", "c c"], ["d e"]]
    corpus, _, _ = wt.from_texts(one, references=[one, two], docs=["x", "y"])
    assert [doc.id for doc in corpus.docs] == ["x", "y"] and corpus.references == ("ref0", "ref1")
    assert corpus.docs[0].refs["ref1"] == ("a", "c c")
    flat = wt.from_texts(["a b", "c"], references=[["a b", "c"], ["a", "c c"]])
    assert flat == wt.from_texts(["a b", "c"], refs=[["a b", "c"], ["a", "c c"]])


@pytest.mark.parametrize(("given", "said"), [
    ({"hyps": ["a"], "refs": ["A", "B"]}, "hyps['hyp']:2: found 1 line, but refs['ref'] has 2"),
    ({"hyps": "a", "refs": ["A"]}, "expected a list of strings, got str"), ({"hyps": []}, "no texts"),
    ({"hyps": ["a", None], "refs": ["A", "B"]}, "hyps['hyp'][1]: expected a string, got NoneType"),
    ({"hyps": ["\ud800"], "refs": ["A"]}, "surrogate"),
    ({"hyps": [["a"], ["b"]], "refs": [["a"]]}, "hyps['hyp']: found 2 documents, but refs['ref'] has 1"),
    ({"hyps": [["a"], ["b"]], "refs": ["a", "b"]}, "refs['ref'][0]: expected a list of strings, got str"),
    ({"hyps": [["a"], [3]], "refs": [["a"], ["b"]]}, "hyps['hyp'][1][0]: expected a string, got int"),
    ({"hyps": [["a"]], "refs": [["a"]], "docs": ["x", "y"]}, "docs: found 2 documents, but refs['ref'] has 1"),
])  # fmt: skip
def test_lists_that_do_not_fit_are_answered(given: dict[str, Any], said: str) -> None:
    with pytest.raises(wt.errors.InputError) as caught:
        wt.from_texts(**given)
    assert said in str(caught.value)
