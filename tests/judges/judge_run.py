"""Score a piece of the demo corpus with a judge, in a process of its own which tests kill.

    python -m tests.judges.judge_run URL CACHE SPEC PARALLEL
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import wholetext as wt
from tests.judges.counting import Turnstile
from tests.judges.judge_material import demo_piece
from wholetext.judges.chat import Calls

ROOT = Path(__file__).resolve().parents[2]
PIECE = ("mystery-umbrella", 6)  # document, segments


def scores(url: str, cache: Path | bool, spec: str, parallel: int) -> dict[str, list[float]]:
    """System → scores of its rows."""
    calls = Calls(url, parallel=parallel, timeout=1800, retries=0)
    results = wt.score(wt.Loaded(*demo_piece(*PIECE)), spec, options=wt.Options(cache=cache, calls=calls, flags=False))
    return {system: found.at("row").tolist() for system, found in next(iter(results.scores.values())).items()}


def killed(url: str, cache: Path, spec: str, gate: Turnstile, passing: int, parallel: int = 1) -> None:
    """The same in a child process, killed when so many requests have passed and ``parallel`` more are held.

    Then every answer has arrived and is stored: the child asks for another one only after that.
    """
    gate.open(passing)
    command = [sys.executable, "-m", "tests.judges.judge_run", url, str(cache), spec, str(parallel)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        gate.wait(parallel)
        assert child.poll() is None, "it ended before it could be killed"
    finally:
        child.kill()
        child.wait()
        gate.drop()


if __name__ == "__main__":
    print(scores(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
