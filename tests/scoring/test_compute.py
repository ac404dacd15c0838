"""Chunks on workers: the very numbers, notes and cache of a run in this process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.executor import Executor
from wholetext.files.cache import Cache
from wholetext.registry import scorer
from wholetext.scoring.compute import Chunk, Computer
from wholetext.scoring.engine import Engine, Measured
from wholetext.types import Excerpt, FloatArray, Metric, Output, Request, Runtime, mean_stats

PLAIN = ["bleu", "chrf", "rouge", "slide(size=3):chrf"]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor("processes", workers=2) as workers:
        yield workers


def folder(path: Path, options: wt.Options) -> dict[str, bytes]:
    """The files of a run, but for arrays, whose archives have a time in them."""
    corpus, outputs = load("de-en")
    wt.score(wt.Loaded(replace(corpus, docs=corpus.docs[:2]), outputs), PLAIN, options=options, out=path)
    head = json.loads((path / "run.json").read_bytes())
    plain = {one.name: one.read_bytes() for one in path.iterdir() if one.suffix in (".json", ".jsonl")}
    # what is loaded in this process depends on other tests, and the sum is that of all files
    return plain | {"run.json": repr({key: head[key] for key in head if key not in ("environment", "sha256")}).encode()}


@pytest.mark.long
def test_run_folders_are_byte_equal_and_the_cache_is_the_driver_s(tmp_path: Path, executor: Executor) -> None:
    cache = tmp_path / "there.sqlite"
    here = folder(tmp_path / "here", wt.Options(cache=tmp_path / "here.sqlite", block=40))
    assert here == folder(tmp_path / "there", wt.Options(cache=cache, block=40, executor=executor))
    unused = Executor("processes", workers=1)
    unused.submit = lambda *_: pytest.fail("something was computed")  # type: ignore[method-assign]
    again = folder(tmp_path / "again", wt.Options(cache=cache, block=40, executor=unused, flags=False))
    assert again["results.jsonl"] == here["results.jsonl"]


@pytest.mark.long
def test_alignment_on_workers_is_the_same(executor: Executor) -> None:
    corpus, outputs = load("de-en")
    broken = [Output(one.system, {name: (" ".join(some),) for name, some in one.docs.items()}) for one in outputs]
    assert wt.alignment.align(corpus, broken) == wt.alignment.align(corpus, broken, executor=executor)


def test_gpus_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    corpus, outputs = load("de-en")
    options = wt.Options(cache=False, executor="processes", gpus=4)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(wt.errors.ModelError, match=r"4 GPUs requested, but torch finds none.*\n.*--workers"):
        wt.score(wt.Loaded(corpus, outputs), "chrf", options=options)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(wt.errors.ModelError, match=r"torch finds 2.*\n.*--gpus 2"):
        wt.score(wt.Loaded(corpus, outputs), "chrf", options=options)
    assert wt.score(wt.Loaded(corpus, outputs), "chrf", options=replace(options, gpus=2))[
        "chrf"
    ]  # two simulated devices: chrf needs none


@dataclass(frozen=True)
class Fragile(Metric):
    """The length of a text; a file decides whether the word "fatal" kills the process."""

    name = "fragile"
    fatal: str = ""

    def measure(self, requests: Sequence[Request], run: Runtime) -> FloatArray:
        if Path(self.fatal).exists() and any("fatal" in request.hyp[0].text for request in requests):
            os.kill(os.getpid(), signal.SIGKILL)
        return mean_stats([float(len(request.hyp[0].text)) for request in requests])


def test_a_run_whose_worker_died_is_resumed_from_the_cache(tmp_path: Path) -> None:
    fatal = tmp_path / "fatal"
    requests = [Request((Excerpt((f"{number}{' fatal' * (number == 7)}",), (0, 1)),)) for number in range(10)]

    def computed() -> tuple[int, list[Measured]]:
        cache, measured = Cache(tmp_path / "c.sqlite"), list[Measured]()
        engine = Engine(cache=cache)
        with closing(cache), Executor("processes", workers=1) as executor:
            chunks = (Chunk(Fragile(str(fatal)), [request], "", measured.append) for request in requests)
            Computer(engine, executor).run(chunks)
        return engine.counts["computed"], measured

    fatal.write_text("now")
    with pytest.raises(wt.errors.WorkerError, match="what is finished is kept"):
        computed()
    fatal.unlink()
    count, measured = computed()
    assert count == 3
    assert [chunk.stats[0, 0] for chunk in measured] == [1.0] * 7 + [7.0] + [1.0] * 2


def test_other_versions_on_a_worker_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    computer = Computer(Engine())
    chunk = Chunk(scorer("chrf").metric, [], "", lambda _: None)
    for environment in ({"numpy": np.__version__, "python": "3.99", "device": "cuda"}, {"numpy": "0.1"},
                        {"wholetext": "0.1"}):  # fmt: skip
        pending = computer._begin(chunk)
        monkeypatch.setattr(pending.computed, "result", lambda answer=environment: ([], answer))
        if "0.1" not in environment.values():
            computer._finish(pending)
            continue
        with pytest.raises(wt.errors.WorkerError, match=r"a worker has \w+ 0\.1, this process .*\n.*every machine"):
            computer._finish(pending)
