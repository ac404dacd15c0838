"""JSONL: documents or segments per line, ours and WMT's, and what can be wrong with a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import AlignmentError, InputError
from wholetext.io import Loaded, read
from wholetext.io.formats import jsonl
from wholetext.types import Corpus, Document, Output


def read_jsonl(folder: Path, *records: Any, name: str = "corpus.jsonl", langs: str | None = None) -> Loaded:
    path = folder / name
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records), encoding="utf-8")
    return read(path, langs=langs, format="jsonl")


def test_one_document_per_line(tmp_path: Path) -> None:
    loaded = read_jsonl(
        tmp_path,
        {"corpus": "demo", "langs": "de-en"},
        {
            "doc": "x",
            "src": ["1", "2"],
            "refs": {"A": ["3", "4"]},
            "outputs": {"s": ["5 6"]},
            "meta": {"domain": "news"},
        },
        {"doc": 7, "src": ["1"], "refs": {"A": ["3"]}, "outputs": {"s": ["5"]}, "origlang": "de"},
    )
    assert loaded.corpus == Corpus(
        "demo",
        ("de", "en"),
        (
            Document("x", ("1", "2"), {"A": ("3", "4")}, {"domain": "news"}),
            Document("7", ("1",), {"A": ("3",)}, {"origlang": "de"}),
        ),
    )
    assert loaded.outputs == (Output("s", {"x": ("5 6",), "7": ("5",)}),)
    assert "another number of segments" in loaded.warnings[0]


def test_one_segment_per_line(tmp_path: Path) -> None:
    loaded = read_jsonl(
        tmp_path,
        {"doc_id": "x", "source": "1", "target": "2", "mt": "3", "domain": "d", "lp": "en-de_DE"},
        {"doc_id": "x", "source": "4", "target": "5", "mt": "6", "lp": "en-de_DE", "is_bad": False},
    )
    assert loaded.corpus == Corpus(
        "corpus", ("en", "de_DE"), (Document("x", ("1", "4"), {"ref": ("2", "5")}, {"domain": "d"}),)
    )
    assert loaded.outputs == (Output("corpus", {"x": ("3", "6")}),)
    assert loaded.warnings == ("keys not used: is_bad",)


def test_segments_of_several_systems(tmp_path: Path) -> None:
    wide = read_jsonl(tmp_path, {"doc": "x", "ref": "1", "outputs": {"a": "2", "b": "3"}})
    long = read_jsonl(
        tmp_path,
        {"doc": "x", "ref": "1", "system": "a", "hyp": "2"},
        {"doc": "x", "ref": "1", "system": "b", "hyp": "3"},
    )
    assert wide == long
    assert [output.system for output in wide.outputs] == ["a", "b"]
    several = read_jsonl(tmp_path, {"doc": "x", "refs": ["1", "one"], "hyp": "2"})
    assert several.corpus.references == ("ref0", "ref1")


WMT25 = [
    {
        "doc_id": "en-de_#_news",
        "src_lang": "en",
        "tgt_lang": "de_DE",
        "domain": "news",
        "src_text": "One.\nStill one.\n\nTwo.",
        "refs": {"refA": {"ref": "Eins.\n\nZwei.", "annotator": "x"}},
        "video": None,
    },
    {"doc_id": "en-cs_#_news", "src_lang": "en", "tgt_lang": "cs_CZ", "domain": "news", "src_text": "One.", "refs": {}},
]


def test_wmt_source_and_system_files(tmp_path: Path) -> None:
    corpus, system = tmp_path / "wmt25.jsonl", tmp_path / "AMI.jsonl"
    corpus.write_text("\n".join(map(json.dumps, WMT25)))
    system.write_text(
        "\n".join(json.dumps({"doc_id": doc["doc_id"], "hypothesis": "E.\n\nZ."}) for doc in reversed(WMT25))
    )
    loaded = read([corpus, system], langs="en-de")
    assert loaded.corpus.langs == ("en", "de_DE")
    assert loaded.corpus.docs == (
        Document("en-de_#_news", ("One.\nStill one.", "Two."), {"refA": ("Eins.", "Zwei.")},
                 {"domain": "news", "wmt:value:refs": '{"refA": {"annotator": "x"}}'}),
    )
    assert loaded.outputs == (Output("AMI", {"en-de_#_news": ("E.", "Z.")}),)
    assert loaded.warnings == ()
    with pytest.raises(InputError, match="several language pairs here: en-cs_CZ, en-de_DE"):
        read(corpus)
    with pytest.raises(InputError, match="no en-fr here, only en-cs_CZ, en-de_DE"):
        read(corpus, langs="en-fr")


def test_wmt_documents_with_all_systems(tmp_path: Path) -> None:
    loaded = read_jsonl(tmp_path, {"doc_id": "d", "src_text": "a\n\nb", "tgt_text": {"s": "A\n\nB", "t": "AB"}})
    assert loaded.outputs == (Output("s", {"d": ("A", "B")}), Output("t", {"d": ("AB",)}))
    loaded = read_jsonl(
        tmp_path,
        {"doc_id": "d", "system": "s", "hypothesis": "A"},
        {"doc_id": "d", "system": "t", "hypothesis": "B"},
        {"doc_id": "e", "system": "t", "hypothesis": "C"},
        {"doc_id": "e", "system": "s", "hypothesis": "D"},
    )
    assert loaded.outputs == (Output("s", {"d": ("A",), "e": ("D",)}), Output("t", {"d": ("B",), "e": ("C",)}))


DOC = {"doc": "x", "src": ["1"], "outputs": {"s": ["2"]}}
SEG = {"doc": "x", "src": "1", "outputs": {"s": "2"}}


@pytest.mark.parametrize(
    ("records", "says", "line"),
    [
        (['{"doc": "x", "src": '], "not JSON", 1),
        ([DOC, "nonsense"], "not JSON: Expecting value \\(column 1\\)", 2),
        (["[1, 2]"], "expected a JSON object on each line, got a list", 1),
        (['{"src": ["1"], "src": ["2"]}'], "'src' occurs twice", 1),
        ([{**DOC, "source": ["1"]}], "are one field", 1),
        ([{**SEG, "hyp": "x"}], "'hyp' and 'outputs' do not go together", 1),
        ([{**SEG, "ref": "x", "refs": {"a": "b"}}], "'ref' and 'refs' do not go together", 1),
        ([{**SEG, "src": ["1"]}], "one string, others are lists", 1),
        ([DOC, {**DOC, "doc": "y"}, DOC], "'x' was already in line 1", 3),
        ([DOC, SEG], "a segment, but the first line is a document", 2),
        ([SEG, DOC], "a document, but the first line is a segment", 2),
        ([SEG, {"doc": "x", "src": "1"}], "has no output of 's', unlike line 1", 2),
        ([SEG, {**SEG, "ref": "r"}], "has a reference 'ref', unlike line 1", 2),
        ([{**DOC, "src": 3}], "not a number", 1),
        ([{**DOC, "src": [3]}], "not a list", 1),
        ([{**DOC, "src": {"a": 1}}], "not an object", 1),
        ([{**DOC, "doc": ["x"]}], "document id must be a text, not a list", 1),
        ([{**DOC, "doc": True}], "not true or false", 1),
        ([{**DOC, "outputs": "text"}], "not a string", 1),
        ([{**DOC, "outputs": {"": ["x"]}}], "empty name", 1),
        ([{**DOC, "langs": "german"}], "languages are written", 1),
        ([{**DOC, "meta": 3}], "meta must be an object", 1),
        (['{"src": ["\\ud800"]}'], "surrogate", 1),
        (['{"src": ["\\u0000"]}'], "NUL", 1),
        ([DOC, "", DOC], "blank", 2),
        ([DOC, {"doc": "y", "extra": 1}], "no text in this line", 2),
        (["[" * 100_000], "JSON", 1),
        (['{"src": ["a"], "n": ' + "9" * 10_000 + "}"], "10000 digits", 1),
        ([{"doc": "x", "src": []}], "'x' is empty", None),
        ([{"doc": "x", "src": ["1"], "outputs": {"s": []}}], "'x' is empty in the output of 's'", None),
        (
            [{"doc": "x", "src": ["1"], "refs": {"A": ["1", "2"]}}],
            "1 segment in the source but 2 in reference 'A'",
            None,
        ),
        ([DOC, {"doc": "y", "src": ["1"], "outputs": {"t": ["2"]}}], "'s' lacks document 'y'", None),
        ([DOC, {"doc": "y", "outputs": {"s": ["2"]}}], "'y' is empty", None),
        ([{"doc": "x", "src": "1", "system": "s"}], "names a system \\('s'\\) but has no hyp", 1),
        ([{"corpus": "only a name"}], "no text here", None),
        ([], "no text here", None),
    ],
)
def test_faults(records: list[Any], says: str, line: int | None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_jsonl(tmp_path, *records)
    assert caught.value.where == f"{tmp_path / 'corpus.jsonl'}" + (f":{line}" if line else "")


def test_outputs_for_documents_that_are_not_there(tmp_path: Path) -> None:
    corpus, system = tmp_path / "corpus.jsonl", tmp_path / "sys.jsonl"
    corpus.write_text(json.dumps({"doc": "alpha", "src": ["1"]}))
    for doc, says in (("alhpa", "a document 'alhpa' that the corpus does not have"), ("beta", "'beta'")):
        system.write_text(json.dumps({"doc": doc, "hypothesis": "2"}))
        with pytest.raises(AlignmentError, match=says) as caught:
            read([corpus, system])
        assert caught.value.where == str(system)
    system.write_text(json.dumps({"doc": "alpha", "src": ["2"]}))
    with pytest.raises(InputError, match="no output of a system"):
        read([corpus, system])


def test_writing_refuses_what_could_not_be_read(tmp_path: Path) -> None:
    for text in ("\0", "\ud800"):
        with pytest.raises(InputError):
            jsonl.write(tmp_path / "out.jsonl", Loaded(Corpus("c", ("", ""), (Document("d", (text,)),)), ()))
    assert list(tmp_path.iterdir()) == []
    fine = Loaded(Corpus("c", ("", ""), (Document("d", ("the escape \\u0000 as text",)),)), ())
    jsonl.write(tmp_path / "out.jsonl", fine)
    assert read(tmp_path / "out.jsonl") == fine


def test_lines_without_a_language_pair_beside_lines_with_one(tmp_path: Path) -> None:
    stated = {"doc": "a", "src": ["1"], "outputs": {"x": ["A"]}, "langs": "de-en"}
    loaded = read_jsonl(tmp_path, stated, {**stated, "doc": "b"})
    assert loaded.warnings == ()
    silent = {"doc": "b", "src": ["1"], "outputs": {"x": ["A"]}}
    loaded = read_jsonl(tmp_path, stated, silent)
    assert loaded.warnings == ("1 line states no language pair, taken as de-en, as others state",)


def test_a_pair_may_have_hyphens_inside_its_codes(tmp_path: Path) -> None:
    assert read_jsonl(tmp_path, {**DOC, "langs": "zh-CN-en"}).corpus.langs == ("zh-CN", "en")
    with pytest.raises(InputError, match="languages are written"):
        read_jsonl(tmp_path, {**DOC, "langs": "xx-yy-zz"})
