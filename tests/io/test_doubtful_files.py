"""Files that could be read in two ways, or written unreadably: each is read right or refused, never silently."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.io import LineFiles, Loaded, from_texts, read
from wholetext.io.formats import evalset, jsonl, tsv
from wholetext.io.formats.scores import read_scores, write_table
from wholetext.io.text import read_lines
from wholetext.types import Corpus, Document, Output


def small(**changes: str) -> Loaded:
    """A corpus of one document in which one name or text is another."""
    given = {"doc": "d", "text": "t", "system": "s", "ref": "r", "domain": "news", "src_lang": "de"} | changes
    doc = Document(given["doc"], (given["text"],), {given["ref"]: ("x",)}, {"domain": given["domain"]})
    return Loaded(Corpus("c", (given["src_lang"], "en"), (doc,)), (Output(given["system"], {given["doc"]: ("y",)}),))


# ---------------------------------------------------------------- writers


@pytest.mark.parametrize("code", ["../../escaped", "..", "a/b", "a\\b", "", "de\n", "d\0e", "C:", "/tmp"])
def test_an_evalset_stays_in_its_folder(code: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        evalset.write(tmp_path / "in" / "set", small(src_lang=code))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a\nb", "a\tb", "\ud800", "x" * 300, "a\0b", "C:\\x"])
def test_names_that_are_no_file_names(name: str, tmp_path: Path) -> None:
    for change in ({"system": name}, {"ref": name}):
        with pytest.raises(InputError):
            evalset.write(tmp_path / "set", small(**change))


@pytest.mark.parametrize("text", ["a\ud800", "a\0b", "a\nb", "a\tb", "a\rb"])
def test_a_tsv_holds_what_it_can_give_back(text: str, tmp_path: Path) -> None:
    for change in ({"text": text}, {"doc": text}, {"system": text}, {"ref": text}, {"domain": text}):
        with pytest.raises(InputError):
            tsv.write(tmp_path / "c.tsv", small(**change))
    for name in (" s", "s ", "", " "):
        with pytest.raises(InputError, match="cannot be written to a TSV"):
            tsv.write(tmp_path / "c.tsv", small(system=name))
    assert not list(tmp_path.iterdir())


def test_jsonl_refuses_what_is_not_text(tmp_path: Path) -> None:
    for text in ("a\ud800", "a\0b"):
        for change in ({"text": text}, {"doc": text}, {"system": text}):
            with pytest.raises(InputError):
                jsonl.write(tmp_path / "c.jsonl", small(**change))


@pytest.mark.parametrize("name", ["a\tb", "a\nb", " a", ""])
def test_score_files_refuse_names_that_break_their_lines(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="system name"):
        write_table(tmp_path / "x.seg.score", [name], [np.array([1.0])])


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize("data", [b"one\rtwo\rthree", b"one\rtwo\rthree\r", b"\xef\xbb\xbfone\rtwo\rthree"])
def test_lines_that_end_with_cr_only(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(data)
    assert read_lines(tmp_path / "old.txt") == ["one", "two", "three"]
    (tmp_path / "new.txt").write_bytes(b"a\rb\nc\n")  # with \n there too, \r is a character of the text
    assert read_lines(tmp_path / "new.txt") == ["a\rb", "c"]


def test_gzip_expands_to_a_bound(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"x" * (20 << 20), 9))
    with pytest.raises(InputError, match="expands to more than 200 times"):
        read_lines(tmp_path / "bomb.gz")
    (tmp_path / "repeated.gz").write_bytes(gzip.compress(b"document-1\n" * 100_000))  # 500 times, but small
    assert len(read_lines(tmp_path / "repeated.gz")) == 100_000


@pytest.mark.parametrize("other", ["d1 ", "d 1", "d\u00a01", "d\u200b 1", "e\u0301"])
def test_ids_that_only_look_alike(other: str, tmp_path: Path) -> None:
    one = {"d1 ": "d1", "e\u0301": "\u00e9"}.get(other, "d  1")
    with pytest.raises(InputError, match="differ only in blanks"):
        from_texts(["a", "b"], refs=["a", "b"], docs=[one, other])
    (tmp_path / "ids").write_text(f"{one}\nx\n{other.strip()}\n" if other != "d1 " else "x\ty\nd\n d\n", "utf-8")
    (tmp_path / "text").write_text("a\nb\nc\n")
    if other != "d1 ":  # the ids of a file are stripped
        with pytest.raises(InputError, match="ids:3: the document ids"):
            read(LineFiles(hyps=[tmp_path / "text"], refs=[tmp_path / "text"], docs=tmp_path / "ids"))


def test_blanks_around_ids_of_a_file_cut_no_document(tmp_path: Path) -> None:
    (tmp_path / "ids").write_text("d1\nd1 \n d1\nnews\td2\nnews \t d2\n", "utf-8")
    (tmp_path / "text").write_text("a\nb\nc\nd\ne\n")
    found = read(LineFiles(hyps=[tmp_path / "text"], refs=[tmp_path / "text"], docs=tmp_path / "ids"))
    assert [(doc.id, len(doc), dict(doc.meta)) for doc in found.corpus.docs] == [
        ("d1", 3, {}), ("d2", 2, {"domain": "news"})]
    assert not [note for note in found.warnings if "comes back" in note]


def test_systems_that_only_look_alike() -> None:
    with pytest.raises(InputError, match="system names"):
        from_texts({"A": ["a"], "A\u200b": ["b"]}, refs=["a"])


# ---------------------------------------------------------------- TSV


def table(folder: Path, text: str) -> Loaded:
    (folder / "c.tsv").write_text(text, "utf-8", newline="")
    return read(folder / "c.tsv")


def test_cells_quoted_by_a_spreadsheet(tmp_path: Path) -> None:
    found = table(tmp_path, 'doc\tsrc\thyp:s\nd\t"He said ""no"", then\tleft"\tb\nd\t"two\nlines"\tc\n')
    assert found.corpus.docs[0].src == ('He said "no", then\tleft', "two\nlines")
    assert found.outputs[0].docs["d"] == ("b", "c")
    every = table(tmp_path, '"doc"\t"src"\t"hyp:s"\n"d"\t"a"\t"b"\n')
    assert every.corpus.docs[0].src == ("a",)


def test_quotation_marks_that_are_text(tmp_path: Path) -> None:
    found = table(tmp_path, 'doc\tsrc\thyp:s\nd\t"Yes," he said\t"b"\nd\t"\t"\n')
    assert found.corpus.docs[0].src == ('"Yes," he said', '"')
    assert any("1 cells begin and end with a quotation mark" in note for note in found.warnings)
    plain = table(tmp_path, 'doc\tsrc\thyp:s\nd\t"Yes."\tb\n')  # may be either: kept, with a note
    assert plain.corpus.docs[0].src == ('"Yes."',) and any("quotation mark" in note for note in plain.warnings)
    with pytest.raises(InputError, match="header is quoted"):
        table(tmp_path, '"doc"\t"src"\t"hyp:s"\n"d"\t"a"b"\t"b"\n')


def test_text_that_looks_quoted_reads_back(tmp_path: Path) -> None:
    for text in ('"a ""b"" c"', '""""', '"a', '"', '"x"'):
        tsv.write(tmp_path / "c.tsv", small(text=text))
        assert read(tmp_path / "c.tsv").corpus.docs[0].src == (text,)


