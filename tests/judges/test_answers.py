"""Answers are read rightly or not at all: written ones in the published formats, and real ones of a small model.

`oracle/judges/written.jsonl`: ``format``, ``answer``, ``expected`` (what a reader says it states; null: nothing)
and ``must`` (whether it is in a published format or one that our prompts ask for, so that it has to be read).
`oracle/judges/answers.jsonl`:
answers of SmolLM2-135M-Instruct to judge-like prompts about the demo corpus at temperatures 0, 0.8 and 1.2, with
``cut`` where the limit of tokens ended them (530 answers, 70 of which have errors and a score and
are read as both); ``expected`` was decided by strict rules of its own and by reading.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from wholetext.judges.parsers import Parsed, parse


def stated(format: str, parsed: Parsed) -> Any:
    """What was read, in the form of the oracle."""
    if format == "errors":
        return [[fault.severity, fault.category, fault.quote] for fault in parsed.faults]
    return {"score": parsed.score, "choice": parsed.choice, "rubric": dict(parsed.aspects)}[format]


def records(oracle: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (oracle / "judges" / name).read_text("utf-8").splitlines()]


def wrong(record: dict[str, Any]) -> str:
    """What is wrong with how the answer is read, or nothing."""
    parsed = parse(record["format"], record["answer"], record.get("cut", False))
    if not parsed.ok:
        assert parsed.problem and parsed.score is None and not (parsed.faults or parsed.choice or parsed.aspects)
        return f"unparsable ({parsed.problem})" if record["must"] else ""
    if record["expected"] is None:
        return f"read as {stated(record['format'], parsed)}, states nothing"
    found = stated(record["format"], parsed)
    return "" if found == record["expected"] else f"read as {found}, is {record['expected']}"


@pytest.mark.parametrize(("name", "least"), [("written.jsonl", 200), ("answers.jsonl", 500)])
def test_answers_are_read_rightly_or_not_at_all(oracle: Path, name: str, least: int) -> None:
    given = records(oracle, name)
    faults = [f"{record['format']} {record['answer']!r}: {fault}" for record in given if (fault := wrong(record))]
    assert not faults, "\n".join(faults)
    assert len({record["answer"] for record in given}) >= 0.9 * least  # a small model repeats itself
    assert len(given) >= least and all(n >= 20 for n in Counter(record["format"] for record in given).values())
