"""Meta-evaluation beside the loops it replaces: the same numbers, timed in one process.

python benchmarks/meta_peer.py [--full] [--json FILE]

The reference implementation (mt-metrics-eval) is not on the package index, so the peer is ``meta_loops.py``: its
procedure written out with the same scipy calls, one draw, row and pair at a time. It is checked equal on the same
exchanges first. Where a full loop would take hours it runs on fewer draws of one pair of metrics, and its time is
multiplied by what was left out; the table says by how much. ``--full`` runs the 190 pairs of segment-level Pearson in
full (minutes).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # the loops have one thread too

import meta_loops as loops
import numpy as np

from wholetext.io.formats.evalset import EvalSet
from wholetext.meta.agreement.measures import Measure, calibrate, estimate
from wholetext.meta.agreement.permutation import compare, random_swaps
from wholetext.meta.metric_scores import gather
from wholetext.meta.participants import Selection, read_participants
from wholetext.meta.tasks import MetricTests, preset, run_tasks, tasks_for

SYSTEMS, SEGMENTS, METRICS, DRAWS = 15, 1000, 20, 1000
PAIRS = METRICS * (METRICS - 1) // 2


def scores(systems: int = SYSTEMS, segments: int = SEGMENTS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gold like MQM (penalties, many ties) and metrics of different quality, with the ties of equal outputs."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1)) * 0.3
    gold = -np.abs(np.round(rng.normal(size=(systems, segments)) * 3 + quality))
    gold[rng.random(gold.shape) < 0.4] = 0.0
    metrics = np.stack([gold * rng.uniform(0.02, 0.2) + rng.normal(size=gold.shape) + quality for _ in range(METRICS)])
    same = rng.random(segments) < 0.1  # segments where two systems wrote the same
    metrics[:, 1, same] = metrics[:, 0, same]
    return gold, metrics


@dataclass
class Line:
    what: str
    loop_seconds: float
    scaled: str
    seconds: float
    wanted: float

    @property
    def ratio(self) -> float:
        return self.loop_seconds / self.seconds


def timed(work: Callable[[], Any], repeats: int = 1) -> float:
    """Least processor time of a few runs, so that other work on the machine does not count."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def binomials(size: int, draws: int) -> Iterator[np.ndarray]:
    rng = np.random.RandomState(0)
    for _ in range(draws):
        yield rng.binomial(1, 0.5, size)


def check_equal(gold: np.ndarray, metrics: np.ndarray) -> None:
    """Same exchanges, same p-values; same calibration."""
    part, few = gold[:, :60], metrics[:2, :, :60]
    swaps = random_swaps(np.random.default_rng(0), (40, *part.shape))
    for statistic, plain in (("pearson", loops.pearson), ("kendall", loops.kendall)):
        for average in ("none", "item"):
            mine = compare(part, few, Measure(statistic, average), swaps=swaps).p[0, 1]  # type: ignore[arg-type]
            masks = [loops.rows(s.astype(float), average).ravel() for s in swaps]
            theirs = loops.perm_both(part, few[0], few[1], plain, average, masks)
            assert abs(mine - theirs) < 1e-12, (statistic, average, mine, theirs)
    thresholds, values = loops.calibrate(part, few[0], "item")
    best = int(np.argmax(np.array(values) >= max(values) - 1e-11))
    found = calibrate(part, few[0], "item")
    assert abs(found.value - max(values)) < 1e-12
    assert found.epsilon == thresholds[best]


def system_level(gold: np.ndarray, metrics: np.ndarray) -> list[Line]:
    x, y = gold.mean(axis=1, keepdims=True), metrics.mean(axis=2, keepdims=True)
    masks = lambda: binomials(SYSTEMS, DRAWS)  # noqa: E731
    loop = timed(lambda: loops.perm_both(x, y[0], y[1], loops.pearson, "none", masks()), 3)
    one = timed(lambda: compare(x, y[:2], Measure("pearson"), DRAWS), 20)
    every = timed(lambda: compare(x, y, Measure("pearson"), DRAWS), 5)
    return [Line("PERM-BOTH, system Pearson, one pair of metrics", loop, "measured in full", one, 300),
            Line(f"PERM-BOTH, system Pearson, {PAIRS} pairs", loop * PAIRS, f"one pair × {PAIRS}", every, 300)]


