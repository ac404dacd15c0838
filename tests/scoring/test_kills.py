"""kill -9 at every point where something is written: the old or the new whole thing is there, never neither."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "kill_points.py"


def killed(actions: str, folder: Path) -> dict[str, int]:
    """At how many points the actions were killed; what is wrong afterwards fails the test."""
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # forks do not take threads along
    done = subprocess.run([sys.executable, SCRIPT, actions, folder], capture_output=True, text=True,
                          env={**os.environ, **single})  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return {name: int(points) for name, points in re.findall(r"^(\w+) (\d+)$", done.stdout, re.M)}


@pytest.mark.long
def test_a_killed_writer_leaves_a_whole_run(tmp_path: Path) -> None:
    found = killed("write_run,first", tmp_path)
    assert found["write_run"] > 25 and found["first"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("action", [
    "score", "sweep", "report", "meta", "parquet", "stress", "rank", "annotations", "sample", "align", "train"])
def test_a_killed_command_leaves_something_whole(tmp_path: Path, action: str) -> None:
    fewest = {"report": 5, "sample": 5, "align": 5, "rank": 10, "train": 15}.get(action, 25)
    assert killed(action, tmp_path)[action] > fewest
