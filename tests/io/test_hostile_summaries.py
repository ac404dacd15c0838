"""Rated summaries from anybody: what is no text, name or number is an error that names the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.errors import InputError
from wholetext.io import read
from wholetext.io.formats.summaries import open_judged

LINE: dict[str, Any] = {"id": "d1", "model_id": "M1", "decoded": "A summary.", "references": ["one", "two"],
                        "expert_annotations": [{"coherence": 4}], "text": "An article."}  # fmt: skip


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "model.jsonl"
    path.write_text("".join(json.dumps({**LINE, **more, **changes}) + "\n" for more in ({}, {"id": "d2"})), "utf-8")
    return path


@pytest.mark.parametrize("changes", [
    {"references": 5}, {"references": [1]}, {"references": [None]}, {"references": ["a\0b"]}, {"text": ["a"]},
    {"text": "a\0b"}, {"decoded": "a\0b"}, {"model_id": "a\0b"}, {"model_id": [1]}, {"id": ["d1"]}, {"id": True},
    *({"expert_annotations": [{"coherence": value}]} for value in (True, "nan", "inf", None, [4], 10**400)),
], ids=str)  # fmt: skip
def test_what_is_no_text_name_or_number_is_named_by_its_line(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, **changes))
    assert caught.value.where.endswith("model.jsonl:1")


def test_a_reference_alone_is_one_reference(tmp_path: Path) -> None:
    """Not one per letter."""
    assert read(written(tmp_path, references="one")).corpus.docs[0].refs == {"ref0": ("one",)}


def test_ids_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "model.jsonl"
    path.write_text("".join(json.dumps({**LINE, "id": number}) + "\n" for number in (0, 1)), "utf-8")
    assert [doc.id for doc in read(path).corpus.docs] == ["0", "1"]
    assert open_judged(path).human("coherence", "seg").values.tolist() == [[4.0, 4.0]]
