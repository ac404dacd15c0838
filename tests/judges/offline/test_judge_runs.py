"""Judges before and after a run: plans, dry runs, budgets, reports, keys."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from tests.in_process import call
from tests.judges.judge_material import numbered
from tests.judges.scripted import ScriptedServer, completion
from tests.judges.scripted_judge import ERROR, results
from wholetext.errors import MetricError
from wholetext.judges.chat import Calls
from wholetext.testing import sample


def prices(folder: Path) -> Path:
    (folder / "prices.toml").write_text('currency = "USD"\n[models.m]\ninput = 1\noutput = 2\n', "utf-8")
    return folder / "prices.toml"


def test_a_plan_has_calls_tokens_and_cost_and_makes_no_call(server: ScriptedServer, tmp_path: Path) -> None:
    corpus, outputs = sample()
    found = wt.plan(corpus, outputs, "judge-esa@m", calls=Calls(prices=prices(tmp_path)))
    one = found.calls
    assert one and not server.asked and (one.calls, one.stored) == (34, 0)
    assert one.tokens_out == 34 * 1024 and one.cost == pytest.approx((one.tokens_in + 2 * one.tokens_out) / 1e6)
    assert found.tokens is None and [role for role, _ in found.shown[0].sides] == ["user"]
    results("judge-esa@m", cache=True)
    after = wt.plan(corpus, outputs, "judge-esa@m").calls
    assert after and (after.calls, after.stored, after.tokens_in, after.tokens_out) == (34, 34, 0, 0)


def test_a_dry_run_writes_what_would_be_sent(server: ScriptedServer, tmp_path: Path) -> None:
    corpus, outputs = sample()
    many = wt.scoring.write_prompts(corpus, outputs, ["judge-mqm@m", "judge-da@m"], tmp_path / "calls.jsonl")
    assert not server.asked
    lines = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text("utf-8").splitlines()]
    wt.score(wt.Loaded(corpus, outputs), ["judge-mqm@m", "judge-da@m"], options=wt.Options(cache=False))
    asked = sorted(json.dumps(body, sort_keys=True) for body in server.asked)
    assert sorted(json.dumps(line["request"], sort_keys=True) for line in lines) == asked and many == len(asked)
    with pytest.raises(MetricError, match="chrf calls no chat model"):
        wt.scoring.write_prompts(corpus, outputs, ["chrf"], tmp_path / "calls.jsonl")


def unpacked(page: Path) -> str:
    """Everything that a report has, also what is compressed in it."""
    text = page.read_text("utf-8")
    packed = re.findall(r">(H4sI[A-Za-z0-9+/=\s]+)<", text)
    return text + "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    key = "sk-secret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    caplog.set_level(1)

    def echo(body: Mapping[str, Any], number: int) -> Any:
        if number == 1 and "crack" in str(body):
            return 500, {"error": {"message": f"key {key} failed"}}
        if "Nobody" in str(body):
            return 400, {"error": {"message": f"bad key {key}"}}
        return 200, completion(json.dumps({"errors": [{**ERROR, "reason": f"because {key}"}]}), id=key)

    server.reply = echo
    corpus, outputs = sample()
    made = wt.score(wt.Loaded(corpus, outputs), ["judge-mqm@m"], options=wt.Options(calls=Calls()))
    wt.scoring.write_run(made, tmp_path / "run")
    wt.report(tmp_path / "run")
    wt.scoring.write_prompts(corpus, outputs, ["judge-mqm@m"], tmp_path / "calls.jsonl")
    server.reply = lambda body, number: (401, {"error": {"message": f"Incorrect API key provided: {key}"}})
    with pytest.raises(wt.errors.ModelError) as fault:
        results("judge-da@m")
    sent = [{name.lower(): value for name, value in head.items()} for head in server.headers]
    assert sent and all(head["authorization"] == f"Bearer {key}" for head in sent)
    errors = (fault.value, fault.value.__cause__, fault.value.__context__)
    said = f"{errors} {made!r} {caplog.text} {capfd.readouterr()}"
    assert not [line for line in said.splitlines() if key in line]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5 and any(path.name.startswith("cache") for path in written)
    assert not [path for path in written if key.encode() in path.read_bytes()]
    assert "because [key]" in unpacked(tmp_path / "run" / "report.html")
    assert key not in unpacked(tmp_path / "run" / "report.html")


def test_the_command_line_plans_writes_calls_and_keeps_to_a_budget(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("s", "Die Brücke.\nEin Riss."), ("a", "The bridge.\nA crack."), ("b", "A bridge.\nCrack.")):
        Path(f"{name}.txt").write_text(lines + "\n", "utf-8")
    texts = ["-s", "s.txt", "-t", "a.txt", "b.txt", "-l", "de-en", "-m", "judge-mqm@m"]

    code, out, _ = call(capsys, "score", *texts, "--plan", "--prices", str(prices(tmp_path)), "--show", "0")
    assert code == 0 and "4 calls, 0 answered before" in out and "cost at most 0.0" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = call(capsys, "score", *texts, "--dry-run", "calls.jsonl")
    assert code == 0 and "calls.jsonl (4 calls, none made)" in out and not server.asked
    before = Path("a.txt").read_text("utf-8")  # `--dry-run a.txt`, by somebody who takes it for a flag
    assert "one of the input files" in call(capsys, "score", *texts, "--dry-run", "a.txt", "--overwrite")[2]
    assert "exists already" in call(capsys, "score", *texts, "--dry-run", "calls.jsonl")[2]
    assert call(capsys, "score", *texts, "--dry-run", "calls.jsonl", "--overwrite")[0] == 0
    assert Path("a.txt").read_text("utf-8") == before
    code, _, err = call(capsys, "score", *texts, "--prices", str(prices(tmp_path)), "--budget", "0.001")
    assert code == 2 and "the budget is reached" in err and not server.asked
    code, _, err = call(capsys, "score", *texts, "--prices", str(prices(tmp_path)))
    assert code == 0 and len(server.asked) == 4 and "judges: " in err


def test_systems_that_lack_scores_on_different_rows_are_compared_with_a_warning(server: ScriptedServer) -> None:
    """A judge that refuses the hard texts of one system must not make it the better one unnoticed."""
    def reply(body: Mapping[str, Any], number: int) -> str:
        system, doc = re.findall(r"s(\d)d(\d+)n", str(body["messages"][-1]))[0]
        if system == "0" and int(doc) < 3:
            return "I'm sorry, but I can't help with that."
        return json.dumps({"score": (20 if int(doc) < 3 else 80) + 5 * int(system)})

    server.reply = reply
    made = wt.score(wt.Loaded(*numbered(6, 2, 2)), ["judge-da@m"], options=wt.Options(cache=False, calls=Calls()))
    said = wt.compare(made)["judge-da@m"].warnings
    (note,) = [one for one in said if "lack scores on different rows" in one]
    assert "(s0 6 of 12)" in note and note.endswith("on the 6 rows that all have: s0 80.00, s1 85.00")
    same = {"a": made.scores["judge-da@m"]["s1"], "b": made.scores["judge-da@m"]["s1"]}
    assert not [one for one in wt.Significance().compare(same).warnings if "lack scores" in one]
