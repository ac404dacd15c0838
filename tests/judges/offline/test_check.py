"""judge-check finds the biases of a judge that has known ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.judges.faulty import FaultyServer
from tests.judges.judge_material import names, numbered
from wholetext.cli.main import main
from wholetext.judges.chat import Calls
from wholetext.judges.check import JudgeCheckOptions, judge_check
from wholetext.judges.prompts import load_prompt

JUDGES = ["judge-da(seed=1)@one", "judge-da(seed=1)@two"]


def unit(*what: object) -> float:
    """A number from 0 to 1 that depends on this alone."""
    return random.Random(json.dumps(what)).random()


def biased(request: Mapping[str, Any]) -> str:
    """Half of its verdicts follow the order; one error a window, whatever its length; ten points more if reworded."""
    prompt, seen = request["messages"][-1]["content"], names(request)
    if "<translation-A-" in prompt:
        pair = sorted(seen)
        return json.dumps({"better": "A" if unit("flip", pair) < 0.5 or seen[0] == pair[0] else "B"})
    if "Critical:" in prompt or '"errors"' in prompt:
        fault = {"severity": "minor", "category": "style", "span": seen[0], "context": "", "reason": ""}
        return json.dumps({"errors": [fault]})
    score = 20 + int(40 * unit("quality", seen[0])) + int(11 * unit("chance", seen[0], request["seed"] - 1))
    score += 10 * ("nobody could improve" in prompt)
    return json.dumps({"score": score if request["model"] == "one" else 100 - score})


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer(answer=biased) as biased_server:
        yield biased_server


def found_by(server: FaultyServer, judges: list[str], documents: int = 4, **settings: Any) -> Any:
    corpus, outputs = numbered(documents, 4, 3)
    options = wt.Options(calls=Calls(server.url), flags=False)
    checked = judge_check(corpus, outputs, judges, JudgeCheckOptions(windows=(1, 2, 4), draws=200, **settings), options)
    return {(one.check, one.judge, one.measure, one.setting): one for one in checked.measures}, checked


@pytest.mark.long
def test_known_biases_are_found(server: FaultyServer) -> None:
    figures, checked = found_by(server, JUDGES, samples=4)
    flips = figures["position", "judge-pairwise@one", "flip rate", ""]
    systems = ((0, 1), (0, 2), (1, 2))
    pairs = [(f"s{a}d{d}n{n}", f"s{b}d{d}n{n}") for d in range(4) for n in range(4) for a, b in systems]
    share = float(np.mean([unit("flip", list(pair)) < 0.5 for pair in pairs]))
    assert flips.value == pytest.approx(share) and flips.count == 48 and flips.low < share < flips.high
    first = figures["position", "judge-pairwise@one", "first of two chosen", ""]
    assert first.value == pytest.approx((1 + share) / 2)  # a flip chooses the first twice, any other pair once

    errors = ("length", "judge-mqm@one", "errors per 1,000 characters")
    rates = [figures[(*errors, f"window {n}")].value for n in (1, 2, 4)]
    assert rates == pytest.approx([rates[0], rates[0] / 2, rates[0] / 4]) and rates[0] == pytest.approx(1000 / 16)
    fall = figures["length", "judge-mqm@one", "ratio of error rates", "window 4 to 1"]
    assert fall.value == pytest.approx(0.25) == fall.low == fall.high

    spread = figures["consistency", JUDGES[0], "standard deviation", "4 samples, temperature 0.7"]
    assert 2 < spread.low < spread.value < spread.high < 4.5 and spread.count == 48  # of ten equally likely points: 3.2

    assert figures["wording", JUDGES[0], "mean absolute difference", "reworded"].value == pytest.approx(10)
    assert figures["wording", JUDGES[0], "Pearson's r of rows", "reworded"].value == pytest.approx(1)
    assert figures["wording", JUDGES[0], "equal preferences between systems", "reworded"].value == 1
    between = figures["agreement", JUDGES[0], "Pearson's r of rows", JUDGES[1]]
    assert between.value == pytest.approx(-1) and between.count == 48
    assert len(checked.results.scores) == 2 * (1 + 3 + 1 + 2)  # scores that checks share are there once
    few, *others = checked.notes
    assert few.startswith("4 documents only:") and all("order" in note for note in others)


def test_what_cannot_be_checked_is_said(server: FaultyServer) -> None:
    corpus, outputs = numbered(1, 1, 1)
    options = wt.Options(calls=Calls(server.url), flags=False)
    one = judge_check(corpus, outputs, "judge-da(seed=1)@one", JudgeCheckOptions(samples=2, draws=5), options)
    assert {measure.check for measure in one.measures} == {"consistency", "wording"}
    assert all(np.isnan(measure.low) for measure in one.measures)
    said = "\n".join(one.notes)
    assert all(words in said for words in ("position: needs outputs of two", "length: needs windows", "1 documents",
                                                "agreement: needs two judges"))  # fmt: skip
    with pytest.raises(wt.errors.InputError, match="none of the checks"):
        judge_check(corpus, outputs, "judge-da@one", JudgeCheckOptions(("position",)), options)
    with pytest.raises(wt.errors.SpecError, match="not a judge"):
        judge_check(corpus, outputs, "chrf", None, options)
    with pytest.raises(wt.errors.InputError, match="no check 'lenght'"):
        JudgeCheckOptions(("lenght",))


def test_the_verb(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    corpus, outputs = numbered(3, 2, 2)
    wt.write(tmp_path / "c.jsonl", wt.Loaded(corpus, tuple(outputs), ()))
    common = ["meta", "judges", str(tmp_path / "c.jsonl"), "-l", "de-en", "-m", JUDGES[0], "-q",
              "--check", "position", "--check", "length", "--window", "1", "--window", "2", "--draws", "50"]
    for words in ([], ["-f", "tsv"], ["--json", "--out", str(tmp_path / "run")]):
        with pytest.raises(SystemExit) as left:
            main([*common, *words])
        assert not left.value.code
    table, _, rest = capsys.readouterr().out.partition("check\tjudge")
    assert table.startswith("Bias shows in ") and "flip rate" in table and "window 2 to 1" in table
    assert max(map(len, table.splitlines())) <= 80 and "…" not in table
    assert (tmp_path / "run" / "judge-check.json").is_file()
    assert json.loads(rest[rest.index("{\n") :])["kind"] == "judge-check"


@pytest.mark.parametrize("name", ["da", "sqm", "errors", "esa", "pairwise", "coherence"])
def test_reworded_prompts_differ_in_words_only(name: str) -> None:
    ours, other = load_prompt(name), load_prompt(name, "reworded")
    assert ours.hash != other.hash and ours.parts["user"] != other.parts["user"]
    assert {**ours.parts, "user": ""} == {**other.parts, "user": ""} and ours.examples == other.examples
    for part in ("{texts}", "{answer}", "{errors}", "{mark}", "{focus}", "{reference}"):
        assert (part in ours.parts["user"]) == (part in other.parts["user"])
