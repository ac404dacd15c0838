"""`convert` and all writers: what is written is read back as the same corpus, or refused with the segment named."""

from __future__ import annotations

import re
import shutil
import string
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.in_process import Capture, call
from wholetext.errors import InputError
from wholetext.io import Loaded, from_texts, read
from wholetext.io.conversion import convert, writable
from wholetext.io.formats import evalset, jsonl, table
from wholetext.io.text import TextFile
from wholetext.types import Corpus, Document, Output

# what formats of lines and cells can lose
TRAPS = ["a ", " a", "\ufeffa", evalset.MISSING, "a\tb", "a\nb", "a\r", "a\r\nb", "\n\n", "", '"', '"a"', '""', 'a"b',
         "=1+1", "'a", "_x000D_", "<p>a</p>", "&lt;a", "{}", "a,b;c", "\x0b", "\x1c", "\u2028", "\x85", "\0", "\ud800",
         "None", "007", "1.0", "#", "---", "a" * 33_000]  # fmt: skip
TEXT = st.one_of(st.sampled_from(TRAPS), st.text(max_size=8))
NAME = st.one_of(st.sampled_from(["A", "ref", "a b", "x.y", " n", "n ", "é", "a/b", "a:b", "human:a", "s.txt", "d#2"]),
                 st.text("abcXYZ019_.-", min_size=1, max_size=5))  # fmt: skip
TARGETS = {"c.jsonl": "jsonl", "c.jsonl.gz": "jsonl", "c.json": "jsonl", "c.tsv": "table", "c.csv": "table",
           "c.csv.gz": "table", "c.xlsx": "table", "set": "evalset", "wmt": "wmt"}  # fmt: skip


@st.composite
def corpora(draw: st.DrawFn, text: st.SearchStrategy[str] = TEXT, name: st.SearchStrategy[str] = NAME,
            resegmented: bool = False, **meta: st.SearchStrategy[str]) -> Loaded:  # fmt: skip
    names = st.lists(name, min_size=1, max_size=3, unique=True)
    ids, systems, refs = draw(names), sorted(draw(names)), sorted(draw(st.lists(name, max_size=2, unique=True)))
    docs, outputs = [], {system: dict[str, tuple[str, ...]]() for system in systems}
    for doc in ids:
        size = draw(st.integers(1, 4))
        segments = st.lists(text, min_size=size, max_size=size).map(tuple)
        facts = {key: draw(value) for key, value in meta.items()}
        docs.append(Document(doc, draw(segments), {ref: draw(segments) for ref in refs}, facts))
        for system in systems:
            free = st.lists(text, min_size=1, max_size=5).map(tuple)
            outputs[system][doc] = draw(free if resegmented else segments)
    corpus = Corpus("c", ("de", "en"), tuple(docs))
    return Loaded(corpus, tuple(Output(system, docs) for system, docs in outputs.items()))


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(loaded=corpora())
def test_every_writer_keeps_or_refuses(name: str, tmp_path_factory: pytest.TempPathFactory, loaded: Loaded) -> None:
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    folder = tmp_path_factory.mktemp("out")
    systems = [output.system for output in loaded.outputs]
    try:
        kind, _ = convert(loaded, folder / name, TARGETS[name])
    except InputError as refused:
        assert re.search(r"document.* would be read back as|would not be read back|name|in this text", str(refused))
        assert refused.next
        if TARGETS[name] != "evalset" and TARGETS[name] != "wmt":
            assert not any(folder.iterdir())
        return
    assert kind == TARGETS[name]
    back = read(folder / name, langs="de-en", systems=systems)
    assert back.corpus.docs == loaded.corpus.docs and tuple(back.outputs) == tuple(loaded.outputs)
    shutil.rmtree(folder)


ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t\ufeff"), max_size=12)
STRIPPED = LINE.map(str.rstrip).filter(lambda text: text != evalset.MISSING)
PLAIN = st.text(string.ascii_letters + string.digits + "_.é中", min_size=1, max_size=8).filter(lambda n: n[0] != ".")
kept = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@kept
@given(corpora(ANY, PLAIN, resegmented=True, domain=PLAIN))
def test_jsonl_keeps_every_corpus(tmp_path: Path, loaded: Loaded) -> None:
    for name in ("corpus.jsonl", "corpus.jsonl.gz"):
        jsonl.write(tmp_path / name, loaded)
        back = read(tmp_path / name, systems=[output.system for output in loaded.outputs])
        assert back.corpus == loaded.corpus and back.outputs == loaded.outputs