def one_pair(
    gold: np.ndarray, one: np.ndarray, two: np.ndarray, statistic: str, draws: int, average: str = "none"
) -> float:
    """The loops' p-value of one pair of metrics."""
    return loops.perm_both(gold, one, two, getattr(loops, statistic), average, binomials(gold.size, draws))


def segment_level(gold: np.ndarray, metrics: np.ndarray, full: bool) -> list[Line]:
    lines = []
    if full:
        pairs = [(i, j) for i in range(METRICS) for j in range(i + 1, METRICS)]
        loop = timed(lambda: [one_pair(gold, metrics[i], metrics[j], "pearson", DRAWS) for i, j in pairs])
        scaled = "measured in full"
    else:
        draws = 200
        loop = timed(lambda: one_pair(gold, metrics[0], metrics[1], "pearson", draws))
        # a run of d draws computes the observed difference too: d + 1 evaluations
        factor = PAIRS * (DRAWS + 1) / (draws + 1)
        loop, scaled = loop * factor, f"{draws} draws of one pair × {factor:,.0f}"
    mine = timed(lambda: compare(gold, metrics, Measure("pearson"), DRAWS), 2)
    lines.append(Line(f"segment Pearson (no grouping), {PAIRS} pairs", loop, scaled, mine, 500))
    draws = 4
    for statistic in ("pearson", "kendall"):
        loop = timed(lambda name=statistic: one_pair(gold, metrics[0], metrics[1], name, draws, "item"))
        mine = timed(lambda name=statistic: compare(gold, metrics, Measure(name, "item"), DRAWS))
        factor = PAIRS * (DRAWS + 1) / (draws + 1)
        lines.append(Line(f"segment {statistic.title()} by item, {PAIRS} pairs", loop * factor,
                          f"{draws} draws of one pair × {factor:,.0f}", mine, 500))
    lines.append(_pairs_test(gold, metrics))
    return lines


def _pairs_test(gold: np.ndarray, metrics: np.ndarray) -> Line:
    draws = 20
    rng = np.random.RandomState(0)
    measure = Measure("acc_eq", "item")
    epsilons = tuple(float(estimate(gold, m, measure).epsilon or 0.0) for m in metrics[:2])

    def masks() -> Iterator[list[np.ndarray]]:
        for _ in range(draws):
            yield [rng.binomial(1, 0.5, (SYSTEMS, SYSTEMS)) > 0 for _ in range(SEGMENTS)]

    loop = timed(lambda: loops.pairs_test(gold, metrics[0], metrics[1], epsilons, masks()))  # type: ignore[arg-type]
    factor = PAIRS * DRAWS / draws
    mine = timed(lambda: compare(gold, metrics, measure, DRAWS), 2)
    return Line(f"segment acc_eq by item (pairs test), {PAIRS} pairs", loop * factor,
                f"{draws} draws of one pair × {factor:,.0f}", mine, 500)


def calibration(gold: np.ndarray, metrics: np.ndarray) -> Line:
    loop = timed(lambda: loops.calibrate(gold, metrics[0], "item"), 2)
    mine = timed(lambda: calibrate(gold, metrics[0], "item"), 10)
    return Line("tie calibration by item, one metric", loop, "measured in full", mine, 30)


# ---------------------------------------------------------------- a whole table, from files


