"""Writes docs/demo.md: what `make demo` shows in a terminal of 80 columns, recorded as text."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "demo.md"
HEAD = """# What `make demo` shows

A recording of the terminal, 80 columns wide, written by `make docs`. The systems were made to illustrate the metrics
([demo corpus](demo-corpus.md)): surface metrics prefer `patchwork`, metrics of discourse `coherent`. While metrics run,
bars show rows done, rate and time left.

"""


def record() -> str:
    """What the demo prints, run in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "wholetext", "demo", "--out", "demo-run"], cwd=folder, capture_output=True,
            encoding="utf-8", env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}, check=True)
    return "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())


def page() -> str:
    return f"{HEAD}```text\n$ make demo\n.venv/bin/wholetext demo --out demo-run\n{record()}```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
