"""Judges end to end, on a server in the same process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wholetext as wt
from tests.judges.scripted import ScriptedServer, completion
from tests.judges.scripted_judge import ERROR, results, right, scores
from wholetext.errors import SpecError
from wholetext.judges.parsers import ASPECTS, PARSER
from wholetext.registry import scorer
from wholetext.testing import check_metric, sample


@pytest.mark.parametrize("name", ["judge-da", "judge-sqm", "judge-mqm", "judge-esa", "judge-coherence"])
def test_judges_keep_the_contract_of_metrics(server: ScriptedServer, name: str) -> None:
    check_metric(f"{name}@m")


@pytest.mark.parametrize("view", ["sentence:", "context(prev=3,next=1):", "whole:", "slide(size=2,partial=include):"])
@pytest.mark.parametrize("mode", ["qe", "ref"])
def test_every_view_shows_the_judge_what_it_should(server: ScriptedServer, view: str, mode: str) -> None:
    results(f"{view}judge-da(mode={mode})@m")
    said = [body["messages"][-1]["content"] for body in server.asked]
    assert all(("<reference-" in text) == (mode == "ref") for text in said)
    shown = [text.rpartition("<translation")[2] for text in said]
    middle = next(text for text in shown if "Engineers had found a crack." in text.rpartition("<judged")[2])
    assert ("<judged-" in middle) == view.startswith("context")
    assert ("The bridge was closed" in middle) == (view != "sentence:")


def test_scores_are_what_the_judge_says_and_the_signature_says_who_answered(server: ScriptedServer) -> None:
    server.reply = lambda body, number: '{"score": 70}'
    found = scores("judge-da@m")
    assert found.at("row").tolist() == [70.0] * 6 and found.score == 70
    facts = found.signature
    assert facts["answered_by"] == "scripted-1" and facts["fingerprint"] == "fp_1" and facts["structured"] == "true"
    assert facts["prompt"].startswith("wholetext/da#") and facts["parser"] == PARSER and facts["max_tokens"] == "64"
    assert [facts[name] for name in ("refused", "unparsable", "repaired", "failed", "unlocated")] == ["0"] * 5
    assert "dtype" not in facts and server.url not in str(facts)


# ---------------------------------------------------------------- answers that cannot be used


def outcome(server: ScriptedServer, *answers: Any) -> tuple[wt.Scores, int]:
    """One segment is answered by these in turn, the others well."""

    def reply(body: Mapping[str, Any], number: int) -> Any:
        said = [one["content"] for one in body["messages"]]
        if "crack" not in "".join(said):
            return right(body, number)
        return answers[min(sum("could not be used" in text for text in said), len(answers) - 1)]

    server.reply = reply
    return scores("judge-da@m"), sum("crack" in str(body) for body in server.asked)


def test_one_repair_request_for_an_answer_that_cannot_be_read(server: ScriptedServer) -> None:
    found, asked = outcome(server, "0.50", "70")
    assert found.at("row")[1] == 70 and found.signature["repaired"] == "1" and found.signature["unparsable"] == "0"
    assert any("first answer could not be read" in note and "1 of 6 segments" in note for note in found.notes)
    assert asked == 4  # twice for each of two systems that have these words


def test_an_answer_that_was_cut_is_said_to_need_more_tokens(server: ScriptedServer) -> None:
    """As of a model that reasons until the limit, and then has said nothing."""
    cut = (200, completion("<think>Well, the text", finish="length"))
    found, _ = outcome(server, cut, cut)
    assert np.isnan(found.at("row")[1]) and found.signature["unparsable"] == "1"
    assert any("cut at max_tokens" in note and "raise max_tokens" in note for note in found.notes)


def test_a_prompt_file_that_was_edited_is_read_anew(server: ScriptedServer, tmp_path: Path) -> None:
    spec, hashes = f'judge-da(prompt="{tmp_path / "mine.toml"}")@m', set()
    for word in ("Rate", "Judge"):
        (tmp_path / "mine.toml").write_text(f"user = '{word}: {{hyp}}'\njson = '\"errors\": [ no'", "utf-8")
        hashes.add(scores(spec).signature["prompt"])
        assert server.asked[-1]["messages"][-1]["content"].startswith(word)
    assert len(hashes) == 2
    for view, hidden in (("sentence", False), ("context(prev=1)", True)):
        assert any("shown no context" in note for note in results(f"{view}:{spec}").warnings) == hidden


def test_answers_are_asked_for_once_and_parsed_again_for_nothing(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = results("judge-esa@m", cache=True)
    asked = len(server.asked)
    monkeypatch.setattr("wholetext.judges.judge.PARSER", "next")
    second = results("judge-esa@m", cache=True)
    assert len(server.asked) == asked == first.counts["judge_answers"] and "judge_calls" not in second.counts
    assert second["judge-esa@m"]["same"].signature["parser"] == "next"
    assert np.array_equal(first["judge-esa@m"]["same"].stats, second["judge-esa@m"]["same"].stats)


# ---------------------------------------------------------------- errors


def test_errors_are_weighted_and_stand_where_they_are_quoted(server: ScriptedServer) -> None:
    found = scores("whole:judge-mqm@m")
    length = len("The bridge was closed on Monday. Engineers had found a crack. It will open again in May.")
    assert found.at("row").tolist() == [-5.0, 0.0, 0.0]
    assert found.at("row", "per_1000")[0] == pytest.approx(-5000 / length)
    assert found.at("corpus", "per_1000")[0] == pytest.approx(-5000 / sum(len(t) for t in _texts("whole")))
    detail = found.details[0]
    assert detail is not None
    assert detail["spans"] == [{"start": 4, "end": 10, "severity": "major", "category": "accuracy/mistranslation",
                                "reason": "it is a tower"}]  # fmt: skip


def _texts(view: str) -> list[str]:
    corpus, _ = sample()
    return [" ".join(doc.refs["ref"]) for doc in corpus.docs]


def many(severity: str, number: int) -> str:
    return json.dumps({"errors": [{**ERROR, "severity": severity}] * number})


def test_the_published_profile_saturates_and_ours_does_not(server: ScriptedServer) -> None:
    server.reply = lambda body, number: many("major", 8)
    assert scores("judge-mqm@m").at("row")[0] == -40
    assert scores("judge-mqm(profile=published)@m").at("row")[0] == -25
    server.reply = lambda body, number: many("minor", 8)
    assert scores("judge-mqm(profile=published,seed=1)@m").at("row")[0] == -5  # at most five count


def test_errors_that_are_not_in_the_text_count_and_are_counted(server: ScriptedServer) -> None:
    faults = [{**ERROR, "span": span} for span in ("nowhere", "Satz", "closed")]  # one of the source, one of the text
    server.reply = lambda body, number: json.dumps({"errors": faults})
    found = scores("judge-mqm@m")
    assert found.at("row")[0] == -15 and found.signature["unlocated"] == str(1 + 5 * 2)
    detail = found.details[0]
    assert detail is not None and [one["located"] for one in detail["errors"]] == [False, True, True]
    assert [one["side"] for one in detail["errors"]] == ["hyp", "src", "hyp"] and len(detail["spans"]) == 1


def test_esa_shows_the_errors_of_the_first_call_to_the_second(server: ScriptedServer) -> None:
    found = scores("judge-esa@m")
    second = [body["messages"][-1]["content"] for body in server.asked if "<errors-" in str(body)]
    assert len(second) * 2 == len(server.asked)
    assert any('Major:\naccuracy/mistranslation - "bridge"' in text for text in second)
    assert found.details[0] and found.details[0]["spans"][0]["severity"] == "major"
    assert found.signature["errors_prompt"].startswith("wholetext/errors#")


def test_the_rubric_has_an_output_for_each_aspect(server: ScriptedServer) -> None:
    found = scores("judge-coherence@m")
    assert found.outputs == ("score", *ASPECTS) and len(found.rows) == 3
    assert found.table("corpus")[0].tolist() == [62, 60, 61, 62, 63, 64]
    assert found.details[0] and {one["category"] for one in found.details[0]["spans"]} == {*ASPECTS}


# ---------------------------------------------------------------- samples


def test_samples_are_averaged_without_those_beyond_two_sigma(server: ScriptedServer) -> None:
    said = iter([80] * 9 + [0] + [50] * 1000)
    server.reply = lambda body, number: json.dumps({"score": next(said)})
    spec = "judge-da(samples=10,seed=7,temperature=0.7)@m"
    found = results(spec, parallel=1)[spec]["same"]
    assert found.outputs == ("score", "spread") and found.details[0]
    assert sorted(found.details[0]["samples"]) == [0.0] + [80.0] * 9
    assert found.at("row")[0] == 80 and found.at("row", "spread")[0] == pytest.approx(np.std([80] * 9 + [0], ddof=1))
    assert {body["seed"] for body in server.asked} == {*range(7, 17)}


# ---------------------------------------------------------------- specs


@pytest.mark.parametrize(("spec", "words"), [
    ("judge-da(samples=3)@m", "temperature 0"), ("judge-da(samples=0)@m", "from 1 up"),
    ("judge-pairwise(mode=ref)@m", "mode=ref"), ("judge-coherence(answer=text)@m", "answer=text"),
])  # fmt: skip
def test_specs_that_make_no_sense_are_refused(spec: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        scorer(spec)
