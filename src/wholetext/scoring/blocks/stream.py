"""Blocks of requests, measured in order: the driver plans, deduplicates and caches; an executor computes.

What is computed for a block, and so the batches that are made of it, does not depend on the executor: statistics are
the same to the last bit wherever they come from.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np

from wholetext.backends.device import pick_device
from wholetext.executors.executor import Executor
from wholetext.executors.pool import Task
from wholetext.scoring.engine import Engine, Measured, decoded, request_key
from wholetext.types import IntArray, Metric, Request

_MAX_OUTPUTS = 200_000  # maximum number of backend outputs in a worker's memory


@dataclass(frozen=True)
class Block:
    """Requests that are measured together."""

    metric: Metric
    requests: Sequence[Request]
    salt: str
    survey: Any = None
    then: Callable[[Measured], None] = lambda _: None
    so_far: Callable[[float], None] | None = None  # called with the share done, if computed in this process


@dataclass(frozen=True, eq=False)
class Job:
    """What the blocks of a metric have in common: sent to each worker once."""

    metric: Metric
    langs: tuple[str, str]
    device: str
    dtype: str
    batch_tokens: int
    survey: Any
    cached: bool  # whether the driver has a cache for outputs of backends


@dataclass(frozen=True)
class Answer:
    """Rows as the cache stores them, and further facts for the driver."""

    rows: list[bytes]
    outputs: Mapping[str, Mapping[bytes, bytes]] = field(default_factory=dict)  # of backends, by kind
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Plan:
    block: Block
    job: Job
    distinct: list[Request]
    where: IntArray  # (requests,) which of them each is
    missing: list[int]  # which are neither in the cache nor under way for an earlier block
    keys: list[bytes]  # none without a cache
    stored: dict[bytes, bytes]
    here: list[Answer] = field(default_factory=list)  # computed in this process

    @property
    def asked(self) -> list[Request]:
        return [self.distinct[i] for i in self.missing]


@dataclass
class Stream:
    """Measures blocks on an executor."""

    engine: Engine
    executor: Executor = field(default_factory=Executor)
    environment: dict[str, set[str]] = field(default_factory=dict)
    _pending: dict[bytes, int] = field(default_factory=dict)  # key → unfinished blocks that need its row
    _fresh: dict[bytes, bytes] = field(default_factory=dict)  # rows that later blocks wait for

    def run(self, blocks: Iterable[Block]) -> None:
        """Measure blocks in order and pass each its result. Blocks are read when there is room for them."""
        plans: deque[_Plan] = deque()
        with closing(self.executor.run(map(self._task, self._planned(blocks, plans)))) as answers:
            for answer in answers:
                plan = plans.popleft()
                plan.block.then(self._finish(plan, answer))

    def computed_by(self) -> dict[str, str]:
        """What computed the scores: packages and devices here and on the workers."""
        found = environment(self.engine.device, here=self.executor.local)
        return found | {name: ", ".join(sorted(values)) for name, values in self.environment.items()}

    def _planned(self, blocks: Iterable[Block], plans: deque[_Plan]) -> Iterator[_Plan]:
        job, engine = None, self.engine
        for block in blocks:
            cache = engine.cache if block.metric.cacheable else None
            number: dict[Request, int] = {}
            where = np.array([number.setdefault(request, len(number)) for request in block.requests], dtype=np.int64)
            distinct = list(number)
            keys = [request_key(block.salt, request) for request in distinct] if cache else []
            stored = cache.get(keys) if cache else {}
            missing = [i for i in range(len(distinct))
                       if not keys or (keys[i] not in stored and keys[i] not in self._pending)]
            for key in keys:
                if key not in stored:
                    self._pending[key] = self._pending.get(key, 0) + 1
            engine.counts.update(requests=len(block.requests), distinct=len(distinct),
                                 cached=len(distinct) - len(missing), computed=len(missing))
            if job is None or job.metric is not block.metric or job.survey is not block.survey:
                job = Job(block.metric, engine.langs, engine.device, engine.dtype, engine.batch_tokens, block.survey,
                          cached=engine.cache is not None)
            plans.append(_Plan(block, job, distinct, where, missing, keys, stored))
            yield plans[-1]

    def _task(self, plan: _Plan) -> Task | None:
        if not plan.missing:
            return None
        if plan.block.metric.remote and not self.executor.local:  # a service computes: calls and their budget are here
            plan.here.append(self._here(plan.job, plan.asked, plan.block.so_far))
            return None
        if self.executor.local:
            return Task(partial(self._here, so_far=plan.block.so_far), plan.job, plan.asked)
        return Task(compute, plan.job, plan.asked)

    def _here(self, job: Job, requests: Sequence[Request], so_far: Callable[[float], None] | None = None) -> Answer:
        self.engine.on_batch = so_far
        try:
            return Answer(_rows(self.engine, job, requests))
        finally:
            self.engine.on_batch = None

    def _finish(self, plan: _Plan, answer: Answer | None) -> Measured:
        """All rows of a block. Fresh ones go to the cache, and to later blocks that wait for them."""
        answer = plan.here[0] if plan.here else answer
        rows = [b""] * len(plan.distinct)
        if answer:
            for i, row in zip(plan.missing, answer.rows):
                rows[i] = row
            self._receive(answer)
            if plan.keys and self.engine.cache:
                items = ((plan.keys[i], rows[i]) for i in plan.missing)
                self.engine.cache.put(f"rows:{plan.block.metric.name}", items)
        for i, key in enumerate(plan.keys):
            if key in plan.stored:
                rows[i] = plan.stored[key]
                continue
            rows[i] = rows[i] or self._fresh.get(key, b"")
            self._pending[key] -= 1
            if self._pending[key]:
                self._fresh[key] = rows[i]
            else:
                del self._pending[key]
                self._fresh.pop(key, None)
        return decoded(rows).of(plan.where)

    def _receive(self, answer: Answer) -> None:
        for name, value in answer.environment.items():
            self.environment.setdefault(name, set()).add(value)
        for kind, items in answer.outputs.items():
            if self.engine.cache:
                self.engine.cache.put(kind, items.items())


# ---------------------------------------------------------------- on a worker


@dataclass
class Outputs:
    """Backend outputs in a worker's memory, and those not yet sent to the driver."""

    known: dict[bytes, bytes] = field(default_factory=dict)
    fresh: dict[str, dict[bytes, bytes]] = field(default_factory=dict)

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self.known[key] for key in keys if key in self.known}

    def put(self, kind: str, items: Iterable[tuple[bytes, bytes]]) -> None:
        new = dict(items)
        self.fresh.setdefault(kind, {}).update(new)
        if len(self.known) < _MAX_OUTPUTS:
            self.known.update(new)


_OUTPUTS = Outputs()


def compute(job: Job, requests: Sequence[Request]) -> Answer:
    """The rows of a block, on a worker, where the driver's cache is out of reach."""
    engine = Engine(job.langs, job.device, job.dtype, job.batch_tokens, _OUTPUTS)
    _OUTPUTS.fresh = {}
    rows = _rows(engine, job, requests)
    return Answer(rows, _OUTPUTS.fresh if job.cached else {}, environment(job.device))


def _rows(engine: Engine, job: Job, requests: Sequence[Request]) -> list[bytes]:
    engine.survey = job.survey
    try:
        return list(engine.rows(job.metric, requests))
    finally:
        engine.survey = None


def environment(device: str, here: bool = True) -> dict[str, str]:
    """What computes in this process: versions of the packages that do and, where models run, the device."""
    used = [name for name in ("numpy", "sacrebleu", "torch", "transformers", "spacy") if name in sys.modules]
    found = {"python": python_version()} | {name: _version(name) for name in used}
    if "torch" in used and here:  # not loaded when all scores are cached
        found["device"] = pick_device("auto") if device == "auto" else device
    return found


@lru_cache
def _version(package: str) -> str:
    return version(package)
