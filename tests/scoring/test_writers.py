"""Twenty commands with the same --out at the same moment: one wins, the others say so and lose nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import wholetext as wt

WRITERS, TIMES = 20, 10
# imports everything, then forks: all reach the folder within milliseconds
SCRIPT = """
import os, sys
import wholetext.scoring.evaluate, wholetext.metrics.surface
from wholetext.cli.main import main
children = []
for number in range(int(sys.argv[1])):
    if (child := os.fork()) == 0:
        said = os.open(f"said{number}", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1), os.dup2(said, 2)
        try:
            main(["score", "-t", f"system{number}=out.txt", "-r", "ref.txt", "-m", "chrf", "--out", "run"])
        except SystemExit as left:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(left.code or 0)
        os._exit(99)
    children.append(child)
print(*[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


@pytest.mark.long
@pytest.mark.parametrize("time", range(TIMES))
def test_one_of_twenty_writers_wins(tmp_path: Path, time: int) -> None:
    (tmp_path / "out.txt").write_text("the cat sat\nit is late\n")
    (tmp_path / "ref.txt").write_text("the cat sat\nit was late\n")
    ended = subprocess.run([sys.executable, "-c", SCRIPT, str(WRITERS)], cwd=tmp_path, capture_output=True, text=True,
                           check=True, env={**os.environ, "WHOLETEXT_CACHE": str(tmp_path / "cache")})  # fmt: skip
    codes = [int(code) for code in ended.stdout.split()]
    said = {number: (tmp_path / f"said{number}").read_text() for number in range(WRITERS)}
    assert Counter(codes) == {0: 1, codes[codes.index(0) - 1]: WRITERS - 1}, said
    winner = codes.index(0)
    assert wt.open_run(tmp_path / "run").systems == (f"system{winner}",)
    for number, text in said.items():
        if number != winner:
            assert "there is a run here already" in text and "Traceback" not in text
    names = {path.name for path in tmp_path.iterdir()}
    assert not [name for name in names if name.startswith(".")], names  # nothing is left behind
