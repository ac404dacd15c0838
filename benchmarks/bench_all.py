"""`make bench-all`: every ratio against another tool in one table, checked against the stored ones.

    python benchmarks/bench_all.py [--write] [--only NAME …]

Both sides do the same work on the same texts, one after the other in one process and one thread, and processor time
counts, so that other work on the machine matters little. Each side keeps its least time of all rounds. Before and
between them a fixed reference workload is timed: our seconds in units of its least time in the whole run are our own
time, whatever the processor's clock does.

A comparison fails if its ratio is more than 15 % below the stored one (`benchmarks/ratios.json`) and our own time is
more than 15 % above the stored one, after more rounds. A ratio that fell while our own time did not rise means that
the other tool became faster (a new version of it or of its libraries): the output says so, and nothing fails. Ratios
differ between processors by more than 15 %, so each is compared with the one stored on the same kind of processor
(model name and vector instructions); where none is stored, nothing is checked, and where no own time is stored, the
ratio alone decides; the output says both. `--write` stores what was measured on this kind of processor and writes
docs/benchmarks.md. The neural ratios need an environment of their own and the machine alone: `make bench-neural`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", SACREBLEU_SEED="12345")

import meta_loops as loops
import meta_peer
import numpy as np
import resampling
import sacrebleu_peer
from machine import processor
from sacrebleu.significance import PairedTest

from wholetext.meta.agreement.measures import Measure, calibrate
from wholetext.meta.agreement.permutation import compare
from wholetext.metrics.surface import Bleu, Chrf, Surface
from wholetext.metrics.ter import Ter
from wholetext.scoring.evaluate import Options, score

Work = Callable[[], Any]
Stored = dict[str, dict[str, dict[str, float]]]  # kind of processor → comparison → ratio and own time
HERE = Path(__file__).resolve().parent
STORED, PAGE = HERE / "ratios.json", HERE.parent / "docs" / "benchmarks.md"
SLOWER = 1.15  # than stored: a failure
ROUNDS, AGAIN = 3, 5
FIRST = 10  # timings of the reference workload before everything else


@dataclass
class Times:
    """Least processor seconds so far: of the other tool, of ours, and of the reference workload."""

    theirs: float = float("inf")
    ours: float = float("inf")
    unit: float = float("inf")

    @property
    def found(self) -> dict[str, float]:
        """As it is stored: the ratio, and our own time in units of the reference workload."""
        return {"ratio": round(self.theirs / self.ours, 1), "own": float(f"{self.ours / self.unit:.3g}")}

    def verdict(self, stored: dict[str, float]) -> str:
        """What became of a comparison: SLOWER is a failure."""
        found = self.found
        if found["ratio"] * SLOWER >= stored.get("ratio", 0):
            return ""
        if "own" not in stored:
            return "SLOWER (no own time is stored: by the ratio alone)"
        own = found["own"] / stored["own"]
        return f"SLOWER (own time {own:.2f} × that stored)" if own > SLOWER else (
            f"the other tool is faster than it was (own time {own:.2f} × that stored)")


def reference() -> None:
    """Fixed work of the kinds that are timed here: words counted in a dictionary, numbers sorted, arrays computed."""
    count = Counter(f"w{i * i % 9973}" for i in range(60_000))
    numbers = np.array([*count.values(), *range(100_000)]) * 7919 % 100_003
    table = np.sort(numbers)[: 300 * 300].reshape(300, 300) / 7.0
    (np.exp(-table) @ table).sum()


def scoring(metric: Surface, langs: str, systems: int, segments: int) -> tuple[Work, Work]:
    """Segment statistics and the score of each system, by sacrebleu and here; the scores are equal."""
    _, refs, outputs = sacrebleu_peer.real_texts(langs) or sacrebleu_peer.made_texts()
    lines = [texts[:segments] for texts in list(outputs.values())[:systems]]
    spec, refs = f"sentence:{metric.name}", refs[:segments]

    def theirs() -> list[float]:
        return [metric.sacrebleu().corpus_score(each, [refs]).score for each in lines]  # new: nothing is remembered

    def ours() -> list[float]:
        hyps = [line for each in lines for line in each]
        docs = [f"{n}" for n in range(len(lines)) for _ in refs]
        options = Options(cache=False, flags=False)
        return list(score(hyps, spec, refs=refs * len(lines), docs=docs, options=options)[spec]["hyp"].at("doc"))

    assert np.allclose(theirs(), ours(), rtol=1e-9, atol=0), f"{metric.name} differs from sacrebleu"
    return theirs, ours


def resampled(metric: Surface, test: str, draws: int) -> tuple[Work, Work]:
    """A paired test of nine systems against the first, from statistics that both sides have."""
    refs, lines = resampling.outputs(10, 1000)
    peer = metric.sacrebleu()
    ready = {id(each): peer._extract_corpus_statistics(each, [refs]) for each in lines}
    peer._extract_corpus_statistics = lambda hypotheses, references: ready[id(hypotheses)]
    named = [(f"s{i}", each) for i, each in enumerate(lines)]
    statistics = [np.array(ready[id(each)], dtype=float) for each in lines]
    return (lambda: PairedTest(named, {"m": peer}, None, test, draws)(),
            lambda: resampling.ours(metric, test, draws, statistics))


def permuted() -> tuple[Work, Work]:
    gold, metrics = meta_peer.scores()
    x, y = gold.mean(axis=1, keepdims=True), metrics.mean(axis=2, keepdims=True)
    draws = meta_peer.DRAWS
    return (lambda: loops.perm_both(x, y[0], y[1], loops.pearson, "none", meta_peer.binomials(len(x), draws)),
            lambda: compare(x, y[:2], Measure("pearson"), draws))


def calibrated() -> tuple[Work, Work]:
    gold, metrics = meta_peer.scores()
    return lambda: loops.calibrate(gold, metrics[0], "item"), lambda: calibrate(gold, metrics[0], "item")


COMPARISONS: dict[str, tuple[str, Callable[[], tuple[Work, Work]]]] = {
    "ter": ("TER, WMT21 zh-en, 3 systems × 100 segments; sacrebleu", lambda: scoring(Ter(), "zh-en", 3, 100)),
    "bleu": ("BLEU, WMT21 de-en, 10 systems × 1,000 segments; sacrebleu",
             lambda: scoring(Bleu(), "de-en", 10, 1000)),
    "chrf": ("chrF, WMT21 de-en, 10 systems × 1,000 segments; sacrebleu",
             lambda: scoring(Chrf(), "de-en", 10, 1000)),
    "bootstrap": ("paired bootstrap, BLEU, 10 systems, 1,000 resamples; sacrebleu",
                  lambda: resampled(Bleu(), "bs", 1000)),
    "randomization": ("approximate randomisation, chrF, 10 systems, 10,000 trials; sacrebleu",
                      lambda: resampled(Chrf(), "ar", 10_000)),
    "perm-both": ("PERM-BOTH, system Pearson, one pair of metrics; loops with scipy", permuted),
    "ties": ("tie calibration by item, one metric; loops with scipy", calibrated),
}


def processor_time(work: Work) -> float:
    """Least seconds of the runs that fit into a third of a second, or of one."""
    best, begin = float("inf"), time.process_time()
    while time.process_time() - begin < 1 / 3:
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measured(name: str, stored: dict[str, float], unit: float, rounds: int) -> Times:
    """Least seconds of both sides and of the reference workload, in turns; again where ours is slower than stored."""
    theirs, ours = COMPARISONS[name][1]()
    times = Times(unit=unit)
    for turn in range(rounds + AGAIN):
        if turn >= rounds and not times.verdict(stored).startswith("SLOWER"):
            break
        times.ours = min(times.ours, processor_time(ours))
        times.unit = min(times.unit, processor_time(reference))
        if turn < rounds:  # what the other side takes is known by then
            times.theirs = min(times.theirs, processor_time(theirs))
    return times


def page(rows: list[str], stored: Stored) -> str:
    machine = f"{processor()}, {os.cpu_count()} processors, Python {platform.python_version()}, numpy {np.__version__}"
    others = [kind for kind in stored if kind != processor()]
    head = ["work; compared with", "theirs s", "here s", "ratio", *(f"ratio on {kind}" for kind in others)]
    elsewhere = ["".join(f" {stored[kind][name]['ratio']:g} × |" for kind in others) for name in COMPARISONS]
    return "\n".join([
        "# Benchmarks", "",
        f"Processor seconds of one thread on the same texts, least of several runs ({machine}; {date.today()}).",
        "Scores of BLEU, chrF and TER are checked to be equal. `make bench-all` measures again and fails where a ratio",
        "fell by more than 15 % on the same kind of processor and our own time rose; `make bench-all ARGS=--write`",
        "writes this page.", "",
        f"| {' | '.join(head)} |", "|---" * len(head) + "|", *map(str.__add__, rows, elsewhere), "",
    ])  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="store the ratios and write docs/benchmarks.md")
    parser.add_argument("--only", nargs="+", choices=COMPARISONS, default=list(COMPARISONS))
    arguments = parser.parse_args()
    if arguments.write and arguments.only != list(COMPARISONS):
        parser.error("--write stores all comparisons")
    everywhere: Stored = json.loads(STORED.read_text("utf-8")) if STORED.is_file() else {}
    stored = everywhere.get(processor(), {})
    if not stored and not arguments.write:
        print(f"no ratio is stored for {processor()} (only for {'; '.join(everywhere)}): nothing is checked")
    rows, found, slower = [], {}, []
    unit = min(processor_time(reference) for _ in range(FIRST))
    for name in arguments.only:
        known = stored.get(name, {})
        times = measured(name, {} if arguments.write else known, unit, 2 * ROUNDS if arguments.write else ROUNDS)
        found[name], verdict, unit = times.found, times.verdict(known), times.unit
        slower += [name] * verdict.startswith("SLOWER")
        rows.append(f"| {COMPARISONS[name][0]} | {times.theirs:.3g} | {times.ours:.3g} | {found[name]['ratio']:g} × |")
        print(f"{rows[-1]} stored {known.get('ratio', '–')}; own time {found[name]['own']:g}, stored "
              f"{known.get('own', '–')}; {verdict}".rstrip("; "), flush=True)
    if arguments.write:
        everywhere[processor()] = {**stored, **found}
        STORED.write_text(json.dumps(everywhere, indent=1) + "\n", "utf-8")
        _, mark, rest = PAGE.read_text("utf-8").partition("\n## Neural metrics")  # written by hand
        PAGE.write_text(page(rows, everywhere) + mark + rest, "utf-8")
    checked = f"nothing is more than 15 % slower than stored for {processor()}" if stored else "nothing was checked"
    print(f"more than 15 % slower: {', '.join(slower)}" if slower else checked)
    return bool(slower) and not arguments.write


if __name__ == "__main__":
    sys.exit(main())
