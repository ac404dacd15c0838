"""EvalSet folders: texts, documents, language pairs; the real ones where they are at hand."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.io import Loaded, read
from wholetext.io.formats import evalset
from wholetext.io.formats.evalset import EvalSet
from wholetext.types import Corpus, Document, Output

SMALL = Loaded(
    Corpus("small", ("de", "en"), (Document("x", ("eins", "zwei"), {"refA": ("one", "two")}, {"domain": "news"}),
                                   Document("y", ("drei",), {"refA": ("three",)}, {"domain": "web"}))),
    (Output("refA", {"x": ("one", "two"), "y": ("three",)}), Output("sys.1", {"x": ("1", ""), "y": ("3",)})),
)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    evalset.write(tmp_path / "small", SMALL)
    return tmp_path / "small"


def test_what_is_written_reads_back(small: Path) -> None:
    assert sorted(str(path.relative_to(small)) for path in small.rglob("*.*")) == [
        "documents/de-en.docs", "references/de-en.refA.txt", "sources/de-en.txt", "system-outputs/de-en/refA.txt",
        "system-outputs/de-en/sys.1.txt"]
    assert evalset.read(small, "de-en") == evalset.read(small) == SMALL
    opened = EvalSet.open(small)
    assert opened.langs == "de-en" and opened.pairs == ("de-en",) and EvalSet.open(opened, "de-en") is opened
    assert opened.systems == ("refA", "sys.1") and opened.references == ("refA",)
    assert [(run.doc, run.start, run.stop) for run in opened.documents] == [("x", 0, 2), ("y", 2, 3)]
    assert opened.domains == ("news", "web")


def test_outputs_that_repeat_a_reference_are_left_out_unless_named(small: Path) -> None:
    loaded = read(small)
    assert [output.system for output in loaded.outputs] == ["sys.1"]
    assert loaded.warnings == ("not scored as systems, because they are references: refA (--system NAME scores one)",)
    assert [output.system for output in read(small, systems=["refA"]).outputs] == ["refA"]
    assert [output.system for output in read(small, refs=[]).outputs] == ["refA", "sys.1"]
    with pytest.raises(InputError, match="no reference 'refa'") as caught:
        read(small, refs=["refa"])
    assert "refA" in caught.value.next
    with pytest.raises(InputError, match="no system 'nobody'"):
        read(small, systems=["nobody"])


def test_missing_translations_are_empty_text_and_a_warning(small: Path) -> None:
    (small / "system-outputs/de-en/sys.1.txt").write_text("1\n[No translation supplied]  \n[No translation supplied]\n")
    loaded = read(small)
    assert loaded.outputs[0].docs == {"x": ("1", ""), "y": ("",)}
    assert "sys.1.txt: 2 segments have no translation, taken as empty text (first: line 2)" in loaded.warnings


def test_gzip_spaces_and_trailing_blanks(small: Path) -> None:
    (small / "documents/de-en.docs").write_text("news x\nnews x\nweb y\n")
    ref = small / "references/de-en.refA.txt"
    (small / "references/de-en.refA.txt.gz").write_bytes(gzip.compress(b"one \ntwo\t\r\nthree\n"))
    ref.unlink()
    assert evalset.read(small) == SMALL


def test_faults(small: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no language pair de-fr") as caught:
        read(small, langs="de-fr")
    assert "de-en" in caught.value.next
    for wrong, fault in ((small / "sources", "not an EvalSet"), (tmp_path / "nowhere", "no such folder")):
        with pytest.raises(InputError, match=fault):
            evalset.read(wrong)
    (small / "references/de-en.refB.txt").write_text("one\n")
    with pytest.raises(AlignmentError, match=r"found 1 line, but .*sources/de-en.txt has 3"):
        read(small)
    (small / "references/de-en.refB.txt").unlink()
    for text, says in (("news\tx\n", r"found 1 document id, but .*de-en.txt has 3 lines"), ("", "names no documents")):
        (small / "documents/de-en.docs").write_text(text)
        with pytest.raises(InputError, match=says):
            read(small)
    (small / "documents/de-en.docs").unlink()
    with pytest.raises(InputError, match="no such file"):
        read(small)
    (small / "sources/fr-en.txt").write_text("un\n")
    with pytest.raises(InputError, match="several language pairs here: de-en, fr-en"):
        read(small)


@pytest.mark.parametrize("change", [
    {"code": ""}, {"code": "../../up"}, {"code": "a/b"}, {"code": "de\n"}, {"hyp": ("b", "c")}, {"system": "../up"},
    {"system": ".hidden"}, {"system": "a\nb"}, {"system": "x" * 300}, {"system": "C:\\x"}, {"src": "a\nb"},
    {"doc": "a\tb"}, {"doc": "a\nb"}, {"doc": " a"},
])  # fmt: skip
def test_writing_what_a_folder_cannot_hold(tmp_path: Path, change: dict[str, Any]) -> None:
    parts: dict[str, Any] = {"code": "de", "doc": "d", "src": "a", "system": "s", "hyp": ("b",)} | change
    doc, output = Document(parts["doc"], (parts["src"],)), Output(parts["system"], {parts["doc"]: parts["hyp"]})
    with pytest.raises(InputError):
        evalset.write(tmp_path / "in" / "out", Loaded(Corpus("c", (parts["code"], "en"), (doc,)), (output,)))
    assert all(tmp_path / "in" / "out" in path.parents for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.data
@pytest.mark.parametrize(("name", "pair", "docs", "segments", "outputs"), [
    ("wmt21.news", "zh-en", 156, 1948, 23), ("wmt21.news", "en-de", 68, 1002, 20),
    ("wmt21.news.mqm", "zh-en", 51, 650, 13), ("wmt21.tedtalks", "en-ru", 6, 512, 14),
    ("wmt22.da", "uk-en", 886, 2018, 10),
])  # fmt: skip
def test_real_folders(data: Path, name: str, pair: str, docs: int, segments: int, outputs: int) -> None:
    loaded = read(data / "evalsets" / name, langs=pair)
    assert (len(loaded.corpus), sum(map(len, loaded.corpus.docs)), len(loaded.outputs)) == (docs, segments, outputs)
    source = (data / "evalsets" / name / "sources" / f"{pair}.txt").read_bytes().decode().split("\n")[:-1]
    assert [text for doc in loaded.corpus.docs for text in doc.src or ()] == [line.rstrip() for line in source]
    assert not any(
        text.startswith("\ufeff") for output in loaded.outputs for doc in output.docs.values() for text in doc
    )
