"""Ray actors as workers: the bytes of a local run, restarts by Ray, clear errors; nothing stays behind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

import wholetext as wt
from tests.scoring import worker_tasks as tasks
from wholetext.demo import load
from wholetext.executor import Executor

MODELS = Path(__file__).parents[1] / "oracle" / "neural" / "models"
RAY = "ray is not installed: make test-integration"
METRICS = ["bleu", "chrf", "blonde", "context:bertscore@minilm", f"comet@{MODELS / 'comet-reg-mix'}",
           f"prism@{MODELS / 'tiny-mbart50'}", "wt-mini"]


def results(folder: Path, metrics: list[str], executor: Executor | str = "local", documents: int = 3) -> bytes:
    corpus, outputs = load("de-en")
    options = wt.Options(cache=False, block=32, flags=False, executor=executor)
    wt.scoring.write_run(
        wt.score(wt.Loaded(replace(corpus, docs=corpus.docs[:documents]), outputs), metrics, options=options), folder
    )
    return (folder / "results.jsonl").read_bytes()


def actors() -> list[psutil.Process]:
    """The actors of clusters that this process has started."""
    names = {child: " ".join([child.name(), *child.cmdline()]) for child in psutil.Process().children(recursive=True)}
    return [child for child, name in names.items() if "ray::_Actor" in name]


def test_an_address_without_a_cluster_is_an_error_at_once() -> None:
    pytest.importorskip("ray", reason=RAY)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for address in (f"127.0.0.1:{port}", "127.0.0.1"):
        with pytest.raises(
            wt.errors.WorkerError, match=rf"{address}: the Ray cluster cannot be used.*\n.*ray start --head"
        ):
            Executor(f"ray://{address}", 2).submit(pow, 2, 2)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(wt.errors.MissingExtra, match=r"wholetext\[ray\]"):
        Executor("ray", 2).submit(pow, 2, 2)


@pytest.mark.slow
def test_two_workers_give_the_bytes_of_local_and_leave_nothing(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason=RAY)
    some = ["bleu", "chrf", f"comet@{MODELS / 'comet-reg-mix'}"]
    with Executor("ray", workers=2) as executor:
        assert results(tmp_path / "there", some, executor) == results(tmp_path / "here", some)
        assert len(actors()) == 2
        with pytest.raises(wt.errors.MetricError, match="it cannot be scored"):
            executor.submit(tasks.fail, "ours").result()
        assert executor.submit(tasks.die, tmp_path / "mark").result() == "alive"  # restarted by Ray
        with pytest.raises(wt.errors.WorkerError, match=r"a worker failed.*\n.*what is finished is kept"):
            executor.submit(tasks.die).result()
    assert not psutil.wait_procs(actors(), timeout=60)[1]


@pytest.mark.slow
def test_gpus_are_those_that_the_cluster_has() -> None:
    ray = pytest.importorskip("ray", reason=RAY)
    with Executor("ray", gpus=64) as executor, pytest.raises(wt.errors.WorkerError, match=r"it has 0 GPUs, not 64"):
        executor.submit(pow, 1, 1)
    assert not ray.is_initialized()
    # simulated GPUs, in a cluster of its own even where another one is running
    ray.init(address="local", num_cpus=2, num_gpus=4, include_dashboard=False, logging_level="error")
    try:
        with Executor("ray", workers=2, gpus=4) as executor:
            futures = [executor.submit(tasks.setting, "CUDA_VISIBLE_DEVICES") for _ in range(4)]
            assert {future.result() for future in futures} <= {"0,1", "2,3"}
        assert ray.is_initialized()  # the cluster of others is left as it is
    finally:
        ray.shutdown()


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
def test_every_kind_of_metric_is_byte_equal(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason=RAY)
    with Executor("ray", workers=2) as executor:
        assert results(tmp_path / "there", METRICS, executor, 12) == results(tmp_path / "here", METRICS, "local", 12)


@pytest.mark.slow
def test_a_cluster_is_joined_by_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason=RAY)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        with Executor(f"ray://{cluster.address}") as executor:
            pids = {executor.submit(os.getpid).result() for _ in range(20)}
            assert executor.ahead == 6 and os.getpid() not in pids
            assert results(tmp_path / "there", ["chrf"], executor) == results(tmp_path / "here", ["chrf"])
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        with Executor("ray", workers=1) as executor:
            assert executor.submit(pow, 2, 2).result() == 4
    finally:
        cluster.shutdown()


@pytest.mark.slow
def test_a_killed_actor_changes_no_score(tmp_path: Path) -> None:
    """Ray starts the actor and its task again, wherever the kill meets it."""
    pytest.importorskip("ray", reason=RAY)
    with Executor("ray", workers=2) as executor:
        executor.submit(pow, 2, 2).result()  # the actors have started
        killer = threading.Timer(0.5, lambda: actors()[0].kill())
        killer.start()
        there = results(tmp_path / "there", ["bleu", "chrf", "ter", "blonde"], executor, 12)
        killer.join()
        assert there == results(tmp_path / "here", ["bleu", "chrf", "ter", "blonde"], documents=12)


@pytest.mark.slow
def test_a_killed_driver_leaves_no_actor_and_can_be_started_again(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason=RAY)
    (tmp_path / "out.txt").write_text("the cat sat on the mat\n" * 20_000)
    command = [sys.executable, "-m", "wholetext", "score", "-t", "out.txt", "-r", "out.txt", "-m", "ter", "bleu",
               "--on", "ray", "--workers", "2", "--out", "run", "--json"]  # fmt: skip
    environment = {**os.environ, "WHOLETEXT_CACHE": str(tmp_path / "cache.sqlite")}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as driver:
        while len(left := actors()) < 2:
            assert driver.poll() is None, "it ended before it could be killed"
            time.sleep(0.1)
        driver.kill()
    assert not psutil.wait_procs(left, timeout=60)[1]
    assert not (tmp_path / "run").exists()
    again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    scores = [metric["systems"][0]["score"] for metric in json.loads(again.stdout)["metrics"]]
    assert scores == pytest.approx([0, 100])
