"""Processes as workers: what may be asked for, the same results and errors, clear deaths, nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

import wholetext as wt
from tests.scoring import worker_tasks as tasks
from wholetext.executor import Executor


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if "LokyProcess" in " ".join(child.cmdline())]


@pytest.mark.parametrize("wrong", [
    {"on": "spark"}, {"on": "processes://host"}, {"on": "processes", "workers": 0}, {"on": "processes", "gpus": 0},
    {"workers": 2}, {"gpus": 1},
])
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(wt.errors.InputError, match="→"):
        Executor(**wrong)
    with pytest.raises(wt.errors.InputError, match="→"):
        wt.Options(**{{"on": "executor"}.get(name, name): value for name, value in wrong.items()})


def test_workers_start_with_the_first_task_and_end_at_close(capfd: pytest.CaptureFixture[str]) -> None:
    with Executor("processes", workers=2) as executor:
        assert not workers()
        futures = [executor.submit(pow, item, 2) for item in range(20)]
        assert [future.result() for future in futures] == [item**2 for item in range(20)]
        assert executor.submit(bytes.__add__, b"x" * 3_000_000, b"y").result()[-1:] == b"y"
        assert executor.submit(tasks.setting, "OMP_NUM_THREADS").result()
        assert len(workers()) == 2 and executor.ahead == 6
    assert not workers()
    assert capfd.readouterr().out == ""  # what libraries print goes to standard error
    with executor:
        assert executor.submit(pow, 2, 2).result() == 4


def test_a_worker_that_dies_is_an_error_that_says_how_to_go_on() -> None:
    with Executor("processes", workers=2) as executor:
        with pytest.raises(
            wt.errors.WorkerError, match=r"a worker failed.*SIGKILL.*\n.*what is finished is kept"
        ):
            executor.submit(tasks.die).result()
        executor.close()
        assert executor.submit(pow, 2, 2).result() == 4


def test_errors_are_those_of_this_process() -> None:
    with Executor("processes", workers=1) as executor:
        with pytest.raises(wt.errors.MetricError, match="document 3: it cannot be scored\n  → use another metric"):
            executor.submit(tasks.fail, "ours").result()
        with pytest.raises(wt.errors.MissingExtra, match=r"torch is not installed\n.*\[models\]"):
            executor.submit(tasks.fail, "extra").result()
        with pytest.raises(ZeroDivisionError, match="by nought"):
            executor.submit(tasks.fail, "").result()
        with pytest.raises(wt.errors.WorkerError, match=r"cannot be sent.*\n.*--on local"):
            executor.submit(id, threading.Lock()).result()


def test_gpus_are_divided_among_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(workers: int | None, gpus: int) -> list[str]:
        with Executor("processes", workers, gpus) as executor:
            executor.submit(pow, 1, 1).result()
            return [call(os.getenv, "CUDA_VISIBLE_DEVICES") for call in executor._calls]

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert seen(None, 2) == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    assert seen(4, 2) == ["5", "5", "7", "7"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no PYTHONSAFEPATH")
def test_nothing_is_imported_from_the_current_folder(tmp_path: Path) -> None:
    """Data of other people may lie there, with Python files among them."""
    for name in ("random", "json", "pickle", "numpy", "joblib", "wholetext"):
        (tmp_path / f"{name}.py").write_text(f"open('{name}.ran', 'w').close(); raise ImportError('not this file')")
    (tmp_path / "texts.txt").write_text("one\ntwo\n")
    program = "import sys; sys.path.pop(0); from wholetext.cli.main import main; main()"  # as the installed command
    files = ["-t", "texts.txt", "-r", "texts.txt", "-m", "chrf", "--no-cache", "--workers", "1"]
    command = [sys.executable, "-c", program, "score", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("*.ran"))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_driver(how: signal.Signals) -> None:
    program = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # it may be ignored here
               "import worker_tasks as tasks\nfrom wholetext.executor import Executor\n"
               "with Executor('processes', workers=2) as executor:\n"
               "    for future in [executor.submit(tasks.slow, item) for item in range(99)]:\n"
               "        print(future.result(), flush=True)\n")
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    driver = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": path})
    assert driver.stdout is not None and driver.stdout.readline() == b"0\n"
    started = psutil.Process(driver.pid).children()
    for process in (driver, *(started if how is signal.SIGINT else ())):  # Ctrl-C reaches all of the terminal
        with suppress(psutil.NoSuchProcess):  # the driver may have ended its workers already
            process.send_signal(how)
    driver.communicate(timeout=20)
    psutil.wait_procs(started, timeout=10)
    assert not any(process.is_running() for process in started)
