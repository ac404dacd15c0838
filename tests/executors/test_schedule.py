"""The scheduler: order, nothing lost or doubled whatever dies and whenever, bounded look-ahead, few idle workers."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cluster import Model, Simulated, efficiency, simulate
from wholetext.errors import WorkerError
from wholetext.executors.pool import Event, Task
from wholetext.executors.schedule import AHEAD, IN_FLIGHT, Scheduler
from wholetext.executors.worker import versions


class Erratic:
    """Workers that answer in any order and die at any moment; what they answer is the number of the task."""

    def __init__(self, size: int, seed: int, deaths: float) -> None:
        self.size, self.deaths, self.most = size, deaths, 0
        self._random = random.Random(seed)
        self._events: list[Event] = []
        self._sent: list[list[int]] = [[] for _ in range(size)]
        self._deaths: Counter[int] = Counter()  # over tasks, and of workers (negative) since their last answer

    def start(self, worker: int) -> None:
        self._sent[worker] = []
        self._events.append(Event(worker, "ready", value=versions()))

    def send(self, worker: int, task: int, payload: bytes) -> None:
        self._sent[worker].append(task)
        self.most = max(self.most, len(self._sent[worker]))

    def receive(self) -> Event:
        busy = [worker for worker, tasks in enumerate(self._sent) if tasks]
        if self._events and (not busy or self._random.random() < 0.5):
            return self._events.pop(self._random.randrange(len(self._events)))
        worker = self._random.choice(busy)
        running = self._sent[worker][0]
        if self._random.random() < self.deaths and self._deaths[running] < 2 and self._deaths[-1 - worker] < 2:
            self._deaths.update([running, -1 - worker])
            return Event(worker, "died", reason="erratic")
        self._deaths[-1 - worker] = 0
        return Event(worker, "answer", (number := self._sent[worker].pop(0)), number)

    def close(self) -> None:
        self._events.clear()


@given(st.integers(1, 6), st.lists(st.booleans(), max_size=60), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.4]))
def test_every_task_is_answered_once_and_in_order(workers: int, work: list[bool], seed: int, deaths: float) -> None:
    pool = Erratic(workers, seed, deaths)
    scheduler = Scheduler(lambda: pool)
    begun = 0

    def tasks() -> object:
        nonlocal begun
        for some in work:
            begun += 1
            yield Task(max, 0, 0) if some else None

    seen = 0
    for place, value in enumerate(scheduler.run(tasks()), 1):
        assert value == (place if work[place - 1] else None)
        assert begun - seen <= AHEAD * workers + 1
        seen = place
    assert seen == len(work) and pool.most <= IN_FLIGHT
    assert list(scheduler.run([Task(max, 0, 0)] * 3)) == [seen + 1, seen + 2, seen + 3]  # the workers are still good


def test_a_task_that_kills_every_worker_is_an_error() -> None:
    class Deadly(Erratic):
        def receive(self) -> Event:
            return self._events.pop() if self._events else Event(0, "died", reason="it was too much")

    for sent in (True, False):
        scheduler = Scheduler(lambda: Deadly(1, 0, 0.0))
        with pytest.raises(WorkerError, match=r"5 workers died over the same work.*it was too much"):
            list(scheduler.run([Task(max, 0, 0)] * (5 if sent else 1)))
        assert scheduler.workers == []


def test_simulated_workers_that_die_lose_little() -> None:
    pool = simulate(64, 2_000, Model(deaths=0.05))
    assert pool.died > 3 and efficiency(pool) > 0.75  # a twentieth of the workers dies each minute
    assert isinstance(pool, Simulated) and pool.lost < 0.12 * pool.busy


@pytest.mark.slow
@pytest.mark.parametrize("workers, least", [(64, 0.90), (256, 0.75)])
def test_a_task_of_wmt_keeps_many_workers_busy(workers: int, least: float) -> None:
    pool = simulate(workers, 9_300, Model())  # which checks that nothing is lost or doubled
    assert pool.died > 100 and efficiency(pool) >= least
