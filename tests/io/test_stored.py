"""Corpora larger than memory: the same documents and outputs, read from disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from wholetext.errors import AlignmentError, InputError
from wholetext.files.text_store import StoredTexts
from wholetext.io import Loaded, stored
from wholetext.io.stored import StoredDocuments


def lines(folder: Path, docs: int = 9) -> wt.LineFiles:
    ids = [f"news\td{i}" for i in range(docs) for _ in range(i % 3 + 1)]
    for name in ("src", "ref", "a", "b"):
        (folder / f"{name}.txt").write_text("".join(f"{name} Zeile ü {i}\n" for i in range(len(ids))), "utf-8")
    (folder / "docs.txt").write_text("".join(f"{one}\n" for one in ids), "utf-8")
    return wt.LineFiles(src=folder / "src.txt", refs=[folder / "ref.txt"], hyps=[folder / "a.txt", folder / "b.txt"],
                        docs=folder / "docs.txt")


def assert_same(small: Loaded, large: Loaded) -> None:
    assert isinstance(large.corpus.docs, StoredDocuments) and not isinstance(small.corpus.docs, StoredDocuments)
    assert tuple(large.corpus.docs) == small.corpus.docs and large.corpus.docs[-1] == small.corpus.docs[-1]
    assert [(one.system, dict(one.docs), dict(one.realigned)) for one in large.outputs] == [
        (one.system, dict(one.docs), dict(one.realigned)) for one in small.outputs]
    for name in ("id", "langs", "ids", "references", "has_source"):
        assert getattr(large.corpus, name) == getattr(small.corpus, name), name
    assert large.corpus.sizes.tolist() == small.corpus.sizes.tolist()
    assert [note for note in large.warnings if "read from disk" not in note] == list(small.warnings)
    assert len(large.warnings) == len(small.warnings) + 1


def test_parallel_files_are_the_same_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = lines(tmp_path)
    small = wt.read(files, langs="de-en")
    monkeypatch.setattr(stored, "LARGE", 1)
    large = wt.read(files, langs="de-en")
    assert_same(small, large)
    assert large.corpus.docs[0].meta == {"domain": "news"}
    assert wt.read(files, refs=["ref"], systems=["b"]).corpus.references == ("ref",)


@pytest.mark.parametrize(("name", "extra"), [("b", 1), ("b", -1), ("docs", 1), ("src", -2)])
def test_lines_that_do_not_match_give_the_same_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, extra: int
) -> None:
    files, path = lines(tmp_path), tmp_path / f"{name}.txt"
    text = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(text + ["more"] * extra if extra > 0 else text[:extra]) + "\n", "utf-8")
    errors = []
    for size in (stored.LARGE, 1):
        monkeypatch.setattr(stored, "LARGE", size)
        with pytest.raises(AlignmentError) as found:
            wt.read(files)
        errors.append(str(found.value))
    assert errors[0] == errors[1]


def test_jsonl_is_the_same_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "corpus.jsonl"
    entries = [{"doc": f"d{i}", "src": ["eins", f"zwei {i}"], "refs": {"r": ["one", f"two {i}"]},
                "outputs": {"a": ["1", "zwö"]}, "meta": {"domain": "x", "realigned:a": "words"} if i % 2 else {}}
               for i in range(6)]
    again = [{"doc": f"d{i}", "system": "b", "hyp": ["uno", "dos", "tres"]} for i in (5, 0, 3, 1, 2, 4)]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*entries, *again]), "utf-8")
    small = wt.read(path, langs="de-en")
    monkeypatch.setattr(stored, "LARGE", 1)
    assert_same(small, wt.read(path, langs="de-en"))
    for wrong, error in ((entries[0], "already in line 1"), (again[0], "already given for system 'b'")):
        path.write_text("".join(json.dumps(one) + "\n" for one in [*entries, *again, wrong]), "utf-8")
        with pytest.raises(InputError, match=error):
            wt.read(path, langs="de-en")
    other = {**again[0], "src": ["drei", "vier"]}
    path.write_text("".join(json.dumps(one) + "\n" for one in [*entries, other]), "utf-8")
    with pytest.raises(AlignmentError, match="another source or reference in line 6"):
        wt.read(path, langs="de-en")


def test_a_missing_output_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "LARGE", 1)
    path = tmp_path / "corpus.jsonl"
    entries = [{"doc": f"d{i}", "src": ["x"], "outputs": {"a": ["y"]} | ({"b": ["z"]} if i else {})} for i in range(3)]
    path.write_text("".join(json.dumps(one) + "\n" for one in entries), "utf-8")
    with pytest.raises(AlignmentError, match="'b' lacks document 'd0'"):
        wt.read(path)


def test_an_empty_source_is_none_and_texts_are_a_mapping(tmp_path: Path) -> None:
    spool = stored.Spool()
    for doc in ("x", "y"):
        spool.add(doc, ("src", ""), ("", ""))
        spool.add(doc, ("ref", "r"), ("a", "b"))
    spool.add("y", ("hyp", "s"), ("c",))
    docs = spool.documents()
    assert not docs.has_source and docs.references == ("r",) and docs[0].src == ("", "")
    texts = StoredTexts(spool, ("hyp", "s"))
    assert list(texts) == ["y"] and len(texts) == 1 and "x" not in texts and 3 not in texts and texts["y"] == ("c",)
    with pytest.raises(KeyError):
        texts["x"]
