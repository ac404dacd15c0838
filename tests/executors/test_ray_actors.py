"""Ray actors as workers: run folders byte-equal to local ones, whatever dies; clear errors; nothing stays behind."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

import wholetext as wt
from tests.executors import worker_tasks as tasks
from wholetext.demo import load
from wholetext.executors.executor import Executor
from wholetext.executors.pool import Task
from wholetext.executors.ray_actors import RayActors
from wholetext.scoring.blocks.stream import Stream

MODELS = Path(__file__).parents[1] / "oracle" / "neural" / "models"
METRICS = ["bleu", "chrf", "blonde", "context:bertscore@minilm", f"comet@{MODELS / 'comet-reg-mix'}",
           f"prism@{MODELS / 'tiny-mbart50'}", "wt-mini"]


def results(folder: Path, metrics: list[str], executor: Executor | str = "local", documents: int = 12) -> bytes:
    corpus, outputs = load("de-en")
    options = wt.Options(cache=False, block=32, flags=False, executor=executor)
    wt.write_run(wt.evaluate(replace(corpus, docs=corpus.docs[:documents]), outputs, metrics, options), folder)
    return (folder / "results.jsonl").read_bytes()


def actors() -> list[psutil.Process]:
    """The actors of clusters on this machine that this process, or a program it started, has started."""
    found = []
    for one in psutil.Process().children(recursive=True):
        try:
            if one.name().startswith("ray::Worker") or (one.cmdline() or [""])[0].startswith("ray::Worker"):
                found.append(one)
        except psutil.Error:
            continue
    return found


def left() -> list[psutil.Process]:
    """Actors that do not end."""
    alive: list[psutil.Process] = psutil.wait_procs(actors(), timeout=60)[1]
    return alive


def warm_up(executor: Executor) -> None:
    """Small tasks until every worker has answered one: where the machine is busy, one may be ready long before."""
    end = time.monotonic() + 300
    while not (executor.done and all(executor.done)) and time.monotonic() < end:
        assert list(executor.run([Task(tasks.add, 1, 2)] * 4)) == [3] * 4
    assert all(executor.done)


def test_an_address_without_a_cluster_is_an_error_at_once() -> None:
    pytest.importorskip("ray")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"127.0.0.1:{port}", "127.0.0.1"):
        with pytest.raises(wt.WorkerError, match=rf"{address}: there is no Ray cluster.*\n.*ray start --head"):
            RayActors(f"ray://{address}", 2, None)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(wt.MissingExtra, match=r"wholetext\[ray\]"):
        RayActors("ray", 2, None)


def test_why_an_actor_died_is_said() -> None:
    class RayError(Exception):
        pass

    class OutOfMemoryError(RayError):
        pass

    pool = object.__new__(RayActors)  # a cluster whose only answers are errors
    pool._ray = SimpleNamespace(exceptions=SimpleNamespace(RayError=RayError, OutOfMemoryError=OutOfMemoryError))
    assert "memory ran out on its machine" in pool._reason(OutOfMemoryError("killed"))
    assert "memory ran out on its machine" in pool._reason(RayError("the node was running low on memory"))
    assert "its process ended" in pool._reason(RayError("\n  the actor is dead\n"))
    with pytest.raises(wt.WorkerError, match=r"ModuleNotFoundError: No module named 'wholetext'\).*\n.*every machine"):
        pool._reason(RayError("Traceback …\nModuleNotFoundError: No module named 'wholetext'"))


@pytest.mark.slow
def test_two_workers_give_the_bytes_of_local_and_leave_nothing(tmp_path: Path) -> None:
    """The quick one, which continuous integration runs: one cluster of this machine."""
    pytest.importorskip("ray")
    some = ["bleu", "chrf", f"comet@{MODELS / 'comet-reg-mix'}"]
    with Executor("ray", workers=2) as executor:
        warm_up(executor)
        before = sum(executor.done)
        assert results(tmp_path / "there", some, executor, 3) == results(tmp_path / "here", some, documents=3)
        assert len(executor.done) == 2 and sum(executor.done) >= before + 6 and len(actors()) == 2
        with pytest.raises(wt.MetricError, match="it cannot be scored"):
            list(executor.run([Task(tasks.fail, None, "ours")]))
        with pytest.raises(wt.WorkerError, match=r"5 workers died over the same work"):
            list(executor.run([Task(tasks.die_at, str(tmp_path / "mark"), 5)]))
        assert not left()
    assert not left()


@pytest.mark.slow
def test_gpus_are_those_that_the_cluster_has() -> None:
    ray = pytest.importorskip("ray")
    with Executor("ray", gpus=64) as executor, pytest.raises(wt.WorkerError, match=r"64 GPUs requested, but the Ray"):
        list(executor.run([Task(tasks.add, 1, 2)]))
    assert not ray.is_initialized()
    # simulated GPUs, in a cluster of its own even where another one is running
    ray.init(address="local", num_cpus=2, num_gpus=4, include_dashboard=False, logging_level="error")
    try:
        with Executor("ray", workers=2, gpus=4) as executor:
            found = list(executor.run(Task(tasks.where, None, None) for _ in range(4)))
            assert {one["CUDA_VISIBLE_DEVICES"] for one in found} <= {"0,1", "2,3"}
        assert ray.is_initialized()  # the cluster of others is left as it is
    finally:
        ray.shutdown()
    assert not left()


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Torch has two threads here, whatever the environment says; an actor that has one processor has one."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.usefixtures("two_threads")
def test_every_kind_of_metric_is_byte_equal_also_when_workers_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at random moments of the work on five blocks, not of the clock: a loaded machine is slow to start again,
    and one block that takes every kill would be an error, as it has to be."""
    pytest.importorskip("ray")
    chance, task, begun = random.Random(5), Stream._task, 0
    deadly: set[int] = set()

    def counted(stream: Stream, plan: Any) -> Task | None:
        nonlocal begun
        begun += 1
        found = task(stream, plan)
        if found is None or begun not in deadly:
            return found
        return replace(found, function=partial(tasks.die_once, found.function, str(tmp_path / f"killed{begun}"),
                                               chance.uniform(0, 1)))

    monkeypatch.setattr(Stream, "_task", counted)
    here = results(tmp_path / "here", METRICS)
    with Executor("ray", workers=2) as executor:
        assert results(tmp_path / "there", METRICS, executor) == here
        deadly.update(begun + number for number in chance.sample(range(1, begun // 2 + 1), 5))
        assert results(tmp_path / "again", METRICS, executor) == here
    assert len(list(tmp_path.glob("killed*"))) == 5
    assert not left()


@contextmanager
def nodes() -> Iterator[str]:
    """Two nodes of a cluster, both of this machine; its address."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ray = str(Path(sys.executable).with_name("ray"))
    address = f"127.0.0.1:{port}"
    common = ["--block", "--num-cpus=1", "--disable-usage-stats"]
    starts = (["--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--include-dashboard=false"],
              [f"--address={address}", "--node-ip-address=127.0.0.2"])
    running: list[subprocess.Popen[bytes]] = []
    try:
        for how in starts:
            running.append(subprocess.Popen([ray, "start", *how, *common], stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL))
            for _ in range(240):
                with closing(socket.socket()) as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.25)
        yield address
    finally:
        for one in reversed(running):
            for child in psutil.Process(one.pid).children(recursive=True):
                child.kill()
            one.kill()
            one.wait()


@pytest.mark.slow
def test_a_cluster_of_two_nodes(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    some = ["chrf", f"comet@{MODELS / 'comet-reg-mix'}"]
    here = results(tmp_path / "here", some)
    with nodes() as address, Executor(f"ray://{address}", workers=2) as executor:
        ray.init(address=address, log_to_driver=False, logging_level="error")
        end = time.monotonic() + 300
        while len([one for one in ray.nodes() if one["Alive"]]) < 2 and time.monotonic() < end:
            time.sleep(0.5)
        assert len([one for one in ray.nodes() if one["Alive"]]) == 2
        ray.shutdown()
        warm_up(executor)  # each worker needs a processor, and each node has one: they are on both
        assert results(tmp_path / "there", some, executor) == here


@pytest.mark.slow
def test_ctrl_c_leaves_no_actors_behind() -> None:
    pytest.importorskip("ray")
    program = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # it may be ignored here
               "import worker_tasks as tasks\nfrom wholetext.executors.executor import Executor\n"
               "from wholetext.executors.pool import Task\n"
               "work = (Task(tasks.slow_add, (0.3, 0), i) for i in range(999))\n"
               "for one in Executor('ray', workers=2).run(work):\n"
               "    print(one, flush=True)\n")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    driver = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": path})
    assert driver.stdout is not None and driver.stdout.readline() == b"0\n"
    started = psutil.Process(driver.pid).children(recursive=True)
    assert any(one.name().startswith("ray::") for one in started)
    driver.send_signal(signal.SIGINT)
    driver.communicate(timeout=300)
    psutil.wait_procs(started, timeout=60)
    assert not [one for one in started if one.is_running() and one.name().startswith("ray::")]
