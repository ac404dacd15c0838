"""Damaged inputs of every kind, by seed: each must give a result or a WholetextError, in bounded time and memory.

python -m tests.fuzz.fuzz_run 0 100000          seeds 0 to 99999, in worker processes
python -m tests.fuzz.fuzz_run 4711 4712         one seed, with its traceback
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType

from tests.fuzz.fuzz_changes import damage
from tests.fuzz.fuzz_kinds import KINDS
from wholetext.errors import WholetextError

SECONDS = 10  # of processor time that one input may take; twelve times as much by the clock, for busy machines
BYTES = 1 << 30  # that a worker may use


class TooSlow(Exception):
    """An input took longer than it may."""


def _late(_: int, __: FrameType | None) -> None:
    raise TooSlow(f"more than {SECONDS} s of processor time, or {12 * SECONDS} s by the clock")


def attempt(seed: int) -> tuple[str, str, float]:
    """(kind, outcome, seconds): "read", "refused", or what failed and how."""
    rng = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    make, read = KINDS[kind]
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    done, start = "", time.process_time()
    try:
        make(folder, rng)
        done = damage(folder, rng)
        start = time.process_time()
        read(folder, rng)
        outcome = "read"
    except WholetextError as error:
        outcome = "refused" if str(error).strip() else "an error that says nothing"
    except Exception:
        outcome = f"seed {seed}: {kind}, {done}\n{traceback.format_exc()}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return kind, outcome, time.process_time() - start


def _piece(seeds: range) -> tuple[Counter[tuple[str, str]], list[str], float, int, int]:
    """Counts, failures, the slowest time and its seed, and the largest memory of this worker."""
    signal.signal(signal.SIGALRM, _late)
    signal.signal(signal.SIGPROF, _late)
    warnings.simplefilter("ignore")
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    slowest, which = 0.0, -1
    for seed in seeds:
        signal.alarm(12 * SECONDS)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        kind, outcome, seconds = attempt(seed)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        if outcome not in ("read", "refused"):
            failures.append(outcome)
            outcome = "failed"
        counts[kind, outcome] += 1
        if seconds > slowest:
            slowest, which = seconds, seed
    return counts, failures, slowest, which, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(first: int, last: int, workers: int) -> int:
    size = max(1, min(500, (last - first) // workers or 1))
    pieces = [range(at, min(last, at + size)) for at in range(first, last, size)]
    counts: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    slowest, memory = (0.0, -1), 0
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for found, failed, seconds, seed, used in pool.imap_unordered(_piece, pieces):
            counts.update(found)
            for failure in failed[:5]:
                print(failure, flush=True)
            failures += failed
            slowest, memory = max(slowest, (seconds, seed)), max(memory, used)
    print(f"{'kind':<12} {'read':>8} {'refused':>8} {'failed':>8}")
    for kind in KINDS:
        print(f"{kind:<12} " + " ".join(f"{counts[kind, outcome]:>8}" for outcome in ("read", "refused", "failed")))
    print(
        f"{sum(counts.values())} inputs, {len(failures)} failures; slowest {slowest[0]:.2f} s (seed {slowest[1]}); "
        f"peak memory of a worker {memory / 1e6:.0f} MB"
    )
    return int(bool(failures) or memory > BYTES)


if __name__ == "__main__":
    begin, end = (int(word) for word in sys.argv[1:3])
    sys.exit(main(begin, end, int(os.environ.get("WORKERS", "2"))))
