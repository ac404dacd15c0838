"""The scheduler itself on up to 256 simulated workers: efficiency, and that nothing is lost or doubled when they die.

Workers do not compute: they take as long as measured models do, on a clock of their own that jumps from event to
event. The scheduler runs for real, and its real time passes on that clock too; what else the driver does for a block
takes as long as `--driver` measures it here. So these are simulations of a cluster, with the product's own scheduling.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import random
import struct
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from wholetext.demo import load
from wholetext.executors.pool import Event, Task
from wholetext.executors.schedule import Scheduler
from wholetext.executors.worker import versions
from wholetext.files.cache import Cache
from wholetext.registry import scorer
from wholetext.scoring.blocks.parts import MetricRun
from wholetext.scoring.blocks.stream import Answer, Stream
from wholetext.scoring.bound import bind
from wholetext.scoring.engine import Engine
from wholetext.types import Corpus, Document, Output


@dataclass(frozen=True)
class Model:
    """How long things take, in seconds."""

    block: float = 193.0  # a block of 1,024 requests: Doc-COMET on two processors (docs/neural.md: 600 in 113 s)
    spread: float = 0.3  # its standard deviation, as a share (log-normal)
    start: float = 25.0  # a worker: interpreter, packages, weights
    latency: float = 0.005  # of a message
    deaths: float = 0.01  # share of workers that die in a minute
    driver: float = 0.045  # a block in the driver: cutting, keys, cache, pickling (measured by --driver)


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
            pool.now += model.driver  # meanwhile the workers go on
            yield Task(max, 0, number)

    found = list(scheduler.run(tasks()))
    if found != list(range(1, blocks + 1)):
        raise SystemExit("results were lost, doubled or out of order")
    return pool


def efficiency(pool: Simulated) -> float:
    """Seconds of finished work over seconds that all workers were there for."""
    return pool.busy / (pool.size * pool.now)


class Discarding:
    """An executor whose workers take no time: what is left is the driver."""

    local, remote = False, True

    def run(self, tasks: Iterator[Task | None]) -> Generator[Answer | None, None, None]:
        row = struct.pack("<III", 2, 0, 0) + bytes(16)
        for task in tasks:
            pickle.dumps(task and task.item, pickle.HIGHEST_PROTOCOL)
            yield task and pickle.loads(pickle.dumps(Answer([row] * len(task.item))))


def driver_seconds(spec: str = "context:chrf", times: int = 40) -> float:
    """Processor seconds of the driver for a block of 1,024 requests, with a cache."""
    corpus, outputs = load("de-en")

    def varied(texts: Mapping[str, tuple[str, ...]], at: int) -> dict[str, tuple[str, ...]]:
        return {name: tuple(f"{at} {text}" for text in some) for name, some in texts.items()}

    docs = [Document(f"{at} {doc.id}", tuple(f"{at} {text}" for text in doc.src or ()), varied(doc.refs, at))
            for at in range(times) for doc in corpus.docs]
    many = [Output(one.system, {f"{at} {name}": some for at in range(times)
                                for name, some in varied(one.docs, at).items()}) for one in outputs]
    with TemporaryDirectory() as folder:
        engine = Engine(corpus.langs, cache=Cache(Path(folder) / "cache.sqlite"))
        work = bind(scorer(spec), Corpus("many", corpus.langs, tuple(docs)), many, engine, None)
        begin = time.process_time()
        Stream(engine, Discarding()).run(MetricRun([work], None, None).blocks(1024, refuse=False))  # type: ignore[arg-type]
        return 1024 * (time.process_time() - begin) / engine.counts["distinct"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=9_300, help="blocks of the job (default: a WMT task)")
    parser.add_argument("--seconds", type=float, default=Model.block, help="seconds that a worker needs for a block")
    parser.add_argument("--deaths", type=float, default=Model.deaths, help="share of workers that die per minute")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4, 8, 16, 32, 64, 128, 256])
    parser.add_argument("--driver", action="store_true", help="only measure what the driver does for a block")
    given = parser.parse_args()
    if given.driver:
        print(f"{driver_seconds():.3f} processor seconds of the driver per block of 1,024 requests")
        return
    print(f"{'workers':>7} {'minutes':>8} {'efficiency':>10} {'deaths':>6} {'lost work':>9}")
    for workers in given.workers:
        pool = simulate(workers, given.blocks, Model(block=given.seconds, deaths=given.deaths))
        share = pool.lost / (pool.busy + pool.lost)
        print(f"{workers:>7} {pool.now / 60:>8.1f} {efficiency(pool):>10.1%} {pool.died:>6} {share:>9.2%}")


if __name__ == "__main__":
    main()