@kept
@given(corpora(STRIPPED, PLAIN, domain=PLAIN))
def test_an_evalset_keeps_every_corpus_of_stripped_lines(
    tmp_path_factory: pytest.TempPathFactory, loaded: Loaded
) -> None:
    folder = tmp_path_factory.mktemp("evalset")
    evalset.write(folder, loaded)
    back = evalset.read(folder, "de-en")
    assert (back.corpus.docs, back.outputs) == (loaded.corpus.docs, loaded.outputs)


@pytest.mark.parametrize("text", ["a ", evalset.MISSING, "a\nb", "a\r"])
def test_an_evalset_names_the_segment_it_cannot_hold(text: str, tmp_path: Path) -> None:
    loaded = from_texts({"s": ["x", text]}, refs=["y", "z"], docs=["d", "d"], langs="de-en")
    with pytest.raises(InputError, match=r"document 'd', segment 2 of the output of 's': '.*' would be read back as '"):
        evalset.write(tmp_path, loaded)
    marked = from_texts({"s": ["\ufeffx", "y"]}, refs=["y", "z"], langs="de-en")
    with pytest.raises(InputError, match="segment 1 of the output of 's'"):
        evalset.write(tmp_path / "other", marked)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["file,original,gold,GPT", "d1,Er kam.,He came.,He arrived.", "d2,Sie ging.,She left.,She went."]
    Path("in.csv").write_text("\n".join(rows))
    targets = ["c.jsonl", "c.json", "c.tsv", "c.csv", "set", *(["c.xlsx"] if find_spec("openpyxl") else [])]
    first = read("in.csv", langs="de-en")
    for name in targets:
        code, out, err = call(capsys, "convert", "in.csv", name, "-l", "de-en")
        assert code == 0 and f"written: {name} (" in out and "2 documents, 2 segments, 1 system" in out
        assert "columns guessed" in err
        back = read(name, langs="de-en")
        assert back.corpus.docs == first.corpus.docs and back.outputs == first.outputs
    code, out, _ = call(capsys, "convert", "c.jsonl", "wmt-files", "--to", "wmt")
    assert code == 0 and read("wmt-files").outputs == first.outputs
    for argv, says in ((("in.csv",), "no file or folder to write"), (("in.csv", "c.tsv"), "exists already"),
                       (("in.csv", "set", "-l", "de-en"), "folder exists already"),
                       (("in.csv", "in.csv", "--overwrite"), "one of the input files"),
                       (("in.csv", "c.docx"), "no format 'docx' to write"),
                       (("in.csv", "x", "--to", "bwb"), "no format 'bwb' to write"),
                       (("in.csv", "set2"), "pair of language codes")):  # fmt: skip
        code, _, err = call(capsys, "convert", *argv)
        assert code == 2 and says in err and "→" in err, err


def test_what_a_format_cannot_hold_beside_texts_is_a_note(tmp_path: Path) -> None:
    doc = Document("d", ("a",), {}, {"domain": "news", "origlang": "de"})
    loaded = Loaded(Corpus("c", ("de", "en"), (doc,)), (Output("s", {"d": ("b",)}),))
    assert convert(loaded, tmp_path / "set") == ("evalset", ["not kept: the metadata 'origlang'"])
    assert convert(loaded, tmp_path / "c.tsv") == ("table", [])
    assert {"jsonl", "table", "evalset", "wmt"} <= set(writable())


def test_human_scores_become_those_of_an_evalset(tmp_path: Path) -> None:
    (tmp_path / "in.tsv").write_text("doc\tsrc\thyp:A\thyp:B\thuman:A\thuman:B\nd\ta\tb\tc\t1\t\n")
    loaded = read(tmp_path / "in.tsv", langs="de-en")
    assert convert(loaded, tmp_path / "set") == ("evalset", [])
    scores = evalset.EvalSet.open(tmp_path / "set").human("human", "seg")
    assert scores.systems == ("A", "B") and scores.values[0, 0] == 1 and scores.values[1, 0] != scores.values[1, 0]
    assert convert(loaded, tmp_path / "c.csv") == ("table", ["not kept: human scores"])


def test_without_openpyxl_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)  # an import fails as if it were not installed
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(Exception, match="openpyxl") as caught:
        table.read(TextFile(tmp_path / "t.xlsx"))
    assert "wholetext[xlsx]" in caught.value.next  # type: ignore[attr-defined]
