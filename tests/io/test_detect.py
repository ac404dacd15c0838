"""`read`: formats recognised by content, forced, or mistaken; outputs beside a corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.io.test_wmt_xml import GOOD
from wholetext.errors import AlignmentError, InputError
from wholetext.io import LineFiles, read
from wholetext.io.formats import jsonl
from wholetext.types import Corpus, Document, Output

DOC = json.dumps({"doc": "d", "src": ["a", "b"], "outputs": {"s": ["A", "B"]}})


@pytest.mark.parametrize(("text", "system"), [
    (DOC, "s"), ("\ufeff \n"[:1] + DOC, "s"), ("doc\tsrc\thyp:t\nd\ta\tA\n", "t"), (GOOD, "S"),
])  # fmt: skip
def test_recognised_by_content_whatever_the_name(text: str, system: str, tmp_path: Path) -> None:
    path = tmp_path / "file.dat"
    path.write_text(text, encoding="utf-8")
    assert read(path).outputs[0].system == system
    assert wt.read is read


def test_forced_format(tmp_path: Path) -> None:
    path = tmp_path / "file.dat"
    path.write_text(DOC)
    for format in ("table", "xml"):
        with pytest.raises(InputError):
            read(path, format=format)
    with pytest.raises(InputError, match="plain lines"):
        read(path, format="lines")
    with pytest.raises(InputError, match="no format 'jsnl'") as caught:
        read(path, format="jsnl")
    assert "jsonl" in caught.value.next


def test_what_is_not_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    for text in ("just text\n", "", "[1]\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="plain lines"):
            read(path)
    for source, says in ((tmp_path, "not an EvalSet"), (tmp_path / "nothing", "no such file"), ([], "no texts")):
        with pytest.raises(InputError, match=says):
            read(source)
    for impossible in ("x" * 5000, "a\0b", ""):
        for source, options in ((impossible, {}), (impossible, {"format": "evalset", "langs": "de-en"}),
                                (LineFiles(src=impossible), {})):  # fmt: skip
            with pytest.raises(InputError):
                read(source, **options)
    with pytest.raises(InputError, match="written like de-en"):
        read(LineFiles(src=path), langs="german")


def test_outputs_beside_a_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(DOC)
    (tmp_path / "lines.txt").write_text("x\ny\n")
    (tmp_path / "cells.tsv").write_text("doc\thyp\nd\tx\nd\ty\n")
    (tmp_path / "wmt.jsonl").write_text(json.dumps({"doc_id": "d", "hypothesis": "x\n\ny"}))
    (tmp_path / "hyp.xml").write_text(
        '<dataset><doc id="d"><hyp system="X"><seg>x</seg><seg>y</seg></hyp></doc></dataset>'
    )
    names = ("lines.txt", "cells.tsv", "wmt.jsonl", "hyp.xml")
    loaded = read([corpus, *(tmp_path / name for name in names)])
    assert [output.system for output in loaded.outputs] == ["s", "lines", "cells", "wmt", "X"]
    assert {output.docs["d"] for output in loaded.outputs[1:]} == {("x", "y")}
    loaded = read(LineFiles(corpus=corpus, hyps=[("mine", tmp_path / "wmt.jsonl"), ("other", tmp_path / "lines.txt")]))
    assert [output.system for output in loaded.outputs] == ["s", "mine", "other"]
    with pytest.raises(InputError, match="the system name 's' is used twice"):
        read(LineFiles(corpus=corpus, hyps={"s": tmp_path / "lines.txt"}))
    with pytest.raises(InputError, match="given twice"):
        read(LineFiles(corpus=corpus, src=tmp_path / "lines.txt"))
    (tmp_path / "short.txt").write_text("x\n")
    with pytest.raises(AlignmentError, match="found 1 line, but the corpus has 2"):
        read([corpus, tmp_path / "short.txt"])


def test_choosing(tmp_path: Path) -> None:
    docs = (Document("d", ("a",), {"A": ("r",), "B": ("q",)}), Document("e", ("b",), {"A": ("p",)}))
    outputs = tuple(Output(name, {"d": ("x",), "e": ("y",)}) for name in "uvw")
    jsonl.write(tmp_path / "c.jsonl", wt.io.Loaded(Corpus("c", ("de", "en"), docs), outputs))
    loaded = read(tmp_path / "c.jsonl", systems=["w", "u", "w"], refs=["A"])
    assert [output.system for output in loaded.outputs] == ["w", "u"]
    assert loaded.corpus.docs[0].refs == {"A": ("r",)}
    assert read(tmp_path / "c.jsonl").warnings == ("reference 'B' is there for 1 of 2 documents only and is not used",)
    some = Corpus("c", ("", ""), (Document("d", None, {"A": ("r",)}), Document("e", ("b",), {"A": ("p",)})))
    jsonl.write(tmp_path / "c.jsonl", wt.io.Loaded(some, outputs))
    assert read(tmp_path / "c.jsonl").warnings == ("1 of 2 documents have no source, so none is used",)
