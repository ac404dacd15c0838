"""WMT26's evaluation task: items become documents, submissions are checked against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.io.wmt26_items import ITEMS, N1, N9, X, item, write_items
from wholetext.errors import InputError
from wholetext.io.formats.wmt26 import read_items, read_submission
from wholetext.types import Nulls


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_items(tmp_path / "mteval-test26.jsonl")


@pytest.mark.parametrize("langs", ["en-de", "eng_Latn-deu_Latn", "en-de_DE"])
def test_documents_are_rebuilt_in_the_order_of_segments(path: Path, langs: str) -> None:
    loaded = wt.read(path, langs=langs)
    corpus, (a, b) = loaded.corpus, loaded.outputs
    assert (corpus.id, corpus.langs, corpus.ids) == ("mteval-test26", ("eng_Latn", "deu_Latn"), (N1, X))
    assert corpus.docs[0].src == ("He was late.", "She was there.")
    assert corpus.docs[0].refs == {"ref": ("Er kam spät.", "Sie war da.")}
    assert corpus.docs[0].meta == {"domain": "news", "kind": "official", "ref_type": "postedit",
                                   "wmt26:segments": '["9", "10"]'}  # fmt: skip
    assert a.docs[N1] == ("Er war spät.", "Sie war dort.") and not a.nulls
    assert b.docs[X] == ("",) and b.nulls == {X: Nulls((0,), (), "drop")}
    assert loaded.others == {N9}
    assert loaded.warnings == (
        "1 official and 1 challenge documents are read as one corpus",
        f"1 document has gaps between the numbers of segments (first: {N1!r}): the segments around a gap are read as "
        "neighbours",
        "the references of 2 of 3 items are of the type 'postedit'",
        "the references of 1 of 3 items are of the type 'human'",
        "'B' has no output for 1 of 3 items: they are not scored",
    )


def test_the_pair_must_be_chosen_and_be_there(path: Path) -> None:
    with pytest.raises(InputError, match="several language pairs here: eng_Latn-deu_Latn, ces_Latn-deu_Latn"):
        wt.read(path)
    with pytest.raises(InputError, match="no language pair en-fr"):
        wt.read(path, langs="en-fr")
    assert wt.read(path, langs="cs-de").corpus.ids == (N9,)


def test_a_missing_output_is_not_scored_and_has_no_flags(path: Path, tmp_path: Path) -> None:
    results, alone = (wt.score(wt.read(file, langs="en-de"), ["chrf", "ter"], options=wt.Options(cache=False))
                      for file in (path, write_items(tmp_path / "official.jsonl", ITEMS[:3])))  # fmt: skip
    assert not results.flags["B"] and (results["chrf"]["B"].details[2] or {})["reason"]
    for spec in ("chrf", "ter"):
        assert results[spec]["B"].score == alone[spec]["B"].score != results[spec]["A"].score


def test_references_that_some_items_lack_are_noted(tmp_path: Path) -> None:
    items = [ITEMS[0], item("official eng_Latn deu_Latn news n1 11", "Yes.", None, {"A": "Ja.", "B": "Ja."}), ITEMS[3]]
    loaded = wt.read(write_items(tmp_path / "i.jsonl", items), langs="en-de")
    assert loaded.corpus.references == () and loaded.corpus.docs[0].meta["ref_type"] == '["postedit", ""]'
    assert any("1 of 3 items have no reference: 1 document is read without one" in note for note in loaded.warnings)
    assert "reference 'ref' is there for 1 of 2 documents only and is not used" in loaded.warnings


@pytest.mark.parametrize(("change", "said"), [
    ({"item_id": "news_1"}, "this is not an item id: 'news_1'"), ({"item_id": None}, "not an item id: None"),
    ({"item_id": "blog_###_en_###_de_###_news_###_d_###_1"}, "not an item id"),
    ({"item_id": "official_###_en_###_de_###_news_###_d_###_x"}, "'x' is not the number of a segment"),
    ({"item_id": "official_###_en_###_de_###_news_###_d_###_-1"}, "'-1' is not the number of a segment"),
    ({"item_id": "official_###_en_###_de_###_news_###_d_###_e_###_1"}, "not an item id"),
    ({"item_id": N9 + "_###_00"}, "this segment is there twice"), ({"item_id": ["x"]}, "not an item id"),
    ({"src": None}, "has no texts, or they are not strings"), ({"hyps": ["x"]}, "has no texts"),
    ({"hyps": {"A": 1}}, "has no texts"), ({"hyps": {"": "x"}}, "has no texts"), ({"ref": "x"}, "has no texts"),
    ({"ref": {"text": 1}}, "has no texts"), ({"hyps": None, "task2_pred": {}}, "this is a submission"),
    ({"src": "\0"}, "a NUL character"),
])  # fmt: skip
def test_a_damaged_item_is_named_with_its_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    items = [*ITEMS, {**ITEMS[3], **change}]
    with pytest.raises(InputError, match=said) as caught:
        wt.read(write_items(tmp_path / "i.jsonl", items), langs="en-de")
    assert caught.value.where.endswith("i.jsonl:5") and caught.value.next


GOOD = {"errors": [{"start": 0, "end": 3, "severity": "major", "category": "accuracy"}], "omission": "minor",
        "instruction_fault": None}  # fmt: skip


def line(entry: dict[str, Any], **tasks: Any) -> str:
    return json.dumps({"item_id": entry["item_id"], **tasks}) + "\n"


def test_a_submission_is_complete_and_in_order(path: Path, tmp_path: Path) -> None:
    items, file = read_items(path), tmp_path / "s.jsonl"
    lines = [line(entry, task1_pred={"A": None}, task2_pred={}) if "A" in entry["hyps"] else line(entry)
             for entry in ITEMS]  # fmt: skip
    file.write_text("".join(lines), "utf-8")
    assert list(read_submission(file, items)[0]) == list(items)
    file.write_text("".join(lines[1:]), "utf-8")
    with pytest.raises(InputError, match="n1_###_10' is missing"):
        read_submission(file, items)
    file.write_text("".join(lines[::-1]), "utf-8")
    with pytest.raises(InputError, match="in another order"):
        read_submission(file, items)
    file.write_text(lines[0] * 2, "utf-8")
    with pytest.raises(InputError, match="this item is there twice") as caught:
        read_submission(file, items, partial=True)
    assert caught.value.where.endswith("s.jsonl:2")


def test_a_last_line_that_is_half_written(path: Path, tmp_path: Path) -> None:
    items, file = read_items(path), tmp_path / "s.jsonl"
    file.write_text(line(ITEMS[0], task2_pred={"A": 5}) + line(ITEMS[1])[:30], "utf-8")
    predictions, notes = read_submission(file, items, partial=True)
    assert len(predictions) == 1
    assert notes == [f"{file}: the last line was not written to its end, and is written again"]
    with pytest.raises(InputError, match="not JSON"):
        read_submission(file, items)
    file.write_text(line(ITEMS[1])[:30] + "\n" + line(ITEMS[0]), "utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_submission(file, items, partial=True)


def error(**change: Any) -> dict[str, Any]:
    return {**GOOD, "errors": [{**GOOD["errors"][0], **change}]}  # type: ignore[index, dict-item]


@pytest.mark.parametrize(("task", "value", "said"), [
    (1, {"Z": None}, "no output of 'Z'"), (2, {"Z": 3}, "no output of 'Z'"), (1, ["A"], "objects by system"),
    (1, {"A": error(end=14)}, "0 to 14 is not a part of the output, which has 13 characters"),
    (1, {"A": error(start=-1)}, "-1 to 3 is not"), (1, {"A": error(start=3)}, "3 to 3 is not"),
    (1, {"A": error(end=3.0)}, "not a part"), (1, {"A": error(end=True)}, "not a part"),
    (1, {"A": error(severity="critical")}, "severity is major or minor"), (1, {"A": error(category=None)}, "category"),
    (1, {"A": {**GOOD, "omission": True}}, "omission is major, minor or null"), (1, {"A": {"errors": None}}, "no list"),
    (1, {"A": {**GOOD, "instruction_fault": 1}}, "instruction_fault is"), (1, {"A": 3}, "no list of errors"),
    (1, {"A": {"errors": ["x"]}}, "not a part"), (2, {"A": 101}, "a number from 0 to 100"), (2, {"A": "5"}, "a number"),
    (2, {"A": True}, "a number from 0 to 100"), (2, {"A": -0.5}, "a number from 0 to 100"),
])  # fmt: skip
def test_a_false_prediction_is_named(path: Path, tmp_path: Path, task: int, value: Any, said: str) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(line(ITEMS[0], task1_pred={"A": GOOD}) + line(ITEMS[2], **{f"task{task}_pred": {}}), "utf-8")
    assert len(read_submission(file, read_items(path), partial=True)[0]) == 2
    file.write_text(line(ITEMS[0], **{f"task{task}_pred": value}), "utf-8")
    with pytest.raises(InputError, match=said) as caught:
        read_submission(file, read_items(path), partial=True)
    assert "s.jsonl:1, task" in caught.value.where and caught.value.next


def test_an_unknown_item_in_a_submission(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    for name in ("nobody", None, ["x"]):
        file.write_text(json.dumps({"item_id": name}) + "\n", "utf-8")
        with pytest.raises(InputError, match="the items do not have"):
            read_submission(file, read_items(path), partial=True)
