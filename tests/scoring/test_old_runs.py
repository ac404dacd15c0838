"""Scores of the first version: a frozen run folder of 0.1.0, scored again, gives the same file of results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import wholetext as wt

OLD = Path(__file__).parent.parent / "oracle" / "run-0.1.0"
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def lines(folder: Path) -> list[tuple[str, Any]]:
    """Every line of results.jsonl with its signature apart: the trust release names more in it."""
    found = []
    for line in (folder / "results.jsonl").read_text("utf-8").splitlines():
        signature = json.loads(line).pop("signature", None)
        found.append((line.replace(json.dumps(signature, ensure_ascii=False), "…") if signature else line, signature))
    return found


def numbers(line: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(line)]


def test_results_of_the_first_version_are_reproduced(tmp_path: Path) -> None:
    """Byte for byte but for the last digits of exp and log, whose kernels numpy chooses by processor."""
    old = wt.open_run(OLD)
    assert old.corpus and old.outputs
    new = wt.score(wt.Loaded(old.corpus, old.outputs), list(old.scores), options=wt.Options(cache=False))
    wt.scoring.write_run(new, tmp_path / "run")
    before, after = lines(OLD), lines(tmp_path / "run")
    assert len(before) == len(after) > 100
    for (was, _), (now, _) in zip(before, after, strict=True):
        assert NUMBER.sub("0", was) == NUMBER.sub("0", now)
        assert numbers(now) == pytest.approx(numbers(was), rel=1e-14, abs=0)
    for (_, was), (_, now) in zip(before, after, strict=True):  # what 0.1.0 spelled out is still there
        parts = [set(text.split("|")) for text in (was or "", now or "")]
        assert all(part.startswith(("corpus:", "wholetext:")) for part in parts[0] - parts[1])
