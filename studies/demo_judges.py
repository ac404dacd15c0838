"""All judges on the whole demo corpus (German to English) against the small model, under three views.

    python -m studies.demo_judges CACHE     a line for each judge and view; goes on where it was interrupted

One system (two for judge-pairwise), 12 documents, 112 segments. Answers are limited to so many tokens that a list
without errors is whole; a rubric needs some 230, and is asked for in full under the whole view alone. It takes about
an hour and a half of one core, so it is no test; docs/judges.md has what was seen.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import wholetext as wt
from tests.judges import small_model
from tests.judges.counting import CountingProxy, is_repair
from wholetext.demo import load
from wholetext.judges.chat import Calls

VIEWS = ("whole", "sentence", "context(prev=1)")
JUDGES = ("judge-da", "judge-sqm", "judge-mqm", "judge-esa", "judge-pairwise", "judge-coherence")
SYSTEMS = ("coherent", "literal")
COUNTED = ("refused", "unparsable", "repaired", "failed", "unlocated")


@dataclass(frozen=True)
class Seen:
    """What one judge under one view came to."""

    spec: str
    calls: int
    repairs: int  # calls that quote an answer which could not be read
    tokens: tuple[int, int]
    seconds: float
    scores: tuple[wt.Scores, ...]

    @property
    def rows(self) -> np.ndarray:
        return np.concatenate([one.at("row") for one in self.scores])

    def count(self, name: str) -> int:
        return sum(int(one.signature[name]) for one in self.scores)

    def __str__(self) -> str:
        known = self.rows[~np.isnan(self.rows)]
        said = ", ".join(f"{self.count(name)} {name}" for name in COUNTED)
        scores = f"{known.min():g} to {known.max():g}, mean {known.mean():.1f}" if len(known) else "none"
        return (f"{self.spec}: {self.calls} calls ({self.repairs} repairs), {len(self.rows)} rows, {len(known)} scored "
                f"({scores}); {said}; {self.tokens[0]} + {self.tokens[1]} tokens, {self.seconds / 60:.1f} minutes")


def spec(judge: str, view: str) -> str:
    limit = {"judge-mqm": 32, "judge-esa": 32, "judge-coherence": 256 if view == "whole" else 12}.get(judge)
    return f"{view}:{judge}{f'(max_tokens={limit})' if limit else ''}@{small_model.NAME}"


def judged(proxy: CountingProxy, judge: str, view: str, cache: Path) -> Seen:
    """Score the demo corpus; the first call of judge-esa is the one of judge-mqm, and stored."""
    corpus, outputs = load("de-en")
    shown = [one for one in outputs if one.system in (SYSTEMS if judge == "judge-pairwise" else SYSTEMS[1:])]
    calls, start = Calls(proxy.url, parallel=2, timeout=1800), time.monotonic()
    proxy.clear()
    results = wt.score(
        wt.Loaded(corpus, shown), spec(judge, view), options=wt.Options(cache=cache, calls=calls, flags=False)
    )
    scores = tuple(next(iter(results.scores.values())).values())
    repairs = sum(is_repair(one.body) for one in proxy.exchanges)
    seen = Seen(spec(judge, view), proxy.arrived, repairs, proxy.tokens, time.monotonic() - start, scores)
    known, (low, high) = seen.rows[~np.isnan(seen.rows)], scores[0].range
    assert len(seen.rows) == len(shown) * (12 if view == "whole" else 112)
    assert ((low <= known) & (known <= high)).all()
    missing = sum(map(seen.count, ("refused", "unparsable", "failed")))
    assert (len(known) < len(seen.rows)) == (missing > 0)
    assert (calls.counts["judge_tokens_in"], calls.counts["judge_tokens_out"]) == proxy.tokens
    return seen


def every(cache: Path) -> Iterator[Seen]:
    with small_model.running() as address, CountingProxy(address) as proxy:
        for view in VIEWS:
            for judge in JUDGES:
                yield judged(proxy, judge, view, cache)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for seen in every(Path(sys.argv[1])):
        print(seen, flush=True)
