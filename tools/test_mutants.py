"""`make test-mutants`: which share of small wrong changes to the code the tests notice (mutation testing, by mutmut).

mutmut changes one thing at a time in significance/, meta/agreement/, views.py, spec.py and engine.py and runs the
tests that reach it. A random sample with a fixed seed is tried, 400 unless ``--sample`` says otherwise; ``--all`` tries
every one (hours). A mutant is killed if a test fails or never ends. docs/mutants.md explains those that live.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from math import sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED, SAMPLE, WANTED = 14, 400, 0.85
FEW = "wholetext.scoring.significance.resample.*"  # to have all mutants written and the tests timed
NOTICED = {1: "killed", 3: "killed", 36: "timeout", 24: "timeout", -24: "timeout", 152: "timeout"}


def mutmut(*names: str) -> None:
    """Try these mutants with the tests that reach them."""
    beside = {"WHOLETEXT_DATA": ROOT.parent / "shared" / "data", "WHOLETEXT_GOLDEN": ROOT.parent / "shared" / "golden"}
    environment = {**{name: str(path) for name, path in beside.items() if path.is_dir()}, **os.environ}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), *sys.path])}
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", os.environ.get("WORKERS", "2"), *names]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def outcomes() -> dict[str, int | None]:
    """Every mutant, with what became of it; None: not tried."""
    found: dict[str, int | None] = {}
    for path in sorted((ROOT / "mutants" / "src").rglob("*.meta")):
        found.update(json.loads(path.read_text("utf-8"))["exit_code_by_key"])
    return found


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    z = 1.96
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def report(chosen: list[str], ended: dict[str, int | None]) -> float:
    """Print the share by module and the mutants that live; returns the share over all."""
    killed = Counter(name.rsplit(".", 1)[0] for name in chosen if ended[name] in NOTICED)
    tried = Counter(name.rsplit(".", 1)[0] for name in chosen)
    for module in sorted(tried):
        print(f"{module:32} {killed[module]:4} of {tried[module]:4} killed")
    for name in chosen:
        if ended[name] not in NOTICED:
            print(f"lives: {name}  (mutmut show {name})")
    share = killed.total() / len(chosen)
    low, high = wilson(share, len(chosen))
    slow = sum(NOTICED.get(ended[name] or 0) == "timeout" for name in chosen)
    print(f"killed: {killed.total()} of {len(chosen)} mutants tried, {share:.1%} "
          f"(95 % interval {low:.1%} to {high:.1%}); {slow} ran too long; there are {len(ended)} mutants")
    return share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    mutmut(FEW)
    names = sorted(outcomes())
    chosen = names if given.all else random.Random(SEED).sample(names, min(given.sample, len(names)))
    mutmut(*([] if given.all else chosen))
    return 0 if report(chosen, outcomes()) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
