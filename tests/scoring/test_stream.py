"""Blocks on workers: the very numbers, notes and cache of a run in this process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

import wholetext as wt
from wholetext.demo import load
from wholetext.executors.executor import Executor
from wholetext.types import Corpus, Document, Output

PLAIN = ["bleu", "chrf", "rouge", "slide(size=3):chrf"]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor("processes", workers=2) as one:
        yield one


def folder(path: Path, metrics: list[str], options: wt.Options, documents: int = 2) -> dict[str, bytes]:
    """The files of a run, but for arrays, whose archives have a time in them."""
    corpus, outputs = load("de-en")
    wt.write_run(wt.evaluate(replace(corpus, docs=corpus.docs[:documents]), outputs, metrics, options), path)
    head = json.loads((path / "run.json").read_bytes())
    plain = {one.name: one.read_bytes() for one in path.iterdir() if one.suffix in (".json", ".jsonl")}
    # what is loaded in this process depends on other tests, and the sum is that of all files
    return plain | {"run.json": repr({key: head[key] for key in head if key not in ("environment", "sha256")}).encode()}


def same(tmp_path: Path, metrics: list[str], executor: Executor, **more: Any) -> None:
    here = folder(tmp_path / "here", metrics, wt.Options(cache=tmp_path / "here.sqlite", block=40, **more))
    there = folder(tmp_path / "there", metrics,
                   wt.Options(cache=tmp_path / "there.sqlite", block=40, executor=executor, **more))
    assert here == there
    before = sum(executor.done)
    again = folder(tmp_path / "again", metrics,
                   wt.Options(cache=tmp_path / "there.sqlite", block=40, executor=executor, flags=False))
    assert again["results.jsonl"] == here["results.jsonl"] and sum(executor.done) == before  # all from the cache


@pytest.mark.long
def test_run_folders_are_byte_equal_and_the_cache_is_the_driver_s(tmp_path: Path, executor: Executor) -> None:
    same(tmp_path, PLAIN, executor)


def test_requests_under_way_are_not_computed_again(tmp_path: Path, executor: Executor) -> None:
    docs = tuple(Document(f"d{i}", ("eins", f"{i}"), {"ref": ("one", f"{i % 3}")}) for i in range(40))
    corpus = Corpus("c", ("de", "en"), docs)
    outputs = (Output("s", {doc.id: ("one", "two") for doc in docs}),)
    found = [wt.evaluate(corpus, outputs, ["chrf"], wt.Options(cache=tmp_path / name, block=2, executor=where))
             for name, where in (("a", "local"), ("b", executor))]
    assert found[0].counts == found[1].counts and found[0].counts["computed"] == 4
    first, second = (one.scores["chrf"]["s"].stats.tobytes() for one in found)
    assert first == second


def test_python_options_open_and_close_workers_by_name() -> None:
    corpus, outputs = load("de-en")
    options = wt.Options(cache=False)
    before = psutil.Process().children()
    here = wt.score(corpus, outputs, "chrf", options)
    there = wt.score(corpus, outputs, "chrf", replace(options, executor="processes", workers=1))
    assert {name: one.score for name, one in here.items()} == {name: one.score for name, one in there.items()}
    assert psutil.Process().children() == before


@pytest.mark.long
def test_alignment_on_workers_is_the_same(executor: Executor) -> None:
    corpus, outputs = load("de-en")
    broken = [Output(one.system, {name: (" ".join(some),) for name, some in one.docs.items()}) for one in outputs]
    assert wt.align(corpus, broken) == wt.align(corpus, broken, executor=executor)


def test_gpus_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    corpus, outputs = load("de-en")
    options = wt.Options(cache=False, executor="processes", gpus=4)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(wt.ModelError, match=r"4 GPUs requested, but torch finds none.*\n.*--workers"):
        wt.score(corpus, outputs, "chrf", options)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(wt.ModelError, match=r"torch finds 2.*\n.*--gpus 2"):
        wt.score(corpus, outputs, "chrf", options)
    assert wt.score(corpus, outputs, "chrf", replace(options, gpus=2))  # two simulated devices: chrf needs none


@pytest.mark.slow
def test_workers_that_are_killed_at_random_change_nothing(tmp_path: Path) -> None:
    import random
    import threading

    here = folder(tmp_path / "here", [*PLAIN, "ter"], wt.Options(cache=False, block=10), 12)
    chance = random.Random(7)
    with Executor("processes", workers=2) as executor:
        stop = threading.Event()

        def kill() -> None:
            for _ in range(5):
                if stop.wait(chance.uniform(0.2, 1.0)):
                    return
                found = [one for one in psutil.Process().children() if "wholetext.executors.worker" in one.cmdline()]
                if found:
                    os.kill(chance.choice(found).pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        there = folder(tmp_path / "there", [*PLAIN, "ter"], wt.Options(cache=False, block=10, executor=executor), 12)
        stop.set()
        killer.join()
    assert here == there
