"""The list of jobs: kept over restarts, used by one server at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from wholetext.errors import RunError
from wholetext.serving.jobs import FILE, TRIES, Jobs
from wholetext.serving.settings import ServeOptions


def added(jobs: Jobs, title: str = "one", **request: object) -> str:
    id = jobs.new_id()
    jobs.add(id, title, {"metrics": ["chrf"], **request})
    return id


def test_jobs_run_in_their_order_and_are_listed_newest_first(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "data")
    first, second = added(jobs, "one"), added(jobs, "two")
    claimed = jobs.claim()
    assert claimed is not None and claimed.id == first and claimed.state == "running" and claimed.tries == 1
    jobs.report(first, "chrf", 3, 7)
    assert [job.title for job in jobs.all()] == ["two", "one"]
    job = jobs.get(first)
    assert job is not None and job.progress == ("chrf", 3, 7) and job.request == {"metrics": ["chrf"]}
    jobs.finish(first, "done")
    job = jobs.get(first)
    assert job is not None and job.state == "done" and job.progress is None
    following = jobs.claim()
    assert following is not None and following.id == second and jobs.claim() is None


def test_a_job_that_was_running_waits_again(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    running, waiting, done, asked = added(jobs), added(jobs), added(jobs), added(jobs, keep=False)
    jobs.claim()
    jobs.finish(done, "done")
    upload = jobs.new_id()  # never became a job
    jobs.close()
    again = Jobs(tmp_path)
    states = {job.id: job.state for job in again.all()}
    assert states == {running: "waiting", waiting: "waiting", done: "done"}  # nobody waits for `asked` any more
    assert not again.place(upload).exists() and not again.place(asked).exists() and again.place(done).is_dir()
    claimed = again.claim()
    assert claimed is not None and (claimed.id, claimed.tries) == (running, 2)
    again.close()


def test_a_job_that_ends_the_server_is_not_started_for_ever(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    id = added(jobs)
    for _ in range(TRIES):
        assert jobs.claim() is not None
        jobs.close()
        jobs = Jobs(tmp_path)
    job = jobs.get(id)
    assert job is not None and job.state == "failed" and "ended 3 times" in job.error


def test_one_server_uses_a_folder(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "data")
    added(jobs)
    code = f"from pathlib import Path; from wholetext.serving.jobs import Jobs; Jobs(Path({str(tmp_path / 'data')!r}))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode != 0 and "another server uses this data folder" in ended.stderr
    jobs.close()
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_folders_of_others_and_damaged_lists_are_left_alone(tmp_path: Path) -> None:
    for name, text, said in (("thesis.tex", "…", "other files in it"), (FILE, "no database " * 300, "cannot be used")):
        (tmp_path / name / name).parent.mkdir()
        (tmp_path / name / name).write_text(text)
        with pytest.raises(RunError, match=said):
            Jobs(tmp_path / name)
        assert (tmp_path / name / name).read_text() == text
    (tmp_path / "self").symlink_to("self")
    with pytest.raises(RunError, match="data folder"):
        Jobs(ServeOptions(data=tmp_path / "self").folder)
