"""The list of jobs: kept over restarts, used by one server at a time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from wholetext.errors import RunError
from wholetext.serving.jobs import FILE, TRIES, Jobs


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
    found = jobs.get(first)
    assert found is not None and found.progress == ("chrf", 3, 7) and found.request == {"metrics": ["chrf"]}
    jobs.finish(first, "done")
    found = jobs.get(first)
    assert found is not None and found.state == "done" and found.progress is None
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
    Jobs(tmp_path).close()
    jobs = Jobs(tmp_path)
    id = added(jobs)
    for _ in range(TRIES):
        assert jobs.claim() is not None
        jobs.close()
        jobs = Jobs(tmp_path)
    found = jobs.get(id)
    assert found is not None and found.state == "failed" and "ended 3 times" in found.error


def test_one_server_uses_a_folder(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "data")
    added(jobs)
    code = f"from pathlib import Path; from wholetext.serving.jobs import Jobs; Jobs(Path({str(tmp_path / 'data')!r}))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode != 0 and "another server uses this data folder" in ended.stderr
    jobs.close()
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(RunError, match="other files in it"):
        Jobs(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_damaged_list_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all, and rather more bytes than a header has" * 30)
    with pytest.raises(RunError, match="cannot be used"):
        Jobs(tmp_path)
    assert (tmp_path / FILE).read_bytes().startswith(b"no database")


def test_deleting_takes_the_files_along(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    id, other = added(jobs), added(jobs)
    jobs.delete(id)
    assert not jobs.place(id).exists() and jobs.place(other).is_dir() and jobs.get(id) is None


def test_what_is_stored_is_plain_sql(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path)
    id = jobs.new_id()
    jobs.add(id, "'; DROP TABLE jobs; --", {"langs": "x'); --"})
    jobs.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        assert db.execute("SELECT title FROM jobs").fetchall() == [("'; DROP TABLE jobs; --",)]
