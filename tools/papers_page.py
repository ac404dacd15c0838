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

from wholetext.reproduce import Entry, Paper, papers

ROOT = Path(__file__).resolve().parent.parent
FOLDER, PAGE = ROOT / "studies" / "papers", ROOT / "docs" / "papers.md"
HEAD = """# The five papers

Every table, figure and item of the papers behind wholetext. `wholetext reproduce V table1` computes an entry; `--needs`
says which data and models are missing; `--small` tries it with a small model and, without data, on bundled texts.

- An entry is *equal n/m* (n of m numbers obtained here equal the paper's to the printed digit), *computed* (no printed
  number to compare), *runs* (data or models are not on this machine) or *not computed*.
- Cells of tables: obtained (published, difference); a cell without brackets is equal to the printed digit.
- An item is *here*, *GPU* (here, but needs one), *differs* or *cannot be had*.

"""
SHORT = {"needs a GPU": "GPU"}


def page() -> str:
    items = tomllib.loads((FOLDER / "items.toml").read_text("utf-8"))
    counts = Counter(_split(status)[0] for table in items.values() for status in table.values())
    total = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    parts = [HEAD + f"Items: {total}.\n"]
    for letter, paper in papers().items():
        obtained = _obtained(letter)
        parts.append(f"## {letter}: {paper.authors}\n\n{paper.title}.\n")
        parts.append(_entries(paper, obtained))
        parts += [
            _table(entry, obtained[name])
            for name, entry in paper.entries.items()
            if _compared(obtained.get(name, []))
        ]
        rows = ("|".join((item, *_split(status))) for item, status in items[letter].items())
        parts.append("\n".join(["|item|||\n|---|---|---|", *(f"|{row}|" for row in rows), ""]))
    return "\n".join(parts)


def _entries(paper: Paper, obtained: dict[str, list[dict[str, Any]]]) -> str:
    """List entries with their status; remarks that several share stand below."""
    remarks = list(dict.fromkeys(text for entry in paper.entries.values() for text in entry.remarks))
    lines = ["|entry||status|\n|---|---|---|"]
    for name, entry in paper.entries.items():
        status = f"{_status(entry, obtained.get(name, []))}. {entry.note}".rstrip(". ")
        marks = "".join(f"[{remarks.index(text) + 1}]" for text in entry.remarks)
        lines.append(f"|`{name}`|{entry.title}|{status}{marks}|")
    lines += ["", *(f"[{number}] {text}\n" for number, text in enumerate(remarks, 1))]
    return "\n".join(lines)


def _split(status: str) -> tuple[str, str]:
    kind, _, how = status.partition(":")
    return SHORT.get(kind, kind), how.strip()


def _compared(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [cell for cell in cells if cell["published"] is not None and cell["obtained"] is not None]


def _equal(entry: Entry, cell: dict[str, Any]) -> bool:
    return bool(abs(cell["obtained"] - cell["published"]) <= 0.5 * 10.0**-entry.digits + 1e-9)


def _obtained(letter: str) -> dict[str, list[dict[str, Any]]]:
    """Cells that were computed, by entry."""
    records = json.loads((FOLDER / f"{letter}.json").read_text("utf-8"))["entries"]
    return {record["entry"]: record["cells"] for record in records}


def _status(entry: Entry, cells: list[dict[str, Any]]) -> str:
    compared = _compared(cells)
    if compared:
        return f"equal {sum(_equal(entry, cell) for cell in compared)}/{len(compared)}"
    return "computed" if cells else "runs" if entry.kind else "not computed"


def _table(entry: Entry, cells: list[dict[str, Any]]) -> str:
    """Obtained numbers; where they differ, with the published one and the difference."""
    compared = _compared(cells)
    columns = list(dict.fromkeys(cell["column"] for cell in compared))
    places = {(cell["row"], cell["column"]): cell for cell in compared}

    def shown(row: str, column: str) -> str:
        cell = places.get((row, column))
        if cell is None:
            return ""
        ours, theirs = cell["obtained"], cell["published"]
        number = f"{ours:.{entry.digits}f}"
        if _equal(entry, cell):
            return number
        return f"{number} ({theirs:.{entry.digits}f}, {ours - theirs:+.{entry.digits}f})"

    rows = [f"|{row}|" + "|".join(shown(row, column) for column in columns) + "|"
            for row in dict.fromkeys(cell["row"] for cell in compared)]
    head = f"|`{entry.name}`|" + "|".join(columns) + "|"
    return "\n".join([head, "|---" * (len(columns) + 1) + "|", *rows, ""])


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text("utf-8") != page() and "docs/papers.md is out of date: run python tools/papers_page.py")
    PAGE.write_text(page(), "utf-8")