def write_evalset(root: Path) -> None:
    """Three language pairs of the size of WMT23, 20 stored metrics each, at segment and system level."""
    for lp, systems, segments in (("en-de", 12, 557), ("he-en", 13, 1910), ("zh-en", 15, 1976)):
        gold, metrics = scores(systems, segments, seed=segments)
        for part in ("documents", "human-scores", f"metric-scores/{lp}", f"system-outputs/{lp}"):
            (root / part).mkdir(parents=True, exist_ok=True)
        names = [f"sys{i:02}" for i in range(systems)]
        for name in names:
            (root / "system-outputs" / lp / f"{name}.txt").write_text("")
        (root / "documents" / f"{lp}.docs").write_text("".join(f"news\tdoc{i // 15}\n" for i in range(segments)))

        def write(path: Path, values: np.ndarray, names: list[str] = names) -> None:
            path.write_text("".join(f"{name}\t{v!r}\n" for name, row in zip(names, values.tolist()) for v in row))

        write(root / "human-scores" / f"{lp}.mqm.seg.score", gold)
        for i, metric in enumerate(metrics):
            base = root / "metric-scores" / lp
            write(base / f"metric{i:02}-src.seg.score", metric)
            write(base / f"metric{i:02}-src.sys.score", metric.mean(axis=1, keepdims=True))


@dataclass
class Whole:
    seconds: float  # processor time
    statistics: float  # of it
    wall: float
    tasks: int


def whole_table(tasks: str) -> Whole:
    """A table from files, with all significance tests."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "wmt23.made"
        write_evalset(root)
        start, wall = time.process_time(), time.perf_counter()
        evalsets = [EvalSet.open(root, lp) for lp in ("en-de", "he-en", "zh-en")]
        parts = [gather(read_participants(evalset, Selection()), []) for evalset in evalsets]
        read = time.process_time()
        chosen = preset(tasks)
        results, average = run_tasks([parts], tasks_for((), chosen.tasks), chosen.pooled, MetricTests(DRAWS))
        assert average is not None
        end = time.process_time()
        return Whole(end - start, end - read, time.perf_counter() - wall, len(results))


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--full", action="store_true", help="run the 190 pairs of segment Pearson in full")
    args.add_argument("--json", type=Path, help="write the figures here")
    given = args.parse_args()
    gold, metrics = scores()
    check_equal(gold, metrics)
    whole, soft = whole_table("wmt23"), whole_table("wmt24")
    lines = [*system_level(gold, metrics), calibration(gold, metrics)]
    lines += segment_level(gold, metrics, given.full)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{SYSTEMS} systems × {SEGMENTS} segments, {METRICS} metrics, {DRAWS} draws; processor seconds, one "
          f"thread (load {os.getloadavg()[0]:.1f})\n")
    for line in lines:
        mark = "ok" if line.ratio >= line.wanted else "BELOW"
        print(f"{line.what:<55} loop {line.loop_seconds:>11,.2f} s ({line.scaled}), here {line.seconds:>8.4f} s: "
              f"{line.ratio:>9,.0f} × (≥ {line.wanted:.0f}) {mark}")
    print(f"\ntable of {whole.tasks} tasks, {METRICS} metrics, 3 language pairs of WMT23's size, all pairs tested: "
          f"{whole.seconds:.1f} s ({whole.statistics:.1f} s of it statistics, the rest reading files; < 10 s) "
          f"{'ok' if whole.seconds < 10 else 'ABOVE'}; {whole.wall:.1f} s by the clock")
    print(f"the {soft.tasks} tasks of WMT24 (soft pairwise accuracy): {soft.seconds:.1f} s; "
          f"{soft.wall:.1f} s by the clock")
    print(f"peak memory of this process, loops and all: {peak:.0f} MB (≤ 1024) {'ok' if peak <= 1024 else 'ABOVE'}")
    if given.json:
        figures = {"lines": [{**asdict(line), "ratio": line.ratio} for line in lines], "wmt23": asdict(whole),
                   "wmt24": asdict(soft), "peak_mb": peak}
        given.json.write_text(json.dumps(figures, indent=1))
    good = all(line.ratio >= line.wanted for line in lines) and whole.seconds < 10 and peak <= 1024
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
