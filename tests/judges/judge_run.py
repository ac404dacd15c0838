"""Score a piece of the demo corpus with a judge, in a process of its own which tests kill.

    python judge_run.py URL CACHE SPEC PARALLEL
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from judge_material import demo_piece

import wholetext as wt
from wholetext.backends.chat.calls import Calls

PIECE = ("sport-keeper", 6)  # document, segments


def scores(url: str, cache: Path | bool, spec: str, parallel: int) -> dict[str, list[float]]:
    """System → scores of its rows."""
    calls = Calls(url, parallel=parallel, timeout=600, retries=0)
    results = wt.evaluate(*demo_piece(*PIECE), spec, wt.Options(cache=cache, calls=calls, flags=False))
    return {system: found.at("row").tolist() for system, found in next(iter(results.scores.values())).items()}


def started(url: str, cache: Path, spec: str, parallel: int) -> subprocess.Popen[bytes]:
    """The same in a child process."""
    command = [sys.executable, __file__, url, str(cache), spec, str(parallel)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    print(scores(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
