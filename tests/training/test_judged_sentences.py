"""Judged sentences of FOLDER/LP.jsonl: what is read, left out and refused; tokenized references put together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import InputError
from wholetext.training.examples import read_examples
from wholetext.training.judged_sentences import detokenized, read_sentences
from wholetext.training.recipe import read_recipe

ROW = {"doc": "a", "hyp": "Hello, world.", "pe": "Hello , \" big \" world .", "z": 0.5, "scores": [60, 70, 80]}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "ro-en.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_rows_without_reference_or_score_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, ROW, {**ROW, "pe": None}, {**ROW, "z": None}, {**ROW, "hyp": "Bye."})
    found = list(read_sentences(path, "pe", "z", tokenized=True))
    assert [(one.line, one.hyp, one.raters) for one in found] == [(1, "Hello, world.", 3), (4, "Bye.", 3)]
    assert found[0].other == 'Hello, "big" world.'
    assert next(read_sentences(path, "pe", "z", tokenized=False)).other == ROW["pe"]


@pytest.mark.parametrize(("row", "said"), [
    ({**ROW, "z": "high"}, "z is not a number"), ({**ROW, "hyp": 5}, "hyp is not a text"),
    ({**ROW, "z": True}, "z is not a number"), ({**ROW, "doc": None}, "doc is not a text"),
])  # fmt: skip
def test_faults_are_named_with_their_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"line 2.*{said}"):
        list(read_sentences(write(tmp_path, ROW, row), "pe", "z", tokenized=True))


@pytest.mark.parametrize(("given", "wanted"), [
    ("It is , she said ( twice ) , 5 % .", "It is, she said (twice), 5%."),
    ("He doesn 't know John 's book .", "He doesn't know John's book."),
    ("The all-day long battle .", "The all-day long battle."),
    ("A well - known case and / or two", "A well-known case and/or two"),
])  # fmt: skip
def test_tokenized_text_is_put_together(given: str, wanted: str) -> None:
    assert detokenized(given) == wanted


def test_they_are_examples_split_by_document(tmp_path: Path) -> None:
    write(tmp_path / "set", *({**ROW, "doc": f"d{i}", "z": float(i)} for i in range(10)))
    data = {"evalset": "set", "langs": ["ro-en"], "human": "z", "refs": ["pe"], "tokenized": True}
    train, held = read_examples(read_recipe(None, {"data": [data], "share": 0.2}), tmp_path)
    assert (len(train), len(held)) == (8, 2) and train.targets == ("en",)
    assert not {place.doc for place in train.places} & {place.doc for place in held.places}
    with pytest.raises(InputError, match="judged sentences need"):
        read_examples(read_recipe(None, {"data": [{**data, "refs": []}]}), tmp_path)


def test_they_are_examples_beside_their_sources(tmp_path: Path) -> None:
    write(tmp_path / "set", *({**ROW, "src": f"Salut {i}", "doc": f"d{i}", "z": float(i)} for i in range(10)))
    data = {"evalset": "set", "langs": ["ro-en"], "human": "z"}
    recipe = read_recipe(None, {"data": [data], "share": 0.2, "reads": ["hyp", "src"]})
    train, _ = read_examples(recipe, tmp_path)
    assert all(pair.src and pair.src.text.startswith("Salut") and not pair.refs for pair in train.pairs)
    with pytest.raises(InputError, match="judged sentences need"):
        read_examples(read_recipe(None, {"data": [{**data, "refs": ["pe"]}], "reads": ["hyp", "src"]}), tmp_path)
