"""The engine: every distinct input once, order-free results, bounded batches, and a cache that survives anything."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from wholetext.demo import load
from wholetext.errors import MetricError, ModelError
from wholetext.files.cache import Cache, content_key
from wholetext.io import Loaded
from wholetext.scoring.compute import Chunk, Computer
from wholetext.scoring.engine import Engine, Measured, batches, request_key
from wholetext.scoring.evaluate import Options, score
from wholetext.types import (
    Excerpt,
    Fit,
    FloatArray,
    Metric,
    OutOfMemory,
    Request,
    Runtime,
    mean_stats,
)


def measure(engine: Engine, metric: Metric, requests: Sequence[Request], salt: str) -> Measured:
    found: list[Measured] = []
    Computer(engine).run([Chunk(metric, requests, salt, found.append)])
    return found[0]


# ---------------------------------------------------------------- batches


@dataclass
class Lengths:
    """A backend that gives each text's length and remembers its batches; it can be made to run out of memory."""

    id: str = "lengths"
    room: int = 10**9
    seen: list[list[str]] = field(default_factory=list)

    def fit(self, x: str) -> Fit:
        return Fit(len(x))

    def run(self, batch: Sequence[str]) -> list[int]:
        if len(batch) > self.room:
            raise OutOfMemory
        self.seen.append(list(batch))
        return [len(text) for text in batch]


@given(st.lists(st.text(max_size=30), max_size=60), st.integers(1, 100), st.integers(1, 4))
def test_map_keeps_order_runs_each_input_once_and_halves_when_memory_is_short(
    texts: list[str], budget: int, room: int
) -> None:
    backend = Lengths(room=room)
    assert Engine(batch_tokens=budget).map(backend, texts) == [len(text) for text in texts]
    ran = [text for batch in backend.seen for text in batch]
    assert sorted(ran) == sorted(set(texts))


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 200))
def test_batches_are_longest_first_and_within_budget(sizes: list[int], budget: int) -> None:
    made = list(batches(sizes, budget))
    assert sorted(i for batch in made for i in batch) == list(range(len(sizes)))
    ordered = [sizes[i] for batch in made for i in batch]
    assert ordered == sorted(ordered, reverse=True)
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(sizes[i] for i in batch) <= budget


def test_one_input_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ModelError, match="out of memory on a single input"):
        Engine().map(Lengths(room=0), ["a"])


# ---------------------------------------------------------------- metrics under the engine


@dataclass(frozen=True)
class Counting(Metric):
    """Counts the characters of the hypothesis, and how often it was asked."""

    name = "counting"
    summary = "characters"
    range = (0.0, 1e9)

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        for i, request in enumerate(requests):
            run.detail(i, text=request.hyp[0].text)
        return mean_stats([float(len(request.hyp[0].text)) for request in requests])


def request(text: str) -> Request:
    return Request((Excerpt((text,), (0, 1)),))


def test_equal_requests_are_measured_once_and_details_travel_through_the_cache(tmp_path: Path) -> None:
    requests = [request(text) for text in ("a", "bb", "a", "ccc", "bb")]
    first = Engine(cache=Cache(tmp_path / "c.sqlite"))
    one = measure(first, Counting(), requests, "salt")
    assert dict(first.counts) == {"requests": 5, "distinct": 3, "cached": 0, "computed": 3}
    again = Engine(cache=Cache(tmp_path / "c.sqlite"))
    two = measure(again, Counting(), requests, "salt")
    assert again.counts["computed"] == 0
    assert again.counts["cached"] == 3
    assert np.array_equal(one.stats, two.stats)
    assert one.details == two.details == [{"text": t} for t in ("a", "bb", "a", "ccc", "bb")]
    other = Engine(cache=Cache(tmp_path / "c.sqlite"))
    measure(other, Counting(), requests, "another salt")
    assert other.counts["computed"] == 3


@pytest.mark.parametrize("stats", [np.zeros((1, 2)), np.full((2, 2), np.nan), np.zeros(2)])
def test_a_metric_that_breaks_its_contract_is_named(stats: FloatArray) -> None:
    @dataclass(frozen=True)
    class Broken(Metric):
        name = "broken"

        def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
            return stats

    with pytest.raises(MetricError, match="broken returned statistics that are not one row of finite numbers"):
        measure(Engine(), Broken(), [request("a"), request("b")], "")


@given(st.lists(st.lists(st.text(max_size=5), min_size=1, max_size=3), min_size=2, max_size=2, unique_by=tuple))
def test_different_texts_have_different_keys(parts: list[list[str]]) -> None:
    keys = {request_key("s", Request((Excerpt(tuple(p), (0, len(p))),))) for p in parts}
    assert len(keys) == 2


# ---------------------------------------------------------------- the cache file


def _fill(path: str, begin: int) -> None:
    cache = Cache(Path(path))
    for i in range(begin, begin + 200):
        cache.put("k", [(content_key(i % 300), str(i % 300).encode())])
        assert cache.get([content_key(i % 300)])


def test_several_processes_share_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "c.sqlite")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_fill, args=(path, 70 * k)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    cache = Cache(Path(path))
    assert cache.info().counts == {"k": 300}
    assert cache.clear("k") == 300


def test_chunks_do_not_change_scores() -> None:
    spec, settings = "slide(size=2,step=1):bleu", (Options(cache=False, block=block) for block in (1, 10**6))
    many, whole = (score(Loaded(*load("de-en")), spec, options=options)[spec] for options in settings)
    for system, scores in whole.items():
        assert np.array_equal(many[system].stats, scores.stats)
        assert str(many[system].signature) == str(scores.signature)


@dataclass
class Kept(Lengths):
    """A backend whose outputs are kept, and which is asked for several batches at a time."""

    spread_over: list[int] = field(default_factory=list)

    def pack(self, output: int) -> bytes:
        return str(output).encode()

    def unpack(self, data: bytes) -> int:
        return int(data)

    def spread(self, work: Callable[[Any], Any], groups: Sequence[Any]) -> Iterator[Any]:
        self.spread_over.append(len(groups))
        return map(work, groups)


def test_outputs_are_kept_by_backend_and_input(tmp_path: Path) -> None:
    """In memory, and in the cache for other engines; another backend's outputs are its own."""
    for engine, other in ((Engine(), None), (Engine(cache=Cache(tmp_path / "c")), Engine(cache=Cache(tmp_path / "c")))):
        backend = Kept("one")
        assert engine.map(backend, ["a", "bb"]) == [1, 2]
        assert engine.map(backend, ["bb", "ccc"]) == [2, 3]
        assert sorted(text for batch in backend.seen for text in batch) == ["a", "bb", "ccc"]
        assert backend.spread_over == [1, 1]
        stranger = Kept("two")
        assert (other or engine).map(stranger, ["a"]) == [1] and stranger.seen == [["a"]]
        if other is not None:
            again = Kept("one")
            assert other.map(again, ["ccc", "a"]) == [3, 1] and again.seen == []
