"""Jobs in worker processes: results, errors, limits, cancelling, and what is left when the server ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving.serving_material import BAD, GOOD, REF, gone, install_hold, until
from wholetext.serving.jobs import Job, Jobs
from wholetext.serving.scheduler import Scheduler
from wholetext.serving.settings import ServeOptions

Start = Callable[..., tuple[Jobs, Scheduler]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A function that opens the data folder and starts the workers."""
    made: list[tuple[Jobs, Scheduler]] = []

    def opened(**options: Any) -> tuple[Jobs, Scheduler]:
        jobs = Jobs(tmp_path / "data")
        scheduler = Scheduler(jobs, ServeOptions(data=tmp_path / "data", **options))
        scheduler.start()
        made.append((jobs, scheduler))
        return jobs, scheduler

    yield opened
    for jobs, scheduler in made:
        scheduler.close()
        jobs.close()


def add(jobs: Jobs, metric: str = "chrf", good: str = GOOD, **more: object) -> str:
    """A job with a reference and two outputs."""
    id = jobs.new_id()
    files = {"ref": [("A", REF)], "hyp": [("good", good), ("bad", BAD)]}
    paths: dict[str, list[list[str]]] = {}
    for role, some in files.items():
        for name, text in some:
            path = jobs.place(id) / "input" / f"{name}.txt"
            path.write_text(text)
            paths.setdefault(role, []).append([name, path.relative_to(jobs.folder).as_posix()])
    jobs.add(id, "test", {"files": paths, "metrics": [metric], **more})
    return id


def ended(jobs: Jobs, id: str) -> Job:
    until(lambda: not jobs.get(id).active, "the job to end")  # type: ignore[union-attr]
    return jobs.get(id)  # type: ignore[return-value]


@pytest.mark.slow
def test_jobs_end_with_results_or_an_error(start: Start, tmp_path: Path) -> None:
    jobs, scheduler = start()
    first, second, broken = add(jobs), add(jobs, "ter"), add(jobs, good="one line only\n")
    absent = add(jobs, "bertscore@no-such/model")
    scheduler.wake()
    assert [ended(jobs, id).state for id in (first, second, broken, absent)] == ["done", "done", "failed", "failed"]
    assert "HF_HUB_OFFLINE" in ended(jobs, absent).error  # a request downloads nothing
    error = ended(jobs, broken).error
    assert error.startswith("good.txt:2: found 1 line, but A.txt has 2")
    assert "good" in error and "→" in error and str(tmp_path) not in error  # no path of this machine
    assert not (jobs.place(broken) / "result").exists() and not list(jobs.place(broken).glob("try-*"))


@pytest.mark.slow
def test_models_stay_loaded_as_the_process_stays(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signs = install_hold(tmp_path, monkeypatch)
    (signs / "go").touch()
    jobs, scheduler = start()
    ids = [add(jobs, "hold", good=f"text {i}\nand more\n") for i in range(3)]
    scheduler.wake()
    assert [ended(jobs, id).state for id in ids] == ["done"] * 3
    (began,) = signs.glob("began-*")  # one process for all
    process = int(began.name.partition("-")[2])
    os.kill(process, signal.SIGKILL)  # while it has nothing to do
    until(lambda: gone(process), "the worker to end")
    after = add(jobs, "hold", good="another text\nand more\n")
    scheduler.wake()
    assert ended(jobs, after).state == "done" and len(list(signs.glob("began-*"))) == 2


@pytest.mark.slow
def test_a_job_that_takes_too_long_and_one_whose_process_dies(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_hold(tmp_path, monkeypatch)
    jobs, scheduler = start()
    crashing, after = add(jobs, "hold(crash=true)"), add(jobs)
    scheduler.wake()
    told = ended(jobs, crashing).error
    assert "the scoring process ended (exit code -9)" in told and "out of memory" in told
    assert ended(jobs, after).state == "done"  # by a new process
    scheduler.close()
    jobs.close()
    jobs, scheduler = start(timeout=0.001)
    late = add(jobs, "hold", good="slow\ntext\n")
    scheduler.wake()
    assert "took more than 0.001 seconds" in ended(jobs, late).error


@pytest.mark.slow
def test_cancelling_and_ending(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signs = install_hold(tmp_path, monkeypatch)
    jobs, scheduler = start()
    running, waiting, last = (add(jobs, "hold", good=f"text {i}\nand more\n") for i in range(3))
    scheduler.wake()
    until(lambda: list(signs.glob("began-*")), "the first job to begin")
    for id in (waiting, running):
        jobs.finish(id, "cancelled")
    assert [ended(jobs, id).state for id in (waiting, running)] == ["cancelled", "cancelled"]
    jobs.delete(running)  # its process may still be writing
    until(lambda: len(list(signs.glob("began-*"))) == 2, "the last job to begin")
    assert not jobs.place(running).exists()
    scheduler.close()  # as Ctrl-C does
    jobs.close()
    (signs / "go").touch()
    again, _ = start()
    job = ended(again, last)
    assert job.state == "done" and job.tries == 2
    assert not list(again.place(last).glob("try-*"))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no safe path")
def test_workers_import_nothing_from_the_current_folder(start: Start, tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    (there := tmp_path / "there").mkdir()
    for name in ("multiprocessing", "random", "json"):
        (there / f"{name}.py").write_text(f"open('{name}.ran', 'w').close(); raise ImportError('not that one')")
    monkeypatch.chdir(there)
    jobs, scheduler = start()
    id = add(jobs)
    scheduler.wake()
    assert ended(jobs, id).state == "done" and not list(there.glob("*.ran"))
