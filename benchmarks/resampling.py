"""Resampling alone, beside sacreBLEU's: the same statistics, draws and p-values, timed in one run.

    python benchmarks/resampling.py [--systems 10] [--segments 1000]

Both sides get the segment statistics ready-made, so neither counts an n-gram here.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wholetext.metrics.surface import Bleu, Chrf, Surface
from wholetext.scoring.significance.resample import (
    RESAMPLES,
    TRIALS,
    bootstrap_p,
    bootstrap_scores,
    interval,
    randomization_p,
)
from wholetext.types import FloatArray

WORDS = [f"w{i}" for i in range(300)]


def outputs(systems: int, segments: int) -> tuple[list[str], list[list[str]]]:
    """References and outputs that replace more and more of their words."""
    rng = np.random.default_rng(0)
    refs = [rng.choice(WORDS, size=rng.integers(10, 30)) for _ in range(segments)]

    def damaged(ref: np.ndarray, share: float) -> str:
        return " ".join(np.where(rng.random(len(ref)) < share, rng.choice(WORDS, len(ref)), ref))

    lines = [[damaged(ref, 0.3 + 0.01 * system) for ref in refs] for system in range(systems)]
    return [" ".join(ref) for ref in refs], lines


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time of one run, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def theirs(
    metric: Surface, test: str, draws: int, lines: list[list[str]], refs: list[str]
) -> tuple[float, list[float]]:
    """sacreBLEU's paired test with its statistics computed beforehand."""
    from sacrebleu.significance import PairedTest

    engine = metric.sacrebleu()
    ready = {id(each): engine._extract_corpus_statistics(each, [refs]) for each in lines}
    engine._extract_corpus_statistics = lambda hypotheses, references: ready[id(hypotheses)]
    named: list[tuple[str, Sequence[str]]] = [(f"s{i}", each) for i, each in enumerate(lines)]
    seconds, (_, results) = timed(lambda: PairedTest(named, {"m": engine}, None, test, draws)())
    (column,) = (values for name, values in results.items() if name != "System")
    return seconds, [result.p_value for result in column[1:]]


def ours(metric: Surface, test: str, draws: int, statistics: list[FloatArray]) -> tuple[float, FloatArray]:
    """The same from arrays: intervals of every system where it is a bootstrap, p of each against the first."""
    pairs = [(0, i) for i in range(1, len(statistics))]

    def score(totals: FloatArray) -> FloatArray:
        return metric.reduce(totals)[..., 0]

    def work() -> FloatArray:
        if test == "ar":
            return randomization_p(statistics, score, pairs, draws)
        samples = bootstrap_scores(statistics, score, draws)
        [interval(each) for each in samples]
        return bootstrap_p(samples, np.array([float(score(t.sum(axis=0))) for t in statistics]), pairs)

    return timed(work)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--segments", type=int, default=1000)
    arguments = parser.parse_args()
    os.environ["SACREBLEU_SEED"] = "12345"
    refs, lines = outputs(arguments.systems, arguments.segments)
    print(f"{arguments.systems} systems, {arguments.segments} segments\n")
    print("| test | metric | sacreBLEU s | wholetext s | ratio | largest difference of p |\n|---|---|---|---|---|---|")
    for test, name, draws in (("bs", "paired bootstrap", RESAMPLES), ("ar", "approximate randomisation", TRIALS)):
        for metric in (Bleu(), Chrf()):
            engine = metric.sacrebleu()
            statistics = [np.array(engine._extract_corpus_statistics(each, [refs]), dtype=float) for each in lines]
            slow, expected = theirs(metric, test, draws, lines, refs)
            fast, found = ours(metric, test, draws, statistics)
            gap = float(np.abs(np.array(expected) - found).max())
            print(f"| {name}, {draws} | {metric.name} | {slow:.2f} | {fast:.3f} | {slow / fast:.0f}× | {gap:.2g} |")


if __name__ == "__main__":
    main()
