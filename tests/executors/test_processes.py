"""Processes as workers: same results, whatever dies; nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.executors import worker_tasks as tasks
from wholetext.errors import MetricError, WorkerError
from wholetext.executors.executor import Executor
from wholetext.executors.pool import Task
from wholetext.executors.processes import Processes, interpreter


def running() -> list[psutil.Process]:
    return [one for one in psutil.Process().children(recursive=True)
            if "wholetext.executors.worker" in one.cmdline()]


def test_results_come_in_order_large_ones_too_and_nothing_stays() -> None:
    with Executor("processes", workers=2) as executor:
        assert list(executor.run(Task(tasks.add, 10, i) for i in range(50))) == list(range(10, 60))
        assert sum(executor.done) == 50 and len(executor.done) == 2
        items = [bytes([i]) * 3_000_000 for i in range(4)]  # more than a pipe holds, both ways
        shared = b"x" * 1_000_000
        assert [len(one) for one in executor.run(Task(tasks.large, shared, item) for item in items)] == [4_000_000] * 4
        assert list(executor.run([None, Task(tasks.add, 1, 1), None])) == [None, 2, None]
        found = list(executor.run(Task(tasks.where, None, None) for _ in range(4)))
        assert len(running()) == 2 and str(os.getpid()) not in {one["pid"] for one in found}
    assert not running()


def test_nothing_is_imported_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data of other people may lie there, with Python files among them."""
    for name in ("random", "json", "pickle", "numpy", "wholetext"):
        (tmp_path / f"{name}.py").write_text(f"open('{name}.ran', 'w').close(); raise ImportError('not that one')")
    monkeypatch.chdir(tmp_path)
    with Executor("processes", workers=1) as executor:
        assert list(executor.run([Task(tasks.add, 1, 1)])) == [2]
    subprocess.run(interpreter("import random, json"), check=True)
    assert not list(tmp_path.glob("*.ran"))


def test_a_worker_that_dies_is_replaced_and_its_work_done_by_others(tmp_path: Path) -> None:
    shared = str(tmp_path / "mark")
    with Executor("processes", workers=2) as executor:
        wanted = [0, 1, 2, 3, 4, 6, 7, 8]
        assert list(executor.run(Task(tasks.die_at, shared, i) for i in wanted)) == wanted
        with pytest.raises(WorkerError, match=r"5 workers died over the same work.*killed.*memory"):
            list(executor.run(Task(tasks.die_at, shared, i) for i in range(9)))
        assert not running()


def test_errors_are_those_of_this_process() -> None:
    with Executor("processes", workers=1) as executor:
        with pytest.raises(MetricError, match="document 3: it cannot be scored\n  → use another metric"):
            list(executor.run([Task(tasks.fail, None, "ours")]))
        with pytest.raises(WorkerError, match=r"ran out of memory\n.*fewer workers"):
            list(executor.run([Task(tasks.fail, None, "memory")]))
        with pytest.raises(WorkerError, match="ZeroDivisionError: by nought") as caught:
            list(executor.run([Task(tasks.fail, None, "nought")]))
        assert "in fail" in str(caught.value.__cause__)
        with pytest.raises(WorkerError, match=r"cannot be sent.*\n.*module"):
            list(executor.run([Task(lambda *_: 1, None, 1)]))


def test_a_run_that_is_given_up_leaves_the_workers_to_the_next() -> None:
    with Executor("processes", workers=2) as executor:
        one = executor.run(Task(tasks.add, 0, i) for i in range(100))
        assert [next(one), next(one)] == [0, 1]
        one.close()
        assert list(executor.run(Task(tasks.add, 5, i) for i in range(3))) == [5, 6, 7]


def test_a_worker_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wholetext.executors.processes.sys.executable", "/bin/false")
    with Executor("processes", workers=2) as executor, pytest.raises(WorkerError, match="no worker can be started"):
        list(executor.run([Task(tasks.add, 1, 2)]))


def test_gpus_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(workers: int | None, gpus: int) -> list[str]:
        pool = Processes(workers, gpus)
        return [pool.environment(i)["CUDA_VISIBLE_DEVICES"] for i in range(pool.size)]

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert seen(None, 3) == ["0", "1", "2"]
    assert seen(4, 2) == ["0", "0", "1", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert seen(4, 2) == ["5", "5", "7", "7"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_driver(how: signal.Signals) -> None:
    program = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # it may be ignored here
               "import worker_tasks as tasks\nfrom wholetext.executors.executor import Executor\n"
               "from wholetext.executors.pool import Task\n"
               "work = (Task(tasks.slow_add, (0.3, 0), i) for i in range(99))\n"
               "for one in Executor('processes', workers=2).run(work):\n"
               "    print(one, flush=True)\n")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    driver = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": path})
    assert driver.stdout is not None and driver.stdout.readline() == b"0\n"
    workers = psutil.Process(driver.pid).children()
    assert len(workers) == 2
    for one in (driver, *(workers if how is signal.SIGINT else ())):  # Ctrl-C reaches all processes of the terminal
        with suppress(psutil.NoSuchProcess):  # the driver may have ended its workers already
            one.send_signal(how)
    driver.communicate(timeout=20)
    psutil.wait_procs(workers, timeout=10)
    assert not any(one.is_running() for one in workers)
