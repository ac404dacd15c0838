"""Writes docs/demo.md: a newcomer's first five minutes from a fresh clone, in a terminal of 80 columns, as text.

Every command is run, in an empty folder with an environment of its own; the time that each took stands beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "demo.md"
HEAD = """# The first five minutes

A recording of a terminal of 80 columns, made by `tools/record_demo.py` from a fresh clone with an environment of its
own; behind each command is the time that it took. The systems of the demo were made to illustrate the metrics
([demo corpus](demo-corpus.md)).

"""
OWN = """## Your own output

You have source and reference as plain files (`src.txt`, `ref.txt`), the document of each line (`docids.txt`), and what
an LLM wrote, a document per line, in sentences of its own:

"""
END = """
The first line is the finding; `±` is an interval over documents; lines with `!` are [notes](notes.md): here, what was
guessed and how the output was aligned. `▼` means significantly worse than the best system (`=`). Go on with the
[tutorial](tutorial.md).
"""
NOISE = ("warning:", "WARNING: Location")  # notes are in the table already; a mirror of PyPI without an index page
SHORT = 36  # characters of a line of llm.jsonl that are shown


def run(command: str, folder: Path) -> str:
    """The command with its time, and what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    own = {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "XDG_CACHE_HOME": str(folder.parent / "cache"),
           "PATH": f"{folder / '.venv' / 'bin'}:{kept['PATH']}"}  # fmt: skip
    begun = time.perf_counter()
    done = subprocess.run(command, shell=True, cwd=folder, env={**kept, **own}, check=True, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines() if not line.startswith(NOISE)]
    return "\n".join([f"$ {command}".ljust(72) + f" # {time.perf_counter() - begun:.0f} s", *lines, ""])


def page() -> str:
    sys.path.insert(0, str(ROOT))
    from tools.recipe_cases import write_files

    with tempfile.TemporaryDirectory() as name:
        clone = Path(name) / "wholetext"
        begun = time.perf_counter()
        subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), clone], check=True)
        cloned = "$ git clone -q URL wholetext && cd wholetext".ljust(72) + f" # {time.perf_counter() - begun:.0f} s\n"
        demo = cloned + run("make demo", clone)
        write_files(clone)
        first = (clone / "llm.jsonl").read_text("utf-8").splitlines()[0][:SHORT]
        own = f"$ head -1 llm.jsonl | cut -c 1-{SHORT}\n{first}\n"
        files = "-s src.txt -r ref.txt -d docids.txt -l de-en"
        own += run(f"wholetext score {files} \\\n    -t llm.jsonl -m chrf d-blonde --align --out mine", clone)
        own += run("wholetext explain mine --doc news-ferry | head -12", clone)
        own += run("wholetext report mine", clone)
    return f"{HEAD}```text\n{demo}```\n\n{OWN}```text\n{own}```\n{END}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
