"""What the server says of files before it scores them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.serving.serving_material import BAD, GOOD, REF, client_of
from wholetext.serving import preview


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with client_of(tmp_path / "data") as client:
        yield client


def looked(client: TestClient, *files: tuple[str, tuple[str, str]], **fields: str) -> Any:
    answer = client.post("/v1/preview", files=list(files), data=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_line_files(client: TestClient, tmp_path: Path) -> None:
    answer = looked(client, ("hyp", ("good.txt", GOOD)), ("hyp", ("bad.txt", BAD)), ("ref", ("human.txt", REF)),
                    ("docs", ("docs.txt", "d1\nd2\n")), langs="de-en")
    assert answer["systems"] == ["good", "bad"] and answer["references"] == ["human"] and answer["columns"] == []
    assert (answer["documents"], answer["segments"], answer["langs"]) == (2, 2, ["de", "en"])
    assert answer["first"] == [["reference human", "the cat sat"], ["output good", "the cat sat"],
                               ["output bad", "a dog sat"]]  # fmt: skip
    assert [*(tmp_path / "data" / "jobs").iterdir()] == []  # nothing is kept
    assert client.get("/v1/jobs").json() == {"jobs": []}


def test_columns_of_a_table(client: TestClient) -> None:
    table = "doc\tsource\tref:A\thyp:one\tremark\nd1\teins\tone\tone\tx\nd1\tzwei\ttwo\ttoo\ty\n"
    answer = looked(client, ("corpus", ("set.tsv", table)))
    assert answer["columns"] == [["doc", "document"], ["source", "source"], ["ref:A", "reference A"],
                                 ["hyp:one", "output one"], ["remark", "not used"]]  # fmt: skip
    assert answer["systems"] == ["one"] and answer["segments"] == 2
    assert answer["first"][0] == ["source", "eins"] and any("remark" in note for note in answer["notes"])


def test_columns_are_those_of_the_language_pair(client: TestClient) -> None:
    """As in the job: a column in the source language is the source."""
    rows = "".join(f"Er war nicht da, und sie kam zu spät {i}.\tHe was out {i}.\tHe left {i}.\n" for i in range(4))
    answer = looked(client, ("corpus", ("set.tsv", f"Quelle\tref\tGPT-4\n{rows}")), langs="de-en")
    assert ["Quelle", "source"] in answer["columns"] and answer["systems"] == ["GPT-4"]


def test_keys_of_json_lines(client: TestClient) -> None:
    lines = [{"doc_id": "d", "src": "eins", "mt": "one", "system": "s", "ref": "one", "x": 1}] * 2
    answer = looked(client, ("corpus", ("set.jsonl", "\n".join(map(json.dumps, lines)))))
    assert ["mt", "output"] in answer["columns"] and ["doc_id", "document"] in answer["columns"]
    assert ["x", "not used"] in answer["columns"] and answer["systems"] == ["s"]


def test_what_cannot_be_read_is_said_with_its_columns(client: TestClient) -> None:
    answer = looked(client, ("corpus", ("set.tsv", "doc\tsource\nd1\teins\textra\n")))
    assert answer["columns"] == [["doc", "document"], ["source", "source"]]
    assert answer["error"] == "this row has 3 cells, the header has 2" and answer["next"]
    answer = looked(client, ("hyp", ("a.txt", "one\n")), ("ref", ("b.txt", "one\ntwo\n")))
    assert "error" in answer and "/" not in answer["error"]


def test_large_files_are_not_read(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "PREVIEWED", 10)
    answer = client.post("/v1/preview", files={"hyp": ("a.txt", "x\n" * 10)})
    assert answer.status_code == 400 and "when they are scored" in answer.json()["error"]
    answer = client.post("/v1/preview", files={"hyp": ("a.txt", b"x" * 2_000_000)})
    assert answer.status_code == 413
    assert [*(tmp_path / "data" / "jobs").iterdir()] == []
