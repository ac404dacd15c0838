"""A scripted server that answers every prompt of ours as it should, and scores of the sample corpus by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import wholetext as wt
from wholetext.judges.chat import Calls
from wholetext.judges.parsers import ASPECTS
from wholetext.testing import sample

ERROR = {"severity": "major", "category": "accuracy/mistranslation", "span": "bridge", "context": "The bridge was",
         "reason": "it is a tower"}  # fmt: skip
RUBRIC = {name: {"score": 60 + i, "evidence": [{"quote": "bridge", "reason": "why"}]} for i, name in enumerate(ASPECTS)}


def right(body: Mapping[str, Any], number: int) -> str:
    """A well-formed answer to any of our prompts."""
    said = body["messages"][-1]["content"]
    if '"errors": [' in said:
        return json.dumps({"errors": [ERROR] if "bridge" in said.rpartition("<translation")[2] else []})
    if "connectives" in said:
        return json.dumps(RUBRIC)
    return json.dumps({"better": "A"} if '"better"' in said else {"score": len(said) % 101})


def results(spec: str, *, cache: bool = False, **settings: Any) -> wt.Results:
    corpus, outputs = sample()
    return wt.score(wt.Loaded(corpus, outputs), [spec], options=wt.Options(cache=cache, calls=Calls(**settings)))


def scores(spec: str, **settings: Any) -> wt.Scores:
    """Of the system that equals the reference."""
    return results(spec, **settings)[spec]["same"]
