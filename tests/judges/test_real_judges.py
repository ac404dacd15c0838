"""Judges against a real chat server: every judge under every view, equal answers at temperature 0, kills, token counts.

The model has 135 million parameters and judges badly; what is tested is everything around it.
"""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import judge_run
import numpy as np
import pytest
import small_model
from counting import CountingProxy
from judge_material import demo_piece

import wholetext as wt
from wholetext.backends.chat.calls import Calls

pytestmark = pytest.mark.slow
VIEWS = ("sentence", "context(prev=3,next=1)", "whole")
JUDGES = ("judge-da", "judge-sqm", "judge-mqm(max_tokens=60)", "judge-esa(max_tokens=60)", "judge-pairwise",
          "judge-coherence(max_tokens=60)")  # fmt: skip


def options(proxy: CountingProxy) -> wt.Options:
    return wt.Options(cache=False, calls=Calls(proxy.url, parallel=4, timeout=600), flags=False)


@pytest.mark.parametrize("judge", JUDGES)
def test_every_judge_runs_under_every_view(real: CountingProxy, judge: str) -> None:
    corpus, outputs = demo_piece("portrait-radio", 2)
    specs = [f"{view}:{judge}@{small_model.NAME}" for view in VIEWS]
    results = wt.evaluate(corpus, outputs, specs, options(real))
    assert len(results.scores) == 3
    for spec, by_system in results.scores.items():
        for scores in by_system.values():
            assert scores.signature["answered_by"] == small_model.NAME and scores.signature["structured"] == "true"
            rows = scores.at("row")
            assert len(rows) == (1 if "whole" in spec else 2)
            missing = sum(int(scores.signature[name]) for name in ("refused", "unparsable", "failed"))
            assert np.isnan(rows).sum() == missing, spec  # one call or the first of two: each row fails once
            low, high = scores.range
            assert all(low <= value <= high for value in rows if not math.isnan(value))
            if "max_tokens" not in judge:  # short answers are held to their schema, and not cut
                assert missing == 0, spec
    assert set(results.counts) >= {"judge_calls", "judge_tokens_in", "judge_tokens_out"}
    assert (results.counts["judge_tokens_in"], results.counts["judge_tokens_out"]) == real.tokens


def test_temperature_0_repeats_whatever_the_number_of_requests_at_a_time(real: CountingProxy) -> None:
    spec = f"judge-da@{small_model.NAME}"
    runs = []
    for parallel in (1, 1, 8):
        real.clear()
        runs.append(judge_run.scores(real.url, False, spec, parallel))
        assert real.most_at_once == parallel
    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0]) == 2 and all(len(rows) == judge_run.PIECE[1] for rows in runs[0].values())


def started(url: str, cache: Path, spec: str, parallel: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, judge_run.__file__, url, str(cache), spec, str(parallel)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_killed_at_ten_moments_no_answer_is_asked_for_twice(real: CountingProxy, tmp_path: Path) -> None:
    """A kill as the n-th request arrives, before the model sees it: everything that was answered before is kept."""
    spec, cache = f"judge-da@{small_model.NAME}", tmp_path / "cache.sqlite"
    total = 2 * judge_run.PIECE[1]
    moments = sorted(random.Random(18).sample(range(1, total), 10))
    real.gate = lambda number: number not in moments  # every kill takes one arrival
    for place, moment in enumerate(moments):
        child = started(real.url, cache, spec, 1)
        while real.arrived < moment and child.poll() is None:
            time.sleep(0.005)
        assert child.poll() is None, "it ended before it could be killed"
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert len(real.exchanges) == moment - place - 1, "what was answered before the kill was asked for again"
    resumed = judge_run.scores(real.url, cache, spec, 1)
    assert [*real.asked.values()] == [1] * total
    real.clear()
    assert judge_run.scores(real.url, cache, spec, 8) == resumed and real.arrived == 0
    assert judge_run.scores(real.url, False, spec, 8) == resumed


def test_killed_with_eight_requests_under_way(real: CountingProxy, tmp_path: Path) -> None:
    """Only what was under way at the kill is asked for again."""
    spec, cache = f"judge-sqm@{small_model.NAME}", tmp_path / "cache.sqlite"
    total, rng = 2 * judge_run.PIECE[1], random.Random(19)
    kept: set[str] = set()
    for _ in range(3):
        before = len(real.exchanges)
        child = started(real.url, cache, spec, 8)
        wanted = rng.randrange(1, 5)
        while sum(one.delivered is not None for one in real.exchanges[before:]) < wanted and child.poll() is None:
            time.sleep(0.005)
        time.sleep(0.3)
        os.kill(child.pid, signal.SIGKILL)
        killed = time.monotonic()
        child.wait()
        late = [one for one in real.exchanges[before:] if not one.delivered or one.delivered > killed - 0.2]
        assert len(late) <= 8
        kept |= {one.text for one in real.exchanges[before:] if one not in late}
    assert len(kept) > 3
    before = len(real.exchanges)
    judge_run.scores(real.url, cache, spec, 8)
    later = [one.text for one in real.exchanges[before:]]
    assert not kept & {*later} and len(later) <= total - len(kept)


@pytest.mark.parametrize("spec", ["judge-da", "context(prev=3,next=1):judge-sqm", "whole:judge-mqm(max_tokens=8)",
                                  "judge-pairwise"])  # fmt: skip
def test_planned_tokens_are_what_the_server_counts(real: CountingProxy, spec: str) -> None:
    corpus, outputs = demo_piece("portrait-radio", 3)
    (planned,) = wt.plan(corpus, outputs, [f"{spec}@{small_model.NAME}"], options(real))
    assert real.arrived == 0, "a plan asks the model nothing"
    results = wt.evaluate(corpus, outputs, f"{spec}@{small_model.NAME}", options(real))
    first = [one for one in real.exchanges if not one.repair]
    counted = sum(one.answer["usage"]["prompt_tokens"] for one in first if one.answer)
    assert planned.calls == len(first)
    assert planned.tokens_in == pytest.approx(counted, rel=0.02)
    assert results.counts["judge_tokens_in"] == real.tokens[0]
