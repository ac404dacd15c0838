"""Records: JSONL, TSV and data frames have one meaning of names, and one answer to what does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.errors import InputError
from wholetext.io import Loaded, read
from wholetext.io.formats import jsonl
from wholetext.types import Corpus, Document, Output


def read_jsonl(folder: Path, *records: Any, langs: str | None = None) -> Loaded:
    path = folder / "corpus.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records), encoding="utf-8")
    return read(path, langs=langs, format="jsonl")


def read_tsv(folder: Path, *rows: str, name: str = "corpus.tsv") -> Loaded:
    path = folder / name
    path.write_text("".join(row.replace("|", "\t") + "\n" for row in rows), encoding="utf-8")
    return read(path, langs="de-en")


# ---------------------------------------------------------------- JSONL


def test_one_document_per_line(tmp_path: Path) -> None:
    first = {"doc": "x", "src": ["1", "2"], "refs": {"A": ["3", "4"]}, "outputs": {"s": ["5 6"]},
             "meta": {"domain": "news"}}  # fmt: skip
    second = {"doc": 7, "src": ["1"], "refs": {"A": ["3"]}, "outputs": {"s": ["5"]}, "origlang": "de"}
    loaded = read_jsonl(tmp_path, {"corpus": "demo", "langs": "de-en"}, first, second)
    assert loaded.corpus == Corpus("demo", ("de", "en"), (
        Document("x", ("1", "2"), {"A": ("3", "4")}, {"domain": "news"}),
        Document("7", ("1",), {"A": ("3",)}, {"origlang": "de"})))  # fmt: skip
    assert loaded.outputs == (Output("s", {"x": ("5 6",), "7": ("5",)}),)
    assert "another number of segments" in loaded.warnings[0]


def test_one_segment_per_line(tmp_path: Path) -> None:
    loaded = read_jsonl(
        tmp_path,
        {"doc_id": "x", "source": "1", "target": "2", "mt": "3", "domain": "d", "lp": "en-de_DE"},
        {"doc_id": "x", "source": "4", "target": "5", "mt": "6", "lp": "en-de_DE", "is_bad": False},
    )
    doc = Document("x", ("1", "4"), {"ref": ("2", "5")}, {"domain": "d"})
    assert loaded.corpus == Corpus("corpus", ("en", "de_DE"), (doc,))
    assert loaded.outputs == (Output("corpus", {"x": ("3", "6")}),) and loaded.warnings == ("fields not used: is_bad",)


def test_several_systems(tmp_path: Path) -> None:
    wide = read_jsonl(tmp_path, {"doc": "x", "ref": "1", "outputs": {"a": "2", "b": "3"}})
    columns = read_jsonl(tmp_path, {"doc": "x", "ref": "1", "hyp:a": "2", "hyp:b": "3"})
    long = read_jsonl(tmp_path, {"doc": "x", "ref": "1", "system": "a", "hyp": "2"},
                      {"doc": "x", "ref": "1", "system": "b", "hyp": "3"})  # fmt: skip
    table = read_tsv(tmp_path, "doc|ref|system|hyp", "x|1|a|2", "x|1|b|3")
    assert wide == long == columns and table.outputs == wide.outputs
    assert [output.system for output in wide.outputs] == ["a", "b"]
    assert read_jsonl(tmp_path, {"doc": "x", "refs": ["1", "one"], "hyp": "2"}).corpus.references == ("ref0", "ref1")
    documents = [{"doc": doc, "ref": ["1"], "system": system, "hyp": [doc + system]} for doc in "xy" for system in "ab"]
    assert read_jsonl(tmp_path, *documents).outputs == tuple(
        Output(system, {doc: (doc + system,) for doc in "xy"}) for system in "ab")  # fmt: skip


def test_language_pairs(tmp_path: Path) -> None:
    german = {"doc": "a", "src": ["1"], "outputs": {"x": ["A"]}, "src_lang": "en", "tgt_lang": "de_DE"}
    czech = {**german, "doc": "b", "tgt_lang": "cs_CZ"}
    loaded = read_jsonl(tmp_path, german, czech, langs="en-de")
    assert loaded.corpus.langs == ("en", "de_DE") and loaded.others == {"b"}
    with pytest.raises(InputError, match="several language pairs here: en-cs_CZ, en-de_DE"):
        read_jsonl(tmp_path, german, czech)
    with pytest.raises(InputError, match="no en-fr here, only en-cs_CZ, en-de_DE"):
        read_jsonl(tmp_path, german, czech, langs="en-fr")
    assert read_jsonl(tmp_path, {**DOC, "langs": "zh-CN-en"}).corpus.langs == ("zh-CN", "en")


DOC = {"doc": "x", "src": ["1"], "outputs": {"s": ["2"]}}
SEG = {"doc": "x", "src": "1", "outputs": {"s": "2"}}


@pytest.mark.parametrize(("records", "says", "line"), [
    (['{"doc": "x", "src": '], "not JSON", 1), (["[1, 2]"], "not a JSON object", 1), ([DOC, "", DOC], "not a JSON", 2),
    ([{**DOC, "source": ["1"]}], "are one field", 1), ([{**SEG, "hyp": "x"}], "do not go together", 1),
    ([{**SEG, "src": ["1"]}], "do not go together", 1), ([{"doc": "x", "src": "1", "system": "s"}], "go together", 1),
    ([DOC, {**DOC, "doc": "y"}, DOC], "'x' is there twice", 3), ([DOC, SEG], "is a segment, and the first", 2),
    ([SEG, DOC], "is a document, and the first", 2), ([SEG, {**SEG, "ref": "r"}], "the same fields: ref:ref", 2),
    ([{**DOC, "src": 3}], "a text is a string", 1), ([{**DOC, "src": [3]}], "a text is a string", 1),
    ([{**DOC, "doc": ["x"]}], "a name must be a text", 1), ([{**DOC, "outputs": "text"}], "names and texts", 1),
    ([{**DOC, "langs": "german"}], "written like de-en", 1), (['{"src": ["\\ud800"]}'], "surrogate", 1),
    (['{"src": ["\\u0000"]}'], "NUL", 1), ([DOC, {"doc": "y", "extra": 1}], "a segment, and", 2),
    ([{"doc": "x", "src": []}], "'x' has no segments", None),
    ([{"doc": "x", "src": ["1"], "outputs": {"s": []}}], "'s' lacks document 'x'", None),
    ([{"doc": "x", "src": ["1"], "refs": {"A": ["1", "2"]}}], "reference 'A' 2, the source 1", None),
    ([DOC, {"doc": "y", "src": ["1"], "outputs": {"t": ["2"]}}], "'s' lacks document 'y'", None),
    ([{"corpus": "only a name"}], "no text here", None), ([], "no text here", None),
])  # fmt: skip
def test_faults_of_jsonl(records: list[Any], says: str, line: int | None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_jsonl(tmp_path, *records)
    assert caught.value.where == f"{tmp_path / 'corpus.jsonl'}" + (f":{line}" if line else "")


def test_writing_refuses_what_could_not_be_read(tmp_path: Path) -> None:
    for text in ("\0", "\ud800"):
        with pytest.raises(InputError):
            jsonl.write(tmp_path / "out.jsonl", Loaded(Corpus("c", ("", ""), (Document("d", (text,)),)), ()))
    assert list(tmp_path.iterdir()) == []
    fine = Loaded(Corpus("c", ("", ""), (Document("d", ("the escape \\u0000 as text",)),)), ())
    jsonl.write(tmp_path / "out.jsonl", fine)
    assert read(tmp_path / "out.jsonl") == fine


# ---------------------------------------------------------------- TSV


def test_columns_of_a_tsv(tmp_path: Path) -> None:
    loaded = read_tsv(
        tmp_path, "doc_id|source|refA|ref:other|hyp:A|mt:B|domain|note", "x|1|2|3|4|5|news|?", "y|6|7|8|9|0|web|?"
    )
    assert loaded.corpus == Corpus("corpus", ("de", "en"), (
        Document("x", ("1",), {"refA": ("2",), "other": ("3",)}, {"domain": "news"}),
        Document("y", ("6",), {"refA": ("7",), "other": ("8",)}, {"domain": "web"})))  # fmt: skip
    assert loaded.outputs == (Output("A", {"x": ("4",), "y": ("9",)}), Output("B", {"x": ("5",), "y": ("0",)}))
    assert loaded.warnings == ("fields not used: note",)
    loaded = read_tsv(tmp_path, "src|mt|ref", "1|2|3", name="mine.tsv")
    assert loaded.outputs[0].system == "mine" and "one document" in loaded.warnings[0]


@pytest.mark.parametrize(("rows", "says", "line"), [
    (["system|doc|src|hyp", "a|x|1|A1", "b|x|2|B1"], "'b' differ here from those of 'a' .src.", ":3"),
    (["system|doc|src|hyp", "a|x|1|A1", "b|y|1|B1"], "'b' differ here from those of 'a' .doc.", ":3"),
    (["system|doc|src|hyp", "a|x|1|A1", "a|x|2|A2", "b|x|1|B1"], "system 'b' differ here", ":4"),
    (["src|hyp:A", "1|2", "3"], "has 1 cells, the header has 2", ":3"), (["src|hyp:A", "1|2|3"], "has 3 cells", ":2"),
    (["src|source|hyp:A", "1|2|3"], "'src' and 'source' are one field", ":2"),
    (["src|hyp:A|hyp:A", "1|2|3"], "same name", ":1"), (["src|hyp|hyp:A", "1|2|3"], "do not go together", ":2"),
    (["doc|src|hyp:A"], "no text here", ""), (["doc|src|hyp:A", "x|1|2", "|3|4"], "the same fields: doc", ":3"),
])  # fmt: skip
def test_faults_of_tsv(rows: list[str], says: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_tsv(tmp_path, *rows)
    assert caught.value.where == f"{tmp_path / 'corpus.tsv'}{line}"


def table_of(folder: Path, text: str) -> Loaded:
    (folder / "c.tsv").write_text(text, "utf-8", newline="")
    return read(folder / "c.tsv")


def test_quotation_marks(tmp_path: Path) -> None:
    quoted = table_of(tmp_path, 'doc\tsrc\thyp:s\nd\t"He said ""no"", then\tleft"\tb\nd\t"two\nlines"\tc\n')
    assert quoted.corpus.docs[0].src == ('He said "no", then\tleft', "two\nlines")
    assert table_of(tmp_path, '"doc"\t"src"\t"hyp:s"\n"d"\t"a"\t"b"\n').corpus.docs[0].src == ("a",)
    plain = table_of(tmp_path, 'doc\tsrc\thyp:s\nd\t"Yes," he said\t"b"\nd\t"\t"\n')
    assert plain.corpus.docs[0].src == ('"Yes," he said', '"')
    crlf = table_of(tmp_path, "\ufeffsrc\thyp:A\r\n1\t2\r\n\r\n")
    assert crlf.outputs == (Output("A", {"doc1": ("2",)}),)


# ---------------------------------------------------------------- data frames


COLUMNS: dict[str, list[Any]] = {
    "doc": ["d1", "d1", "d2"], "src": ["eins", "zwei", "drei"], "ref:A": ["one", "two", "three"],
    "ref:B": ["1", "2", "3"], "hyp:x": ["one", "too", "tree"], "hyp:y": ["won", "two", ""],
    "domain": ["news", "news", "talk"], "note": [1, 2, 3],
}  # fmt: skip


class Dataset:
    """What ``datasets.Dataset`` offers: names of columns, and columns by name."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns, self.column_names = columns, list(columns)

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))


