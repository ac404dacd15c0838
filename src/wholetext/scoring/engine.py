"""The engine: distinct inputs once, longest first, in bounded batches; rows are cached."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from wholetext.errors import MetricError, ModelError
from wholetext.files.cache import Cache, content_key
from wholetext.types import (
    Backend,
    Excerpt,
    FloatArray,
    In,
    IntArray,
    Metric,
    Out,
    OutOfMemory,
    Request,
)

_HEADER = struct.Struct("<III")  # statistics, lost context tokens, lost focus tokens
_MAX_OUTPUTS = 200_000  # outputs kept in memory where there is no cache
# loaded models and taggers, shared by all engines of the process
_RESOURCES: dict[Hashable, Any] = {}

# optional attributes of metrics: what only judges, models or pairwise metrics declare
TRAITS: dict[str, Any] = {
    "block": 1024,  # requests that are worth measuring together
    "cacheable": True,  # False where a row depends on which other rows are measured with it
    "remote": False,  # a service does the work: device and precision have no effect
    "own_context": False,  # auto context of the hypothesis is its own also where there are references
    "reads_context": True,  # False: scores under a context view are those of the sentence view
    "rivals": False,  # refs of a request are the outputs of the other systems
    "by_domain": False,  # requests name the domain of their document
    "marks_errors": False,  # spans in details are errors; a row without any has none
    "worst": None,  # the score of what has no counterpart (nulls=worst); by the range
    "sums": (),  # outputs that add up over a document: they have no worst score
    "reduce_docs": None,  # (totals) → scores of documents, where they are no means
    "shows": None,  # (request, run) → (side, tokens with «the scored ones» marked)
    "seen": None,  # (request, run) → characters of a hypothesis that the model reads
    "planned": None,  # (requests, run) → the calls to a service
    "outcomes": None,  # (details) → facts for the signature that are known after measuring
}


def trait(metric: Metric, name: str) -> Any:
    """Return an optional attribute of a metric, or its default."""
    return getattr(metric, name, TRAITS[name])


@dataclass(frozen=True)
class Measured:
    """Statistics of a list of requests, what was cut from each, and facts that are not numbers."""

    stats: FloatArray  # (n, k)
    lost: IntArray  # (n, 2) context and focus tokens that did not fit the model
    details: list[dict[str, Any] | None]


@dataclass
class Engine:
    """Runs metrics over requests; metrics see it as a ``types.Runtime``."""

    langs: tuple[str, str] = ("", "")
    device: str = "auto"
    dtype: str = "fp32"
    batch_tokens: int = 1024
    cache: Cache | None = None
    survey: Any = None  # of the ``measure`` that runs now
    calls: Any = None  # how services are called, and the totals; made by the first judge
    on_batch: Callable[[float], None] | None = None  # called with the share of inputs done
    counts: Counter[str] = field(default_factory=Counter)  # requests, distinct, cached, computed
    warnings: list[str] = field(default_factory=list)  # about all requests measured now
    _details: dict[int, dict[str, Any]] = field(default_factory=dict)
    _memory: dict[bytes, bytes] = field(default_factory=dict)  # in place of a cache

    # -------------------------------------------------------- what metrics may use (types.Runtime)

    def map(self, backend: Backend[In, Out], inputs: Sequence[In]) -> list[Out]:
        """Backend outputs in input order; a batch holds at most ``batch_tokens`` padded tokens."""
        done = self.stored(backend, inputs)
        missing = [x for x in dict.fromkeys(inputs) if x not in done]

        def keep(outputs: dict[In, Out]) -> None:
            done.update(outputs)
            if hasattr(backend, "pack"):
                packed = {
                    content_key(backend.id, x): backend.pack(output)
                    for x, output in outputs.items()
                }
                if self.cache:
                    self.cache.put(f"outputs:{backend.id}", packed.items())
                elif len(self._memory) < _MAX_OUTPUTS:
                    self._memory.update(packed)
            if self.on_batch:
                self.on_batch(min(1.0, len(done) / len(inputs)))

        if hasattr(backend, "arrive"):
            arrived = dict(
                zip(missing, backend.arrive(missing, lambda x, output: keep({x: output})))
            )
            return [done[x] if x in done else arrived[x] for x in inputs]  # what failed is not kept
        sizes = [max(1, backend.fit(x).tokens) for x in missing]
        groups = [[missing[i] for i in batch] for batch in batches(sizes, self.batch_tokens)]
        run = partial(run_or_halve, backend)
        spread = getattr(backend, "spread", map)
        # queued batches are cancelled on an error
        with closing(outputs for outputs in spread(run, groups)) as batched:
            for outputs, chosen in zip(batched, groups):
                keep(dict(zip(chosen, outputs)))
        return [done[x] for x in inputs]

    def stored(self, backend: Backend[In, Out], inputs: Sequence[In]) -> dict[In, Out]:
        """Stored outputs of a backend: from the cache, or from memory without a cache."""
        if not hasattr(backend, "unpack"):
            return {}
        keys = {x: content_key(backend.id, x) for x in dict.fromkeys(inputs)}
        stored = self.cache.get(list(keys.values())) if self.cache else self._memory
        return {x: backend.unpack(stored[key]) for x, key in keys.items() if key in stored}

    def resource(self, key: Hashable, make: Callable[[], Out]) -> Out:
        """Return what ``make`` made at the first call with this key in this process."""
        if key not in _RESOURCES:
            _RESOURCES[key] = make()
        shared: Out = _RESOURCES[key]
        return shared

    def detail(self, index: int, **facts: Any) -> None:
        """Attach facts to the ``index``-th request that is measured now."""
        self._details.setdefault(index, {}).update(facts)

    def warn(self, message: str, index: int | None = None) -> None:
        """Add a note about one of the requests that are measured now, or about all."""
        notes = (
            self.warnings
            if index is None
            else self._details.setdefault(index, {}).setdefault("notes", [])
        )
        if message not in notes:
            notes.append(message)

    # -------------------------------------------------------- what the pipeline uses

    def rows(
        self,
        metric: Metric,
        requests: Sequence[Request],
        survey: Any = None,
        on_batch: Callable[[float], None] | None = None,
    ) -> list[bytes]:
        """Measure requests: statistics, losses and details of each, as the cache stores them."""
        self.survey, self.on_batch, self._details, self.warnings = survey, on_batch, {}, []
        fits = metric.fits(requests, self)
        stats = np.ascontiguousarray(metric.measure(requests, self), dtype=np.float64)  # (n, k)
        details, self._details, self.survey, self.on_batch = self._details, {}, None, None
        finite = np.isfinite(stats).all()
        if stats.ndim != 2 or len(stats) != len(requests) or not finite:
            raise MetricError(
                f"{metric.name} returned statistics that are not one row of finite numbers per request "
                f"(shape {stats.shape} for {len(requests)} requests)",
                next="use mean_stats for undefined scores: it ignores NaN",
            )
        rows, read = [], trait(metric, "seen")
        for i in range(len(requests)):
            lost = (fits[i].lost_context, fits[i].lost_focus) if fits else (0, 0)
            seen = read(requests[i], self) if read and lost[1] else None
            if seen is not None:  # what follows was cut; reports strike it through
                details.setdefault(i, {})["cut"] = {"hyp": seen}
            if self.warnings:
                details.setdefault(i, {})["said"] = self.warnings
            facts = json.dumps(details[i]).encode() if i in details else b""
            rows.append(_HEADER.pack(stats.shape[1], *lost) + stats[i].tobytes() + facts)
        return rows


def batches(sizes: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices in batches, longest first: padding stays small and the largest batch comes first."""
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    begin = 0
    while begin < len(order):
        many = max(1, budget // sizes[order[begin]])
        yield order[begin : begin + many]
        begin += many


def run_or_halve(backend: Backend[In, Out], batch: Sequence[In]) -> list[Out]:
    """Run a batch; where it does not fit in memory, its halves."""
    try:
        outputs = list(backend.run(batch))
    except OutOfMemory as fault:
        if len(batch) == 1:
            raise ModelError(
                f"{backend.id} ran out of memory on a single input",
                next="use a smaller model or shorter windows, or on a GPU --dtype bf16",
            ) from fault
        middle = len(batch) // 2
        return run_or_halve(backend, batch[:middle]) + run_or_halve(backend, batch[middle:])
    if len(outputs) != len(batch):
        raise MetricError(f"{backend.id} returned {len(outputs)} outputs for {len(batch)} inputs")
    return outputs


def request_key(salt: str, request: Request) -> bytes:
    """The cache key of a request under everything else that can change its statistics."""

    def flat(view: Excerpt | None) -> list[Any] | None:
        return None if view is None else [*view.parts, *view.focus, view.glue]

    domain = [request.domain] if request.domain else []
    texts = [flat(v) for v in request.hyp], flat(request.src), [flat(v) for v in request.refs]
    return content_key(salt, *texts, *domain)


def decoded(encoded: Sequence[bytes]) -> Measured:
    """Decode the rows of ``Engine.rows``."""
    heads = [_HEADER.unpack_from(row) for row in encoded]
    ends = [_HEADER.size + 8 * head[0] for head in heads]
    stats = b"".join(row[_HEADER.size : end] for row, end in zip(encoded, ends))
    return Measured(
        np.frombuffer(stats, np.float64).reshape(len(encoded), heads[0][0] if heads else 0),
        np.array([head[1:] for head in heads], dtype=np.int64).reshape(-1, 2),
        [json.loads(row[end:]) if len(row) > end else None for row, end in zip(encoded, ends)],
    )
