"""Items of contrastive sets: where errors lie, and what chance gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wholetext.cli.main import main
from wholetext.errors import InputError
from wholetext.meta.contrastive.decisions import groups, overall, stored_decisions
from wholetext.meta.contrastive.formats import read_contrast_set

_GOOD = '{"src segment": "a", "ref segment": "b", "errors": [{"contrastive": "c"}]}'


@pytest.mark.parametrize("name, content, place", [
    ("x.jsonl", '{"src": "a", "target": "b", "contrastive": ["c"]}\n{"src": "a", "target": "b", "contrastive": []}',
     ":2"),
    ("x.jsonl", '\n{"src": "a", "src_context": ["x"], "target": "b", "contrastive": ["c"]}', ":2"),
    ("x.json", f'[\n {_GOOD},\n\n {{"src segment": "a, [1", "ref segment": "b",\n  "errors": []}}\n]', ", item 1"),
    ("x.json", f'[{_GOOD}, {{\n"errors": []}}]', ", item 1"),
    ("x.json", '{\n"1": {"src": ["a", "b"], "trg": [{"correct": ["a", "b"], "incorrect": ["a", "c"]}]},\n'
               '"2": {"src": ["a", "2"]}}', ", block 2"),
])
def test_item_errors_name_file_and_line(tmp_path: Path, name: str, content: str, place: str) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    with pytest.raises(InputError) as fault:
        read_contrast_set(path)
    assert fault.value.where.startswith(f"{path}{place}"), fault.value.where


def test_chance_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"src": "a", "target": "b", "contrastive": ["c"] * (1 + i % 2), "block": str(i // 2), "type": "tf"[i % 2]}
            for i in range(4)]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (tmp_path / "scores").write_text("\n".join(map(str, range(10))), "utf-8")
    found = stored_decisions(read_contrast_set(path), tmp_path / "scores")
    assert overall(found).chance == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert [one.chance for one in groups(found)["type"]] == pytest.approx([1 / 3, 1 / 2])
    assert groups(found)["block"][0].chance == pytest.approx(1 / 6)
    with pytest.raises(SystemExit):
        main(["contrast", str(path), "--scores", str(tmp_path / "scores")])
    out = capsys.readouterr().out
    assert "chance" in out.splitlines()[0] and "41.7" in out.splitlines()[1]


def test_preferences_are_a_contrastive_set(tmp_path: Path) -> None:
    row = {"source": "s", "target": "r", "text1": "a", "text2": "b", "text1_tag": "para", "text2_tag": "sent"}
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(json.dumps({**row, "choice": choice}) for choice in ("text1", "text2", "tie")), "utf-8")
    found = read_contrast_set(path)
    assert [[one.text for one in item.candidates] for item in found.items] == [["a", "b"], ["b", "a"]]
    assert [item.type for item in found.items] == ["para", "sent"]
    assert found.warnings == ("1 item left out: people preferred neither text",)


@pytest.mark.parametrize("wrong", [{"choice": "both"}, {"choice": 1}, {"choice": "text1", "text1": 3},
                                   {"choice": "text2", "source": None}])
def test_faulty_preferences(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps({"source": "s", "text1": "a", "text2": "b", **wrong}), "utf-8")
    with pytest.raises(InputError) as fault:
        read_contrast_set(path)
    assert fault.value.where == f"{path}:1"


@pytest.mark.data
def test_literary_preferences(data: Path) -> None:
    found = read_contrast_set(data / "pairwise" / "literary-translation.jsonl")
    assert len(found) == 540
    kinds = [item.type for item in found.items]
    assert kinds.count("para") > kinds.count("sent")


def test_candidates_given_twice_and_mixed_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No metric tells equal texts apart: such items are errors of the set, not of a metric."""
    one = {"src": "I saw it.", "target": "Ich sah sie.", "langs": "en-de"}
    rows = [{**one, "contrastive": ["Ich sah sie.", "Ich sah es."]},
            {**one, "contrastive": ["Ich sah es.", "Ich sah es."]},
            {**one, "contrastive": ["Ich sah es."], "langs": "en-fr"},
            {**one, "contrastive": ["Ich sah es."], "langs": "eng_Latn-deu_Latn"}]
    path, scores = tmp_path / "pronouns.jsonl", tmp_path / "scores.txt"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = read_contrast_set(path)
    assert found.langs == ("en", "de") and len(found) == 4
    assert found.warnings == (
        "not all items are of the language pair en-de (1 of en-fr): all are read as en-de",
        "1 item with the correct translation among the wrong ones, so that every metric ties; see item pronouns-1",
        "1 item with a wrong translation given twice, so that chance is higher than shown; see item pronouns-2")
    scores.write_text("1\n0\n0\n1\n0\n0\n1\n0\n1\n0\n", "utf-8")
    with pytest.raises(SystemExit):
        main(["contrast", str(path), "--scores", str(scores), "--json"])
    assert json.loads(capsys.readouterr().out)["notes"] == list(found.warnings)


def test_a_pair_that_is_none_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"src": "a", "target": "b", "contrastive": ["c"], "langs": "english"}\n', "utf-8")
    with pytest.raises(InputError, match="english"):
        read_contrast_set(path)