def table(library: str, columns: dict[str, list[Any]]) -> Any:
    if library == "like datasets":
        return Dataset(columns)
    module = pytest.importorskip(library, reason=f"{library} is not installed: make test-integration")
    return module.Dataset.from_dict(columns) if library == "datasets" else module.DataFrame(columns)


@pytest.mark.parametrize("library", ["pandas", "polars", "datasets", "like datasets"])
def test_a_table_is_read_as_a_tsv_of_the_same_columns(library: str, tmp_path: Path) -> None:
    rows = [list(COLUMNS), *map(list, zip(*COLUMNS.values()))]
    path = tmp_path / "table.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), "utf-8")
    assert wt.read(table(library, COLUMNS), langs="de-en") == wt.read(path, langs="de-en")
    chosen = wt.read(table(library, COLUMNS), langs="de-en", systems=["y"], refs=["B"])
    assert [output.system for output in chosen.outputs] == ["y"] and chosen.corpus.references == ("B",)
    numbered = {"doc_id": [7, 7, 8], "mt": ["a", "b", "c"], "ref": ["a", "b", "d"]}
    corpus, (output,), _ = wt.read(table(library, numbered))
    assert [doc.id for doc in corpus.docs] == ["7", "8"] and output.system == "hyp"
    with pytest.raises(InputError, match="table:1: "):
        wt.read(table(library, {"ref": ["a", "b"], "hyp:x": ["a", None]}))


@pytest.mark.parametrize(("columns", "says"), [
    ({"ref": ["a"], "hyp:x": [3]}, "a text is a string"), ({"text": ["a"]}, "no column has"),
    ({"ref": [], "hyp:x": []}, "no text here"),
])  # fmt: skip
def test_tables_that_cannot_be_read(columns: dict[str, list[Any]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        wt.read(Dataset(columns))
