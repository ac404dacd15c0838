"""Writes the three commands of the README again, with what they print on the bundled German–English documents."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import wholetext as wt
from wholetext.demo import load

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- three commands: written by tools/readme_table.py -->\n", "<!-- end of three commands -->\n"
# command, first and last line that are shown
SHOWN = (
    ("wholetext score corpus.jsonl -m bleu chrf d-blonde --out run", "", "literal"),
    ("wholetext compare run --baseline coherent", "bleu ↑  against", "literal"),
    ("wholetext explain run --system patchwork --doc news-ferry", "   patchwork ", "   large and"),
)


def section() -> str:
    """The commands and, of what each prints, the lines that are shown."""
    blocks = []
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    with tempfile.TemporaryDirectory() as folder:
        wt.write(Path(folder) / "corpus.jsonl", wt.Loaded(*load("de-en")))
        for command, first, last in SHOWN:
            done = subprocess.run([sys.executable, "-m", *command.split()], cwd=folder, env=environment,
                                  capture_output=True, encoding="utf-8", check=True)  # fmt: skip
            lines = [line.rstrip() for line in done.stdout.splitlines()]
            start = next(place for place, line in enumerate(lines) if line.startswith(first))
            end = next(place for place, line in enumerate(lines[start:], start) if line.startswith(last))
            blocks.append(f"```sh\n{command}\n```\n```text\n" + "\n".join(lines[start : end + 1]) + "\n```\n")
    return "".join(blocks)


def main() -> int:
    text = README.read_text("utf-8")
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = section()
    if "--check" in sys.argv:
        return 0 if old == new else 1
    README.write_text(head + BEGIN + new + END + tail, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
