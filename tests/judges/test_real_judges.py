"""Judges against a real chat server: every judge under every view, equal answers at temperature 0, token counts.

The model has 135 million parameters and judges badly; what is tested is everything around it.
"""

from __future__ import annotations

import math
import threading
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from tests.judges import small_model
from tests.judges.counting import CountingProxy
from tests.judges.judge_material import demo_piece
from wholetext.judges.chat import Calls

pytestmark = pytest.mark.slow
DOCUMENT = "mystery-umbrella"  # has short segments
VIEWS = ("sentence", "context(prev=3,next=1)", "whole")
JUDGES = ("judge-da", "judge-sqm", "judge-mqm(max_tokens=32)", "judge-esa(max_tokens=32)", "judge-pairwise",
          "judge-coherence(max_tokens=8)")  # fmt: skip
SHORT = """user = "Rate this translation from 0 to 100.\\nSource: {src}\\nTranslation: {hyp}\\n{answer}"
json = 'Answer with a JSON object: {"score": NUMBER}'
"""


def short_judge(folder: Path) -> str:
    """judge-da with a short prompt: what is tested does not depend on its words, and most time is spent reading it."""
    (folder / "short.toml").write_text(SHORT, "utf-8")
    return f'judge-da(prompt="{folder / "short.toml"}")@{small_model.NAME}'


def systems(judge: str) -> tuple[str, ...]:
    return ("coherent", "literal") if "pairwise" in judge else ("literal",)


def options(proxy: CountingProxy, cache: Path | bool = False) -> wt.Options:
    return wt.Options(cache=cache, calls=Calls(proxy.url, parallel=2, timeout=1800), flags=False)


@pytest.mark.parametrize("judge", JUDGES)
def test_every_judge_runs_under_every_view(
    real: CountingProxy, judge: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    corpus, outputs = demo_piece(DOCUMENT, 2, systems(judge))
    cache = tmp_path_factory.getbasetemp() / "judges.sqlite"  # the first call of judge-esa is the one of judge-mqm
    for view in VIEWS:
        real.clear()
        settings = options(real, cache)
        results = wt.score(wt.Loaded(corpus, outputs), f"{view}:{judge}@{small_model.NAME}", options=settings)
        for scores in next(iter(results.scores.values())).values():
            check(scores, judge, 1 if view == "whole" else 2)
        counts = settings.calls.counts
        assert (counts["judge_tokens_in"], counts["judge_tokens_out"]) == real.tokens
        assert counts["judge_calls"] == counts["judge_answers"] == real.arrived


@pytest.mark.parametrize("judge", ["judge-da", "judge-esa(max_tokens=64)", "judge-coherence(max_tokens=200)"])
def test_a_larger_model_judges_and_tells_a_translation_from_another_text(judge: str, larger_model_address: str) -> None:
    corpus, outputs = demo_piece(DOCUMENT, 2, ("literal",))
    (doc,) = corpus.docs
    other = wt.Output("another text", {doc.id: ("Stir the flour into the melted butter.", "Serve at once.")})
    with CountingProxy(larger_model_address) as proxy:
        spec = f"whole:{judge}@{small_model.QWEN.name}"
        results = wt.score(wt.Loaded(corpus, (*outputs, other)), spec, options=options(proxy))
    right, wrong = (results[spec][name] for name in ("literal", "another text"))
    for scores in (right, wrong):
        check(scores, judge, 1, small_model.QWEN.name)
    assert judge != "judge-da" or right.score > wrong.score


def check(scores: wt.Scores, judge: str, size: int, model: str = small_model.NAME) -> None:
    """Every row has a score in its range, or is counted among those without one."""
    rows, facts = scores.at("row"), scores.signature
    assert facts["answered_by"] == model and facts["structured"] == "true" and len(rows) == size
    missing = sum(int(facts[name]) for name in ("refused", "unparsable", "failed"))
    unknown = int(np.isnan(rows).sum())
    assert unknown == missing if "pairwise" not in judge else 2 * unknown >= missing >= unknown  # asked in both orders
    low, high = scores.range
    assert all(low <= value <= high for value in rows if not math.isnan(value))


def answers(proxy: CountingProxy, folder: Path, segments: int, parallel: int) -> dict[str, str]:
    """Request → answer. None is forwarded before ``parallel`` have arrived."""
    barrier = threading.Barrier(parallel)
    proxy.clear()
    proxy.gate = lambda number: number > parallel or barrier.wait(600) >= 0
    settings = wt.Options(cache=False, calls=Calls(proxy.url, parallel=parallel, timeout=1800), flags=False)
    wt.score(wt.Loaded(*demo_piece(DOCUMENT, segments)), short_judge(folder), options=settings)
    return {one.text: one.answer["choices"][0]["message"]["content"] for one in proxy.exchanges if one.answer}


def test_temperature_0_repeats_whatever_the_number_of_requests_at_a_time(
    small_model_address: str, tmp_path: Path
) -> None:
    """Twice one by one, and eight at once: the server computes one request at a time, each from its first token.

    What it computes together, or continues from a stored beginning, has other last digits (docs/judges.md).
    """
    with CountingProxy(small_model_address, more={"cache_prompt": False}) as proxy:
        first, *others = [answers(proxy, tmp_path, 4, parallel) for parallel in (1, 1, 8)]
    assert len(first) >= 8 and others == [first, first]
