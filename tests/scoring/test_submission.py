"""Submissions to WMT26's evaluation task from runs: scaled scores, error spans, resuming; write → read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import wholetext as wt
from tests.io.wmt26_items import ITEMS, X, write_items
from wholetext.cli.main import main
from wholetext.errors import InputError, MetricError, RunError
from wholetext.io.formats.wmt26 import read_items, read_submission
from wholetext.scoring import write_submission

NAN = float("nan")


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_items(tmp_path / "mteval-test26.jsonl")


def scored(items: Path, langs: str = "en-de", metrics: Sequence[str] = ("chrf",)) -> wt.Results:
    return wt.score(wt.read(items, langs=langs), list(metrics), options=wt.Options(cache=False))


def with_details(results: wt.Results, spec: str, details: Mapping[str, Sequence[Any]], **change: Any) -> wt.Results:
    by_system = {system: replace(scores, details=tuple(details.get(system, scores.details)), **change)
                 for system, scores in results[spec].items()}  # fmt: skip
    return replace(results, scores={**results.scores, spec: by_system})


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def span(start: int, end: int, severity: str = "major", category: str = "accuracy") -> dict[str, Any]:
    return {"start": start, "end": end, "severity": severity, "category": category}


def test_scores_of_one_pair_in_the_order_of_the_items(items: Path, tmp_path: Path) -> None:
    results, out = scored(items), tmp_path / "s.jsonl"
    summary, notes = write_submission(results, out, items)
    assert summary == "4 items, filled in: 0 of task 1, 5 of task 2, null: 7"
    assert notes == ["task 2: scores of chrf as they are", "task 1 stays as it is: chrf marks no errors"]
    a, b = (results["chrf"][system].at("segment").tolist() for system in "AB")
    written = lines(out)
    assert [line["item_id"] for line in written] == [entry["item_id"] for entry in ITEMS]
    assert [line["task2_pred"] for line in written] == [{"A": a[1], "B": b[1]}, {"C": None}, {"A": a[0], "B": b[0]},
                                                        {"A": a[2]}]  # fmt: skip
    assert [line["task1_pred"] for line in written] == [{"A": None, "B": None}, {"C": None}, {"A": None, "B": None},
                                                        {"A": None}]  # fmt: skip


def test_ranges_are_mapped_and_unbounded_ones_asked_for(items: Path, tmp_path: Path) -> None:
    results, out = scored(items, metrics=["ter", "chrf"]), tmp_path / "s.jsonl"
    with pytest.raises(RunError, match="this run has 2 metrics"):
        write_submission(results, out, items)
    with pytest.raises(RunError, match="there is no metric 'bleu'"):
        write_submission(results, out, items, metric="bleu")
    for range in (None, (1.0, 1.0), (0.0, np.inf)):
        with pytest.raises(MetricError, match="no fixed range") as caught:
            write_submission(results, out, items, metric="ter", range=range)
        assert "--range=0,1" in caught.value.next and not out.exists()
    _, notes = write_submission(results, out, items, metric="ter", range=(0, 50))
    ter = results["ter"]["A"].at("segment")
    assert ter.max() > 50 and lines(out)[2]["task2_pred"]["A"] == pytest.approx(max(0, 100 - 2 * ter[0]))
    assert notes[0] == "task 2: scores of ter, 50 mapped to 0 and 0 to 100, linearly"
    assert "outside this range, cut at 0 or 100" in notes[1]
    halved = with_details(results, "chrf", {}, range=(-100.0, 100.0))
    write_submission(halved, out, items, metric="chrf", overwrite=True)
    assert lines(out)[3]["task2_pred"]["A"] == pytest.approx(50 + results["chrf"]["A"].at("segment")[2] / 2)


def test_spans_omissions_and_faults(items: Path, tmp_path: Path) -> None:
    quoted = [{"severity": "major", "category": "accuracy/omission", "located": True, "side": "src"},
              {"severity": "minor", "category": "Accuracy/Omission", "located": False, "side": "hyp"},
              {"severity": "minor", "category": "style", "located": False, "side": "hyp"},
              {**span(4, 7), "located": True, "side": "hyp"}]  # fmt: skip
    details = {"A": [{"spans": [span(7, 12, "critical"), span(0, 2, "", "")]},
                     {"spans": [span(4, 7)], "errors": quoted},
                     {"spans": [span(6, 7, "minor"), span(8, 10, "minor", "instruction/format"), span(0, 1, "term"),
                                span(50, 60)]}]}  # fmt: skip
    out = tmp_path / "s.jsonl"
    _, notes = write_submission(with_details(scored(items), "chrf", details), out, items)
    first, _, second, third = (line["task1_pred"].get("A") for line in lines(out))
    errors = [span(0, 2, "minor", "other"), span(7, 12)]
    assert second == {"errors": errors, "omission": None, "instruction_fault": None}
    assert first == {"errors": [span(4, 7)], "omission": "major", "instruction_fault": None}
    assert third == {"errors": [span(6, 7, "minor")], "omission": None, "instruction_fault": "minor"}
    assert ITEMS[3]["hyps"]["A"][6] == "𝒟"  # characters, not UTF-16 units
    assert lines(out)[0]["task1_pred"]["B"] == {"errors": [], "omission": None, "instruction_fault": None}
    assert notes[1:] == [
        "task 1: critical errors, written as major: 1", "task 1: errors without a severity, written as minor: 1",
        "task 1: errors without a category, written as 'other': 1",
        "task 1: omissions, written in their own field without a span: 2",
        "task 1: faults of the category instruction, written in their own field without a span: 1",
        "task 1: errors without a place in one segment of the output, not written: 2",
        "task 1: marks that are no errors by their severity, not written: 1",
    ]  # fmt: skip


def test_spans_of_whole_documents_are_divided(items: Path, tmp_path: Path) -> None:
    results = scored(items, metrics=["whole:chrf"])
    omission = {"severity": "major", "category": "omission", "located": False, "side": "hyp"}
    details = {"A": [{"spans": [span(7, 16)], "errors": [omission]}, None]}
    out = tmp_path / "s.jsonl"
    _, notes = write_submission(with_details(results, "whole:chrf", details), out, items)
    first, _, second, _ = lines(out)
    assert second["task1_pred"]["A"]["errors"] == [span(7, 12)] and first["task1_pred"]["A"]["errors"] == [span(0, 3)]
    assert first["task2_pred"] == second["task2_pred"] and first["task1_pred"]["A"]["omission"] is None
    assert "task 2: a segment has the mean score of the windows that cover it" in notes
    assert "task 1: errors without a place in one segment of the output, not written: 1" in notes


def test_a_resumed_run_fills_only_what_is_missing(items: Path, tmp_path: Path) -> None:
    out, english, czech = tmp_path / "s.jsonl", scored(items), scored(items, "cs-de", ["rc"])
    write_submission(english, out, items)
    before = lines(out)
    before[0]["comment"], before[0]["task2_pred"]["A"] = "mine", 1
    # lines of others, in another order, without one item, the last one half written
    shuffled = [json.dumps(line) for line in (before[3], before[0], before[2])]
    out.write_text("\n".join(shuffled)[:-40], "utf-8")
    summary, notes = write_submission(czech, out, items, range=(0, 1))
    after = lines(out)
    assert after[0] == before[0] and after[3] == before[3] and after[2]["task2_pred"] == {"A": None, "B": None}
    assert after[1]["task2_pred"] == {"C": 0.0} and summary == "4 items, filled in: 0 of task 1, 1 of task 2, null: 8"
    assert any("the last line was not written to its end" in note for note in notes)
    _, notes = write_submission(english, out, items)
    stayed = [line["task2_pred"] for line in before]
    assert [line["task2_pred"] for line in lines(out)] == [stayed[0], {"C": 0.0}, stayed[2], stayed[3]]
    assert notes[-1] == "predictions that were there and stay, although the run differs: 1"
    done = out.read_bytes()
    write_submission(english, out, items)
    assert out.read_bytes() == done
    out.write_text(done.decode().replace('"A": 1', '"A": 101'), "utf-8")
    damaged = out.read_bytes()
    with pytest.raises(InputError, match="a number from 0 to 100"):
        write_submission(english, out, items)
    assert out.read_bytes() == damaged


def test_a_run_of_other_texts_is_refused(items: Path, tmp_path: Path) -> None:
    results, out = scored(items), tmp_path / "s.jsonl"
    with pytest.raises(InputError, match="this is the file of items"):
        write_submission(results, items, items)
    other = write_items(tmp_path / "other.jsonl", [*ITEMS[:3], {**ITEMS[3], "hyps": {"A": "anders"}}])
    with pytest.raises(RunError, match=r"the output of 'A' for 'challenge_.*' is another text in the run"):
        write_submission(results, out, other)
    fewer = write_items(tmp_path / "fewer.jsonl", ITEMS[:3])
    with pytest.raises(RunError, match="segments that are not among these items"):
        write_submission(results, out, fewer)
    plain = wt.score(["Ja."], "chrf", refs=["Ja."])
    with pytest.raises(RunError, match="not among these items"):
        write_submission(plain, out, items)
    assert not out.exists()


def test_damaged_details_are_named(items: Path, tmp_path: Path) -> None:
    results = with_details(scored(items), "chrf", {"A": [{"spans": [{**span(0, 1), "start": None}]}, None, None]})
    with pytest.raises(RunError, match="the details of chrf for A are damaged"):
        write_submission(results, tmp_path / "s.jsonl", items)


def ends(code: int, *words: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    assert caught.value.code == code


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    ends(2, *words)
    return capsys.readouterr().err


def test_the_command(items: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out, corpus = tmp_path / "run", tmp_path / "s.jsonl", str(tmp_path / "c.jsonl")
    scored(items, metrics=["chrf", "ter"]).save(run)
    command = ["convert", str(run), str(out), "--to", "wmt26"]
    assert "needs a run folder and the file of items" in refused(capsys, *command)
    command += ["--items", str(items), "-m", "ter"]
    assert "'' is not a number" in refused(capsys, *command, "--range=5")
    assert "'x' is not a number" in refused(capsys, *command, "--range=0,x")
    assert "there is no such folder" in refused(capsys, "convert", "nowhere", *command[2:])
    ends(0, *command, "--range=0,100")
    captured = capsys.readouterr()
    assert captured.out == f"written: {out} (wmt26: 4 items, filled in: 0 of task 1, 5 of task 2, null: 7)\n"
    assert "100 mapped to 0 and 0 to 100" in captured.err
    assert len(read_submission(out, read_items(items))[0]) == 4
    assert "go with --to wmt26" in refused(capsys, "convert", str(items), corpus, "-l", "en-de", "-m", "chrf")
    ends(0, "convert", str(items), corpus, "-l", "en-de")
    again = wt.score(wt.read(corpus), "chrf", options=wt.Options(cache=False))  # the ids survive a conversion
    write_submission(again, out, items, overwrite=True)
    assert lines(out)[3]["task2_pred"]["A"] == again["chrf"]["A"].at("segment")[2]


# ---------------------------------------------------------------- write → read

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_written_is_read_back(tmp_path_factory: Any, data: st.DataObject) -> None:
    draw, systems, folder = data.draw, ("A", "B"), tmp_path_factory.mktemp("property")
    hyps = [{system: draw(TEXT) for system in systems if i == 0 or draw(st.booleans())}
            for i in range(draw(st.integers(1, 4)))]  # fmt: skip

    def spans(text: str) -> list[dict[str, Any]]:
        ends = st.tuples(*[st.integers(0, len(text))] * 2)
        return [span(*sorted(draw(ends)), draw(st.sampled_from(["critical", "major", "minor"])), draw(TEXT))
                for _ in range(draw(st.integers(0, 3)))]  # fmt: skip

    marks = {system: [{"spans": spans(entry.get(system, ""))} for entry in hyps] for system in systems}
    values = {system: [draw(st.floats(0, 100) | st.just(NAN)) for _ in hyps] for system in systems}
    order = draw(st.permutations(range(len(hyps))))
    path = write_items(folder / "i.jsonl", [{"item_id": f"{X}_###_{i}", "src": "s", "ref": {"text": "r"},
                                             "hyps": hyps[i]} for i in order])  # fmt: skip
    results = wt.score(wt.read(path), "chrf", options=wt.Options(cache=False, flags=False))
    by_system = {system: replace(scores, stats=wt.mean_stats(values[system]), details=tuple(marks[system]),
                                 reduce_rows=partial(wt.Metric.reduce, wt.Metric()))
                 for system, scores in results["chrf"].items()}  # fmt: skip
    write_submission(replace(results, scores={"chrf": by_system}), folder / "s.jsonl", path)
    read, _ = read_submission(folder / "s.jsonl", read_items(path))
    assert list(read) == [f"{X}_###_{i}" for i in order]
    marked = any(fact["spans"] for facts in marks.values() for fact in facts)
    for i, entry in enumerate(hyps):
        line = read[f"{X}_###_{i}"]
        assert set(line["task1_pred"]) == set(line["task2_pred"]) == set(entry)
        for system in entry:
            value, errors = values[system][i], marks[system][i]["spans"]
            assert line["task2_pred"][system] == (None if value != value else value)
            predicted = line["task1_pred"][system]
            expected = {(s["start"], s["end"]) for s in errors if s["start"] < s["end"]
                        and "omission" not in s["category"].lower()
                        and not s["category"].strip().lower().startswith("instruction")}  # fmt: skip
            assert (predicted is None) == ((value != value and not errors) or not marked)
            if predicted is not None:
                assert {(e["start"], e["end"]) for e in predicted["errors"]} == expected