# ---------------------------------------------------------------- score files


@pytest.mark.parametrize("score", ["1_0", "٣", "1e999", "0x10", "infinity", "nan"])
def test_scores_that_are_no_numbers(score: str, tmp_path: Path) -> None:
    (tmp_path / "x.sys.score").write_text(f"sys\t{score}\n", "utf-8")
    with pytest.raises(InputError, match="is not a score"):
        read_scores(tmp_path / "x.sys.score", "x", "sys")


# ---------------------------------------------------------------- WMT XML


def xml(folder: Path, inner: str, output: str) -> Loaded:
    text = f'<dataset><doc id="d"><src lang="de">{inner}</src><hyp system="s" lang="en">{output}</hyp></doc></dataset>'
    (folder / "c.xml").write_text(text, "utf-8")
    return read(folder / "c.xml")


def segs(*ids: str) -> str:
    return "".join(f'<seg id="{i}">text {i}</seg>' for i in ids)


def test_xml_outputs_with_gaps_are_not_shifted(tmp_path: Path) -> None:
    for ids in (("1", "3", "4"), ("2", "3", "4"), ("0", "1", "2")):
        with pytest.raises(AlignmentError, match="that the source does not have"):
            xml(tmp_path, segs("1", "2", "3"), segs(*ids))
    with pytest.raises(AlignmentError):
        xml(tmp_path, segs("2", "3", "4"), segs("1", "2", "3"))
    assert len(xml(tmp_path, segs("1", "2"), segs("1", "2", "3")).outputs[0].docs["d"]) == 3  # breaks of its own
    named = xml(tmp_path, segs("1", "2"), segs("a", "b"))
    assert any("other segment ids than the source in 1 document;" in note for note in named.warnings)


def test_xml_text_is_not_lost(tmp_path: Path) -> None:
    found = xml(tmp_path, "<seg>a <b>bold <i>x</i></b> c</seg>", "<seg>y</seg>")
    assert found.corpus.docs[0].src == ("a bold x c",) and any("1 segment has elements" in n for n in found.warnings)
    for inner, says in (
        ("<seg>a<seg>b</seg></seg>", "<seg> inside a <seg>"), ("<p>lost</p><seg>a</seg>", "outside the segments: 'lo"),
        ("<seg>a<p>b</p></seg>", "<p> inside"), ("<src><seg>a</seg></src>", "<src> inside a <src>"),
        ("<seg>a<src>b</src></seg>", "<src> inside"),
    ):
        with pytest.raises(InputError, match=says):
            xml(tmp_path, inner, "<seg>y</seg>")
    with pytest.raises(InputError, match="<seg> inside a <doc>"):
        xml(tmp_path, "<seg>a</seg></src><seg>b</seg><src>", "<seg>y</seg>")
    odd = xml(tmp_path, "<note/><seg>a</seg>", "<seg>y</seg>")
    assert "elements not used: note" in odd.warnings
