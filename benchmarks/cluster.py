"""The scheduler itself on up to 256 simulated workers: efficiency, and that nothing is lost or doubled when they die.

Workers do not compute: they take as long as measured models do, on a clock of their own that jumps from event to
event. What the driver does (scheduling, pickling, and with --plan the planning of real blocks) runs for real, and its
real time passes on that clock too. So these are simulations of a cluster, and measurements of the driver.
"""

from __future__ import annotations

import argparse
import heapq
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from wholetext.executors.pool import Event, Task
from wholetext.executors.schedule import Scheduler
from wholetext.executors.worker import versions


@dataclass(frozen=True)
class Model:
    """How long things take, in seconds."""

    block: float = 2.0  # a block of 1,024 requests
    spread: float = 0.3  # its standard deviation, as a share (log-normal)
    start: float = 25.0  # a worker: interpreter, packages, weights
    latency: float = 0.005  # of a message
    deaths: float = 0.01  # share of workers that die in a minute


@dataclass
class Simulated:
    """A pool on a virtual clock; real time that the driver spends between two events passes on it as well."""

    size: int
    model: Model = field(default_factory=Model)
    seed: int = 0
    now: float = 0.0
    busy: float = 0.0  # seconds of finished tasks
    lost: float = 0.0  # seconds of tasks that died with their worker
    died: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._heap: list[tuple[float, int, int, str, int, float]] = []  # time, order, worker, what, task, seconds
        self._order = 0
        self._life = [0] * self.size  # which life of the worker this is
        self._free = [0.0] * self.size  # when it has worked through what it was sent
        self._sent: list[dict[int, tuple[float, float]]] = [{} for _ in range(self.size)]  # task → begin, seconds
        self._hello = {**versions(), "place": "simulated"}
        self._last = time.perf_counter()

    def start(self, worker: int) -> None:
        self._life[worker] += 1
        self._free[worker] = self.now + self.model.start * self._random.uniform(0.8, 1.2)
        self._sent[worker] = {}
        self._push(self._free[worker], worker, "ready")
        if self.model.deaths:
            self._push(self.now + self._random.expovariate(self.model.deaths / 60), worker, "died")

    def send(self, worker: int, task: int, payload: bytes) -> None:
        self._pass()
        seconds = self.model.block * self._random.lognormvariate(-self.model.spread**2 / 2, self.model.spread)
        begin = max(self._free[worker], self.now + self.model.latency)
        self._free[worker] = begin + seconds
        self._sent[worker][task] = (begin, seconds)
        self._push(begin + seconds + self.model.latency, worker, "answer", task, seconds)

    def receive(self) -> Event:
        self._pass()
        while True:
            at, _, worker, what, task, life = heapq.heappop(self._heap)
            if life != self._life[worker]:
                continue  # of a worker that is dead
            self.now = max(self.now, at)
            self._last = time.perf_counter()
            if what == "ready":
                return Event(worker, "ready", value=self._hello)
            if what == "died":
                self.died += 1
                self.lost += sum(max(0.0, min(at - begin, seconds)) for begin, seconds in self._sent[worker].values())
                self._life[worker] += 1
                return Event(worker, "died", reason="simulated")
            self.busy += self._sent[worker].pop(task)[1]
            return Event(worker, "answer", task, value=task)

    def close(self) -> None:
        self._heap.clear()

    def _pass(self) -> None:
        here = time.perf_counter()
        self.now, self._last = self.now + here - self._last, here

    def _push(self, at: float, worker: int, what: str, task: int = -1, _: float = 0.0) -> None:
        self._order += 1
        heapq.heappush(self._heap, (at, self._order, worker, what, task, self._life[worker]))


def simulate(workers: int, blocks: int, model: Model, seed: int = 0) -> Simulated:
    """Run tasks through the product's scheduler; an error if one is lost, doubled or out of order."""
    pool = Simulated(workers, model, seed)
    scheduler = Scheduler(lambda: pool)

    def tasks() -> Iterator[Task]:
        for number in range(blocks):
            yield Task(max, 0, number)

    found = list(scheduler.run(tasks()))
    if found != list(range(1, blocks + 1)):
        raise SystemExit("results were lost, doubled or out of order")
    return pool


def efficiency(pool: Simulated) -> float:
    """Seconds of finished work over seconds that all workers were there for."""
    return pool.busy / (pool.size * pool.now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=9_300, help="blocks of the job (default: a WMT task)")
    parser.add_argument("--seconds", type=float, default=Model.block, help="seconds that a worker needs for a block")
    parser.add_argument("--deaths", type=float, default=Model.deaths, help="share of workers that die per minute")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8, 16, 32, 64, 128, 256])
    given = parser.parse_args()
    print(f"{'workers':>7} {'minutes':>8} {'efficiency':>10} {'deaths':>6} {'lost work':>9}")
    for workers in given.workers:
        pool = simulate(workers, given.blocks, Model(block=given.seconds, deaths=given.deaths))
        share = pool.lost / (pool.busy + pool.lost)
        print(f"{workers:>7} {pool.now / 60:>8.1f} {efficiency(pool):>10.1%} {pool.died:>6} {share:>9.2%}")


if __name__ == "__main__":
    main()
