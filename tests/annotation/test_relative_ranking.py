"""Relative ranking with control items (Jiang et al. 2022, appendix D)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wholetext as wt
from tests.in_process import call
from wholetext.annotation.relative_ranking import ranking_items, read_rankings, write_items
from wholetext.errors import InputError

SEGMENTS = [f"this is sentence number {i} of a text" for i in range(12)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rr") / "run"
    outputs = {name: [[f"{name} {text}" for text in SEGMENTS], [f"{name} {text}" for text in SEGMENTS[:7]]]
               for name in ("good", "fair", "poor")}
    wt.score(outputs, "chrf", refs=[SEGMENTS, SEGMENTS[:7]], srcs=[SEGMENTS, SEGMENTS[:7]], langs="de-en", out=path)
    return path


def test_blocks_of_a_document_keep_their_order_and_letters(run: Path) -> None:
    items = ranking_items(wt.open_run(run), controls=0)
    for doc in {item.id.split("#")[0] for item in items}:
        own = [item for item in items if item.id.startswith(f"{doc}#")]
        assert [item.id for item in own] == sorted((item.id for item in own), key=lambda id: int(id.split("#")[1]))
        assert len({tuple(item.systems.items()) for item in own}) == 1
    assert sorted(len(item.options["A"]) for item in items) == [2, 2, 5, 5, 5]


@pytest.mark.parametrize("unit", ["documents", "sentences"])
def test_controls_keep_first_and_last(run: Path, unit: str) -> None:
    results = wt.open_run(run)
    items = ranking_items(results, unit=unit, controls=0.4, source=False)  # type: ignore[arg-type]
    texts = {output.system: output.docs for output in results.outputs}
    marked = [item for item in items if item.control]
    assert marked and all(item.src is None for item in items)
    for item in marked:
        doc, start = item.id.split("#")
        true = texts[item.systems[item.control]][doc][int(start):int(start) + len(item.options[item.control])]
        mine = item.options[item.control]
        if unit == "sentences":
            true, mine = tuple(true[0].split()), tuple(mine[0].split())
        assert mine != true and sorted(mine) == sorted(true) and (mine[0], mine[-1]) == (true[0], true[-1])


def test_answers(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two raters know the order of the systems, one of them does not see the controls."""
    code, out, _ = call(capsys, "annotate", "sample", run, "-n", 2, "-f", "ranking", "--unit", "sentences",
                        "--control-share", 0.3, "-o", tmp_path / "items.jsonl")
    assert not code and "19 items, 6 controls" in out
    key, answers = tmp_path / "items.key.jsonl", tmp_path / "answers.jsonl"
    assert "good" not in {letter for line in (tmp_path / "items.jsonl").read_text().splitlines()
                          for letter in json.loads(line)["options"]}
    lines = []
    for row in map(json.loads, key.read_text().splitlines()):
        ranks = {letter: ("good", "fair", "poor").index(system) for letter, system in row["systems"].items()}
        careful = {**ranks, **({row["control"]: 9} if row["control"] else {})}
        lines += [json.dumps({"item": row["item"], "rater": rater, "ranks": given})
                  for rater, given in (("ann", careful), ("bob", dict.fromkeys(ranks, 0) | {"A": 1}))]
    answers.write_text("\n".join(lines))
    rankings = read_rankings(answers, key)
    assert rankings.wins["good"] > rankings.wins["fair"] > rankings.wins["poor"]
    assert rankings.controls["ann"] == (6, 6) and rankings.controls["bob"][0] < 6
    kappa, pairs = rankings.kappa["ann", "bob"]
    assert kappa < 0.5 and pairs == 13 * 3 + 6
    code, out, _ = call(capsys, "annotate", "read", answers, "--key", key)
    assert not code and "6 of 6" in out and "kappa" in out
    answers.write_text(json.dumps({"item": "elsewhere#0", "rater": "ann", "ranks": {"A": 1}}))
    with pytest.raises(InputError, match="not in the key"):
        read_rankings(answers, key)


def test_one_system_cannot_be_ranked(tmp_path: Path) -> None:
    results = wt.score({"only": ["a b c d"]}, "chrf", refs=["a b c d"])
    with pytest.raises(InputError, match="1 systems cannot be ranked"):
        ranking_items(results)
    assert write_items(tmp_path / "x.jsonl", [])[1].read_text() == ""
