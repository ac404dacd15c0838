"""Write docs/papers.md: every table, figure and item of the five papers, and where it is here.

    python tools/papers_page.py [--check]

Entries come from the catalogue of `wholetext reproduce`, obtained numbers from studies/papers/LETTER.json, items from
studies/papers/items.toml.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import tomllib

from wholetext.reproduce import Entry, papers

ROOT = Path(__file__).resolve().parent.parent
FOLDER, PAGE = ROOT / "studies" / "papers", ROOT / "docs" / "papers.md"
HEAD = """# The five papers

Every table, figure and item of the papers behind wholetext, the command that computes it, and what came out. Written
by `python tools/papers_page.py`. `wholetext reproduce V table1 --needs` says which data and models are missing;
`--small` tries an entry with a small model and, without data, on bundled texts. Numbers below were obtained with the
metrics and data that need no GPU and no download.
"""


def page() -> str:
    items = tomllib.loads((FOLDER / "items.toml").read_text("utf-8"))
    parts = [HEAD]
    counts = Counter(status.partition(":")[0] for table in items.values() for status in table.values())
    parts.append("Items: " + ", ".join(f"{number} {status}" for status, number in counts.most_common()) + ".\n")
    for letter, paper in papers().items():
        obtained = _obtained(letter)
        parts.append(f"## {letter}: {paper.authors}\n\n{paper.title}.\n")
        parts.append("|entry||status|\n|---|---|---|")
        parts += [f"|`{entry.command}`|{entry.title}|{_status(entry, obtained.get(name, []))}|"
                  for name, entry in paper.entries.items()]
        parts += ["", *(_table(entry, obtained[name]) for name, entry in paper.entries.items() if obtained.get(name))]
        parts.append("|item||\n|---|---|")
        parts += [f"|{item}|{status}|" for item, status in items[letter].items()]
        parts.append("")
    return "\n".join(parts)


def _obtained(letter: str) -> dict[str, list[dict[str, Any]]]:
    """Cells that were computed, by entry."""
    records = json.loads((FOLDER / f"{letter}.json").read_text("utf-8"))["entries"]
    return {record["entry"]: record["cells"] for record in records}


def _status(entry: Entry, cells: list[dict[str, Any]]) -> str:
    compared = [cell for cell in cells if cell["published"] is not None and cell["obtained"] is not None]
    limit = 0.5 * 10.0**-entry.digits + 1e-9
    equal = sum(abs(cell["obtained"] - cell["published"]) <= limit for cell in compared)
    said = f"{equal} of {len(compared)} numbers equal to the printed digit" if compared else ""
    if not said:
        said = "computed, nothing printed to compare with" if cells else "runs" if entry.kind else "not computed"
    return f"{said}. {entry.note}" if entry.note else said


def _table(entry: Entry, cells: list[dict[str, Any]]) -> str:
    """Obtained numbers, with the published one and the difference in brackets."""
    compared = [cell for cell in cells if cell["published"] is not None and cell["obtained"] is not None]
    if not compared:
        return ""
    columns = list(dict.fromkeys(cell["column"] for cell in compared))
    places = {(cell["row"], cell["column"]): cell for cell in compared}

    def shown(row: str, column: str) -> str:
        cell = places.get((row, column))
        if cell is None:
            return "–"
        ours, theirs = cell["obtained"], cell["published"]
        return f"{ours:.{entry.digits}f} ({theirs:.{entry.digits}f}, {ours - theirs:+.{entry.digits}f})"

    rows = [f"|{row}|" + "|".join(shown(row, column) for column in columns) + "|"
            for row in dict.fromkeys(cell["row"] for cell in compared)]
    head = f"`{entry.paper} {entry.name}`, obtained (published, difference):\n\n||" + "|".join(columns) + "|"
    return "\n".join([head, "|---" * (len(columns) + 1) + "|", *rows, ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text("utf-8") != page() and "docs/papers.md is out of date: run python tools/papers_page.py")
    PAGE.write_text(page(), "utf-8")
