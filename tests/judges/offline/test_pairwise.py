"""Pairs of systems, judged in both orders."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.judges.judge_material import names, numbered
from tests.judges.scripted import ScriptedServer
from wholetext.errors import MetricError
from wholetext.testing import sample

SPEC = "judge-pairwise@m"


def longer(body: Mapping[str, Any], number: int) -> str:
    """A judge that prefers the longer text, whatever the order."""
    said = body["messages"][-1]["content"]
    a, b = (said.split(f"<translation-{name}-")[1].split("</")[0] for name in "AB")
    return json.dumps({"better": "tie" if len(a) == len(b) else "A" if len(a) > len(b) else "B"})


@pytest.fixture
def server(server: ScriptedServer) -> ScriptedServer:
    server.reply = longer
    return server


def judged(spec: str = SPEC, systems: int = 3) -> Mapping[str, wt.Scores]:
    corpus, outputs = sample()
    return wt.score(wt.Loaded(corpus, outputs[:systems]), [spec], options=wt.Options(cache=False))[spec]


def test_shares_of_comparisons_won_add_up_to_half_of_all(server: ScriptedServer) -> None:
    found = judged()
    assert found["same"].outputs == ("score", "flips")
    assert sum(one.score for one in found.values()) == pytest.approx(150)
    assert found["empty"].score == 0 and found["same"].score > found["altered"].score > 0
    assert all(np.nanmax(one.at("row", "flips")) == 0 for one in found.values())
    assert found["same"].signature["rivals"] == "same,altered,empty"


def test_each_pair_is_asked_about_twice_and_equal_texts_never(server: ScriptedServer) -> None:
    corpus, outputs = sample()
    judged()
    pairs = {(src, *sorted(texts)) for doc in corpus.docs for src, *hyps in zip(doc.src or (), *(
        output.docs[doc.id] for output in outputs)) for texts in _pairs(hyps)}  # fmt: skip
    assert len(server.asked) == 2 * len(pairs) == len({json.dumps(body) for body in server.asked})


def _pairs(hyps: list[str]) -> Iterator[tuple[str, str]]:
    for i, one in enumerate(hyps):
        yield from ((one, other) for other in hyps[i + 1 :] if other != one)


def test_a_judge_that_always_says_a_flips_every_time_and_decides_nothing(server: ScriptedServer) -> None:
    server.reply = lambda body, number: '{"better": "A"}'
    found = judged(systems=2)
    assert [one.score for one in found.values()] == [50, 50]
    assert found["same"].at("corpus", "flips")[0] == 100
    assert any("order" in note for note in found["same"].notes)


def test_of_three_systems_a_comparison_without_a_verdict_is_left_out_and_said(server: ScriptedServer) -> None:
    """Nobody can say whether s0 or s2 is better in one segment: both keep what they won against s1 there."""
    def reply(body: Mapping[str, Any], number: int) -> str:
        pair = sorted(names(body))
        better = "A" if names(body)[0] > pair[0] else "B"
        return "hm" if pair == ["s0d0n0", "s2d0n0"] else json.dumps({"better": better})

    server.reply = reply
    found = wt.score(wt.Loaded(*numbered(2, 2, 3)), [SPEC], options=wt.Options(cache=False))[SPEC]
    assert [one.at("row").tolist() for one in found.values()] == [[0.0] * 4, [50.0] * 4, [100.0] * 4]
    assert [one.signature["unparsable"] for one in found.values()] == ["2", "0", "2"]
    (note,) = [note for note in found["s0"].notes if "1 of 4 segments" in note]
    assert note.startswith("some comparisons have no verdict: the judge's answer could not be read")


def test_samples_of_a_pair_are_averaged_and_their_spread_is_known(server: ScriptedServer) -> None:
    """Of three samples one contradicts the others, and one of them itself: it says A in either order."""
    def reply(body: Mapping[str, Any], number: int) -> str:
        choice = json.loads(longer(body, number))["better"]
        return json.dumps({"better": {3: choice, 4: choice, 5: "A"}[body["seed"]]})

    server.reply = reply
    found = judged("judge-pairwise(samples=3,seed=3,temperature=0.7)@m", 2)
    assert found["same"].outputs == ("score", "flips", "spread")
    detail, other = found["same"].details[0], found["altered"].details[0]
    assert detail and detail["samples"] == [100.0, 100.0, 50.0]
    assert detail["orders"] == [["A", "B"], ["A", "B"], ["A", "A"]]
    assert other and other["samples"] == [0.0, 0.0, 50.0]
    assert found["same"].at("row")[0] == pytest.approx(250 / 3)
    assert found["same"].at("row", "flips")[0] == pytest.approx(100 / 3)
    assert found["same"].at("row", "spread")[0] == pytest.approx(np.std([100, 100, 50], ddof=1))
    seeds = [body["seed"] for body in server.asked]
    assert seeds.count(3) == seeds.count(4) == seeds.count(5) == len(seeds) / 3


def test_a_single_system_has_no_rivals(server: ScriptedServer) -> None:
    with pytest.raises(MetricError, match="compares systems, and there is only one"):
        judged(systems=1)
