"""Deleting the folder of a slice removes its capability and breaks nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wholetext
from wholetext.slices import SLICES

PACKAGE = Path(wholetext.__file__).parent

# The everyday commands in a single process; each ends with SystemExit(0) or the script fails.
SCRIPT = """
import sys
from pathlib import Path

import wholetext
from wholetext import slices
from wholetext.cli.main import VERBS, main

removed = sys.argv[1]
assert Path(wholetext.__file__).is_relative_to(Path.cwd()), wholetext.__file__
for kind in ("commands", "metrics", "formats", "studies", "hooks"):
    assert not any(place.startswith(f"wholetext.{removed}.") for place in slices.added(kind).values())
corpus = str(Path(wholetext.__file__).parent / "demo" / "zh-en.jsonl")
for line in (
    ["--help"],
    *([group, "--help"] for group in dict.fromkeys(name.split()[0] for name in VERBS if " " in name)),
    ["list"],
    ["score", corpus, "-m", "chrf", "bleu", "--out", "run"],
    ["compare", "run"],
    ["report", "run", "--out", "report.html"],
):
    print(">>>", *line, flush=True)
    try:
        main(line)
    except SystemExit as end:
        assert not end.code, (line, end.code)
"""


@pytest.mark.long
@pytest.mark.parametrize("name", SLICES)
def test_the_core_works_without_the_slice(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "wholetext"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(copy / name)

    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "chrf" in run.stdout
    help_page = run.stdout.partition(">>> list")[0]
    for command in SLICES[name].get("commands", {}):
        assert f"\n  {command.split()[-1]} " not in help_page
    assert (tmp_path / "report.html").stat().st_size > 10_000
