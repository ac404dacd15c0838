"""Judges against a server that goes wrong: nothing crashes, nothing is lost, and the counts are exact."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.judges import faulty, judge_run
from tests.judges.counting import CountingProxy, Turnstile, is_repair
from tests.judges.faulty import FaultyServer, Served
from tests.judges.judge_material import names, numbered
from wholetext.judges.chat import Calls

REFUSED = ("refusal-field", "filtered")
QUICK = [kind for kind in faulty.FAULTS if kind != "hang"]
SPEC = "judge-da(answer=text)@faulty"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-faulty-0123456789")


def outcome(served: list[Served]) -> str:
    """What became of one question, from all that the server did about it."""
    last = max(served, key=lambda one: one.attempt)
    if last.kind == "ok":
        return "read"
    return "failed" if last.kind in faulty.AGAIN else "refused" if last.kind in REFUSED else "unparsable"


def by_row(server: FaultyServer) -> dict[str, tuple[str, float]]:
    """Segment → what became of it, and its score."""
    questions: dict[tuple[str, bool], list[Served]] = {}
    for one in server.served:
        questions.setdefault((names(one.body)[0], is_repair(one.body)), []).append(one)
    found = {}
    for (name, repair), served in questions.items():
        if repair:
            continue
        said, again = outcome(served), questions.get((name, True))
        assert (again is not None) == (said == "unparsable"), (name, said)
        value = float(faulty.right_answer(served[0].body)) if said == "read" else float("nan")
        if again:
            said = {"read": "repaired"}.get(outcome(again), outcome(again))
            value = float(faulty.right_answer(again[0].body)) if said == "repaired" else float("nan")
        found[name] = (said, value)
    return found


def check(results: wt.Results, server: FaultyServer, calls: Calls) -> Counter[str]:
    """Every row has its score or the reason why it has none, and every count is what the server saw."""
    expected = by_row(server)
    said: Counter[str] = Counter()
    (by_system,) = results.scores.values()
    for system, scores in by_system.items():
        mine: Counter[str] = Counter()
        for row, value, detail in zip(scores.rows, scores.at("row"), scores.details):
            what, wanted = expected[f"{system}{row.doc}n{row.start}"]
            np.testing.assert_equal(value, wanted)
            assert detail is not None and (what in ("read", "repaired") or detail["reason"])
            mine[what] += 1
        for name in ("refused", "unparsable", "repaired", "failed"):
            assert int(scores.signature[name]) == mine[name], name
        said += mine
    kinds, counts = server.kinds, calls.counts
    assert counts["judge_calls"] == sum(kinds.values())
    assert counts["judge_rate_limited"] == sum(kinds[name] for name in ("429", "429-date", "429-bare"))
    assert counts["judge_server_errors"] == kinds["500"] + kinds["502"] + kinds["503"]
    assert not counts["judge_timeouts"]
    broken = ("reset", "cut-body", "cut-stream", "bad-json", "html")
    assert counts["judge_broken"] == sum(kinds[name] for name in broken)
    assert counts["judge_failed"] == said["failed"]
    assert counts["judge_answers"] == sum(kinds[name] for name in ("ok", *faulty.SCHEMA, *faulty.TEXT))
    assert {f"judge_{name}": results.counts[f"judge_{name}"] for name in ("calls", "failed")} == {
        f"judge_{name}": counts[f"judge_{name}"] for name in ("calls", "failed")}
    return said


def faults_met(server: FaultyServer) -> int:
    return sum(many for kind, many in server.kinds.items() if kind != "ok")


def run(server: FaultyServer, documents: int, cache: Path | bool, **settings: Any) -> tuple[wt.Results, Calls]:
    corpus, outputs = numbered(documents, 10, 2)
    calls = Calls(server.url, **{"parallel": 8, "timeout": 1800, "retries": 2, **settings})
    return wt.score(wt.Loaded(corpus, outputs), SPEC, options=wt.Options(cache=cache, calls=calls, flags=False)), calls


def some_faults(documents: int, cache: Path) -> int:
    with FaultyServer(seed=documents, rate=0.5, faults=QUICK) as server:
        results, calls = run(server, documents, cache)
        said = check(results, server, calls)
        assert all(said[name] for name in ("read", "failed", "refused", "unparsable", "repaired"))
        met = faults_met(server)
    with FaultyServer() as healthy:  # what was answered is not asked for again; what was not, is
        again, calls = run(healthy, documents, cache)
        assert sum(healthy.kinds.values()) == said["failed"]
        (first,), (second,) = results.scores.values(), again.scores.values()
        for system, scores in first.items():
            known = [detail["judge"].get("failed", 0) == 0 for detail in scores.details if detail is not None]
            np.testing.assert_equal(second[system].at("row")[known], scores.at("row")[known])
    return met


def test_faults_are_counted_exactly(tmp_path: Path) -> None:
    assert some_faults(6, tmp_path / "cache.sqlite") > 60


@pytest.mark.slow
def test_a_thousand_faults(tmp_path: Path) -> None:
    met, documents = 0, 40
    while met < 1000:
        met += some_faults(documents, tmp_path / f"{documents}.sqlite")
        documents += 1
    print(f"{met} faults")


@pytest.mark.slow
def test_requests_that_hang_are_given_up_and_asked_again() -> None:
    """Two of three are not answered the first time. However slow the machine is, each call was answered or given up."""
    def script(body: Mapping[str, Any], attempt: int) -> str:
        return "hang" if attempt == 1 and names(body)[0][-1] in "012345" else "ok"

    with FaultyServer(script=script) as server:
        results, calls = run(server, 2, False, timeout=4, retries=20)
        assert server.kinds["hang"] == 2 * 2 * 6
    counts, (by_system,) = calls.counts, results.scores.values()
    assert not any(np.isnan(scores.at("row")).any() for scores in by_system.values())
    assert counts["judge_answers"] == 40 and counts["judge_retries"] == counts["judge_timeouts"] >= 24
    assert counts["judge_calls"] == counts["judge_answers"] + counts["judge_timeouts"]


PRICES = 'currency = "USD"\n[models."faulty"]\ninput = 1000.0\noutput = 2000.0\n'


@pytest.mark.parametrize("parallel", [1, 8])
@pytest.mark.parametrize("rate", [0.0, 0.4])
def test_a_budget_is_never_exceeded_by_more_than_a_batch(tmp_path: Path, parallel: int, rate: float) -> None:
    """What the server answered costs at most the budget; all of it is kept, and the next run goes on from there."""
    (tmp_path / "prices.toml").write_text(PRICES, encoding="utf-8")
    money = {"prices": tmp_path / "prices.toml", "parallel": parallel}
    with FaultyServer(seed=9, rate=rate, faults=[kind for kind in QUICK if kind != "huge"]) as server:
        runs, budget = 0, 3.0
        while True:
            before = server.tokens
            calls_before = len(server.served)
            try:
                results, calls = run(server, 4, tmp_path / "cache.sqlite", budget=budget, **money)
            except wt.errors.ModelError as stopped:
                assert "budget" in str(stopped)
                calls = None
            runs += 1
            spent = [after - before for after, before in zip(server.tokens, before)]
            cost = (1000 * spent[0] + 2000 * spent[1]) / 1e6
            most = max((1000 * one.tokens[0] + 2000 * one.tokens[1]) / 1e6 for one in server.served)
            assert cost <= budget + parallel * most, (cost, budget)
            if calls is not None:
                break
            assert len(server.served) > calls_before and runs < 60, "no progress"
        paid = [one.body for one in server.served if one.kind not in faulty.AGAIN]
        answered = Counter(json.dumps(body, sort_keys=True) for body in paid)
        assert max(answered.values()) == 1, "an answer that was paid for was asked for again"
        assert runs > 1
        assert all(np.isfinite(scores.score) for scores in next(iter(results.scores.values())).values())


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [1, 4])
def test_killed_with_requests_under_way(tmp_path: Path, parallel: int) -> None:
    """Only what was under way at a kill is asked for again."""
    cache, total, kills = tmp_path / "cache.sqlite", 2 * judge_run.PIECE[1], (2, 0, 3, 3)
    with FaultyServer() as server, CountingProxy(server.url.removesuffix("/v1"), gate := Turnstile()) as proxy:
        for passing in kills:
            judge_run.killed(proxy.url, cache, SPEC, gate, passing, parallel)
        gate.open(total)
        judge_run.scores(proxy.url, cache, SPEC, parallel)
        assert [*proxy.asked.values()] == [1] * total == [1] * len(server.served)
        assert proxy.arrived == total + parallel * len(kills)
        proxy.clear()
        judge_run.scores(proxy.url, cache, SPEC, parallel)
        assert not proxy.arrived
